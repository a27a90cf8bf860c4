// Who wins a contest at a size. Few passes tell of contenders, in the order of their bounds, about
// what they take; those that are then the fastest are simulated, until neither what is told of the
// next one nor a bound is below the best time found.
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "fastest/contest.hpp"
#include "fastest/contest_queue.hpp"

namespace forestcoll::fastest {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
// Of times of one program that was simulated in other classes.
constexpr double kRounding = 1e-9;
// Tried side by side; but in a table one by one where that takes long, as its rows are found side
// by side. What was tried is tried again by more passes together with what is as good.
constexpr std::size_t kAtOnce = 4;
constexpr double kAsGood = 1.02;
// At first by so many passes, and no less than this part of all.
constexpr double kFirstPasses = 2, kFirstPart = 1. / 16;
// By which it is told whether anything is below what need not be known exactly.
constexpr double kPassesOfGuess = 8, kPassesOfCostlyGuess = 2;
// Of those whose bounds are that near, the ones that are simulated sooner come first.
constexpr double kNear = 1.05;
// Variants of what takes so many times as long as the best are tried, too.
constexpr double kMostOfVariants = 1.2, kMostOfCostlyVariants = 1.1;
// Of all contenders whose variants are tried, in steps.
constexpr double kMostStepsOfVariants = 1 << 22;
// Up to so many times the best what is late is known, where that is not costly.
constexpr double kMostKnown = 1.03;
constexpr double kMadeAgain = 0.3;  // of the runs for a large size, for one that is a quarter of it
constexpr double kCostly = 32768;   // steps; a simulation of fewer takes milliseconds

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

std::optional<Winner> Contest::winner(std::int64_t bytes, const Takes& takes, Of of,
                                      double of_interest) {
  Standing standing;
  ContestQueue queue(*this, bytes, takes, of);
  if (auto far = far_behind(queue, bytes, kFarBehind * of_interest)) return far;
  race(queue, bytes, of_interest, standing);
  std::optional<Winner>& best = standing.best;
  if (!best) return best;
  if (best->seconds <= kNear * of_interest) {
    const std::set<std::size_t> near = with_variants(standing, bytes);
    ContestQueue variants(*this, bytes, takes, of, near);
    race(variants, bytes, of_interest, standing);
  }
  best->considered = best_of_each(std::move(standing.considered));
  return best;
}

double Contest::most_of_variants(std::size_t contender, std::int64_t bytes) const {
  return is_costly(contender, bytes) ? kMostOfCostlyVariants : kMostOfVariants;
}

// Contenders whose variants are tried: of candidates near the best, as many as the budget has room
// for, the fastest first. What gave up early comes last.
std::set<std::size_t> Contest::with_variants(const Standing& standing, std::int64_t bytes) const {
  std::map<std::size_t, double> by_candidate;
  for (const auto& [c, seconds] : standing.by_contender) {
    const auto [known, is_new] = by_candidate.emplace(contenders_[c].candidate, seconds);
    if (!is_new) known->second = std::min(known->second, seconds);
  }
  std::vector<std::pair<double, std::size_t>> ordered;
  for (const auto& [candidate, seconds] : by_candidate) {
    const std::size_t first = candidate * contenders_each();
    for (std::size_t c = first; c < first + contenders_each(); ++c) {
      if (!is_there(c) || seconds > most_of_variants(c, bytes) * standing.best->seconds) continue;
      const auto known = standing.by_contender.find(c);
      const bool is_known = known != standing.by_contender.end();
      ordered.emplace_back(is_known ? known->second : kForever, c);
    }
  }
  std::ranges::sort(ordered);
  std::set<std::size_t> chosen;
  double left = kMostStepsOfVariants;
  for (const auto& [seconds, c] : ordered) {
    if (left <= 0) break;
    left -= simulation_cost(c, bytes);
    chosen.insert(c);
  }
  return chosen;
}

// Those of the queue against each other, and against the best so far. Of what is not simulated
// bounds are noted.
void Contest::race(ContestQueue& queue, std::int64_t bytes, double of_interest,
                   Standing& standing) {
  const std::optional<Winner>& best = standing.best;
  Estimates estimates;
  for (;;) {
    const Goal goal = goal_of(standing, estimates, bytes, of_interest);
    std::vector<Estimate> tried;
    for (const std::size_t c : queue.next(goal.at_once, kNear, goal.seconds)) {
      tried.push_back({0, c, 0, 0});
    }
    if (tried.empty()) tried = take_first(estimates, goal.at_once);
    if (tried.empty()) break;
    try_out(tried, bytes, goal.seconds, estimates, standing);
  }
  for (const auto& [least, c, is_line] : queue.rest()) {
    const bool is_known = is_made(contenders_[c].candidate) && is_there(c);
    if (is_known && best && least < kMostKnown * best->seconds && !is_costly(c, bytes)) {
      standing.by_contender.emplace(c, least);
    }
    standing.considered.push_back(
        {candidate(c).algorithm, best ? std::max(least, best->seconds) : least, true});
  }
}

// Only what may be below is tried.
Contest::Goal Contest::goal_of(const Standing& standing, const Estimates& estimates,
                               std::int64_t bytes, double of_interest) const {
  const bool in_table = std::isfinite(of_interest);
  Goal goal{kForever, kAtOnce};
  if (standing.best) {
    const double most = standing.best->seconds;
    const bool is_slow = in_table && is_costly(standing.best->contender, bytes);
    goal.seconds =
        is_slow ? std::max(most / kWorthwhileBeyond, std::min(most / kWorthwhile, of_interest))
                : most / kWorthwhile;
    if (is_slow) goal.at_once = 1;
  }
  if (!estimates.empty()) goal.seconds = std::min(goal.seconds, estimates.begin()->least);
  return goal;
}

// Those that are near the first.
std::vector<Contest::Estimate> Contest::take_first(Estimates& estimates, std::size_t at_once) {
  std::vector<Estimate> first;
  while (!estimates.empty() && first.size() < at_once &&
         (first.empty() || estimates.begin()->least <= kAsGood * first.front().least)) {
    first.push_back(*estimates.begin());
    estimates.erase(estimates.begin());
  }
  return first;
}

// Twice as many as before; 0: all. What a runtime has itself is not given up by an estimate.
double Contest::next_passes(std::size_t contender, std::int64_t bytes, double before) const {
  if (before == 0) return std::max(kFirstPasses, kFirstPart * passes(contender, bytes));
  return has_runtime_own(candidate(contender)) ? 0 : 2 * before;
}

// All of a costly simulation is for what few passes tell to be faster than the best.
bool Contest::is_promising(const Estimate& estimate, std::int64_t bytes,
                           const Standing& standing) const {
  const std::size_t c = estimate.contender;
  if (!standing.best || has_runtime_own(candidate(c)) || !is_costly(c, bytes)) return true;
  const bool are_few = are_few_passes(next_passes(c, bytes, estimate.passes), c, bytes);
  return are_few || estimate.seconds < standing.best->seconds;
}

// By further passes than before. Of what gives up nothing is known but that.
void Contest::try_out(const std::vector<Estimate>& tried, std::int64_t bytes, double goal,
                      Estimates& estimates, Standing& standing) {
  const double best = standing.best ? standing.best->seconds : kForever;
  std::map<std::size_t, double> passes;  // by contender
  std::vector<std::size_t> contenders;
  for (const Estimate& each : tried) {
    if (!is_promising(each, bytes, standing)) {
      note(each.contender, kForever, best, standing);
      continue;
    }
    passes.emplace(each.contender, next_passes(each.contender, bytes, each.passes));
    contenders.push_back(each.contender);
  }
  const bool are_first = tried.front().passes == 0;
  const auto all_told = told_of(contenders, [&](std::size_t c) {
    double most = best;
    if (are_first && !variant_of(c)) most = most_of_variants(c, bytes) * goal;
    if (are_first && has_runtime_own(candidate(c))) most = kForever;
    return estimate(c, bytes, most, passes.at(c));
  });
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (!all_told[i]) continue;
    const auto [seconds, is_estimate] = *all_told[i];
    const std::size_t c = contenders[i];
    if (is_estimate && std::isfinite(seconds)) {
      estimates.insert({least_of(seconds, passes.at(c)), c, passes.at(c), seconds});
      const auto [known, is_new] = standing.by_contender.emplace(c, seconds);
      if (!is_new) known->second = std::min(known->second, seconds);
    } else {
      note(c, seconds, best, standing);
    }
  }
}

// Of what takes more than `most`, or infinitely long, what is known of other sizes says nothing.
void Contest::note(std::size_t contender, double seconds, double most, Standing& standing) const {
  std::optional<Winner>& best = standing.best;
  const bool is_late = seconds > most;
  standing.considered.push_back(
      {candidate(contender).algorithm, is_late ? most : seconds, is_late});
  const auto [known, is_new] = standing.by_contender.emplace(contender, seconds);
  if (!is_new && std::isfinite(seconds)) known->second = seconds;
  if (!std::isfinite(seconds)) return;
  if (!best || is_before(seconds, contender, *best)) best = Winner{contender, seconds, {}};
}

bool Contest::is_costly(std::size_t contender, std::int64_t bytes) const {
  return simulation_cost(contender, bytes) > kCostly;
}

// In a table what has the lowest bound, where that is so high and a simulation costly.
std::optional<Winner> Contest::far_behind(ContestQueue& queue, std::int64_t bytes,
                                          double seconds) const {
  if (!std::isfinite(seconds)) return std::nullopt;
  const auto lowest = queue.lowest();
  if (!lowest || lowest->seconds < seconds) return std::nullopt;
  const std::size_t c = lowest->contender;
  if (!is_costly(c, bytes)) return std::nullopt;
  return Winner{c, lowest->seconds, {{candidate(c).algorithm, lowest->seconds, true}}, true};
}

bool Contest::is_below(std::int64_t bytes, double most, const Takes& takes, Of of) {
  ContestQueue queue(*this, bytes, takes, of);
  for (;;) {
    const auto next = queue.next(kAtOnce, kNear, most);
    if (next.empty()) return false;
    const auto all = told_of(next, [&](std::size_t c) {
      if (has_runtime_own(candidate(c))) return tell(c, bytes, most);
      const double passes = is_costly(c, bytes) ? kPassesOfCostlyGuess : kPassesOfGuess;
      const auto told = estimate(c, bytes, most, passes);
      return told && told->is_estimate && told->seconds < most ? tell(c, bytes, most) : told;
    });
    const auto is_faster = [&](const auto& told) { return told && told->seconds < most; };
    if (std::ranges::any_of(all, is_faster)) return true;
  }
}

// Side by side. Whoever waits for one of them takes up nothing else, which might take longer.
std::vector<std::optional<Contest::Told>> Contest::told_of(
    const std::vector<std::size_t>& contenders, const Tell& tell) const {
  std::map<const Times*, std::pair<std::size_t, std::optional<Told>>> by_run;
  for (const std::size_t c : contenders) by_run[&times_of(c)].first = c;
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for_each(by_run, [&](auto& each) {
      auto& [contender, told] = each.second;
      told = tell(contender);
    });
  });
  std::vector<std::optional<Told>> all;
  for (const std::size_t c : contenders) all.push_back(by_run[&times_of(c)].second);
  return all;
}

std::vector<std::optional<Winner>> Contest::winners() {
  return winners({[](std::size_t) { return true; }}).front();
}

// What takes longest first: the largest sizes of the last of `takes`, with its small buffers. Those
// that are found at the same time are of other contenders, and of other sizes, which rarely need
// the same runs.
std::vector<std::vector<std::optional<Winner>>> Contest::winners(const std::vector<Takes>& takes) {
  const std::vector<std::int64_t>& sizes = options_.sizes;
  const Progress& progress = options_.compile.synthesis.packing.progress;
  std::vector<std::vector<std::optional<Winner>>> found(
      takes.size(), std::vector<std::optional<Winner>>(sizes.size()));
  const std::size_t all = takes.size() * sizes.size();
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t done = 0;
  const auto find_next = [&](std::size_t) {
    const std::size_t job = next++;
    const std::size_t after = job % takes.size();  // so many others of `takes`
    const std::size_t t = takes.size() - 1 - after;
    const std::size_t before = job / takes.size() + after * sizes.size() / takes.size();
    const std::size_t i = sizes.size() - 1 - before % sizes.size();
    found[t][i] = winner(sizes[i], takes[t]);
    const std::lock_guard lock(mutex);
    ++done;
    if (progress) {
      progress("choosing by simulation", static_cast<double>(done) / static_cast<double>(all));
    }
  };
  tbb::parallel_for(std::size_t{0}, all, find_next, tbb::simple_partitioner());
  return found;
}

double Contest::least_cost(const Takes& takes, std::int64_t bytes) const {
  double least = 0;
  for (std::size_t c = 0; c < contenders_.size(); ++c) {
    if (!takes(c) || !is_made(contenders_[c].candidate) || !is_there(c)) continue;
    const double cost = simulation_cost(c, bytes);
    if (least == 0 || cost < least) least = cost;
  }
  return least;
}

// All sizes of one are found by one thread, the largest first, as they have runs in common that two
// threads would both make. What takes longest begins first, as it may take as long as all others.
std::vector<std::vector<std::optional<Winner>>> Contest::winners_of_each(
    const std::vector<Takes>& takes, const std::vector<double>& of_interest, const Found& found) {
  const std::vector<std::int64_t>& sizes = options_.sizes;
  std::vector<std::vector<double>> costs(takes.size());
  std::vector<double> sums;
  for (std::size_t t = 0; t < takes.size(); ++t) {
    costs[t].resize(sizes.size());
    double part = 1;  // of the runs that larger sizes leave to be made
    for (std::size_t i = sizes.size(); i-- > 0;) {
      const double cost = 1 + least_cost(takes[t], sizes[i]);
      costs[t][i] = part * cost;
      if (cost > kCostly) part *= kMadeAgain;
    }
    sums.push_back(std::accumulate(costs[t].begin(), costs[t].end(), 0.0));
  }
  std::vector<std::size_t> order(takes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t t) { return sums[t]; });
  if (tbb::this_task_arena::max_concurrency() > 1 && !order.empty()) {
    std::rotate(order.begin(), order.end() - 1, order.end());
  }
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
  const Progress& progress = options_.compile.synthesis.packing.progress;
  std::vector<std::vector<std::optional<Winner>>> winners(
      takes.size(), std::vector<std::optional<Winner>>(sizes.size()));
  std::mutex mutex;
  double done = 0;
  std::atomic<std::size_t> next = 0;
  const auto find_next = [&](std::size_t) {
    const std::size_t t = order[next++];
    for (std::size_t i = sizes.size(); i-- > 0;) {
      winners[t][i] = winner(sizes[i], takes[t], Of::programs, of_interest[i]);
      const std::lock_guard lock(mutex);
      done += costs[t][i];
      if (progress) progress("timing each algorithm", done / all);
    }
    const std::lock_guard lock(mutex);
    found(t, winners[t]);
  };
  tbb::parallel_for(std::size_t{0}, takes.size(), find_next, tbb::simple_partitioner());
  return winners;
}

}  // namespace forestcoll::fastest
