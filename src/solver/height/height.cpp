#include "solver/height/height.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "solver/height/edges/anneal.hpp"
#include "solver/height/edges/descent.hpp"
#include "solver/height/whole/flat.hpp"

namespace forestcoll::solver {
namespace {

// Of a descent, in the time of one proposal of an exchange.
constexpr std::int64_t kStepsOfProposal = 16;

// How many pieces the trees of a root come to, at first.
constexpr std::int64_t kPieces = 8;

// Hops too many, over all trees, that luck may take off a search that does not get there otherwise.
constexpr double kWithinLuck = 8;

/// What a search may cost. Packing takes 50 to 150 ns for an edge, a step of a descent some few, a
/// proposal of an exchange 70 for 32 ranks and 150 for 256.
struct SearchCost {
  std::size_t most_edges = 0;  ///< of forests that are worked on; indices take some 30 bytes each
  std::size_t annealed = 0;    ///< edges up to which trees are annealed
  std::int64_t proposals = 0;  ///< of the first round; the next has twice as many
  std::int64_t steps = 0;      ///< of each descent
  std::size_t most_trees = 0;  ///< that splitting may make of them
  int rounds = 0;
  MoveLimits limits = {};
};

// Small forests may take longer than their packing, 10 to 50 ms in ordinary searches, some hundred
// times as long at the greatest effort, and come to more than four times as many trees.
SearchCost cost_of(Effort effort, std::size_t size, std::size_t ranks) {
  const auto edges = static_cast<std::int64_t>(size);
  const auto n = static_cast<std::int64_t>(ranks);
  const std::size_t most_trees = std::max(4 * size, std::size_t{1} << 18) / ranks;
  switch (effort) {
    case Effort::fast:
      return {.most_edges = 1 << 21,
              .steps = 4 * edges + std::min<std::int64_t>(200 * edges, 500'000),
              .most_trees = most_trees};
    case Effort::normal:
      return {.most_edges = 1 << 23,
              .annealed = 1 << 14,
              .proposals =
                  std::min(400 * edges, std::clamp<std::int64_t>(25'000'000 / n, 100'000, 400'000)),
              .steps = 16 * edges + std::min<std::int64_t>(16'000 * edges, 200'000),
              .most_trees = most_trees,
              .rounds = 3};
    case Effort::max:
      return {.most_edges = 1 << 25,
              .annealed = 1 << 21,
              .proposals = std::clamp<std::int64_t>(
                  100 * edges, std::min<std::int64_t>(2'000 * edges, 2'000'000), 10'000'000),
              .steps = 256 * edges + std::min<std::int64_t>(100'000 * edges, 100'000'000),
              .most_trees = most_trees,
              .rounds = 5,
              .limits = {3, 24, 96, 1 << 14, 200'000}};
  }
  return {};
}

std::int32_t max_height(const TreeRows& rows) {
  std::int32_t height = 0;
  for (const Forest::Tree& tree : rows.trees) height = std::max(height, tree.height);
  return height;
}

// The most trees that one root has.
std::int64_t trees_per_root(const TreeRows& rows) {
  IdVector<Rank, std::int64_t> trees(rows.core.compute.size(), 0);
  for (const Forest::Tree& tree : rows.trees) trees[tree.root] += tree.multiplicity;
  return *std::max_element(trees.begin(), trees.end());
}

/// A descent; and where that does not do, rounds of random exchanges and of descent, with pieces
/// smaller and searches longer every time.
class Rounds {
 public:
  Rounds(const TreeRows& rows, Resources& resources, const Orbits& orbits, const HeightGoal& goal,
         Effort effort, const SearchCost& cost, const std::stop_token& stop,
         const Progress& progress)
      : rows_(rows),
        resources_(resources),
        orbits_(orbits),
        bound_(goal.height),
        most_(std::max(goal.search.most, goal.height)),
        descents_(goal.search.descents),
        effort_(effort),
        cost_(cost),
        stop_(stop),
        progress_(progress) {}

  void run() {
    if (rows_.routes.size() > cost_.annealed) {
      descend(0);
      return;
    }
    const State packed = state();
    std::int64_t piece = std::max<std::int64_t>(trees_per_root(rows_) / kPieces, 1);
    descend(0);
    State best = state();
    std::int32_t aim = aim_of(best);
    Int128 before = excess(aim);
    if (!is_good(best, 0)) restore(packed);
    for (int round = 0; round < cost_.rounds && !is_good(best, round); ++round) {
      anneal_heights(rows_, orbits_, bound_, cost_.most_trees, piece, cost_.proposals << round,
                     stop_, [&](double part) { report(round, part); });
      descend(round);
      if (State lowered = state(); lowered.measure < best.measure) best = std::move(lowered);
      const std::int32_t last_aim = std::exchange(aim, aim_of(best));
      const Int128 now = excess(aim);
      // What a first round gains where no less was asked for says little of the next.
      const bool is_judged = aim == last_aim && (round > 0 || aim == most_);
      if (is_judged && is_hopeless(before, now, cost_.rounds - 1 - round)) break;
      before = now;
      piece = std::max<std::int64_t>(piece / 2, 1);
    }
    restore(best);
  }

 private:
  // Each round has twice the proposals of the one before.
  void report(int round, double part) const {
    if (!progress_) return;
    const auto proposals = [](int rounds) { return static_cast<double>((1 << rounds) - 1); };
    const double before = proposals(round);
    progress_("lowering trees",
              (before + part * (proposals(round + 1) - before)) / proposals(cost_.rounds));
  }

  struct State {
    /// The greatest height, and then how high trees are altogether.
    std::pair<std::int32_t, Int128> measure;
    std::vector<Forest::Tree> trees;
    std::vector<Route> routes;
    IdVector<ArcId, Capacity> residual;
  };

  [[nodiscard]] State state() const {
    Int128 sum = 0;
    for (const Forest::Tree& tree : rows_.trees) sum += Int128{tree.multiplicity} * tree.height;
    return {{max_height(rows_), sum}, rows_.trees, rows_.routes, resources_.residual};
  }

  void restore(const State& state) {
    rows_.trees = state.trees;
    rows_.routes = state.routes;
    resources_.residual = state.residual;
  }

  // More than one round is for trees that are much too high, or for those who ask for more.
  [[nodiscard]] bool is_good(const State& state, int round) const {
    const std::int32_t height = state.measure.first;
    if (stop_.stop_requested() || height <= bound_) return true;
    const bool is_worth = height <= most_;
    return is_worth && effort_ != Effort::max && round > 0 && 2 * height <= 3 * bound_;
  }

  // Trees that are higher are worth nothing; at the greatest effort no more than the best that is
  // known.
  [[nodiscard]] std::int32_t aim_of(const State& best) const {
    if (effort_ != Effort::max) return most_;
    return std::min(most_, std::max(bound_, best.measure.first - 1));
  }

  // By how many hops trees are higher, over all of them.
  [[nodiscard]] Int128 excess(std::int32_t height) const {
    Int128 sum = 0;
    for (const Forest::Tree& tree : rows_.trees) {
      sum += Int128{tree.multiplicity} * std::max(tree.height - height, 0);
    }
    return sum;
  }

  // Will the rounds that are left, each of which takes off the same part as the last one, leave too
  // much?
  [[nodiscard]] bool is_hopeless(Int128 before, Int128 now, int left) const {
    if (before == 0) return false;
    const auto most = static_cast<double>(now);
    const double part = most / static_cast<double>(before);
    double expected = most;
    for (int round = 0; round < left; ++round) expected *= part;
    return left > 0 && expected > kWithinLuck;
  }

  void descend(int round) {
    std::int64_t steps = cost_.steps;
    if (descents_ == Descents::as_long) {
      steps = std::max(steps, kStepsOfProposal * (cost_.proposals << round));
    }
    descend_heights(rows_, resources_, bound_, {cost_.most_trees, steps, cost_.limits}, stop_);
  }

  const TreeRows& rows_;
  Resources& resources_;
  const Orbits& orbits_;
  std::int32_t bound_;
  std::int32_t most_;
  Descents descents_;
  Effort effort_;
  const SearchCost& cost_;
  const std::stop_token& stop_;
  const Progress& progress_;
};

}  // namespace

void lower_heights(const TreeRows& rows, Resources& resources, const Orbits& orbits,
                   const HeightGoal& goal, Effort effort, const std::stop_token& stop,
                   const Progress& progress) {
  if (max_height(rows) <= goal.height) return;
  // Forests that can be had whole and cannot be beaten.
  if (goal.height == 1 && pack_flat(rows, resources, 1, Fit::within, stop)) return;
  if (goal.height <= 2 && max_height(rows) > 2 && pack_flat(rows, resources, 2, Fit::within, stop))
    return;
  lower_edge_by_edge(rows, resources, orbits, goal, effort, stop, progress);
}

void lower_edge_by_edge(const TreeRows& rows, Resources& resources, const Orbits& orbits,
                        const HeightGoal& goal, Effort effort, const std::stop_token& stop,
                        const Progress& progress) {
  if (max_height(rows) <= goal.height) return;
  const SearchCost cost = cost_of(effort, rows.routes.size(), rows.core.compute.size());
  if (rows.routes.size() > cost.most_edges) return;
  if (progress) progress("lowering trees", std::nullopt);
  Rounds(rows, resources, orbits, goal, effort, cost, stop, progress).run();
}

}  // namespace forestcoll::solver
