#include "simulate/sources/flow_classes.hpp"

#include <cstddef>
#include <numeric>

namespace forestcoll::simulate {
namespace {

enum class FlowSort : std::uint64_t { route = 101, link };

std::uint64_t label(FlowSort sort) {
  return static_cast<std::uint64_t>(sort);
}

// Both ways.
void join(LabelledGraph& graph, std::int32_t a, std::int32_t b, std::uint64_t hash) {
  graph.edges.push_back({a, b, hash});
  graph.edges.push_back({b, a, hash});
}

class FlowClassMaker {
 public:
  FlowClassMaker(std::span<const std::int32_t> of_link, const Ways& ways)
      : of_link_(of_link), ways_(ways) {
    classes_.of_link.assign(of_link.size(), -1);
  }

  FlowClasses make(std::span<const std::int32_t> of_sender, std::span<const std::int32_t> routes) {
    for (std::size_t b = 0; b < of_sender.size(); ++b) {
      const auto [number, is_first] = senders_(of_sender[b]);
      classes_.of_sender.push_back(number);
      if (is_first) {
        classes_.first.push_back(static_cast<std::int32_t>(b));
        parts_.emplace_back();
      }
      if (routes[b] >= 0) add_flow(number, ways_.route(routes[b]));
    }
    for (const Parts& parts : parts_) classes_.route.push_back(parts.empty() ? -1 : route(parts));
    return std::move(classes_);
  }

 private:
  using Parts = std::map<std::int32_t, double>;  // by class of links, on one of them

  void add_flow(std::int32_t number, const SimulatedRoute& route) {
    for (const LinkPart& part : route.parts) {
      const auto [link, is_first] = links_(of_link_[index(part.link)]);
      if (is_first) {
        first_link_.push_back(part.link);
        classes_.capacity.push_back(ways_.capacity[index(part.link)]);
      }
      classes_.of_link[index(part.link)] = link;
      Parts& parts = parts_[index(number)];
      const auto at = parts.try_emplace(link, 0).first;
      if (first_link_[index(link)] == part.link) at->second += part.part;
    }
  }

  std::int32_t route(const Parts& parts) {
    const auto next = static_cast<std::int32_t>(classes_.routes.size());
    const auto [at, is_new] = known_.emplace(parts, next);
    if (!is_new) return at->second;
    classes_.routes.emplace_back();
    for (const auto& [link, part] : parts) classes_.routes.back().push_back({link, part});
    return next;
  }

  std::span<const std::int32_t> of_link_;
  const Ways& ways_;
  FlowClasses classes_;
  ClassNumbers senders_, links_;
  std::vector<std::int32_t> first_link_;  // by class
  std::vector<Parts> parts_;              // by class, of all its flows
  std::map<Parts, std::int32_t> known_;   // which route has these parts
};

}  // namespace

Ways ways_of(const Fabric& fabric) {
  return {[&fabric](std::int32_t number) -> const SimulatedRoute& { return fabric.route(number); },
          fabric.capacity()};
}

std::uint64_t route_label(const SimulatedRoute& route) {
  std::uint64_t hash = mix(label(FlowSort::route), bits(route.latency_us));
  for (const bool flag : {route.between_boxes, route.in_network}) hash = mix(hash, flag ? 1 : 0);
  return mix(hash, bits(std::int64_t{route.hops}));
}

FlowClasses flow_classes(std::span<const std::int32_t> of_sender,
                         std::span<const std::int32_t> routes,
                         std::span<const std::int32_t> of_link, const Ways& ways) {
  return FlowClassMaker(of_link, ways).make(of_sender, routes);
}

FlowClasses each_by_itself(std::span<const std::int32_t> routes, const Fabric& fabric) {
  std::vector<std::int32_t> senders(routes.size()), links(fabric.capacity().size());
  std::iota(senders.begin(), senders.end(), 0);
  std::iota(links.begin(), links.end(), 0);
  return flow_classes(senders, routes, links, ways_of(fabric));
}

void FlowVertices::add(std::int32_t sender, std::int32_t route, std::uint64_t which) {
  const auto next = static_cast<std::int32_t>(graph_.labels.size());
  const auto [at, is_new] = vertex_of_route_.emplace(route, next);
  if (is_new) graph_.labels.push_back(route_label(ways_.route(route)));
  join(graph_, sender, at->second, mix(label(FlowSort::route), which));
}

std::int32_t FlowVertices::add_links() {
  const auto first = static_cast<std::int32_t>(graph_.labels.size());
  for (const double capacity : ways_.capacity) {
    graph_.labels.push_back(mix(label(FlowSort::link), bits(capacity)));
  }
  for (const auto& [route, vertex] : vertex_of_route_) {
    for (const LinkPart& part : ways_.route(route).parts) {
      join(graph_, vertex, first + part.link, mix(label(FlowSort::link), bits(part.part)));
    }
  }
  return first;
}

}  // namespace forestcoll::simulate
