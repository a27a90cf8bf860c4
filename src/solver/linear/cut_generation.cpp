#include "solver/linear/cut_generation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "graph/sink_flow.hpp"

namespace forestcoll::solver {
namespace {

// A cut is violated if it lacks more than this fraction of the data. Floating point cannot tell
// less; what is left is for the exact proofs.
constexpr double kDemandTolerance = 1e-8;

// Flows count the solution in so many parts of all that a phase takes.
constexpr double kParts = 1LL << 54;

}  // namespace

CutGeneration::CutGeneration(const CutProgram& program)
    : program_(program), solver_(program.variables) {
  begin();
}

// Capacities are divided by the largest one, so that numbers are near 1.
void CutGeneration::begin() {
  for (const CapacityRow& row : program_.capacity) {
    scale_ = std::max(scale_, static_cast<double>(row.bound));
  }
  solver_.maximise(program_.objective);
  for (const CapacityRow& row : program_.capacity) {
    solver_.add_at_most(row.terms, static_cast<double>(row.bound) / scale_);
  }
  for (const auto& row : program_.balance) solver_.add_zero(row);
  // What enters one rank, and what leaves it: without these the first program has no optimum.
  for (const TreePhase& phase : program_.phases) {
    for (const NodeId v : program_.sinks) {
      SinkSide alone(phase.graph.node_count(), false);
      alone[v.index()] = true;
      add_cut(phase, alone);
      alone.flip();
      add_cut(phase, alone);
    }
  }
}

// False where the cut is known.
bool CutGeneration::add_cut(const TreePhase& phase, const SinkSide& side) {
  auto row = cut_row(program_, phase, side);
  if (!known_.insert(row).second) return false;
  solver_.add_at_most(row, 0);
  cuts_.push_back(std::move(row));
  sides_.push_back(side);
  return true;
}

CutGeneration::Outcome CutGeneration::run(const CutLimits& limits) {
  do {
    if (rounds_ == limits.rounds || limits.stop.stop_requested()) return Outcome::given_up;
    ++rounds_;
    if (!solver_.solve()) return Outcome::unsolvable;
    values_.clear();
    for (std::size_t j = 0; j < program_.variables; ++j) {
      values_.push_back(std::max(solver_.value(j), 0.0) * scale_);
    }
  } while (add_violated_cuts());
  return Outcome::complete;
}

bool CutGeneration::add_violated_cuts() {
  double all = 1;
  for (const TreePhase& phase : program_.phases) {
    double taken = 0;
    for (const std::size_t j : phase.variable) taken += values_[j];
    all = std::max(all, taken);
  }
  const auto parts = [&](std::size_t variable) {
    return static_cast<std::int64_t>(std::llround(values_[variable] / all * kParts));
  };
  std::vector<std::int64_t> supply;
  std::int64_t demand = 0;
  for (const Term& owned : program_.owned) {
    supply.push_back(owned.coefficient == 0 ? 0 : owned.coefficient * parts(owned.variable));
    demand += supply.back();
  }
  demand -= static_cast<std::int64_t>(kDemandTolerance * static_cast<double>(demand));
  bool added = false;
  for (const TreePhase& phase : program_.phases) {
    std::vector<std::int64_t> capacity;
    for (const std::size_t j : phase.variable) capacity.push_back(parts(j));
    graph::SinkFlow flow(phase.graph);
    flow.reset(capacity, supply);
    for (const NodeId sink : program_.sinks) {
      if (!flow.send(sink, demand)) added |= add_cut(phase, flow.tight_sink_side(sink));
      // A cut that is violated where this sink supplies everything is violated without that, and
      // while there is one, there is a next round.
      flow.merge(sink);
    }
  }
  return added;
}

std::vector<double> CutGeneration::prices() const {
  const std::size_t rows = program_.capacity.size() + program_.balance.size() + cuts_.size();
  std::vector<double> prices;
  for (std::size_t i = 0; i < rows; ++i) prices.push_back(solver_.price(i));
  return prices;
}

}  // namespace forestcoll::solver
