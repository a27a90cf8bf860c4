// The fastest trees of limited height as a linear program, whose columns are trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "solver/low/low_trees.hpp"

namespace forestcoll::solver {

/// What an arc takes of a capacity that it shares: the capacity's number, and how often.
using LowUse = std::pair<std::size_t, std::int64_t>;

/// Out-trees on `network`, which may be the fabric turned round.
struct LowPhase {
  Network network;
  IdVector<ArcId, std::size_t> link;  ///< whose capacity each arc takes
  /// What it takes of `Network::limits` beside it; empty where there are none.
  IdVector<ArcId, std::vector<LowUse>> shared = {};
};

/// Trees of all phases at the same time, which share the links.
struct LowProblem {
  std::vector<LowPhase> phases;
  std::vector<Capacity> capacity;  ///< of links, then of limits, which are links of several arcs
  /// What is owed per root. Nothing: any shares that are the same in all phases.
  std::optional<Weights> shares;
  std::int32_t height = 1;
  /// By root, where trees of some are to be lower. Empty: as high as others.
  IdVector<Rank, std::int32_t> heights = {};
  /// By root, with any shares: all its trees take so much of it, as of a link. Empty: any number.
  IdVector<Rank, Capacity> root_capacity = {};
  /// Trees that need more are worth nothing: the search ends where it does not get there, as far as
  /// what it gains from round to round tells.
  std::optional<double> most_congestion = {};
  /// That the search may take: each is about an arc or a set that is looked at.
  std::int64_t most_steps = 100'000'000;
};

/// The phase of a collective that is packed by itself, within the limits of the network.
[[nodiscard]] LowProblem low_problem(const Network& network, const Weights& shares,
                                     std::int32_t height);
/// With one link for both directions of each. Nothing where some two are not alike, or limits are
/// not the same in both.
[[nodiscard]] std::optional<LowProblem> both_ways(LowProblem problem);
/// Both phases of an allreduce at once, roots with any shares. Where both directions of every link
/// are alike, in-trees may be the out-trees turned round (the mean of any solution and its reverse
/// is one, too): there is one phase, each of whose trees stands for both.
[[nodiscard]] LowProblem low_allreduce(const Network& network, std::int32_t height);

/// A tree of one of the phases.
struct LowColumn {
  std::size_t phase = 0;
  LowTree tree;
  std::vector<std::pair<std::size_t, std::int64_t>> loads;  ///< by link, of one such tree
};

/// Trees by amounts; of each root, in every phase, amounts add up to its share, or all together
/// to 1.
struct LowSolution {
  std::vector<LowColumn> columns;
  std::vector<double> amounts;  ///< by column; many are 0
  std::vector<char> is_tight;   ///< by link: the fullest there are
  double congestion = 0;        ///< the largest load of a link by its capacity
  bool is_optimal = false;      ///< no trees of this height need less, as floating point has it
  std::int64_t steps = 0;       ///< that the search took: arcs and sets that were looked at
};

/// By generating columns: the program for some trees gives links prices, at which cheaper trees are
/// looked for. Nothing where no root reaches all ranks in so many hops, or with given shares some
/// root does not; nor where the search was stopped, or what it finds is worth nothing. Cost: up to
/// some hundred rounds of a dual simplex and of `LowTreeSearch`, fewer where the fabric is larger.
[[nodiscard]] std::optional<LowSolution> solve_low(const LowProblem& problem,
                                                   const std::stop_token& stop);

}  // namespace forestcoll::solver
