// Jobs as tasks of oneTBB.
#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "batch/workers/runner.hpp"
#include "batch/workers/work.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/stopwatch.hpp"

namespace forestcoll::cli::batch {
namespace {

class Threads : public Runner {
 public:
  // Threads wait for each other's places. One place more than jobs: the thread that waits for
  // signals has one and does not use it.
  explicit Threads(const RunnerLimits& limits)
      : load_(limits),
        limit_(oneapi::tbb::global_control::max_allowed_parallelism,
               static_cast<std::size_t>(limits.jobs) + 1),
        arena_(limits.jobs + 1) {}
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() noexcept override {
    arena_.execute([this] { group_.wait(); });
  }

  [[nodiscard]] bool has_room(std::uint64_t footprint) const override {
    return load_.has_room(footprint);
  }

  void start(const Job& job) override {
    load_.add(job.footprint);
    footprints_[job.number] = job.footprint;
    arena_.enqueue(group_.defer([this, number = job.number, request = job.request] {
      Stopwatch watch;
      Finished finished;
      finished.number = number;
      const auto take = [&finished](const std::string& part) {
        finished.answer += part;
        return true;
      };
      if (!answer(request, take)) {
        finished.end = End::died;
        finished.error = item_error(Code::J04, "the request cannot be read");
      }
      finished.seconds = watch.restart();
      finished_.push(std::move(finished));
      kill(getpid(), SIGCHLD);
    }));
  }

  [[nodiscard]] std::vector<Finished> poll() override {
    std::vector<Finished> all;
    for (Finished next; finished_.try_pop(next);) {
      const auto footprint = footprints_.extract(next.number);
      load_.remove(footprint.mapped());
      all.push_back(std::move(next));
    }
    return all;
  }

  [[nodiscard]] std::size_t running() const override { return load_.running(); }
  void stop() override {}
  [[nodiscard]] bool can_abandon() const override { return false; }

 private:
  Load load_;
  std::map<std::size_t, std::uint64_t> footprints_;
  oneapi::tbb::concurrent_queue<Finished> finished_;
  oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
  oneapi::tbb::task_group group_;
};

}  // namespace

std::unique_ptr<Runner> run_in_process(const RunnerLimits& limits) {
  share_heaps(limits.jobs + 1);
  return std::make_unique<Threads>(limits);
}

}  // namespace forestcoll::cli::batch
