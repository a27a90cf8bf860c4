#include "compare/make_comparison.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>

#include "common/files/io.hpp"
#include "common/limits.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "compare/rows/alltoall_row.hpp"
#include "compare/rows/live_rows.hpp"
#include "compare/rows/program_rows.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

using RowJob = std::function<ComparedRow(const RowProgress&)>;

// Rows know nothing of each other: every thread takes the next one.
class RowPool {
 public:
  using Known = std::function<void(const ComparedRow&)>;
  RowPool(std::vector<RowJob> jobs, ProgressBar& bar, Known known = {})
      : jobs_(std::move(jobs)),
        rows_(jobs_.size()),
        known_(std::move(known)),
        done_(jobs_.size(), 0.0),
        bar_(bar) {}

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
      if (known_) known_(rows_[i]);
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
  Known known_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;  // of what follows
  std::vector<double> done_;
  ProgressBar& bar_;
};

// Where limits do not hold the collective up, they have no part in it.
Network without_limits(const Fabric& fabric) {
  Network network = fabric.links();
  network.limits.clear();
  return network;
}

Expected<Bottleneck> cut_of(const Bound& best, const Network& network) {
  return best.broadcast_rate
             ? find_bottleneck(network, *best.broadcast_rate, CollectivePhase::broadcast)
             : find_bottleneck(network, *best.reduce_rate, CollectivePhase::reduce);
}

// What rows are compared with: see `Comparison::optimum`.
Expected<Ratio> base_of(const RateFigures& rates) {
  if (rates.optimum) return rates.optimum->at_most;
  if (rates.allreduce) return rates.allreduce->two_phases;
  if (rates.by_trees) return rates.by_trees->at_most;
  return rates.by_trees.errors();
}

Expected<Comparison> tree_optimum_of(const Fabric& fabric, const RowsRequest& request,
                                     const Console& console) {
  const Network network = without_limits(fabric);
  const auto best = bound(network, request.collective, request.root);
  if (!best) return best.errors();
  auto rates = fabric.optimum
                   ? rates_within_limits(fabric.links(), switch_roles(fabric.topology),
                                         request.collective, request.root, fabric.optimum)
                   : rate_figures(network, switch_roles(fabric.topology), request.collective, best,
                                  request.root);
  const auto base = base_of(rates);
  if (!base) return base.errors();
  auto reached = request.by_size ? reached_by_default(fabric, request.collective, request.root,
                                                      request.target, console)
                                 : no_target("leave out --trees");
  Comparison comparison{.figures = {std::move(rates), std::move(reached)}};
  comparison.optimum = *base;
  comparison.is_by_lengths = fabric.optimum && is_held_by_limits(*fabric.optimum);
  if (comparison.is_by_lengths) return comparison;
  auto bottleneck = cut_of(*best, network);
  if (!bottleneck) return bottleneck.errors();
  comparison.bottleneck = *std::move(bottleneck);
  return comparison;
}

Expected<Comparison> with_optimum(const Fabric& fabric, const RowsRequest& request,
                                  const Console& console) {
  const ProgressBar bar("finding the optimum", console);
  auto found = request.demand ? alltoall_optimum_of(fabric, request, console)
                              : tree_optimum_of(fabric, request, console);
  if (!found) return found;
  Comparison& comparison = *found;
  comparison.fabric = &fabric;
  comparison.collective = request.collective;
  comparison.collective_name = request.collective_name;
  comparison.target = request.target;
  comparison.root = request.root;
  const auto busbw = busbw_of(comparison.optimum, request.collective, fabric.network);
  if (!busbw) return busbw.errors();
  comparison.optimum_busbw = *busbw;
  comparison.sizes = request.sizes;
  comparison.refused_sizes = request.refused_sizes;
  comparison.gpu = request.parameters.name;
  comparison.gpu_source = request.parameters.source;
  comparison.gpu_chosen = request.gpu_chosen;
  return found;
}

std::vector<ComparedRow> rows_of_files(const Fabric& fabric, const RowsRequest& request,
                                       const Ratio& optimum, const Console& console) {
  std::vector<RowJob> jobs;
  for (const std::string& path : request.schedules) {
    jobs.emplace_back([&, path, text = read_input(path)](const RowProgress& progress) {
      return schedule_row(fabric, request, optimum, path, text, progress);
    });
  }
  ProgressBar bar("simulating files", console);
  return RowPool(std::move(jobs), bar).run(request.threads);
}

std::vector<ComparedRow> rows_of_algorithms(const Fabric& fabric, const RowsRequest& request,
                                            const Ratio& optimum, ProgressBar& bar,
                                            LiveRows& live) {
  std::vector<RowJob> jobs;
  for (const std::string& name : request.algorithms) {
    jobs.emplace_back([&, name](const RowProgress& progress) {
      return algorithm_row(fabric, request, optimum, name, progress);
    });
  }
  return RowPool(std::move(jobs), bar, [&](const ComparedRow& row) { live.add(row); })
      .run(request.threads);
}

}  // namespace

const ComparedRow* find_row(const Comparison& comparison, const std::string& name) {
  const auto found = std::ranges::find(comparison.rows, name, &ComparedRow::algorithm);
  return found == comparison.rows.end() ? nullptr : &*found;
}

const std::vector<SimulatedTime>& times_of(const ComparedRow& row, Simulated kind) {
  static const std::vector<SimulatedTime> none;
  if (kind == row.simulated) return row.times;
  return kind == Simulated::program ? row.program_times : none;
}

Expected<Comparison> make_comparison(const Fabric& fabric, RowsRequest request,
                                     const Console& console) {
  auto comparison = with_optimum(fabric, request, console);
  if (!comparison) return comparison;
  const Ratio optimum = comparison->optimum;
  if (comparison->alltoall) request.alltoall_proof = &comparison->alltoall->proof;
  auto files = rows_of_files(fabric, request, optimum, console);
  const auto any_is = [&](Simulated kind) {
    return std::ranges::any_of(
        files, [&](const ComparedRow& row) { return !row.error && row.simulated == kind; });
  };
  // A program is compared with programs, trees with trees.
  request.programs = any_is(Simulated::program);
  request.trees |= any_is(Simulated::trees);
  // Rates first: they are known, and shown, long before the times of programs are.
  ProgressBar bar("comparing", console);
  LiveRows live(request, bar);
  comparison->rows = rows_of_algorithms(fabric, request, optimum, bar, live);
  if (request.by_size && !request.sizes.empty()) {
    auto timed = time_programs(fabric, request, bar, live);
    if (timed) {
      request.fastest = *std::move(timed);
    } else {
      request.fastest_error = timed.errors().front();
    }
  }
  for (ComparedRow& row : comparison->rows) add_programs(row, fabric, request, optimum);
  std::ranges::move(files, std::back_inserter(comparison->rows));
  return comparison;
}

}  // namespace forestcoll::cli
