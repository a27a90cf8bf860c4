// A child per item: what happens to one does not happen to the others.
#include <fmt/format.h>
#include <sys/wait.h>

#include <list>
#include <utility>

#include "batch/workers/child.hpp"
#include "batch/workers/runner.hpp"

namespace forestcoll::cli::batch {
namespace {

// Time for a child that is asked to end, to remove what it was writing.
constexpr double kSecondsToEnd = 5;

class Children : public Runner {
 public:
  Children(const RunnerLimits& limits, const sigset_t& mask)
      : limits_(limits), mask_(mask), load_(limits) {}

  [[nodiscard]] bool has_room(std::uint64_t footprint) const override {
    return load_.has_room(footprint);
  }

  void start(std::size_t item, const Task& task, std::uint64_t footprint) override {
    load_.add(footprint);
    running_.push_back({item, footprint, Child(encode(task), mask_)});
  }

  [[nodiscard]] std::vector<Finished> poll() override {
    std::vector<Finished> finished;
    for (auto next = running_.begin(); next != running_.end();) {
      const auto job = next++;
      if (auto done = finished_of(*job)) {
        load_.remove(job->footprint);
        finished.push_back(*std::move(done));
        running_.erase(job);
      } else {
        enforce(*job);
      }
    }
    return finished;
  }

  [[nodiscard]] std::size_t running() const override { return running_.size(); }

  void stop() override {
    for (Job& job : running_) {
      if (!job.verdict) job.abandoned = true;
      end(job);
    }
  }

 private:
  struct Job {
    std::size_t item;
    std::uint64_t footprint;
    Child child;
    std::optional<ItemError> verdict = {};       // why it was ended
    std::optional<double> asked_to_end_at = {};  // seconds since its start
    bool abandoned = false;
  };

  static void end(Job& job) {
    if (job.asked_to_end_at) return;
    job.child.send(SIGTERM);
    job.asked_to_end_at = job.child.seconds();
  }

  void enforce(Job& job) const {
    const double seconds = job.child.seconds();
    if (job.asked_to_end_at) {
      if (seconds > *job.asked_to_end_at + kSecondsToEnd) job.child.send(SIGKILL);
      return;
    }
    if (limits_.seconds && seconds > *limits_.seconds) {
      job.verdict = item_error(
          Code::J02, fmt::format("not done after {} s, the time limit", number(*limits_.seconds)));
      end(job);
    } else if (limits_.memory_is_strict && job.child.resident_bytes() > limits_.memory) {
      job.verdict = item_error(
          Code::J03, fmt::format("takes more than the {} MiB of --memory", limits_.memory >> 20));
      end(job);
    }
  }

  static std::optional<Finished> finished_of(Job& job) {
    Finished finished;
    finished.item = job.item;
    if (!job.child.valid()) {
      finished.answer.error = item_error(Code::J04, "no child process can be started");
      return finished;
    }
    const auto end = job.child.poll();
    if (!end) return std::nullopt;
    finished.seconds = end->seconds;
    finished.peak_bytes = end->peak_bytes;
    auto answer = decode_answer(end->out);
    if (answer && WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0) {
      finished.answer = *std::move(answer);  // also where it was done just before the limit
    } else if (job.abandoned) {
      finished.abandoned = true;
    } else {
      finished.answer.error = job.verdict ? *job.verdict : unanswered(*end);
    }
    return finished;
  }

  RunnerLimits limits_;
  sigset_t mask_;
  Load load_;
  std::list<Job> running_;
};

}  // namespace

std::unique_ptr<Runner> run_in_children(const RunnerLimits& limits, const sigset_t& mask) {
  return std::make_unique<Children>(limits, mask);
}

}  // namespace forestcoll::cli::batch
