#include "solver/flat/inside_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "forestcoll/pack.hpp"
#include "solver/common/box_network.hpp"
#include "solver/low/low_counts.hpp"
#include "solver/low/low_program.hpp"

namespace forestcoll::solver {
namespace {

// Ranks of a box up to which a program takes a second or so.
constexpr std::size_t kMostInsideMembers = 32;

// A little more than floating point errs by.
constexpr double kAboutAsMuch = 1 + 1e-9;

/// Trees of one kind of box, in its own numbers.
struct LocalTree {
  LowTree tree;
  std::int64_t trees = 0;
};

std::vector<LocalTree> trivial_tree(std::int64_t trees) {
  return {{{Rank(0), {Rank()}, {{}}}, trees}};
}

// One link for both directions of each. Nothing where some two are not alike.
std::optional<LowProblem> both_ways(LowProblem problem) {
  LowPhase& phase = problem.phases.front();
  const Digraph& graph = phase.network.graph;
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    const ArcId back = graph.find(graph.head(ArcId(a)), graph.tail(ArcId(a)));
    if (!back.valid() || phase.network.capacity[back] != phase.network.capacity[ArcId(a)]) {
      return std::nullopt;
    }
    phase.link[ArcId(a)] = std::min(a, back.index());
  }
  return problem;
}

/// The lowest trees of a box that its links carry.
class LocalTrees {
 public:
  LocalTrees(const Network& network, const std::stop_token& stop) : network_(network), stop_(stop) {
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      farthest_.push_back(height_lower_bound(network, single_root(network, Rank(r))));
    }
  }

  // Of one phase, or of the same trees for both, turned round.
  std::optional<std::vector<LocalTree>> find(Weights entering, const Ratio& per_capacity,
                                             bool is_both_ways) const {
    const std::size_t members = network_.ranks.size();
    std::int64_t times = 0;
    for (const std::int64_t own : entering) times = std::gcd(times, own);
    if (times == 0) return std::vector<LocalTree>();
    for (std::int64_t& own : entering) own /= times;
    const auto most = checked_div(per_capacity, Ratio(times));
    const std::int32_t least = *std::ranges::max_element(farthest_);
    if (!most || least >= static_cast<std::int32_t>(members)) return std::nullopt;
    for (std::int32_t more = 0; least + more < static_cast<std::int32_t>(members); ++more) {
      auto problem = problem_of(entering, more, is_both_ways);
      if (!problem) return std::nullopt;
      problem->most_congestion = most->to_double() * kAboutAsMuch;
      const auto solution = solve_low(*problem, stop_);
      if (stop_.stop_requested()) return std::nullopt;
      if (!solution) continue;
      const LowCounts counts = rounded_counts(*problem, *solution, times);
      if (counts.scale > per_capacity) continue;
      std::vector<LocalTree> found;
      for (std::size_t t = 0; t < counts.counts.size(); ++t) {
        if (counts.counts[t] > 0) found.push_back({solution->columns[t].tree, counts.counts[t]});
      }
      return found;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<LowProblem> problem_of(const Weights& entering, std::int32_t more,
                                                     bool is_both_ways) const {
    const std::int32_t least = *std::ranges::max_element(farthest_);
    LowProblem problem = low_problem(network_, entering, least + more);
    for (const std::int32_t own : farthest_) problem.heights.push_back(own + more);
    return is_both_ways ? both_ways(std::move(problem)) : problem;
  }

  const Network& network_;
  const std::stop_token& stop_;
  IdVector<Rank, std::int32_t> farthest_;
};

// Of two phases the same trees, where that is possible.
std::optional<std::vector<LocalTree>> local_trees(const Network& network, const Weights& entering,
                                                  const Weights& of_either,
                                                  const Ratio& per_capacity,
                                                  const std::stop_token& stop) {
  if (network.ranks.size() == 1) return trivial_tree(entering[Rank(0)]);
  if (network.ranks.size() > kMostInsideMembers) return std::nullopt;
  const LocalTrees trees(network, stop);
  if (of_either.empty()) return trees.find(entering, per_capacity, false);
  if (auto both = trees.find(of_either, per_capacity, true)) return both;
  const auto half = checked_div(per_capacity, Ratio(2));
  return half ? trees.find(entering, *half, false) : std::nullopt;
}

InsideTree in_core(const LocalTree& local, const BoxNetwork& box, const std::vector<Rank>& members,
                   bool is_backward) {
  InsideTree result{{}, {}, local.trees};
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Rank parent = local.tree.parent[Rank(i).index()];
    result.parent.push_back(parent.valid() ? members[parent.index()] : Rank());
    ArcRow way;
    for (const ArcId a : local.tree.routes[i]) way.push_back(box.of_core(a));
    if (is_backward) std::ranges::reverse(way);
    result.ways.push_back(std::move(way));
  }
  return result;
}

}  // namespace

std::optional<InsideTrees> inside_trees(const Core& core, const Boxes& boxes,
                                        const InsideNeeds& needs, const std::stop_token& stop) {
  InsideTrees result(core.compute.size());
  std::map<std::vector<std::int64_t>, std::vector<LocalTree>> known;
  for (std::size_t b = 0; b < boxes.members.size(); ++b) {
    const std::vector<Rank>& members = boxes.members[b];
    const BoxNetwork box(core, boxes, b, needs.is_backward);
    Weights from, of_either;
    for (const Rank r : members) {
      from.push_back(needs.entering[r.index()]);
      if (!needs.of_either.empty()) of_either.push_back(needs.of_either[r.index()]);
    }
    auto key = box.key();
    key.insert(key.end(), from.begin(), from.end());
    key.insert(key.end(), of_either.begin(), of_either.end());
    auto at = known.find(key);
    if (at == known.end()) {
      auto found = local_trees(box.network(), from, of_either, needs.per_capacity, stop);
      if (!found) return std::nullopt;
      at = known.emplace(std::move(key), *std::move(found)).first;
    }
    for (const LocalTree& local : at->second) {
      result[members[local.tree.root.index()].index()].push_back(
          in_core(local, box, members, needs.is_backward));
    }
  }
  return result;
}

}  // namespace forestcoll::solver
