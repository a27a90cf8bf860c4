#include "simulate/sources/image_routes.hpp"

#include <span>

#include "simulate/fabric/equitable_partition.hpp"

namespace forestcoll::simulate {
namespace {

constexpr std::uint64_t kPair = 2;  // labels the vertices that are pairs

// The vertices are pairs of ranks, of which those of one number are to be alike, the routes between
// them, and links.
std::vector<std::int32_t> partition_of_pairs(std::span<const std::int32_t> numbers,
                                             std::span<const std::int32_t> routes,
                                             const Fabric& fabric, std::int32_t& first_link) {
  LabelledGraph graph;
  for (const std::int32_t number : numbers) {
    graph.labels.push_back(mix(kPair, bits(std::int64_t{number})));
  }
  const Ways ways = ways_of(fabric);
  FlowVertices flows(graph, ways);
  for (std::size_t p = 0; p < routes.size(); ++p)
    flows.add(static_cast<std::int32_t>(p), routes[p]);
  first_link = flows.add_links();
  return equitable_partition(graph);
}

}  // namespace

Ways ImageLoads::ways() const {
  return {[this](std::int32_t pair) -> const SimulatedRoute& { return routes[index(pair)]; },
          capacity};
}

FlowClasses ImageLoads::in_fabric(FlowClasses classes) const {
  const std::vector<std::int32_t> of_class = std::move(classes.of_link);
  classes.of_link.clear();
  for (const std::int32_t link : of_link) {
    classes.of_link.push_back(link < 0 ? -1 : of_class[index(link)]);
  }
  return classes;
}

std::int32_t ImageRoutes::add(Rank from, Rank to, audit::Findings& findings) {
  const auto next = static_cast<std::int32_t>(pairs_.size());
  const auto [known, is_new] = pairs_.try_emplace({from, to}, next);
  if (!is_new) return known->second;
  for (std::size_t i = 0; i < images_.count; ++i) {
    const std::int32_t route = fabric_.between(images_.of(i, from), images_.of(i, to), findings);
    if (route < 0) known->second = -1;
    routes_.push_back(route);
  }
  if (known->second >= 0) of_route_.emplace(own(next), next);
  return known->second;
}

std::int32_t ImageRoutes::own(std::int32_t pair) const {
  return routes_[index(pair) * images_.count];
}

std::optional<ImageLoads> ImageRoutes::loads() const {
  std::vector<std::int32_t> numbers;
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    numbers.push_back(static_cast<std::int32_t>(r / images_.count));
  }
  std::int32_t first_link = 0;
  const std::vector<std::int32_t> names = partition_of_pairs(numbers, routes_, fabric_, first_link);
  for (std::size_t r = 0; r < routes_.size(); ++r) {
    if (names[r] != names[r - r % images_.count]) return std::nullopt;
  }
  const FlowClasses each =
      flow_classes(numbers, routes_, std::span(names).subspan(index(first_link)), ways_of(fabric_));
  ImageLoads loads{{}, each.capacity, each.of_link};
  for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
    SimulatedRoute& route =
        loads.routes.emplace_back(fabric_.route(own(static_cast<std::int32_t>(pair))));
    if (each.route[pair] >= 0) route.parts = each.routes[index(each.route[pair])];
  }
  return loads;
}

}  // namespace forestcoll::simulate
