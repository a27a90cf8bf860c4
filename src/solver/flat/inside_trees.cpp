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

std::vector<LocalTree> trivial_tree(std::int64_t trees) {
  return {{{Rank(0), {Rank()}, {{}}}, trees}};
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
    const std::int32_t least = *std::ranges::max_element(farthest_);
    const auto members_of_box = static_cast<std::int32_t>(members);
    const Needs needs{std::move(entering), times, per_capacity, is_both_ways};
    for (std::int32_t height = least; height < members_of_box; ++height) {
      const std::int32_t more = height - least;
      if (auto found = within(needs, height, more)) return found;
      if (stop_.stop_requested()) return std::nullopt;
      // Roots that are nearer the farthest may have trees as high as the others.
      const std::int32_t nearest = *std::ranges::min_element(farthest_);
      if (nearest == least || !within(needs, height, height - nearest)) continue;
      for (std::int32_t less = more + 1;; ++less) {
        auto found = within(needs, height, less);
        if (found || less == height - nearest) return found;
      }
    }
    return std::nullopt;
  }

  // From which ranks trees both ways may come that are lower than that: so many in all, and of each
  // rank no more than `most`.
  [[nodiscard]] std::optional<Weights> entries_below(std::int32_t height, const Weights& most,
                                                     std::int64_t all,
                                                     const Ratio& per_capacity) const {
    for (std::int32_t h = *std::ranges::max_element(farthest_); h < height; ++h) {
      auto problem = both_ways(low_problem(network_, {}, h));
      if (!problem || !limit_roots(*problem, most, per_capacity)) return std::nullopt;
      problem->most_congestion =
          per_capacity.to_double() / static_cast<double>(all) / static_cast<double>(kFineCapacity);
      const auto solution = solve_low(*problem, stop_);
      if (stop_.stop_requested()) return std::nullopt;
      if (solution) return roots_in_whole(*solution, all);
    }
    return std::nullopt;
  }

 private:
  // Capacities as whole numbers, finer.
  static constexpr std::int64_t kFineCapacity = 1'024;

  static bool limit_roots(LowProblem& problem, const Weights& most, const Ratio& per_capacity) {
    constexpr Int128 kMostCapacity = Int128{1} << 52;
    problem.shares.reset();
    for (Capacity& capacity : problem.capacity) {
      if (Int128{capacity} * kFineCapacity >= kMostCapacity) return false;
      capacity *= kFineCapacity;
    }
    for (const std::int64_t own : most) {
      const Int128 fine = Int128{own} * kFineCapacity;
      if (fine >= kMostCapacity) return false;
      const Int128 capacity = fine * per_capacity.den() / per_capacity.num();
      if (capacity >= kMostCapacity) return false;
      problem.root_capacity.push_back(static_cast<Capacity>(capacity));
    }
    return true;
  }

  // The largest remainders first.
  [[nodiscard]] Weights roots_in_whole(const LowSolution& solution, std::int64_t all) const {
    std::vector<double> exact(network_.ranks.size(), 0);
    for (std::size_t t = 0; t < solution.columns.size(); ++t) {
      exact[solution.columns[t].tree.root.index()] += solution.amounts[t];
    }
    const double sum = std::accumulate(exact.begin(), exact.end(), 0.0);
    Weights roots;
    std::vector<std::pair<double, Rank>> rests;
    std::int64_t left = all;
    for (const double amount : exact) {
      const double own = amount / sum * static_cast<double>(all);
      const auto whole = std::min(left, static_cast<std::int64_t>(own));
      rests.emplace_back(static_cast<double>(whole) - own, roots.push_back(whole));
      left -= whole;
    }
    std::ranges::sort(rests);
    for (std::size_t i = 0; left > 0; i = (i + 1) % rests.size(), --left) ++roots[rests[i].second];
    return roots;
  }

  struct Needs {
    Weights entering;
    std::int64_t times = 1;
    Ratio per_capacity;
    bool is_both_ways = false;
  };

  // No tree higher than that, nor by so much more than its root is from the farthest.
  [[nodiscard]] std::optional<std::vector<LocalTree>> within(const Needs& needs,
                                                             std::int32_t height,
                                                             std::int32_t more) const {
    LowProblem low = low_problem(network_, needs.entering, height);
    for (const std::int32_t own : farthest_) low.heights.push_back(std::min(own + more, height));
    auto problem = needs.is_both_ways ? both_ways(std::move(low)) : std::move(low);
    const auto most = checked_div(needs.per_capacity, Ratio(needs.times));
    if (!problem || !most) return std::nullopt;
    problem->most_congestion = most->to_double() * kAboutAsMuch;
    const auto solution = solve_low(*problem, stop_);
    if (!solution || stop_.stop_requested()) return std::nullopt;
    const LowCounts counts = rounded_counts(*problem, *solution, needs.times);
    if (counts.scale > needs.per_capacity) return std::nullopt;
    std::vector<LocalTree> found;
    for (std::size_t t = 0; t < counts.counts.size(); ++t) {
      if (counts.counts[t] > 0) found.push_back({solution->columns[t].tree, counts.counts[t]});
    }
    return found;
  }

  const Network& network_;
  const std::stop_token& stop_;
  IdVector<Rank, std::int32_t> farthest_;
};

/// What is asked of one box.
class LocalSearch {
 public:
  LocalSearch(const BoxNetwork& box, const Ratio& per_capacity, InsideKnown& known,
              const std::stop_token& stop)
      : box_(box), per_capacity_(per_capacity), known_(known), stop_(stop) {}

  // Of two phases the same trees, where that is possible.
  const std::optional<std::vector<LocalTree>>& find(const Weights& entering,
                                                    const Weights& of_either) {
    if (of_either.empty()) return find_at(entering, per_capacity_, false);
    const auto& both = find_both_ways(of_either);
    const auto half = checked_div(per_capacity_, Ratio(2));
    return both || !half ? both : find_at(entering, *half, false);
  }

  const std::optional<std::vector<LocalTree>>& find_both_ways(const Weights& entering) {
    return find_at(entering, per_capacity_, true);
  }

 private:
  const std::optional<std::vector<LocalTree>>& find_at(const Weights& entering,
                                                       const Ratio& per_capacity,
                                                       bool is_both_ways) {
    auto key = box_.key();
    key.insert(key.end(), entering.begin(), entering.end());
    key.insert(key.end(), {per_capacity.num(), per_capacity.den(), is_both_ways ? 1 : 0});
    const auto [at, is_new] = known_.try_emplace(std::move(key));
    if (is_new) at->second = search(entering, per_capacity, is_both_ways);
    return at->second;
  }

  [[nodiscard]] std::optional<std::vector<LocalTree>> search(const Weights& entering,
                                                             const Ratio& per_capacity,
                                                             bool is_both_ways) const {
    const std::size_t members = box_.network().ranks.size();
    if (members == 1) return trivial_tree(entering[Rank(0)]);
    if (members > kMostInsideMembers) return std::nullopt;
    return LocalTrees(box_.network(), stop_).find(entering, per_capacity, is_both_ways);
  }

  const BoxNetwork& box_;
  const Ratio per_capacity_;
  InsideKnown& known_;
  const std::stop_token& stop_;
};

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

// Height of the highest; nothing stands for trees that are higher than any.
std::int32_t highest_of(const std::optional<std::vector<LocalTree>>& trees, std::size_t members) {
  if (!trees) return static_cast<std::int32_t>(members);
  std::int32_t height = 0;
  for (const LocalTree& local : *trees) height = std::max(height, height_of(local.tree));
  return height;
}

}  // namespace

std::vector<std::int64_t> lower_entries(const Core& core, const Boxes& boxes,
                                        const InsideNeeds& needs,
                                        std::span<const std::int64_t> owned,
                                        std::span<const std::int64_t> room, std::int64_t all,
                                        InsideKnown& known, const std::stop_token& stop) {
  std::vector<std::int64_t> result(core.compute.size(), -1);
  std::map<std::vector<std::int64_t>, std::optional<Weights>> entries;
  for (std::size_t b = 0; b < boxes.members.size(); ++b) {
    const std::vector<Rank>& members = boxes.members[b];
    if (members.size() == 1 || members.size() > kMostInsideMembers) continue;
    const BoxNetwork box(core, boxes, b, needs.is_backward);
    Weights of_either, most;
    for (const Rank r : members) {
      of_either.push_back(needs.of_either[r.index()]);
      most.push_back(owned[r.index()] + room[r.index()]);
    }
    auto key = box.key();
    key.insert(key.end(), of_either.begin(), of_either.end());
    key.insert(key.end(), most.begin(), most.end());
    auto at = entries.find(key);
    if (at == entries.end()) {
      const auto& found =
          LocalSearch(box, needs.per_capacity, known, stop).find_both_ways(of_either);
      const std::int32_t height = highest_of(found, members.size());
      auto lower =
          LocalTrees(box.network(), stop).entries_below(height, most, all, needs.per_capacity);
      at = entries.emplace(std::move(key), std::move(lower)).first;
    }
    if (!at->second) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t r = members[i].index();
      result[r] = std::max<std::int64_t>((*at->second)[Rank(i)] - owned[r], 0);
    }
  }
  return result;
}

std::optional<InsideTrees> inside_trees(const Core& core, const Boxes& boxes,
                                        const InsideNeeds& needs, InsideKnown& known,
                                        const std::stop_token& stop) {
  InsideTrees result(core.compute.size());
  for (std::size_t b = 0; b < boxes.members.size(); ++b) {
    const std::vector<Rank>& members = boxes.members[b];
    const BoxNetwork box(core, boxes, b, needs.is_backward);
    Weights from, of_either;
    for (const Rank r : members) {
      from.push_back(needs.entering[r.index()]);
      if (!needs.of_either.empty()) of_either.push_back(needs.of_either[r.index()]);
    }
    const auto& found = LocalSearch(box, needs.per_capacity, known, stop).find(from, of_either);
    if (!found) return std::nullopt;
    for (const LocalTree& local : *found) {
      result[members[local.tree.root.index()].index()].push_back(
          in_core(local, box, members, needs.is_backward));
    }
  }
  return result;
}

}  // namespace forestcoll::solver
