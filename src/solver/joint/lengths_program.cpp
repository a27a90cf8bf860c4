#include "solver/joint/lengths_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace forestcoll::solver {
namespace {

// Trees are sought at lengths in so many parts of the longest. One part more for each arc prefers
// paths of fewer arcs.
constexpr double kPartsOfLongest = 0x1p40;

// How much of the best lengths stays in those at which trees are sought.
constexpr double kSmoothing = 0.5;

// The two sides of a bound are this near in floating point where they are equal.
constexpr double kEqual = 1e-11;

// After many pivots, which take seconds, this near is near enough.
constexpr std::int64_t kManyPivots = 30'000;
constexpr double kNear = 0.005;

constexpr std::size_t kTime = 0;  // the first variable

// This many are kept, where there are twice as many.
constexpr std::size_t kColumnsPerRow = 2;
constexpr std::size_t kDropped = static_cast<std::size_t>(-1);

std::size_t count_ways(const Portions& portions) {
  std::size_t count = 0;
  for (const Portion& portion : portions.portions) count += portion.ways.size();
  return count;
}

}  // namespace

LengthsProgram::LengthsProgram(const Network& network, const Portions& portions)
    : portions_(portions),
      program_(1 + count_ways(portions), LinearProgram::Matrix::by_columns_and_rows,
               LinearProgram::Growth::variables) {
  const std::vector<Capacity> capacity = capacity_by_class(network, portions);
  for (const Capacity each : capacity) room_ += static_cast<double>(each);
  program_.maximise(kTime, -room_);
  for (const Capacity each : capacity) program_.add_at_most(std::array{Term{kTime, -each}}, 0);

  double largest = 0, most = 0;
  for (const Portion& portion : portions.portions) {
    const double amount = static_cast<double>(portion.amount) * static_cast<double>(portion.copies);
    worth_.push_back(amount * static_cast<double>(portion.parts));
    largest = std::max(largest, worth_.back());
    most = std::max(most, amount);
  }
  unit_ = largest / most;
  largest_ = largest;
  std::size_t way_variable = kTime + 1, next_row = capacity.size();
  for (std::size_t p = 0; p < portions.portions.size(); ++p) {
    worth_[p] /= largest;
    std::vector<Term> all;
    auto& first = piece_row_.emplace_back();
    for (const auto& way : portions.portions[p].ways) {
      all.push_back({way_variable, -1});
      first.push_back(next_row);
      for (std::size_t i = 0; i < way.size(); ++i, ++next_row) {
        program_.add_at_most(std::array{Term{way_variable, 1}}, 0);
      }
      ++way_variable;
    }
    program_.add_at_most(all, -worth_[p]);
    ++next_row;
  }
  rows_ = next_row;
  best_.assign(portions.class_count(), 1);
}

bool LengthsProgram::run(Pricing& pricing, const Limits& limits) {
  std::vector<double> at = best_;
  while (true) {
    Pricing::Crossings crossings = priced(pricing, at);
    const bool adds = has_others(crossings);
    if (!adds && at == lengths_) return true;
    is_too_long_ = !lengths_.empty() && best_value_ * largest_ > limits.longest * room_;
    if (is_too_long_) return true;
    // Before columns are added, which have no weights until the program is solved again.
    if (rounds_ == limits.rounds || limits.stop.stop_requested()) return !lengths_.empty();
    if (adds) {
      add_columns(std::move(crossings));
      if (!solve(limits)) return !lengths_.empty();
      drop_dear_columns();
    }
    if (value_ - best_value_ <= kEqual * value_ && !adds) return true;
    if (pivots_ > kManyPivots && value_ - best_value_ <= kNear * value_) return true;
    // Where the lengths between brought nothing, those of the program do, or all is found.
    const double stays = adds ? kSmoothing : 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      at[k] = stays * best_[k] + (1 - stays) * lengths_[k];
    }
  }
}

bool LengthsProgram::solve(const Limits& limits) {
  ++rounds_;
  const bool solved = program_.solve(limits.pivots - pivots_);
  pivots_ += program_.pivots();
  if (!solved) return false;
  lengths_.clear();
  for (std::size_t k = 0; k < portions_.class_count(); ++k) {
    lengths_.push_back(std::max(program_.price(k), 0.0));
  }
  value_ = room_ * program_.value(kTime);
  return true;
}

// A simplex looks at all columns for each pivot, and few are in the solution.
void LengthsProgram::drop_dear_columns() {
  const std::size_t most = kColumnsPerRow * rows_;
  if (columns_.size() <= 2 * most || value_ >= value_at_drop_ * (1 - kEqual)) return;
  value_at_drop_ = value_;
  const std::size_t first = kTime + 1 + count_ways(portions_);
  std::vector<std::pair<double, std::size_t>> by_cost;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool sends = program_.value(first + i) > 0;
    by_cost.emplace_back(sends ? 0 : std::max(program_.reduced_cost(first + i), 0.0), i);
  }
  std::ranges::sort(by_cost);
  std::vector<std::size_t> variables;
  for (std::size_t i = most; i < by_cost.size(); ++i) {
    if (by_cost[i].first > 0) variables.push_back(by_cost[i].second);
  }
  std::ranges::sort(variables);
  for (auto& variable : variables) {
    Column& column = columns_[variable];
    known_.erase({piece_row_[column.portion][column.way] + column.piece, column.crossing.load});
    column.portion = kDropped;
    variable += first;
  }
  std::erase_if(columns_, [](const Column& column) { return column.portion == kDropped; });
  program_.remove_variables(variables);
}

ArcLengths LengthsProgram::whole_lengths(const std::vector<double>& at) const {
  const IdVector<ArcId, double> exact = lengths_with_limits(portions_, at);
  double longest = 0;
  for (const double length : exact) longest = std::max(longest, length);
  ArcLengths lengths;
  for (const double length : exact) {
    lengths.push_back(1 + std::llround(length / longest * kPartsOfLongest));
  }
  return lengths;
}

double LengthsProgram::value_of(const Pricing::Crossings& crossings,
                                const std::vector<double>& at) const {
  double value = 0;
  for (std::size_t p = 0; p < crossings.size(); ++p) {
    double least = -1;
    for (const auto& way : crossings[p]) {
      double cost = 0;
      for (const Crossing& crossing : way) {
        for (const auto& [k, times] : crossing.load) cost += at[k] * static_cast<double>(times);
      }
      cost /= static_cast<double>(portions_.portions[p].parts);
      least = least < 0 ? cost : std::min(least, cost);
    }
    value += worth_[p] * least;
  }
  return value;
}

Pricing::Crossings LengthsProgram::priced(Pricing& pricing, const std::vector<double>& at) {
  Pricing::Crossings crossings = pricing.cheapest(whole_lengths(at));
  const double value = value_of(crossings, at);
  if (value > best_value_) {
    best_value_ = value;
    best_ = at;
  }
  return crossings;
}

bool LengthsProgram::has_others(const Pricing::Crossings& crossings) const {
  for (std::size_t p = 0; p < crossings.size(); ++p) {
    for (std::size_t w = 0; w < crossings[p].size(); ++w) {
      for (std::size_t i = 0; i < crossings[p][w].size(); ++i) {
        if (!known_.contains({piece_row_[p][w] + i, crossings[p][w][i].load})) return true;
      }
    }
  }
  return false;
}

void LengthsProgram::add_columns(Pricing::Crossings crossings) {
  for (std::size_t p = 0; p < crossings.size(); ++p) {
    for (std::size_t w = 0; w < crossings[p].size(); ++w) {
      for (std::size_t i = 0; i < crossings[p][w].size(); ++i) {
        Crossing& crossing = crossings[p][w][i];
        const std::size_t row = piece_row_[p][w] + i;
        if (!known_.emplace(row, crossing.load).second) continue;
        std::vector<LinearProgram::InRow> in_rows{{row, -portions_.portions[p].parts}};
        for (const auto& [k, times] : crossing.load) in_rows.push_back({k, times});
        program_.add_variable(in_rows);
        columns_.push_back({p, w, i, std::move(crossing)});
      }
    }
  }
}

std::vector<double> LengthsProgram::way_weights() const {
  std::vector<double> weights;
  for (const Portion& portion : portions_.portions) {
    for (std::size_t w = 0; w < portion.ways.size(); ++w) {
      const double sent = std::max(program_.value(kTime + 1 + weights.size()), 0.0);
      weights.push_back(unit_ * sent / static_cast<double>(portion.parts));
    }
  }
  return weights;
}

std::vector<double> LengthsProgram::weights() const {
  const std::size_t first = kTime + 1 + count_ways(portions_);
  std::vector<double> weights;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    weights.push_back(unit_ * std::max(program_.value(first + i), 0.0));
  }
  return weights;
}

}  // namespace forestcoll::solver
