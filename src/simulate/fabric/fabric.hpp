// The fabric as the simulator sees it: links with a bandwidth and a latency, and routes over them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/group_load.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"
#include "simulate/fabric/event_graph.hpp"

namespace forestcoll::simulate {

/// A route with what a flow over it takes of the links, and how long it is.
struct SimulatedRoute {
  std::vector<LinkPart> parts;
  double latency_us = 0;  ///< of its links; where it is spread, of the slowest path
  std::int32_t hops = 0;  ///< links one after the other
  bool between_boxes = false;
  bool in_network = false;  ///< through switches that copy or combine, as NVSwitches do

  /// Every byte goes over this link, or once more.
  void load(ArcId arc);
};

class Fabric {
 public:
  /// Errors: those of `to_digraph`.
  [[nodiscard]] static Expected<Fabric> make(const Topology& topology);

  [[nodiscard]] const Network& network() const { return network_; }
  /// Of every link (an arc of the network), and after them of every limit that links share, bytes
  /// per second.
  [[nodiscard]] std::span<const double> capacity() const { return capacity_; }
  /// Of every link, µs.
  [[nodiscard]] std::span<const double> latency_us() const { return latency_us_; }
  /// Adds to parts of links what a flow over them takes of what these share.
  void add_limits(std::vector<LinkPart>& parts) const;
  [[nodiscard]] const SimulatedRoute& route(std::int32_t route) const {
    return routes_[static_cast<std::size_t>(route)];
  }

  /// From one rank to another as `route_transfer` spreads it; −1, and a finding, where no route
  /// leads there.
  [[nodiscard]] std::int32_t between(Rank from, Rank to, audit::Findings& findings);
  /// All of these accesses at once, each byte of one with a byte of the others; −1, and a finding,
  /// where no switch can.
  [[nodiscard]] std::int32_t through_switches(const std::vector<audit::GroupAccess>& accesses,
                                              audit::Findings& findings);
  /// Along these nodes. REQUIRES: links join them.
  [[nodiscard]] std::int32_t along(std::span<const NodeId> path);
  /// All of these paths at once, as parts of a tree that branches at switches, in the
  /// direction of the data, each after the one that it continues towards the leaves (`inward`: that
  /// continues it). Loads echoes, too. REQUIRES: links join the nodes of the paths.
  [[nodiscard]] std::int32_t branching(std::span<const std::vector<NodeId>> paths, bool inward);

 private:
  [[nodiscard]] bool differ_in_box(NodeId a, NodeId b) const;
  std::int32_t add(SimulatedRoute route);
  void measure(SimulatedRoute& route, NodeId from) const;
  void measure(SimulatedRoute& route, std::span<const std::vector<NodeId>> paths,
               bool inward) const;
  [[nodiscard]] std::vector<ArcId> arcs_along(std::span<const NodeId> path) const;
  [[nodiscard]] ArcId echo_of(std::span<const NodeId> path, bool inward) const;

  Network network_;
  std::vector<double> capacity_, latency_us_;
  IdVector<NodeId, std::int32_t> box_;  // of GPUs
  std::vector<SimulatedRoute> routes_;
  std::map<std::pair<Rank, Rank>, std::int32_t> by_pair_;
  std::map<std::vector<ArcId>, std::int32_t> by_path_;
  std::map<std::vector<audit::GroupAccess>, std::int32_t> by_accesses_;
  SwitchRoles roles_;
};

}  // namespace forestcoll::simulate
