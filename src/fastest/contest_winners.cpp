// Who wins a contest at a size. Contenders are simulated in the order of their bounds, until the
// next bound is above the best time found, or next to it.
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

// Of times of one program that was simulated in other classes.
constexpr double kRounding = 1e-9;
// Simulated side by side, once what has the lowest bound has set a time to beat; but in a table one
// by one where that takes long, as its rows are found side by side.
constexpr std::size_t kAtOnce = 4;
// Of those whose bounds are that near, the ones that are simulated sooner come first.
constexpr double kNear = 1.05;
// Variants of what takes so many times as long as the best are tried, too, also where they are
// costly.
constexpr double kMostOfVariants = 1.1, kMostOfCostlyVariants = 1.05;
// Up to so many times the best what is late is known, where that is not costly.
constexpr double kMostKnown = 1.03;
constexpr double kMadeAgain = 0.3;  // of the runs for a large size, for one that is a quarter of it
constexpr double kCostly = 32768;   // steps; a simulation of fewer takes milliseconds

// Of what takes as long but for rounding, the first contender.
bool is_before(double seconds, std::size_t contender, const Winner& other) {
  const bool is_equal = std::abs(seconds - other.seconds) <= kRounding * other.seconds;
  return is_equal ? contender < other.contender : seconds < other.seconds;
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
  race(queue, bytes, of_interest, has_variants() ? kMostKnown : 1, standing);
  std::optional<Winner>& best = standing.best;
  if (!best) return best;
  if (best->seconds <= kNear * of_interest) {
    const bool are_costly = simulation_cost(best->contender, bytes) > kCostly;
    const double most = are_costly ? kMostOfCostlyVariants : kMostOfVariants;
    std::set<std::size_t> near;
    for (const auto& [candidate, seconds] : standing.by_candidate) {
      if (seconds <= most * best->seconds) near.insert(candidate);
    }
    ContestQueue variants(*this, bytes, takes, of, near);
    race(variants, bytes, of_interest, 1, standing);
  }
  best->considered = best_of_each(std::move(standing.considered));
  return best;
}

// Those of the queue against each other, and against the best so far. What takes up to `known_to`
// times as long as that is simulated to its end where this costs little; of what is not simulated
// bounds are noted.
void Contest::race(ContestQueue& queue, std::int64_t bytes, double of_interest, double known_to,
                   Standing& standing) {
  auto& [best, considered, by_candidate] = standing;
  const bool in_table = std::isfinite(of_interest);
  bool has_lowest = false;  // the one with the lowest bound is simulated
  for (;;) {
    const double most = best ? best->seconds : std::numeric_limits<double>::infinity();
    const bool is_costly = in_table && best && simulation_cost(best->contender, bytes) > kCostly;
    const double worthwhile =
        is_costly ? std::max(most / kWorthwhileBeyond, std::min(most / kWorthwhile, of_interest))
                  : most / kWorthwhile;
    const bool is_early = !has_lowest && !is_costly;
    const std::size_t at_once = has_lowest && !is_costly ? kAtOnce : 1;
    const auto next = !best ? queue.first() : queue.next(at_once, is_early ? 1 : kNear, worthwhile);
    has_lowest = best.has_value();
    if (next.empty()) break;
    const auto all_taken = seconds_of(next, bytes, [&](std::size_t c) {
      return simulation_cost(c, bytes) > kCostly ? most : known_to * most;
    });
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (!all_taken[i]) continue;
      const std::size_t c = next[i];
      const double taken = *all_taken[i];
      const auto [known, is_new] = by_candidate.emplace(contenders_[c].candidate, taken);
      if (!is_new) known->second = std::min(known->second, taken);
      const bool is_late = taken > most;  // or infinite: what is known of other sizes says nothing
      considered.push_back({candidate(c).algorithm, is_late ? most : taken, is_late});
      if (!best || is_before(taken, c, *best)) best = Winner{c, taken, {}};
    }
  }
  for (const auto& [least, c, is_line] : queue.rest()) {
    const bool is_known = is_made(contenders_[c].candidate) && is_there(c);
    if (is_known && best && least < known_to * best->seconds &&
        simulation_cost(c, bytes) <= kCostly) {
      by_candidate.emplace(contenders_[c].candidate, least);
    }
    considered.push_back(
        {candidate(c).algorithm, best ? std::max(least, best->seconds) : least, true});
  }
}

// In a table what has the lowest bound, where that is so high and a simulation costly.
std::optional<Winner> Contest::far_behind(ContestQueue& queue, std::int64_t bytes,
                                          double seconds) const {
  if (!std::isfinite(seconds)) return std::nullopt;
  const auto lowest = queue.lowest();
  if (!lowest || lowest->seconds < seconds) return std::nullopt;
  const std::size_t c = lowest->contender;
  if (simulation_cost(c, bytes) <= kCostly) return std::nullopt;
  return Winner{c, lowest->seconds, {{candidate(c).algorithm, lowest->seconds, true}}, true};
}

bool Contest::is_below(std::int64_t bytes, double most, const Takes& takes, Of of) {
  ContestQueue queue(*this, bytes, takes, of);
  for (;;) {
    const auto next = queue.next(kAtOnce, kNear, most);
    if (next.empty()) return false;
    const auto all = seconds_of(next, bytes, [most](std::size_t) { return most; });
    if (std::ranges::any_of(all, [&](const auto& each) { return each && *each < most; }))
      return true;
  }
}

// Side by side. Whoever waits for one of them takes up nothing else, which might take longer.
std::vector<std::optional<double>> Contest::seconds_of(
    const std::vector<std::size_t>& contenders, std::int64_t bytes,
    const std::function<double(std::size_t)>& most) {
  std::map<const Times*, std::pair<std::size_t, std::optional<double>>> by_run;
  for (const std::size_t c : contenders) by_run[&times_of(c)].first = c;
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for_each(by_run, [&](auto& each) {
      auto& [contender, taken] = each.second;
      taken = seconds(contender, bytes, most(contender));
    });
  });
  std::vector<std::optional<double>> taken;
  for (const std::size_t c : contenders) taken.push_back(by_run[&times_of(c)].second);
  return taken;
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
