// Cut generation: solve with the cuts that are known, find cuts that the solution violates by
// maximum flows, add them, solve again. The first program without a violated cut is the whole.
#include "forestcoll/allreduce_optimum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "forestcoll/rate.hpp"
#include "graph/sink_flow.hpp"
#include "solver/allreduce_program.hpp"
#include "solver/allreduce_proof.hpp"
#include "solver/linear_program.hpp"

namespace forestcoll {
namespace {

using solver::AllreducePhase;
using solver::AllreduceProgram;
using solver::SinkSide;
using solver::Term;

// A cut is violated if it lacks more than this fraction of the data. Floating point cannot tell
// less; what is left is for the exact proofs.
constexpr double kTolerance = 1e-8;

// How near the exact bound the program's worth has to be to be believed, as a fraction.
constexpr double kAgreement = 1e-6;

// Capacities that are this far apart are cut down first.
constexpr double kWideRange = 1e5;

// Flows count the solution in so many parts of all capacity together.
constexpr double kParts = 1LL << 54;

Diagnostic refusal(std::string code, std::string message, std::string remedy) {
  return {.code = std::move(code),
          .kind = ErrorKind::limit,
          .message = std::move(message),
          .remedy = std::move(remedy)};
}

// The least capacity from one set of nodes to the rest with ranks on both sides; no allreduce is
// faster. For a set T, let X be all data and x(T) what is rooted in T: X - x(T) has to enter T to
// be broadcast, and x(T), what is rooted outside the rest, has to leave the rest to be reduced.
Capacity narrowest_cut(const Network& network) {
  const Weights root = single_root(network, Rank(0));
  return std::min(optimal_rate(network, root).bottleneck.exit,
                  optimal_rate(reversed(network), root).bottleneck.exit);
}

bool has_wide_range(const Network& network) {
  const auto [least, most] = std::ranges::minmax(network.capacity);
  return static_cast<double>(most) > kWideRange * static_cast<double>(least);
}

// What trees can use of each arc. X trees of either phase have N - 1 edges each, none of which
// takes an arc twice, and X is at most the narrowest cut. So much smaller a capacity than another
// one would be lost in the tolerances of floating point.
Network without_excess(Network network, Capacity narrowest) {
  const Int128 uses = 2 * (static_cast<Int128>(network.ranks.size()) - 1);
  for (Capacity& capacity : network.capacity) {
    capacity = static_cast<Capacity>(std::min<Int128>(capacity, uses * narrowest));
  }
  return network;
}

class CutGeneration {
 public:
  CutGeneration(const Network& network, const AllreduceProgram& program)
      : network_(network),
        program_(program),
        solver_(program.variables()),
        statistics_{.variables = program.variables()} {}

  Expected<AllreduceOptimum> run(int max_rounds) {
    begin();
    do {
      if (statistics_.rounds == max_rounds) {
        return refusal(
            "A01",
            fmt::format("the linear program of the allreduce optimum was given up after {} "
                        "round{} of cuts",
                        max_rounds, max_rounds == 1 ? "" : "s"),
            "");
      }
      ++statistics_.rounds;
      if (!solver_.solve()) return bound_by_cut();
      read_values();
    } while (add_violated_cuts());
    return conclude();
  }

 private:
  // Capacities are divided by the largest one, so that numbers are near 1.
  void begin() {
    for (const Capacity capacity : network_.capacity) {
      scale_ = std::max(scale_, static_cast<double>(capacity));
    }
    solver_.maximise(program_.objective());
    rows_.capacity = program_.capacity_rows();
    for (const auto& row : rows_.capacity) {
      solver_.add_at_most(row.terms, static_cast<double>(row.bound) / scale_);
    }
    rows_.balance = program_.balance_rows();
    for (const auto& row : rows_.balance) solver_.add_zero(row);
    // What enters one rank, and what leaves it: without these the first program has no optimum.
    for (const AllreducePhase& phase : program_.phases()) {
      for (const NodeId v : program_.sinks()) {
        SinkSide alone(network_.graph.node_count(), false);
        alone[v.index()] = true;
        add_cut(phase, alone);
        alone.flip();
        add_cut(phase, alone);
      }
    }
  }

  // False where the cut is known.
  bool add_cut(const AllreducePhase& phase, const SinkSide& side) {
    auto row = program_.cut_row(phase, side);
    if (!known_.insert(row).second) return false;
    solver_.add_at_most(row, 0);
    rows_.cuts.push_back(std::move(row));
    ++statistics_.cuts;
    return true;
  }

  void read_values() {
    values_.clear();
    for (std::size_t j = 0; j < program_.variables(); ++j) {
      values_.push_back(std::max(solver_.value(j), 0.0) * scale_);
    }
  }

  bool add_violated_cuts() {
    const double all = std::accumulate(network_.capacity.begin(), network_.capacity.end(), 0.0);
    const auto parts = [&](std::size_t variable) {
      return static_cast<std::int64_t>(std::llround(values_[variable] / all * kParts));
    };
    std::vector<std::int64_t> supply(network_.graph.node_count(), 0);
    std::int64_t demand = 0;
    for (const NodeId v : network_.ranks) {
      supply[v.index()] = parts(program_.root(v));
      demand += supply[v.index()];
    }
    demand -= static_cast<std::int64_t>(kTolerance * static_cast<double>(demand));
    bool added = false;
    for (const AllreducePhase& phase : program_.phases()) {
      std::vector<std::int64_t> capacity;
      for (const std::size_t j : phase.variable) capacity.push_back(parts(j));
      graph::SinkFlow flow(phase.graph);
      for (const NodeId sink : program_.sinks()) {
        flow.reset(capacity, supply);
        if (flow.send(sink, demand)) continue;
        added |= add_cut(phase, flow.tight_sink_side(sink));
      }
    }
    return added;
  }

  // Of the last program that was solved.
  Expected<AllreduceOptimum> conclude() const {
    const auto proved = solver::prove_upper(program_, rows_, prices());
    const auto exact =
        proved ? solver::prove_reached(network_, program_, rows_, values_, *proved) : std::nullopt;
    auto optimum = exact ? bounded_by(*proved) : bound_by_cut(proved);
    if (!optimum) return optimum;
    if (exact) {
      optimum->split = split_of(*exact);
      optimum->value = optimum->upper.to_double();
      return optimum;
    }
    const double upper = optimum->upper.to_double();
    const double value = std::min(worth() * network_.unit.to_double(), upper);
    if (value >= upper * (1 - kAgreement)) optimum->value = value;
    return optimum;
  }

  [[nodiscard]] std::vector<double> prices() const {
    std::vector<double> prices;
    const std::size_t rows = rows_.capacity.size() + rows_.balance.size() + rows_.cuts.size();
    for (std::size_t i = 0; i < rows; ++i) prices.push_back(solver_.price(i));
    return prices;
  }

  // In the network's units.
  [[nodiscard]] double worth() const {
    double sum = 0;
    for (const Term& root : program_.objective()) {
      sum += static_cast<double>(root.coefficient) * values_[root.variable];
    }
    return sum;
  }

  // Where floating point did not find all of it.
  [[nodiscard]] Expected<AllreduceOptimum> bound_by_cut(
      const std::optional<Ratio>& proved = std::nullopt) const {
    const Ratio cut(narrowest_cut(network_));
    return bounded_by(proved ? std::min(*proved, cut) : cut);
  }

  [[nodiscard]] Expected<AllreduceOptimum> bounded_by(const Ratio& limit) const {
    const auto upper = checked_mul(limit, network_.unit);
    if (upper) return AllreduceOptimum{.upper = *upper, .statistics = statistics_};
    return refusal("E14", "the exact allreduce optimum of this fabric does not fit 64 bits",
                   "round the bandwidths to a coarser grid with --quantize");
  }

  AllreduceSplit split_of(const solver::ExactSolution& solution) const {
    const auto value = [&](std::size_t variable) {
      return Ratio(solution.numerators[variable], solution.denominator);
    };
    AllreduceSplit split;
    for (const NodeId v : network_.ranks) split.root.push_back(value(program_.root(v)));
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
      split.reduce.push_back(value(program_.reduce(ArcId(a))));
      split.broadcast.push_back(value(program_.broadcast(ArcId(a))));
    }
    return split;
  }

  const Network& network_;
  const AllreduceProgram& program_;
  solver::LinearProgram solver_;
  solver::AllreduceRows rows_;
  std::set<std::vector<Term>> known_;
  std::vector<double> values_;  // of the last solution, in the network's units
  double scale_ = 1;
  AllreduceStatistics statistics_;
};

}  // namespace

Expected<AllreduceOptimum> allreduce_optimum(const Network& network,
                                             const AllreduceLimits& limits) {
  if (has_wide_range(network)) {
    Network usable = without_excess(network, narrowest_cut(network));
    if (usable.capacity != network.capacity) return allreduce_optimum(usable, limits);
  }
  const AllreduceProgram program(network);
  if (program.variables() > limits.variables) {
    return refusal("A01",
                   fmt::format("the linear program of the allreduce optimum has {} variables after "
                               "symmetry; it is not tried beyond {}",
                               program.variables(), limits.variables),
                   "");
  }
  return CutGeneration(network, program).run(limits.rounds);
}

}  // namespace forestcoll
