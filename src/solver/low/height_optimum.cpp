// The trees of `solve_low`, added up by arc.
#include "forestcoll/height_optimum.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forestcoll/rate.hpp"
#include "solver/low/low_counts.hpp"
#include "solver/low/low_program.hpp"
#include "solver/symmetry/fabric_group.hpp"

namespace forestcoll {
namespace {

using solver::LowCounts;
using solver::LowProblem;
using solver::LowSolution;

// A part that no fraction of 64 bits says is rounded down to a multiple of one of these.
constexpr std::int64_t kPartsOfArc = std::int64_t{1} << 30;
constexpr double kRoundedDown = 1 - 1e-12;

bool is_inward(const JobOperation& operation) {
  return operation.collective == Collective::reduce ||
         operation.collective == Collective::reduce_scatter;
}

Weights weights_of(const Network& network, const JobOperation& operation) {
  if (operation.root) return single_root(network, operation.groups.front()[*operation.root]);
  const bool is_unequal = has_unequal_shares(network, operation.collective);
  return is_unequal ? network.weight : uniform_weights(network);
}

LowProblem problem_of(const Network& network, const JobOperation& operation, std::int32_t height) {
  if (operation.collective == Collective::allreduce) {
    return solver::low_allreduce(network, height);
  }
  return solver::low_problem(is_inward(operation) ? reversed(network) : network,
                             weights_of(network, operation), height);
}

// By arc of the network, in trees.
class ArcLoads {
 public:
  ArcLoads(const Network& network, const LowProblem& problem, const JobOperation& operation)
      : graph_(network.graph),
        is_inward_(is_inward(operation)),
        // Then each tree stands for itself and for the same turned round.
        are_both_(operation.collective == Collective::allreduce && problem.phases.size() == 1),
        loads_(network.graph.arc_count(), 0) {}

  void add(const LowProblem& problem, const LowSolution& solution, const LowCounts& counts) {
    for (std::size_t t = 0; t < counts.counts.size(); ++t) {
      const solver::LowColumn& column = solution.columns[t];
      const Digraph& graph = problem.phases[column.phase].network.graph;
      for (const auto& route : column.tree.routes) {
        for (const ArcId a : route) add(graph.arcs()[a.index()], column.phase, counts.counts[t]);
      }
    }
  }

  // What symmetries exchange shares evenly what it carries: the mean of all images of an optimum
  // is one, too.
  void share_evenly(const solver::Partition& orbits) {
    std::vector<Int128> sums(orbits.count, 0);
    sizes_.assign(loads_.size(), 0);
    std::vector<std::int64_t> sizes(orbits.count, 0);
    for (std::size_t a = 0; a < loads_.size(); ++a) {
      sums[orbits.of[a]] += loads_[a];
      ++sizes[orbits.of[a]];
    }
    for (std::size_t a = 0; a < loads_.size(); ++a) {
      loads_[a] = sums[orbits.of[a]];
      sizes_[a] = sizes[orbits.of[a]];
    }
  }

  [[nodiscard]] std::vector<LinkShare> parts(const Network& network, const Ratio& scale) const {
    std::vector<LinkShare> found;
    for (std::size_t a = 0; a < loads_.size(); ++a) {
      if (loads_[a] == 0) continue;
      const Int128 most = Int128{network.capacity[ArcId(a)]} * sizes_[a] * scale.num();
      const auto exact = Ratio::reduced(loads_[a] * scale.den(), most);
      const double part =
          static_cast<double>(loads_[a] * scale.den()) / static_cast<double>(most) * kRoundedDown;
      found.push_back({ArcId(a), exact ? *exact
                                       : Ratio(static_cast<std::int64_t>(
                                                   part * static_cast<double>(kPartsOfArc)),
                                               kPartsOfArc)});
    }
    return found;
  }

 private:
  void add(const Arc& arc, std::size_t phase, std::int64_t trees) {
    const bool is_turned = is_inward_ || phase > 0;
    const ArcId there = graph_.find(arc.tail, arc.head), back = graph_.find(arc.head, arc.tail);
    loads_[(is_turned ? back : there).index()] += trees;
    if (are_both_) loads_[back.index()] += trees;
  }

  const Digraph& graph_;
  bool is_inward_, are_both_;
  std::vector<Int128> loads_;
  std::vector<std::int64_t> sizes_;  // of what shares them
};

}  // namespace

std::optional<HeightOptimum> optimum_of_height(const Network& network,
                                               const JobOperation& operation, std::int32_t height,
                                               const std::stop_token& stop) {
  const LowProblem problem = problem_of(network, operation, height);
  const auto solution = solver::solve_low(problem, stop);
  if (!solution) return std::nullopt;
  const auto exact = solver::exact_counts(problem, *solution);
  const LowCounts counts = exact ? *exact : solver::near_counts(problem, *solution);
  std::int64_t trees = 0;
  for (const std::int64_t of_root : solver::roots_of(problem, *solution, counts)) trees += of_root;
  const auto units = checked_div(Ratio(trees), counts.scale);
  const auto reached = units ? checked_mul(*units, network.unit) : std::nullopt;
  if (!reached) return std::nullopt;
  ArcLoads loads(network, problem, operation);
  loads.add(problem, *solution, counts);
  loads.share_evenly(solver::orbits_under(network, solver::find_fabric_group(
                                                       network, {}, weights_of(network, operation)))
                         .arcs);
  return HeightOptimum{
      *reached, solution->is_optimal, exact.has_value(), {{loads.parts(network, counts.scale)}}};
}

}  // namespace forestcoll
