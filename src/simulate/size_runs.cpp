#include "simulate/size_runs.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "simulate/run/classes.hpp"
#include "simulate/run/event_run.hpp"
#include "simulate/run/least_time.hpp"

namespace forestcoll::simulate {
namespace {

// By link of the fabric, of each byte of the buffer.
std::vector<double> loads_of(const ClassGraph& classes, double bytes) {
  const std::vector<double> by_class = link_loads(classes);
  std::vector<double> loads;
  for (const std::int32_t of : classes.of_link) {
    loads.push_back(of < 0 ? 0 : by_class[index(of)] / bytes);
  }
  return loads;
}

// What there is to run: a graph of classes where there is one, else all of it.
ClassGraph coarsest(ClassGraph all) {
  if (all.is_coarsest) return all;
  const std::span<const double> links(all.capacity);
  auto classes = class_graph(all.graph, links.first(all.of_link.size()));
  return classes ? *std::move(classes) : std::move(all);
}

}  // namespace

void SizeRuns::prepare(std::vector<double> sizes) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());  // the longest first
  for (const double bytes : sizes) expected_ += passes(bytes);
  std::vector<SizeRun> runs(sizes.size());
  const int threads = options_.threads > 0 ? options_.threads : tbb::info::default_concurrency();
  tbb::task_arena arena(threads);
  arena.execute([&] {
    const auto run = [&](std::size_t i) { runs[i] = simulate(sizes[i]); };
    tbb::parallel_for(std::size_t{0}, sizes.size(), run, tbb::simple_partitioner());
  });
  for (std::size_t i = 0; i < sizes.size(); ++i) runs_.emplace(sizes[i], std::move(runs[i]));
}

const SizeRun& SizeRuns::at(double bytes, double followed) {
  const auto found = runs_.find(bytes);
  if (found != runs_.end()) return found->second;
  expected_ += passes(bytes);
  return runs_.emplace(bytes, simulate(bytes, followed)).first->second;
}

SizeRun SizeRuns::simulate(double bytes, double followed) {
  SizeRun run;
  const double known = model_.activities(parameters_, bytes);
  if (known > 0 && !claim(known, followed)) {
    run.end = SizeRun::End::too_many;
    return run;
  }
  const ClassGraph classes = coarsest(model_.make(parameters_, bytes));
  run.link_bytes = loads_of(classes, bytes);
  const double activities = classes.graph.total_repeats();
  run.activities = activities;
  if (known == 0 && !claim(activities, followed)) {
    run.end = SizeRun::End::too_many;
    return run;
  }
  const double passes_each = passes(bytes) / activities;
  std::int64_t told = 0;
  EventRunOptions options;
  options.tolerance = options_.tolerance;
  options.most_seconds = options_.most_seconds;
  options.stop = options_.stop;
  options.progress = [&](std::int64_t ended) {
    report(static_cast<double>(ended - std::exchange(told, ended)) * passes_each);
  };
  const EventRunResult result = run_events(classes.graph, classes.capacity, options);
  options.progress(result.ended);
  run.seconds = result.seconds;
  run.end = result.complete     ? SizeRun::End::complete
            : result.late       ? SizeRun::End::late
            : result.stuck >= 0 ? SizeRun::End::stuck
                                : SizeRun::End::stopped;
  const std::lock_guard lock(mutex_);
  events_ += result.ended;
  return run;
}

// Whether there is room for so many more, and for those that follow. All runs ask, so that the last
// answer is the same whatever their order.
bool SizeRuns::claim(double activities, double followed) {
  const std::lock_guard lock(mutex_);
  claimed_ += activities;
  return claimed_ + followed * activities <= static_cast<double>(options_.max_events);
}

void SizeRuns::report(double passes) {
  if (!options_.progress) return;
  const std::lock_guard lock(mutex_);
  reported_ += passes;
  options_.progress(std::min(1.0, reported_ / expected_));
}

}  // namespace forestcoll::simulate
