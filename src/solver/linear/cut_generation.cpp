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

// Flows count the solution in so many parts of all that a commodity takes.
constexpr double kParts = 0x1p54;

}  // namespace

CutGeneration::CutGeneration(const CutProgram& program)
    : program_(program),
      solver_(program.total(program.commodities.size()), LinearProgram::Matrix::by_columns) {
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
  for (const auto& row : program_.balance) solver_.add_equal(row, 0);
  for (std::size_t p = 0; p < program_.commodities.size(); ++p) {
    std::vector<Term> row = owned_terms(program_.commodities[p]);
    row.push_back({program_.total(p), -1});
    solver_.add_equal(row, 0);
  }
  for (std::size_t p = 0; p < program_.commodities.size(); ++p) add_first_cuts(p);
}

// What enters one sink, and what leaves an owner: without these the program has no optimum.
void CutGeneration::add_first_cuts(std::size_t commodity) {
  const TreeCommodity& trees = program_.commodities[commodity];
  SinkSide alone(trees.graph.node_count(), false);
  for (const NodeId v : trees.sinks) {
    alone[v.index()] = true;
    add_cut(commodity, alone);
    alone[v.index()] = false;
  }
  std::set<std::size_t> seen;
  for (std::size_t v = 0; v < trees.owned.size(); ++v) {
    const Term& owned = trees.owned[NodeId(v)];
    if (owned.coefficient == 0 || !seen.insert(owned.variable).second) continue;
    SinkSide others(trees.graph.node_count(), true);
    others[v] = false;
    add_cut(commodity, others);
  }
}

// False where the cut is known.
bool CutGeneration::add_cut(std::size_t commodity, const SinkSide& side) {
  auto row = cut_row(program_, commodity, side);
  if (!known_.insert(row).second) return false;
  solver_.add_at_most(row, 0);
  cuts_.push_back(std::move(row));
  sides_.push_back(side);
  commodity_of_.push_back(commodity);
  return true;
}

void CutGeneration::take_cuts(const CutGeneration& before) {
  for (std::size_t i = 0; i < before.sides_.size(); ++i) {
    add_cut(before.commodity_of_[i], before.sides_[i]);
  }
}

CutGeneration::Outcome CutGeneration::run(const CutLimits& limits) {
  std::int64_t pivots_left = limits.pivots;
  do {
    if (rounds_ == limits.rounds || limits.stop.stop_requested()) return Outcome::given_up;
    ++rounds_;
    const bool solved = solver_.solve(pivots_left);
    pivots_left -= solver_.pivots();
    if (!solved) return pivots_left <= 0 ? Outcome::given_up : Outcome::unsolvable;
    remember();
  } while (add_cuts_violated_by(values_, kDemandTolerance));
  return Outcome::complete;
}

bool CutGeneration::add_cuts_violated_by(std::span<const double> values, double tolerance) {
  double all = 1;
  for (const TreeCommodity& commodity : program_.commodities) {
    double taken = 0;
    for (const std::size_t j : commodity.variable) taken += values[j];
    all = std::max(all, taken);
  }
  std::vector<std::int64_t> parts;
  for (const double value : values) parts.push_back(std::llround(value / all * kParts));
  return add_violated(parts, tolerance);
}

bool CutGeneration::add_cuts_violated_by(const ExactSolution& solution) {
  return add_violated(solution.numerators, 0);
}

bool CutGeneration::add_violated(std::span<const std::int64_t> parts, double tolerance) {
  bool added = false;
  for (std::size_t p = 0; p < program_.commodities.size(); ++p) {
    const TreeCommodity& commodity = program_.commodities[p];
    std::vector<std::int64_t> supply, capacity;
    std::int64_t demand = 0;
    for (const Term& owned : commodity.owned) {
      supply.push_back(owned.coefficient == 0 ? 0 : owned.coefficient * parts[owned.variable]);
      demand += supply.back();
    }
    demand -= static_cast<std::int64_t>(tolerance * static_cast<double>(demand));
    for (const std::size_t j : commodity.variable) capacity.push_back(parts[j]);
    graph::SinkFlow flow(commodity.graph);
    flow.reset(capacity, supply);
    for (const NodeId sink : commodity.sinks) {
      if (!flow.send(sink, demand)) added |= add_cut(p, flow.tight_sink_side(sink));
      // A cut that is violated where this sink supplies everything is violated without that, and
      // while there is one, there is a next round.
      flow.merge(sink);
    }
  }
  return added;
}

void CutGeneration::remember() {
  values_.clear();
  for (std::size_t j = 0; j < program_.variables; ++j) {
    values_.push_back(std::max(solver_.value(j), 0.0) * scale_);
  }
  prices_.clear();
  const std::size_t before = program_.capacity.size() + program_.balance.size();
  const std::size_t totals = program_.commodities.size();  // whose rows stand between
  for (std::size_t i = 0; i < before + cuts_.size(); ++i) {
    prices_.push_back(solver_.price(i < before ? i : i + totals));
  }
}

double CutGeneration::worth() const {
  double sum = 0;
  for (const Term& root : program_.objective) {
    sum += static_cast<double>(root.coefficient) * values_[root.variable];
  }
  return sum;
}

}  // namespace forestcoll::solver
