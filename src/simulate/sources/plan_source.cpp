#include "simulate/sources/plan_source.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "simulate/fabric/graph_maker.hpp"

namespace forestcoll::simulate {

using audit::Findings;
using audit::MemoryMap;
using audit::PlanFile;

namespace {

using Node = PlanOperations::Node;
using Edge = PlanOperations::Edge;

// A graph of the operations of classes, under given parameters.
class PlanEvents {
 public:
  PlanEvents(const PlanClasses& classes, const Fabric& fabric,
             const SimulationParameters& parameters, double chunk_bytes)
      : classes_(classes),
        parameters_(parameters),
        chunk_bytes_(chunk_bytes),
        maker_(fabric, parameters, parameters.simple) {}

  ClassGraph build() {
    for (std::size_t n = 0; n < classes_.operations.nodes.size(); ++n) add(n);
    for (const Edge& edge : classes_.operations.edges) add(edge);
    return {std::move(maker_.graph), classes_.flows.capacity, classes_.flows.of_link, true};
  }

 private:
  // One flow after the other.
  void add(std::size_t number) {
    const Node& node = classes_.operations.nodes[number];
    const ProtocolParameters& costs = node.packets ? parameters_.ll : parameters_.simple;
    const std::int64_t rounds = node.unit > 0 ? passes_for(chunk_bytes_, node.unit) : 1;
    const double per_chunk = chunk_bytes_ / static_cast<double>(rounds);
    const double adding_gbs = std::min(costs.threadblock_gbs, costs.reduction_gbs);
    Activity activity;
    activity.repeats = rounds;
    if (node.moves && !node.by_proxy) {
      activity.seconds =
          costs.step_us * 1e-6 +
          per_chunk * static_cast<double>(node.copied) / (costs.threadblock_gbs * 1e9) +
          per_chunk * static_cast<double>(node.added) / (adding_gbs * 1e9);
    }
    first_.push_back(maker_.graph.add(activity));
    const double most = node.by_proxy ? std::numeric_limits<double>::infinity()
                        : node.adds   ? adding_gbs
                                      : costs.threadblock_gbs;
    for (std::size_t i = 0; i < node.routes.size(); ++i) {
      if (i > 0) {
        Activity next;
        next.repeats = rounds;
        const std::int32_t added = maker_.graph.add(next);
        maker_.graph.wait(added - 1, added);
      }
      Activity& flow = maker_.graph.activities.back();
      flow.kind = kind(classes_.loads[number][i], maker_.most_on_links(node.routes[i], most));
      flow.bytes = maker_.on_route(node.routes[i], per_chunk * static_cast<double>(node.size));
    }
    last_.push_back(static_cast<std::int32_t>(maker_.graph.activities.size()) - 1);
  }

  // Of what all of a class send at once, each at most so many bytes per second.
  std::int32_t kind(std::int32_t load, double most) {
    const auto next = static_cast<std::int32_t>(maker_.graph.kinds.size());
    const auto [at, is_new] = kinds_.emplace(std::pair(load, most), next);
    if (is_new) maker_.graph.kinds.push_back({classes_.flows.routes[index(load)], most});
    return at->second;
  }

  void add(const Edge& edge) {
    const std::int32_t from = last_[index(edge.from)], to = first_[index(edge.to)];
    const ProtocolParameters& costs = edge.packets ? parameters_.ll : parameters_.simple;
    const double delay = edge.route < 0 ? 0 : maker_.delay(edge.route, costs);
    if (!edge.all_rounds) {
      maker_.graph.wait(from, to, edge.next_round ? 1 : 0, delay);
      return;
    }
    const std::int32_t all = maker_.graph.add(Activity{});
    maker_.graph.waits.push_back({from, all, delay, 0, 1, rounds_of(from)});
    maker_.graph.waits.push_back({all, to, 0, 0, rounds_of(to), 1});
  }

  [[nodiscard]] std::int64_t rounds_of(std::int32_t activity) const {
    return maker_.graph.activities[index(activity)].repeats;
  }

  const PlanClasses& classes_;
  const SimulationParameters& parameters_;
  double chunk_bytes_;
  GraphMaker maker_;
  std::map<std::pair<std::int32_t, double>, std::int32_t> kinds_;  // by load and rate
  std::vector<std::int32_t> first_, last_;                         // activities, by node
};

}  // namespace

PlanSource::PlanSource(const PlanFile& plan, const MemoryMap& memory, std::int64_t chunks,
                       Fabric& fabric, Findings& findings, const PlanImages& images)
    : chunks_(static_cast<double>(chunks)) {
  ImageRoutes routes(images.ranks, fabric);
  all_ = without_control(read_operations(plan, memory, images, fabric, routes, findings));
  if (findings.blocked()) return;
  if (images.ranks.count == 1) {
    classes_ = plan_classes(all_, fabric);
  } else {
    classes_ = plan_classes(all_, fabric, routes);
  }
}

double PlanSource::full_pass(const SimulationParameters&) const {
  double unit = std::numeric_limits<double>::infinity();
  for (const Node& node : all_.nodes) {
    if (node.unit > 0) unit = std::min(unit, node.unit);
  }
  return unit * chunks_;
}

ClassGraph PlanSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                            double bytes) const {
  return PlanEvents(*classes_, fabric, parameters, bytes / chunks_).build();
}

ClassGraph PlanSource::make_each(const Fabric& fabric, const SimulationParameters& parameters,
                                 double bytes) const {
  return PlanEvents(each_by_itself(all_, fabric), fabric, parameters, bytes / chunks_).build();
}

}  // namespace forestcoll::simulate
