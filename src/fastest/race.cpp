#include "fastest/race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fastest/contest_queue.hpp"

namespace forestcoll::fastest {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
// Of times of one program that was simulated in other classes.
constexpr double kRounding = 1e-9;
// What was tried is tried again by more passes together with what is as good.
constexpr double kAsGood = 1.02;
// At first by so many passes, and no less than this part of all.
constexpr double kFirstPasses = 2, kFirstPart = 1. / 16;
// Variants of what takes so many times as long as the best are tried, too.
constexpr double kMostOfVariants = 1.2, kMostOfCostlyVariants = 1.1;
// Of all contenders whose variants are tried, in steps.
constexpr double kMostStepsOfVariants = 1 << 22;
// Up to so many times the best what is late is known, where that is not costly.
constexpr double kMostKnown = 1.03;

// Of what takes as long but for rounding, the first contender.
bool is_before(double seconds, std::size_t contender, const Winner& other) {
  const bool is_equal = std::abs(seconds - other.seconds) <= kRounding * other.seconds;
  return is_equal ? contender < other.contender : seconds < other.seconds;
}

// What it takes less than in one case of ten, by an estimate of so many passes.
double least_of(double seconds, double passes) {
  const double less = passes <= 2 ? 0.08 : passes <= 4 ? 0.05 : passes <= 8 ? 0.03 : 0.01;
  return (1 - less) * seconds;
}

// The best of each algorithm, by time.
std::vector<ConsideredTime> best_of_each(std::vector<ConsideredTime> all) {
  std::ranges::stable_sort(all, {}, &ConsideredTime::seconds);
  std::vector<ConsideredTime> best;
  for (ConsideredTime& each : all) {
    const bool is_there =
        std::ranges::find(best, each.algorithm, &ConsideredTime::algorithm) != best.end();
    if (!is_there) best.push_back(std::move(each));
  }
  return best;
}

}  // namespace

void Race::run(ContestQueue& queue) {
  for (;;) {
    const Goal goal = this->goal();
    std::vector<Estimate> tried;
    for (const std::size_t c : queue.next(goal.at_once, goal.seconds)) {
      tried.push_back({0, c, 0, 0});
    }
    if (tried.empty()) tried = take_first(goal.at_once);
    if (tried.empty()) break;
    try_out(tried, goal.seconds);
  }
  note_rest(queue);
}

// Of what is not simulated bounds are known.
void Race::note_rest(ContestQueue& queue) {
  for (const auto& [least, c, is_line] : queue.rest()) {
    const bool is_known =
        contest_.is_made(contest_.contenders()[c].candidate) && contest_.is_there(c);
    if (is_known && best_ && least < kMostKnown * best_->seconds &&
        !contest_.is_costly(c, bytes_)) {
      by_contender_.emplace(c, least);
    }
    considered_.push_back(
        {contest_.candidate(c).algorithm, best_ ? std::max(least, best_->seconds) : least, true});
  }
}

// Only what may be below is tried.
Race::Goal Race::goal() const {
  const bool in_table = std::isfinite(limits_.of_interest);
  Goal goal{to_beat(), ContestQueue::kAtOnce};
  if (best_) {
    const double most = best_->seconds;
    const bool is_slow = in_table && contest_.is_costly(best_->contender, bytes_);
    goal.seconds = is_slow ? std::max(most / Contest::kWorthwhileBeyond,
                                      std::min(most / Contest::kWorthwhile, limits_.of_interest))
                           : most / Contest::kWorthwhile;
    if (is_slow) goal.at_once = 1;  // the rows of a table are found side by side
  }
  if (!estimates_.empty()) goal.seconds = std::min(goal.seconds, estimates_.begin()->least);
  return goal;
}

// Those that are near the first.
std::vector<Race::Estimate> Race::take_first(std::size_t at_once) {
  std::vector<Estimate> first;
  while (!estimates_.empty() && first.size() < at_once &&
         (first.empty() || estimates_.begin()->least <= kAsGood * first.front().least)) {
    first.push_back(*estimates_.begin());
    estimates_.erase(estimates_.begin());
  }
  return first;
}

// Twice as many as before; 0: all. What a runtime has itself is not given up by an estimate.
double Race::next_passes(std::size_t contender, double before) const {
  if (before == 0) return std::max(kFirstPasses, kFirstPart * contest_.passes(contender, bytes_));
  return has_runtime_own(contest_.candidate(contender)) ? 0 : 2 * before;
}

// All of a costly simulation is for what few passes tell to be faster than the best.
bool Race::is_promising(const Estimate& estimate) const {
  const std::size_t c = estimate.contender;
  if (!best_ || has_runtime_own(contest_.candidate(c)) || !contest_.is_costly(c, bytes_)) {
    return true;
  }
  return contest_.are_few_passes(next_passes(c, estimate.passes), c, bytes_) ||
         estimate.seconds < best_->seconds;
}

// By further passes than before. Of what gives up nothing is known but that.
void Race::try_out(const std::vector<Estimate>& tried, double goal) {
  const double best = to_beat();
  std::map<std::size_t, double> passes;  // by contender
  std::vector<std::size_t> contenders;
  for (const Estimate& each : tried) {
    if (!is_promising(each)) {
      note(each.contender, kForever, best);
      continue;
    }
    passes.emplace(each.contender, next_passes(each.contender, each.passes));
    contenders.push_back(each.contender);
  }
  const bool are_first = tried.front().passes == 0;
  const auto all_told = contest_.told_of(contenders, [&](std::size_t c) {
    double most = best;
    if (are_first && !contest_.variant_of(c)) most = most_of_variants(c) * goal;
    if (are_first && has_runtime_own(contest_.candidate(c))) most = kForever;
    return contest_.estimate(c, bytes_, most, passes.at(c));
  });
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (!all_told[i]) continue;
    const auto [seconds, is_estimate] = *all_told[i];
    const std::size_t c = contenders[i];
    if (is_estimate && std::isfinite(seconds)) {
      note_estimate({least_of(seconds, passes.at(c)), c, passes.at(c), seconds});
    } else {
      note(c, seconds, best);
    }
  }
}

void Race::note_estimate(const Estimate& estimate) {
  estimates_.insert(estimate);
  const auto [known, is_new] = by_contender_.emplace(estimate.contender, estimate.seconds);
  if (!is_new) known->second = std::min(known->second, estimate.seconds);
}

// Of what takes more than `most`, or infinitely long, what is known of other sizes says nothing.
void Race::note(std::size_t contender, double seconds, double most) {
  const bool is_late = seconds > most;
  considered_.push_back(
      {contest_.candidate(contender).algorithm, is_late ? most : seconds, is_late});
  const auto [known, is_new] = by_contender_.emplace(contender, seconds);
  if (!is_new && std::isfinite(seconds)) known->second = seconds;
  if (!std::isfinite(seconds)) return;
  if (!best_ || is_before(seconds, contender, *best_)) best_ = Winner{contender, seconds, {}};
}

// Variants of what takes a little more than a winner may are faster.
double Race::to_beat() const {
  return best_ ? best_->seconds : kMostOfVariants * limits_.most;
}

double Race::most_of_variants(std::size_t contender) const {
  return contest_.is_costly(contender, bytes_) ? kMostOfCostlyVariants : kMostOfVariants;
}

// What gave up early comes last.
std::set<std::size_t> Race::with_variants() const {
  std::map<std::size_t, double> by_candidate;
  for (const auto& [c, seconds] : by_contender_) {
    const auto [known, is_new] = by_candidate.emplace(contest_.contenders()[c].candidate, seconds);
    if (!is_new) known->second = std::min(known->second, seconds);
  }
  const std::size_t each = contest_.contenders_each();
  std::vector<std::pair<double, std::size_t>> ordered;
  for (const auto& [candidate, seconds] : by_candidate) {
    for (std::size_t c = candidate * each; c < (candidate + 1) * each; ++c) {
      if (!contest_.is_there(c) || seconds > most_of_variants(c) * best_->seconds) continue;
      const auto known = by_contender_.find(c);
      ordered.emplace_back(known != by_contender_.end() ? known->second : kForever, c);
    }
  }
  std::ranges::sort(ordered);
  std::set<std::size_t> chosen;
  double left = kMostStepsOfVariants;
  for (const auto& [seconds, c] : ordered) {
    if (left <= 0) break;
    left -= contest_.simulation_cost(c, bytes_);
    chosen.insert(c);
  }
  return chosen;
}

std::optional<Winner> Race::finish() {
  if (!best_ || best_->seconds > limits_.most) return std::nullopt;
  best_->considered = best_of_each(std::move(considered_));
  return std::move(best_);
}

}  // namespace forestcoll::fastest
