#include "solver/joint/lengths_program.hpp"

#include <algorithm>
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

std::size_t count_variables(const Portions& portions) {
  std::size_t count = portions.class_count() + portions.portions.size();
  for (const Portion& portion : portions.portions) {
    for (const auto& way : portion.ways) count += way.size();
  }
  return count;
}

}  // namespace

LengthsProgram::LengthsProgram(const Network& network, const Portions& portions)
    : portions_(portions), variables_(count_variables(portions)), program_(variables_) {
  const std::vector<Capacity> capacity = capacity_by_class(network, portions);
  double all = 0;
  for (const Capacity each : capacity) all += static_cast<double>(each);
  std::vector<Term> room;
  for (std::size_t k = 0; k < capacity.size(); ++k) room.push_back({k, capacity[k]});
  program_.add_at_most(room, all);
  ++first_row_;

  double largest = 0, most = 0;
  for (const Portion& portion : portions.portions) {
    const double amount = static_cast<double>(portion.amount) * static_cast<double>(portion.copies);
    worth_.push_back(amount * static_cast<double>(portion.parts));
    largest = std::max(largest, worth_.back());
    most = std::max(most, amount);
  }
  unit_ = largest / most;
  std::size_t next = portions.class_count() + portions.portions.size();
  for (std::size_t p = 0; p < portions.portions.size(); ++p) {
    worth_[p] /= largest;
    program_.maximise(portions.class_count() + p, worth_[p]);
    auto& first = piece_variable_.emplace_back();
    for (const auto& way : portions.portions[p].ways) {
      first.push_back(next);
      std::vector<Term> row{{portions.class_count() + p, 1}};
      for (std::size_t i = 0; i < way.size(); ++i) row.push_back({next++, -1});
      program_.add_at_most(row, 0);
      ++first_row_;
    }
  }
  best_.assign(portions.class_count(), 1);
}

bool LengthsProgram::run(Pricing& pricing, const Limits& limits) {
  std::vector<double> at = best_;
  while (true) {
    const bool added = add_columns(pricing, at);
    if (!added && at == lengths_) return true;
    if (rounds_ == limits.rounds || limits.stop.stop_requested()) return !lengths_.empty();
    if (added && !solve(limits)) return !lengths_.empty();
    if (value_ - best_value_ <= kEqual * value_ && !added) return true;
    // Where the lengths between brought nothing, those of the program do, or all is found.
    const double stays = added ? kSmoothing : 0;
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
    lengths_.push_back(std::max(program_.value(k), 0.0));
  }
  value_ = 0;
  for (std::size_t p = 0; p < worth_.size(); ++p) {
    value_ += worth_[p] * program_.value(portions_.class_count() + p);
  }
  return true;
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

bool LengthsProgram::add_columns(Pricing& pricing, const std::vector<double>& at) {
  Pricing::Crossings crossings = pricing.cheapest(whole_lengths(at));
  const double value = value_of(crossings, at);
  if (value > best_value_) {
    best_value_ = value;
    best_ = at;
  }
  bool added = false;
  for (std::size_t p = 0; p < crossings.size(); ++p) {
    for (std::size_t w = 0; w < crossings[p].size(); ++w) {
      for (std::size_t i = 0; i < crossings[p][w].size(); ++i) {
        Crossing& crossing = crossings[p][w][i];
        const std::size_t variable = piece_variable_[p][w] + i;
        if (!known_.emplace(variable, crossing.load).second) continue;
        std::vector<Term> row{{variable, portions_.portions[p].parts}};
        for (const auto& [k, times] : crossing.load) row.push_back({k, -times});
        program_.add_at_most(row, 0);
        columns_.push_back({p, w, i, std::move(crossing)});
        added = true;
      }
    }
  }
  return added;
}

std::vector<double> LengthsProgram::way_weights() const {
  std::vector<double> weights;
  for (const Portion& portion : portions_.portions) {
    for (std::size_t w = 0; w < portion.ways.size(); ++w) {
      const double price = std::max(program_.price(1 + weights.size()), 0.0);
      weights.push_back(unit_ * price / static_cast<double>(portion.parts));
    }
  }
  return weights;
}

std::vector<double> LengthsProgram::weights() const {
  std::vector<double> weights;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    weights.push_back(unit_ * std::max(program_.price(first_row_ + i), 0.0));
  }
  return weights;
}

}  // namespace forestcoll::solver
