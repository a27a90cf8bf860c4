#include "solver/low/low_counts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "forest/route_builder.hpp"
#include "solver/common/join_trees.hpp"
#include "solver/linear/exact_equations.hpp"

namespace forestcoll::solver {
namespace {

// What is this near to 0 is 0.
constexpr double kNothing = 1e-9;

constexpr std::int64_t kMostDenominator = std::int64_t{1} << 30;

// Exchanges: links that are looked at, columns besides those that are taken, and the power of loads
// whose sum is to fall.
constexpr std::int64_t kMostStepsOfExchange = 20'000'000;
constexpr std::size_t kMostOthers = 100;
constexpr int kSquarings = 5;

std::optional<Ratio> scale_of(const LowProblem& problem, const LowSolution& solution,
                              const std::vector<std::int64_t>& counts) {
  std::vector<Int128> loads(problem.capacity.size(), 0);
  for (std::size_t t = 0; t < counts.size(); ++t) {
    for (const auto& [link, load] : solution.columns[t].loads)
      loads[link] += Int128{load} * counts[t];
  }
  Ratio scale = 0;
  for (std::size_t j = 0; j < loads.size(); ++j) {
    const auto full = Ratio::reduced(loads[j], problem.capacity[j]);
    if (!full) return std::nullopt;
    scale = std::max(scale, *full);
  }
  return scale;
}

// The rows of one solution, as equations over its columns that are taken and the congestion.
class ExactRows {
 public:
  ExactRows(const LowProblem& problem, const LowSolution& solution)
      : problem_(problem), solution_(solution) {
    for (std::size_t t = 0; t < solution.columns.size(); ++t) {
      if (solution.amounts[t] > kNothing) taken_.push_back(t);
    }
  }

  std::optional<LowCounts> solve() {
    add_links();
    add_roots();
    const auto found = solve_exactly(equations_, taken_.size() + 1, kMostDenominator);
    if (!found) return std::nullopt;
    LowCounts result{std::vector<std::int64_t>(solution_.columns.size(), 0), 0};
    std::int64_t common = 0;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (found->numerators[i] < 0 || found->numerators[i] >= kMostDenominator * 64) {
        return std::nullopt;
      }
      common = std::gcd(common, found->numerators[i]);
    }
    if (common == 0) return std::nullopt;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      result.counts[taken_[i]] = found->numerators[i] / common;
    }
    const auto scale = scale_of(problem_, solution_, result.counts);
    if (!scale || !is_as_good(*scale, result.counts)) return std::nullopt;
    result.scale = *scale;
    return result;
  }

 private:
  void add_links() {
    std::vector<Equation> of_link(problem_.capacity.size());
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      for (const auto& [link, load] : solution_.columns[taken_[i]].loads) {
        of_link[link].terms.push_back({i, load});
      }
    }
    for (std::size_t j = 0; j < of_link.size(); ++j) {
      if (solution_.is_tight[j] == 0) continue;
      of_link[j].terms.push_back({taken_.size(), -problem_.capacity[j]});
      equations_.push_back(std::move(of_link[j]));
    }
  }

  // What each root has in every phase: its share; or the same in all, and 1 together.
  void add_roots() {
    const std::size_t phases = problem_.phases.size();
    const std::size_t ranks = problem_.phases.front().network.ranks.size();
    Equation all{{}, 1};
    for (std::size_t r = 0; r < ranks; ++r) {
      for (std::size_t p = 0; p < phases; ++p) {
        Equation own{{}, problem_.shares ? (*problem_.shares)[Rank(r)] : 0};
        for (std::size_t i = 0; i < taken_.size(); ++i) {
          const LowColumn& column = solution_.columns[taken_[i]];
          if (column.tree.root != Rank(r)) continue;
          if (column.phase == p) own.terms.push_back({i, 1});
          if (column.phase == 0 && p > 0) own.terms.push_back({i, -1});
          if (column.phase == 0 && p == 0) all.terms.push_back({i, 1});
        }
        const bool is_asked = problem_.shares.has_value() || p > 0;
        if (is_asked && !own.terms.empty()) equations_.push_back(std::move(own));
      }
    }
    if (!problem_.shares) equations_.push_back(std::move(all));
  }

  // Rounding may have made equations that no solution of the program keeps.
  [[nodiscard]] bool is_as_good(const Ratio& scale, const std::vector<std::int64_t>& counts) const {
    double total = 0, owed = 0;
    for (std::size_t t = 0; t < counts.size(); ++t) {
      if (solution_.columns[t].phase == 0) total += static_cast<double>(counts[t]);
      if (solution_.columns[t].phase == 0) owed += solution_.amounts[t];
    }
    return scale.to_double() / total <= solution_.congestion / owed * (1 + kNothing);
  }

  const LowProblem& problem_;
  const LowSolution& solution_;
  std::vector<std::size_t> taken_;
  std::vector<Equation> equations_;
};

// `total` as whole numbers in proportion to `amounts`, the largest remainders first.
std::vector<std::int64_t> apportioned(const std::vector<double>& amounts, std::int64_t total) {
  const double all = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  std::vector<std::int64_t> counts;
  std::vector<std::pair<double, std::size_t>> rests;
  std::int64_t left = total;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const double exact = all > 0 ? amounts[i] / all * static_cast<double>(total) : 0;
    counts.push_back(std::min(left, static_cast<std::int64_t>(exact + kNothing)));
    rests.emplace_back(static_cast<double>(counts.back()) - exact, i);
    left -= counts.back();
  }
  std::ranges::stable_sort(rests, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; left > 0; i = (i + 1) % rests.size(), --left) ++counts[rests[i].second];
  return counts;
}

/// Counts of columns that are exchanged one by one.
class Rounding {
 public:
  Rounding(const LowProblem& problem, const LowSolution& solution)
      : problem_(problem), solution_(solution), counts_(solution.columns.size(), 0) {}

  LowCounts run(std::int64_t total) {
    const std::size_t ranks = problem_.phases.front().network.ranks.size();
    std::vector<double> of_root(ranks, 0);
    for (std::size_t t = 0; t < counts_.size(); ++t) {
      const LowColumn& column = solution_.columns[t];
      if (column.phase == 0) of_root[column.tree.root.index()] += solution_.amounts[t];
    }
    std::vector<std::int64_t> owed;
    if (problem_.shares) {
      for (const std::int64_t share : *problem_.shares) owed.push_back(share * total);
    } else {
      owed = apportioned(of_root, total);
    }
    for (std::size_t p = 0; p < problem_.phases.size(); ++p) {
      for (std::size_t r = 0; r < ranks; ++r) apportion(p, Rank(r), owed[r]);
    }
    exchange();
    return {counts_, *scale_of(problem_, solution_, counts_)};
  }

 private:
  void apportion(std::size_t phase, Rank root, std::int64_t owed) {
    if (owed == 0) return;
    std::vector<std::size_t> own;
    std::vector<double> amounts;
    for (std::size_t t = 0; t < counts_.size(); ++t) {
      const LowColumn& column = solution_.columns[t];
      if (column.phase != phase || column.tree.root != root) continue;
      own.push_back(t);
      amounts.push_back(solution_.amounts[t]);
    }
    const auto counts = apportioned(amounts, owed);
    for (std::size_t i = 0; i < own.size(); ++i) counts_[own[i]] = counts[i];
  }

  // A power of the load: the fullest links count most.
  [[nodiscard]] double weight(std::size_t link, std::int64_t load) const {
    double power = static_cast<double>(load) / static_cast<double>(problem_.capacity[link]) / full_;
    for (int i = 0; i < kSquarings; ++i) power *= power;
    return power;
  }

  void find_loads() {
    loads_.assign(problem_.capacity.size(), 0);
    for (std::size_t t = 0; t < counts_.size(); ++t) {
      for (const auto& [link, load] : solution_.columns[t].loads) loads_[link] += load * counts_[t];
    }
    full_ = 0;
    for (std::size_t j = 0; j < loads_.size(); ++j) {
      full_ = std::max(full_,
                       static_cast<double>(loads_[j]) / static_cast<double>(problem_.capacity[j]));
    }
  }

  void exchange() {
    const auto pool = columns_to_try();
    change_.assign(problem_.capacity.size(), 0);
    for (std::int64_t steps = 0; steps < kMostStepsOfExchange;) {
      find_loads();
      double best = -kNothing;
      std::pair<std::size_t, std::size_t> chosen;
      for (const std::size_t from : pool) {
        if (counts_[from] == 0) continue;
        for (const std::size_t to : pool) {
          if (to == from || !may_replace(from, to)) continue;
          const double gain = change_by(from, to, steps);
          if (gain >= best) continue;
          best = gain;
          chosen = {from, to};
        }
      }
      if (best == -kNothing) return;
      --counts_[chosen.first];
      ++counts_[chosen.second];
    }
  }

  [[nodiscard]] std::vector<std::size_t> columns_to_try() const {
    std::vector<std::size_t> pool;
    std::size_t others = 0;
    for (std::size_t t = counts_.size(); t-- > 0;) {
      if (counts_[t] > 0 || solution_.amounts[t] > kNothing || others++ < kMostOthers)
        pool.push_back(t);
    }
    return pool;
  }

  // With one phase and any shares, trees of other roots, too.
  [[nodiscard]] bool may_replace(std::size_t from, std::size_t to) const {
    const LowColumn &a = solution_.columns[from], &b = solution_.columns[to];
    const bool is_any_root = !problem_.shares && problem_.phases.size() == 1;
    return a.phase == b.phase && (is_any_root || a.tree.root == b.tree.root);
  }

  double change_by(std::size_t from, std::size_t to, std::int64_t& steps) {
    const auto &out = solution_.columns[from].loads, &in = solution_.columns[to].loads;
    steps += static_cast<std::int64_t>(out.size() + in.size());
    for (const auto& [link, load] : out) change_[link] -= load;
    for (const auto& [link, load] : in) change_[link] += load;
    double sum = 0;
    for (const auto* loads : {&out, &in}) {
      for (const auto& [link, load] : *loads) {
        if (change_[link] == 0) continue;
        sum += weight(link, loads_[link] + change_[link]) - weight(link, loads_[link]);
        change_[link] = 0;
      }
    }
    return sum;
  }

  const LowProblem& problem_;
  const LowSolution& solution_;
  std::vector<std::int64_t> counts_, loads_, change_;
  double full_ = 1;
};

}  // namespace

std::optional<LowCounts> exact_counts(const LowProblem& problem, const LowSolution& solution) {
  return ExactRows(problem, solution).solve();
}

LowCounts rounded_counts(const LowProblem& problem, const LowSolution& solution,
                         std::int64_t total) {
  return Rounding(problem, solution).run(total);
}

LowCounts near_counts(const LowProblem& problem, const LowSolution& solution) {
  double all = 0;
  for (std::size_t t = 0; t < solution.columns.size(); ++t) {
    if (solution.columns[t].phase == 0) all += solution.amounts[t];
  }
  LowCounts near;
  for (const double amount : solution.amounts) {
    near.counts.push_back(std::llround(amount / all * static_cast<double>(kMostDenominator)));
  }
  near.scale = *scale_of(problem, solution, near.counts);
  return near;
}

Weights roots_of(const LowProblem& problem, const LowSolution& solution, const LowCounts& counts) {
  Weights roots(problem.phases.front().network.ranks.size(), 0);
  for (std::size_t t = 0; t < counts.counts.size(); ++t) {
    const LowColumn& column = solution.columns[t];
    if (column.phase == 0) roots[column.tree.root] += counts.counts[t];
  }
  return roots;
}

Forest low_forest(const LowProblem& problem, const LowSolution& solution, const LowCounts& counts,
                  std::size_t phase) {
  const Network& network = problem.phases[phase].network;
  RouteBuilder builder(network.ranks);
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  for (std::size_t t = 0; t < counts.counts.size(); ++t) {
    const LowColumn& column = solution.columns[t];
    if (column.phase != phase || counts.counts[t] == 0) continue;
    trees.push_back({column.tree.root, counts.counts[t], height_of(column.tree)});
    for (std::size_t v = 0; v < network.ranks.size(); ++v) {
      const auto& arcs = column.tree.routes[v];
      if (arcs.empty()) {
        routes.emplace_back();
        continue;
      }
      const Rank parent = column.tree.parent[v];
      std::vector<NodeId> path = {network.ranks[parent.index()]};
      for (const ArcId arc : arcs) path.push_back(network.graph.head(arc));
      routes.push_back(builder.add(parent, path));
    }
  }
  join_equal_trees(trees, routes, network.ranks.size());
  return {builder.take(), std::move(trees), std::move(routes)};
}

}  // namespace forestcoll::solver
