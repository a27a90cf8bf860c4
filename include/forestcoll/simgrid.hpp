// A fabric for SimGrid, a simulator that shares no code with ours.
#pragma once

#include <string>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// A platform of SimGrid, for smpirun: a host for each GPU in rank order, and for every ordered
/// pair the route that `Simulator` gives its messages, with the same share of every link and the
/// same latency. SimGrid has one route for a pair, and a message that is spread over several ways
/// loads each of their links in part; so a link that carries half of every message over it stands
/// there once with twice its bandwidth, and where parts differ, more often in the routes of the
/// larger ones. Pairs that no switches join, which only relays do, get a link that is no
/// bottleneck: for what is not the schedule's own traffic. Errors: those of `to_digraph`. Cost:
/// O(ranks² · (nodes + arcs)).
[[nodiscard]] Expected<std::string> to_simgrid(const Topology& topology);

}  // namespace forestcoll
