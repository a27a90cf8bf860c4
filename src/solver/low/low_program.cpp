// Minimise the congestion λ of trees whose amounts y add up to what is owed. The dual: links have
// prices p with Σ c·p ≤ 1, and no tree of root r in phase i is cheaper than s(i, r); maximise
// Σ w(r)·s(r), or with any shares the least Σ_i s(i, r) of all r. Trees are rows of the dual, which
// come one after the other, as `LinearProgram` has it; the prices of rows are the amounts.
//
// At any prices, what the cheapest trees cost is a bound from the other side. Where trees are
// exact and both meet, that is the optimum.
#include "solver/low/low_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "solver/linear/linear_program.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {
namespace {

constexpr std::int64_t kMostPivots = 20'000;
constexpr int kMostRounds = 400;

// Two amounts that differ by less, as a part of them, are the same.
constexpr double kSame = 1e-7;

// Rounds whose gain tells what more of them may gain: as much again, so many times.
constexpr std::size_t kRoundsOfGain = 8;
constexpr double kTimesOfGain = 2;

constexpr double kAllPrices = 4503599627370496.0;  // 2^52

class ColumnGeneration {
 public:
  ColumnGeneration(const LowProblem& problem, const std::stop_token& stop)
      : problem_(problem), stop_(stop), roots_(problem.phases.front().network.ranks.size()) {
    for (const LowPhase& phase : problem.phases) {
      searches_.emplace_back(phase.network, problem.height);
      for (std::size_t r = 0; r < problem.heights.size(); ++r) {
        searches_.back().limit(Rank(r), problem.heights[Rank(r)]);
      }
    }
    for (const Capacity c : problem.capacity) all_capacity_ += static_cast<double>(c);
    for (const Capacity c : problem.root_capacity) all_capacity_ += static_cast<double>(c);
  }

  std::optional<LowSolution> run() {
    if (!find_roots()) return std::nullopt;
    begin();
    std::vector<double> prices;
    for (const Capacity c : problem_.capacity) prices.push_back(1 / static_cast<double>(c));
    set_prices(prices);
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      for (const Rank root : used_) add(i, *searches_[i].cheapest(root));
    }
    if (!improve()) return std::nullopt;
    LowSolution found = solution();
    if (!is_worth(found.congestion)) return std::nullopt;
    return found;
  }

 private:
  // Those that reach all ranks in all phases.
  bool find_roots() {
    const std::vector<double> none(problem_.capacity.size(), 0);
    set_prices(none);
    for (std::size_t r = 0; r < roots_; ++r) {
      if (problem_.shares && (*problem_.shares)[Rank(r)] == 0) continue;
      if (has_root_capacity() && problem_.root_capacity[Rank(r)] == 0) continue;
      const bool is_low = std::ranges::all_of(
          searches_, [&](auto& search) { return search.cheapest(Rank(r)).has_value(); });
      if (is_low) used_.emplace_back(r);
      if (!is_low && problem_.shares) return false;
    }
    return !used_.empty();
  }

  [[nodiscard]] bool has_root_capacity() const { return problem_.root_capacity.size() > 0; }

  // Variables: the prices of links, what trees of each phase and root cost at least, what is to be
  // maximised, and the prices of roots.
  [[nodiscard]] std::size_t cost_variable(std::size_t phase, Rank root) const {
    return problem_.capacity.size() + phase * roots_ + root.index();
  }
  [[nodiscard]] std::size_t worth_variable() const {
    return problem_.capacity.size() + searches_.size() * roots_;
  }

  [[nodiscard]] std::size_t root_variable(Rank root) const {
    return worth_variable() + 1 + root.index();
  }

  // Prices add up to their number, by capacity: that keeps them in reach of tolerances.
  void begin() {
    program_.emplace(worth_variable() + 1 + problem_.root_capacity.size());
    const std::vector<Term> worth{{worth_variable(), 1}};
    program_->maximise(worth);
    std::vector<Term> terms;
    for (std::size_t j = 0; j < problem_.capacity.size(); ++j) {
      terms.push_back({j, problem_.capacity[j]});
    }
    for (std::size_t r = 0; r < problem_.root_capacity.size(); ++r) {
      terms.push_back({root_variable(Rank(r)), problem_.root_capacity[Rank(r)]});
    }
    program_->add_at_most(terms, all_capacity_);
    std::vector<std::vector<Term>> rows;
    for (const Rank root : used_) {
      if (rows.empty() || !problem_.shares) rows.push_back({{worth_variable(), 1}});
      if (has_root_capacity()) rows.back().push_back({root_variable(root), -1});
      for (std::size_t i = 0; i < searches_.size(); ++i) {
        rows.back().push_back(
            {cost_variable(i, root), problem_.shares ? -(*problem_.shares)[root] : -1});
      }
    }
    for (const auto& row : rows) program_->add_at_most(row, 0);
    first_tree_ = 1 + rows.size();
  }

  // Of an arc, with what it takes of limits.
  static double price_of(const LowPhase& phase, ArcId arc, const std::vector<double>& prices) {
    double price = std::max(0.0, prices[phase.link[arc]]);
    if (phase.shared.empty()) return price;
    for (const auto& [link, times] : phase.shared[arc]) {
      price += static_cast<double>(times) * std::max(0.0, prices[link]);
    }
    return price;
  }

  void set_prices(const std::vector<double>& prices) {
    double all = 0;
    for (const LowPhase& phase : problem_.phases) {
      for (std::size_t a = 0; a < phase.link.size(); ++a) all += price_of(phase, ArcId(a), prices);
    }
    scale_ = all > 0 ? kAllPrices / all / 2 : 0;
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      const LowPhase& phase = problem_.phases[i];
      IdVector<ArcId, std::int64_t> whole;
      for (std::size_t a = 0; a < phase.link.size(); ++a) {
        whole.push_back(std::llround(price_of(phase, ArcId(a), prices) * scale_));
      }
      searches_[i].set_prices(whole);
      const auto ranks = static_cast<std::int64_t>(roots_);
      steps_ += ranks * static_cast<std::int64_t>(whole.size()) * 8;
      if (!searches_[i].is_by_sets()) steps_ += ranks * ranks * ranks * 64;
      if (!searches_[i].is_by_sets()) continue;
      std::int64_t sets = std::min<std::int64_t>(problem_.height, ranks);
      for (std::int64_t r = 0; r < ranks; ++r) sets *= 3;
      steps_ += 2 * sets;
    }
  }

  void add(std::size_t phase, LowTree tree) {
    LowColumn column{phase, std::move(tree), {}};
    const LowPhase& of = problem_.phases[phase];
    std::map<std::size_t, std::int64_t> loads;
    for (const auto& route : column.tree.routes) {
      for (const ArcId a : route) {
        ++loads[of.link[a]];
        if (of.shared.empty()) continue;
        for (const auto& [link, times] : of.shared[a]) loads[link] += times;
      }
    }
    column.loads.assign(loads.begin(), loads.end());
    if (!known_.emplace(phase, column.tree.root, column.loads).second) return;
    std::vector<Term> terms{{cost_variable(phase, column.tree.root), 1}};
    for (const auto& [link, load] : column.loads) terms.push_back({link, -load});
    program_->add_at_most(terms, 0);
    columns_.push_back(std::move(column));
  }

  bool improve() {
    std::int64_t pivots = 0;
    for (int round = 0; round < kMostRounds; ++round) {
      if (stop_.stop_requested() || !program_->solve(kMostPivots)) return is_solved_;
      remember();
      pivots += program_->pivots();
      if (!may_be_worth()) return false;
      if (pivots > kMostPivots || steps_ > problem_.most_steps) return true;
      std::vector<double> prices;
      for (std::size_t j = 0; j < problem_.capacity.size(); ++j) {
        prices.push_back(program_->value(j));
      }
      set_prices(prices);
      const std::size_t before = columns_.size();
      double bound = add_cheaper(LowTreeSearch::Start::breadth_first);
      if (columns_.size() == before && !searches_.front().is_exact()) {
        bound = add_cheaper(LowTreeSearch::Start::cheapest_edges);
      }
      is_optimal_ = bound >= worth_ * (1 - kSame) && searches_.front().is_exact();
      if (columns_.size() == before) return true;
    }
    return true;
  }

  [[nodiscard]] bool is_worth(double congestion) const {
    return !problem_.most_congestion || congestion <= *problem_.most_congestion * (1 + kSame);
  }

  // From round to round less is gained, so that what the last ones gained is more than the next
  // ones will.
  bool may_be_worth() {
    congestions_.push_back(worth_ / all_capacity_);
    if (is_worth(congestions_.back()) || congestions_.size() <= kRoundsOfGain) return true;
    const double gain = congestions_[congestions_.size() - 1 - kRoundsOfGain] - congestions_.back();
    return is_worth(congestions_.back() - kTimesOfGain * gain);
  }

  void remember() {
    is_solved_ = true;
    worth_ = program_->value(worth_variable());
    owed_.assign(roots_, 0);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      owed_[used_[i].index()] = problem_.shares ? static_cast<double>((*problem_.shares)[used_[i]])
                                                : std::max(0.0, program_->price(1 + i));
    }
    amounts_.clear();
    for (std::size_t t = 0; t < columns_.size(); ++t) {
      amounts_.push_back(std::max(0.0, program_->price(first_tree_ + t)));
    }
  }

  // Trees that cost less than the program knows. Returns what the cheapest are worth.
  double add_cheaper(LowTreeSearch::Start start) {
    double all = 0, least = std::numeric_limits<double>::infinity();
    for (const Rank root : used_) {
      double of_root = 0;
      for (std::size_t i = 0; i < searches_.size(); ++i) {
        auto tree = searches_[i].cheapest(root, start);
        if (!tree) continue;
        const double cost = static_cast<double>(searches_[i].cost_of(*tree)) / scale_;
        of_root += cost;
        const double known = program_->value(cost_variable(i, root));
        if (cost < known - kSame / 100 * std::max(1.0, worth_)) add(i, *std::move(tree));
      }
      if (has_root_capacity()) of_root += program_->value(root_variable(root));
      all += of_root * static_cast<double>(problem_.shares ? (*problem_.shares)[root] : 1);
      least = std::min(least, of_root);
    }
    return problem_.shares ? all : least;
  }

  LowSolution solution() {
    LowSolution result{std::move(columns_), std::move(amounts_), {}, 0, is_optimal_, steps_};
    result.amounts.resize(result.columns.size(), 0);
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      for (const Rank root : used_) trim(i, root, result);
    }
    std::vector<double> loads(problem_.capacity.size(), 0);
    for (std::size_t t = 0; t < result.columns.size(); ++t) {
      for (const auto& [link, load] : result.columns[t].loads) {
        loads[link] += static_cast<double>(load) * result.amounts[t];
      }
    }
    const auto full = [&](std::size_t j) {
      return loads[j] / static_cast<double>(problem_.capacity[j]);
    };
    for (std::size_t j = 0; j < loads.size(); ++j) {
      result.congestion = std::max(result.congestion, full(j));
    }
    for (std::size_t r = 0; r < problem_.root_capacity.size(); ++r) {
      const auto most = static_cast<double>(problem_.root_capacity[Rank(r)]);
      if (most > 0) result.congestion = std::max(result.congestion, owed_[r] / most);
    }
    for (std::size_t j = 0; j < loads.size(); ++j) {
      result.is_tight.push_back(full(j) > result.congestion * (1 - kSame) ? 1 : 0);
    }
    return result;
  }

  // Trees that cost nothing may be more than what is owed.
  void trim(std::size_t phase, Rank root, LowSolution& result) const {
    double left = owed_[root.index()];
    for (std::size_t t = 0; t < result.columns.size(); ++t) {
      const LowColumn& column = result.columns[t];
      if (column.phase != phase || column.tree.root != root) continue;
      const bool is_all = result.amounts[t] <= left + kSame / 1000;
      if (!is_all) result.amounts[t] = std::max(left, 0.0);
      left -= result.amounts[t];
    }
  }

  const LowProblem& problem_;
  const std::stop_token& stop_;
  const std::size_t roots_;
  std::vector<LowTreeSearch> searches_;
  std::vector<Rank> used_;
  double all_capacity_ = 0;
  std::optional<LinearProgram> program_;
  std::size_t first_tree_ = 0;
  std::vector<LowColumn> columns_;
  std::set<std::tuple<std::size_t, Rank, std::vector<std::pair<std::size_t, std::int64_t>>>> known_;
  double scale_ = 0;
  std::int64_t steps_ = 0;
  std::vector<double> amounts_;
  std::vector<double> owed_;  ///< by root
  double worth_ = 0;
  std::vector<double> congestions_;  ///< by round
  bool is_solved_ = false, is_optimal_ = false;
};

// By arc; limits are numbered behind the arcs.
IdVector<ArcId, std::vector<LowUse>> uses_of_limits(const Network& network) {
  if (network.limits.empty()) return {};
  const std::size_t arcs = network.graph.arc_count();
  IdVector<ArcId, std::vector<LowUse>> uses(arcs, {});
  for (std::size_t l = 0; l < network.limits.size(); ++l) {
    for (const auto& [arc, times] : network.limits[l].uses) uses[arc].push_back({arcs + l, times});
  }
  return uses;
}

}  // namespace

LowProblem low_problem(const Network& network, const Weights& shares, std::int32_t height) {
  LowProblem problem{{{network, {}}}, {}, shares, height, {}};
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    problem.phases.front().link.push_back(a);
    problem.capacity.push_back(network.capacity[ArcId(a)]);
  }
  problem.phases.front().shared = uses_of_limits(network);
  for (const ArcLimit& limit : network.limits) problem.capacity.push_back(limit.capacity);
  return problem;
}

std::optional<LowProblem> both_ways(LowProblem problem) {
  LowPhase& phase = problem.phases.front();
  const Digraph& graph = phase.network.graph;
  if (!is_symmetric(phase.network) || !has_limits_both_ways(phase.network)) return std::nullopt;
  const auto one_way = phase.shared;
  for (std::size_t i = 0; i < phase.link.size(); ++i) {
    const Arc& arc = graph.arcs()[i];
    const ArcId back = graph.find(arc.head, arc.tail);
    phase.link[ArcId(i)] = std::min(i, back.index());
    if (one_way.empty()) continue;
    auto& uses = phase.shared[ArcId(i)];
    uses.insert(uses.end(), one_way[back].begin(), one_way[back].end());
  }
  return problem;
}

LowProblem low_allreduce(const Network& network, std::int32_t height) {
  LowProblem problem = low_problem(network, {}, height);
  problem.shares.reset();
  // A tree takes of a link what it takes of either direction.
  if (auto one = both_ways(problem)) return *std::move(one);
  LowPhase backward{reversed(network), {}, {}};
  backward.shared = uses_of_limits(backward.network);
  for (const Arc& arc : backward.network.graph.arcs()) {
    backward.link.push_back(network.graph.find(arc.head, arc.tail).index());
  }
  problem.phases.push_back(std::move(backward));
  return problem;
}

std::optional<LowSolution> solve_low(const LowProblem& problem, const std::stop_token& stop) {
  return ColumnGeneration(problem, stop).run();
}

}  // namespace forestcoll::solver
