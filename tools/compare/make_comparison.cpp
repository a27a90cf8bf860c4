#include "compare/make_comparison.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <numeric>
#include <utility>

#include "forestcoll/synthesize.hpp"
#include "io.hpp"
#include "progress_bar.hpp"
#include "report.hpp"

namespace forestcoll::cli {
namespace {

using RowJob = std::function<ComparedRow(const Progress&)>;

// Rows know nothing of each other: every thread takes the next one.
class RowPool {
 public:
  RowPool(std::vector<RowJob> jobs, const Console& console)
      : jobs_(std::move(jobs)),
        rows_(jobs_.size()),
        done_(jobs_.size(), 0.0),
        bar_("comparing", console) {}

  std::vector<ComparedRow> run(int threads) {
    std::vector<std::future<void>> workers;
    for (int i = 1; i < std::min(threads, static_cast<int>(jobs_.size())); ++i) {
      workers.push_back(std::async(std::launch::async, [this] { work(); }));
    }
    work();
    for (std::future<void>& worker : workers) worker.get();
    return std::move(rows_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < jobs_.size(); i = next_++) {
      rows_[i] = jobs_[i]([this, i](double fraction) { tell(i, fraction); });
      tell(i, 1);
    }
  }

  void tell(std::size_t row, double fraction) {
    const std::lock_guard lock(mutex_);
    done_[row] = fraction;
    bar_.update(std::accumulate(done_.begin(), done_.end(), 0.0) /
                static_cast<double>(done_.size()));
  }

  std::vector<RowJob> jobs_;
  std::vector<ComparedRow> rows_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;  // of what follows
  std::vector<double> done_;
  ProgressBar bar_;
};

Expected<Comparison> with_optimum(const Fabric& fabric, const RowsRequest& request) {
  const auto best = bound(fabric.network, request.collective, request.root);
  if (!best) return best.errors();
  const auto ranks = static_cast<std::int64_t>(fabric.network.ranks.size());
  const auto busbw = checked_mul(best->algbw, busbw_factor(request.collective, ranks));
  if (!busbw) {
    Diagnostic error = usage_error("E14", "the exact busbw of this fabric does not fit 64 bits",
                                   "round the bandwidths to a coarser grid with --quantize");
    error.kind = ErrorKind::limit;
    return error;
  }
  Comparison comparison;
  comparison.fabric = &fabric;
  comparison.collective = request.collective;
  comparison.root = request.root;
  comparison.optimum = best->algbw;
  comparison.optimum_busbw = *busbw;
  comparison.bottleneck =
      best->broadcast_rate
          ? find_bottleneck(fabric.network, *best->broadcast_rate, Phase::broadcast)
          : find_bottleneck(fabric.network, *best->reduce_rate, Phase::reduce);
  comparison.sizes = request.sizes;
  comparison.gpu = request.parameters.name;
  comparison.gpu_source = request.parameters.source;
  return comparison;
}

}  // namespace

const ComparedRow* find_row(const Comparison& comparison, const std::string& name) {
  const auto found = std::ranges::find(comparison.rows, name, &ComparedRow::algorithm);
  return found == comparison.rows.end() ? nullptr : &*found;
}

Expected<Comparison> make_comparison(const Fabric& fabric, const RowsRequest& request,
                                     const Console& console) {
  auto comparison = with_optimum(fabric, request);
  if (!comparison) return comparison;
  const Ratio optimum = comparison->optimum;
  std::vector<RowJob> jobs;
  for (const std::string& name : request.algorithms) {
    jobs.emplace_back([&, name](const Progress& progress) {
      return algorithm_row(fabric, request, optimum, name, progress);
    });
  }
  for (const std::string& path : request.schedules) {
    auto text = read_input(path);
    if (!text) return text.errors();
    jobs.emplace_back([&, path, schedule = *std::move(text)](const Progress& progress) {
      return schedule_row(fabric, request, optimum, path, schedule, progress);
    });
  }
  comparison->rows = RowPool(std::move(jobs), console).run(request.threads);
  return comparison;
}

}  // namespace forestcoll::cli
