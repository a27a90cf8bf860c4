// What sends alike, and the links that are loaded alike.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "simulate/fabric/equitable_partition.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/fabric.hpp"

namespace forestcoll::simulate {

/// Numbers classes in the order of their first members, so that what is simulated does not depend
/// on names.
class ClassNumbers {
 public:
  /// The number of the class of this name, and whether this is its first member.
  std::pair<std::int32_t, bool> operator()(std::int32_t name) {
    const auto [at, is_new] = numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size()));
    return {at->second, is_new};
  }

 private:
  std::map<std::int32_t, std::int32_t> numbers_;
};

/// Classes of senders (the threadblocks of a program, or the flows of a plan) and of links, those
/// of an equitable partition: the senders of a class send over routes of the same costs that put
/// the same parts on as many links of every class; the links of a class have the same capacity and
/// carry as much of every class of senders.
struct FlowClasses {
  std::vector<std::int32_t> of_sender;        ///< the class of each sender
  std::vector<std::int32_t> first;            ///< by class, its first sender
  std::vector<std::vector<LinkPart>> routes;  ///< in classes of links, each route once
  /// By class of senders, which of `routes` all its flows together load; −1: it sends nothing.
  std::vector<std::int32_t> route;
  std::vector<std::int32_t> of_link;  ///< the class of each link of the fabric; −1: not loaded
  std::vector<double> capacity;       ///< by class of links, bytes per second
};

/// Routes and the links that they load: a fabric's, or those of classes of links.
struct Ways {
  std::function<const SimulatedRoute&(std::int32_t)> route;
  std::span<const double> capacity;
};
[[nodiscard]] Ways ways_of(const Fabric& fabric);

/// From names of the classes of senders and links; `routes`: of each sender; −1: none. Classes are
/// numbered by `ClassNumbers`. Cost: O(n log n) in senders and parts of their routes.
[[nodiscard]] FlowClasses flow_classes(std::span<const std::int32_t> of_sender,
                                       std::span<const std::int32_t> routes,
                                       std::span<const std::int32_t> of_link, const Ways& ways);
/// The finest: each sender and each link by itself.
[[nodiscard]] FlowClasses each_by_itself(std::span<const std::int32_t> routes,
                                         const Fabric& fabric);

/// Adds routes and links to a graph of senders, so that its classes are those of flows, too.
class FlowVertices {
 public:
  FlowVertices(LabelledGraph& graph, const Ways& ways) : graph_(graph), ways_(ways) {}

  /// The vertex sends over that route; `which` tells it from what else the vertex sends.
  void add(std::int32_t sender, std::int32_t route, std::uint64_t which = 0);
  /// All links, once all flows are there. Returns the vertex of the first.
  std::int32_t add_links();

 private:
  LabelledGraph& graph_;
  const Ways& ways_;
  std::map<std::int32_t, std::int32_t> vertex_of_route_;
};

/// What its costs depend on.
[[nodiscard]] std::uint64_t route_label(const SimulatedRoute& route);

}  // namespace forestcoll::simulate
