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

// The lowest that the links carry.
std::optional<std::vector<LocalTree>> local_trees(const Network& network, Weights entering,
                                                  const Ratio& per_capacity,
                                                  const std::stop_token& stop) {
  const std::size_t members = network.ranks.size();
  if (members == 1) return trivial_tree(entering[Rank(0)]);
  std::int64_t times = 0;
  for (const std::int64_t own : entering) times = std::gcd(times, own);
  for (std::int64_t& own : entering) own /= times;
  const auto most = checked_div(per_capacity, Ratio(times));
  if (!most || members > kMostInsideMembers) return std::nullopt;
  IdVector<Rank, std::int32_t> farthest;
  for (std::size_t r = 0; r < members; ++r) {
    farthest.push_back(height_lower_bound(network, single_root(network, Rank(r))));
  }
  const std::int32_t least = *std::ranges::max_element(farthest);
  for (std::int32_t more = 0; least + more < static_cast<std::int32_t>(members); ++more) {
    LowProblem problem = low_problem(network, entering, least + more);
    for (const std::int32_t own : farthest) problem.heights.push_back(own + more);
    problem.most_congestion = most->to_double() * kAboutAsMuch;
    const auto solution = solve_low(problem, stop);
    if (stop.stop_requested()) return std::nullopt;
    if (!solution) continue;
    const LowCounts counts = rounded_counts(problem, *solution, times);
    if (counts.scale > per_capacity) continue;
    std::vector<LocalTree> found;
    for (std::size_t t = 0; t < counts.counts.size(); ++t) {
      if (counts.counts[t] > 0) found.push_back({solution->columns[t].tree, counts.counts[t]});
    }
    return found;
  }
  return std::nullopt;
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
                                        const std::vector<std::int64_t>& entering,
                                        const Ratio& per_capacity, bool is_backward,
                                        const std::stop_token& stop) {
  InsideTrees result(core.compute.size());
  std::map<std::vector<std::int64_t>, std::vector<LocalTree>> known;
  for (std::size_t b = 0; b < boxes.members.size(); ++b) {
    const std::vector<Rank>& members = boxes.members[b];
    const BoxNetwork box(core, boxes, b, is_backward);
    Weights from;
    for (const Rank r : members) from.push_back(entering[r.index()]);
    auto key = box.key();
    key.insert(key.end(), from.begin(), from.end());
    auto at = known.find(key);
    if (at == known.end()) {
      auto found = local_trees(box.network(), std::move(from), per_capacity, stop);
      if (!found) return std::nullopt;
      at = known.emplace(std::move(key), *std::move(found)).first;
    }
    for (const LocalTree& local : at->second) {
      result[members[local.tree.root.index()].index()].push_back(
          in_core(local, box, members, is_backward));
    }
  }
  return result;
}

}  // namespace forestcoll::solver
