// Who wins a contest: at one size, at all of them, and in a table.
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "fastest/contest.hpp"
#include "fastest/contest_queue.hpp"
#include "fastest/race.hpp"

namespace forestcoll::fastest {
namespace {

// By which it is told whether anything is below what need not be known exactly.
constexpr double kPassesOfGuess = 8, kPassesOfCostlyGuess = 2;
// So many times what is of interest: variants are tried, too.
constexpr double kNearInterest = 1.05;
constexpr double kMadeAgain = 0.3;  // of the runs for a large size, for one that is a quarter of it
constexpr double kCostly = 32768;   // steps; a simulation of fewer takes milliseconds

}  // namespace

std::optional<Winner> Contest::winner(std::int64_t bytes, const Takes& takes, Of of,
                                      const Limits& limits) {
  ContestQueue queue(*this, bytes, takes, of);
  if (auto far = far_behind(queue, bytes, kFarBehind * limits.of_interest)) return far;
  Race race(*this, bytes, limits);
  race.run(queue);
  if (race.best() && race.best()->seconds <= kNearInterest * limits.of_interest) {
    const std::set<std::size_t> near = race.with_variants();
    ContestQueue variants(*this, bytes, takes, of, near);
    race.run(variants);
  }
  return race.finish();
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
    const auto next = queue.next(ContestQueue::kAtOnce, most);
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
      winners[t][i] = winner(sizes[i], takes[t], Of::programs, {.of_interest = of_interest[i]});
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
