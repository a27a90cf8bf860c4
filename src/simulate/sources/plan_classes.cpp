#include "simulate/sources/plan_classes.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "simulate/fabric/equitable_partition.hpp"

namespace forestcoll::simulate {
namespace {

using Edge = PlanOperations::Edge;
using Node = PlanOperations::Node;

std::uint64_t label_of(const Node& node) {
  std::uint64_t hash = bits(node.unit);
  for (const bool flag : {node.by_proxy, node.moves, node.adds, node.packets}) {
    hash = mix(hash, bits(std::int64_t{flag}));
  }
  for (const std::int64_t value :
       {node.copied, node.added, node.size, std::int64_t{std::ssize(node.routes)}}) {
    hash = mix(hash, bits(value));
  }
  return hash;
}

std::uint64_t label_of(const Edge& edge, const Fabric& fabric) {
  std::uint64_t flags = 0;
  for (const bool flag : {edge.packets, edge.next_round, edge.all_rounds}) {
    flags = 2 * flags + (flag ? 1 : 0);
  }
  return mix(edge.route < 0 ? 0 : route_label(fabric.route(edge.route)), flags);
}

// The classes of all nodes, and of the links of the fabric after them.
struct Names {
  std::vector<std::int32_t> of_node, of_link;
};

// Of the flows of all operations, one after the other, the fabric's routes.
std::vector<std::int32_t> routes_of(const PlanOperations& all) {
  std::vector<std::int32_t> routes;
  for (const Node& node : all.nodes) {
    routes.insert(routes.end(), node.routes.begin(), node.routes.end());
  }
  return routes;
}

// `flows`: which of the ways each flow takes.
Names coarsest_names(const PlanOperations& all, const Fabric& fabric,
                     std::span<const std::int32_t> flows, const Ways& ways) {
  LabelledGraph graph;
  for (const Node& node : all.nodes) graph.labels.push_back(label_of(node));
  FlowVertices vertices(graph, ways);
  auto way = flows.begin();
  for (std::size_t n = 0; n < all.nodes.size(); ++n) {
    for (std::size_t i = 0; i < all.nodes[n].routes.size(); ++i) {
      vertices.add(static_cast<std::int32_t>(n), *way++, i);
    }
  }
  const auto first_link = vertices.add_links();
  for (const Edge& edge : all.edges) {
    graph.edges.push_back({edge.from, edge.to, label_of(edge, fabric)});
  }
  const std::vector<std::int32_t> names = equitable_partition(graph);
  const auto link = names.begin() + first_link;
  return {{names.begin(), names.begin() + std::ssize(all.nodes)}, {link, names.end()}};
}

class PlanClassMaker {
 public:
  PlanClassMaker(const PlanOperations& all, const Fabric& fabric,
                 std::span<const std::int32_t> flows, const Ways& ways)
      : all_(all), fabric_(fabric), flows_(flows), ways_(ways) {}

  PlanClasses make(const Names& names) {
    add_nodes(names.of_node);
    add_edges();
    add_flows(names.of_link);
    return std::move(result_);
  }

 private:
  // In the order of the first of each class.
  void add_nodes(std::span<const std::int32_t> names) {
    ClassNumbers numbers;
    for (std::size_t n = 0; n < names.size(); ++n) {
      const auto [number, is_first] = numbers(names[n]);
      of_node_.push_back(number);
      if (!is_first) continue;
      first_.push_back(static_cast<std::int32_t>(n));
      result_.operations.nodes.push_back(all_.nodes[n]);
    }
  }

  // Of the first of each class; what comes from several of a class comes from all at once.
  void add_edges() {
    using Key = std::tuple<std::int32_t, std::int32_t, std::uint64_t>;
    std::vector<std::pair<Key, Edge>> edges;
    for (const Edge& edge : all_.edges) {
      const std::int32_t to = of_node_[index(edge.to)], from = of_node_[index(edge.from)];
      if (first_[index(to)] != edge.to) continue;
      Edge joined = edge;
      joined.from = from;
      joined.to = to;
      edges.emplace_back(Key(from, to, label_of(edge, fabric_)), joined);
    }
    const auto key = [](const auto& each) { return each.first; };
    std::ranges::stable_sort(edges, {}, key);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (e > 0 && edges[e].first == edges[e - 1].first) continue;
      result_.operations.edges.push_back(edges[e].second);
    }
  }

  // A sender is one flow of a node.
  void add_flows(std::span<const std::int32_t> of_link) {
    std::vector<std::int32_t> first, senders;  // `first`: name of the first flow, by class
    std::int32_t count_of_all = 0;
    for (const Node& node : result_.operations.nodes) {
      first.push_back(count_of_all);
      count_of_all += static_cast<std::int32_t>(node.routes.size());
    }
    for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
      for (std::size_t i = 0; i < all_.nodes[n].routes.size(); ++i) {
        senders.push_back(first[index(of_node_[n])] + static_cast<std::int32_t>(i));
      }
    }
    result_.flows = flow_classes(senders, flows_, of_link, ways_);
    std::size_t sender = 0;
    result_.loads.resize(first_.size());
    for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
      const std::size_t count = all_.nodes[n].routes.size();
      auto& loads = result_.loads[index(of_node_[n])];
      for (std::size_t i = 0; i < count && loads.size() < count; ++i) {
        loads.push_back(result_.flows.route[index(result_.flows.of_sender[sender + i])]);
      }
      sender += count;
    }
  }

  const PlanOperations& all_;
  const Fabric& fabric_;
  std::span<const std::int32_t> flows_;  // which of the ways each takes
  const Ways& ways_;
  std::vector<std::int32_t> of_node_, first_;
  PlanClasses result_;
};

}  // namespace

PlanClasses plan_classes(const PlanOperations& all, const Fabric& fabric) {
  const std::vector<std::int32_t> flows = routes_of(all);
  const Ways ways = ways_of(fabric);
  return PlanClassMaker(all, fabric, flows, ways).make(coarsest_names(all, fabric, flows, ways));
}

std::optional<PlanClasses> plan_classes(const PlanOperations& all, const Fabric& fabric,
                                        const ImageRoutes& images) {
  const auto of_images = images.loads();
  if (!of_images) return std::nullopt;
  std::vector<std::int32_t> flows = routes_of(all);
  for (std::int32_t& flow : flows) flow = images.pair_of(flow);
  const Ways ways = of_images->ways();
  PlanClasses classes =
      PlanClassMaker(all, fabric, flows, ways).make(coarsest_names(all, fabric, flows, ways));
  classes.flows = of_images->in_fabric(std::move(classes.flows));
  return classes;
}

PlanClasses each_by_itself(const PlanOperations& all, const Fabric& fabric) {
  Names names{std::vector<std::int32_t>(all.nodes.size()),
              std::vector<std::int32_t>(fabric.capacity().size())};
  std::iota(names.of_node.begin(), names.of_node.end(), 0);
  std::iota(names.of_link.begin(), names.of_link.end(), 0);
  return PlanClassMaker(all, fabric, routes_of(all), ways_of(fabric)).make(names);
}

}  // namespace forestcoll::simulate
