#include "batch/workers/probing.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <utility>

#include "batch/workers/child.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli::batch {
namespace {

constexpr std::size_t kLargestLot = 256;
constexpr std::chrono::milliseconds kProbeInterval(100);

struct Range {
  std::size_t begin, end;
};

struct Lot {
  Range range;
  Child child;
  std::uint64_t answered = 0;  // bytes, at the last look
  double since = 0;            // seconds since its start, when that last grew
  std::optional<ItemError> verdict = {};
};

class Prober {
 public:
  Prober(const std::vector<ProbeTask>& tasks, const ProbingOptions& options, SignalGate& gate)
      : tasks_(tasks), options_(options), gate_(gate), probes_(tasks.size()) {
    const std::size_t fair = tasks.size() / static_cast<std::size_t>(options.jobs) + 1;
    const std::size_t size = std::min(fair, kLargestLot);
    for (std::size_t begin = 0; begin < tasks.size(); begin += size) {
      waiting_.push_back({begin, std::min(begin + size, tasks.size())});
    }
  }

  std::vector<Probe> run() {
    while (gate_.stop_signal() == 0) {
      while (!waiting_.empty() && running_.size() < static_cast<std::size_t>(options_.jobs)) {
        start(waiting_.front());
        waiting_.pop_front();
      }
      if (running_.empty()) return std::move(probes_);
      gate_.wait(kProbeInterval);
      for (auto next = running_.begin(); next != running_.end();) {
        const auto lot = next++;
        if (has_ended(*lot)) running_.erase(lot);
      }
    }
    return {};
  }

 private:
  void start(Range range) {
    const std::vector<ProbeTask> part(tasks_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                                      tasks_.begin() + static_cast<std::ptrdiff_t>(range.end));
    running_.push_back({range, Child(encode(part), gate_.mask_before())});
  }

  bool has_ended(Lot& lot) {
    if (!lot.child.valid()) {
      for (std::size_t i = lot.range.begin; i < lot.range.end; ++i) {
        probes_[i].error = item_error(Code::J04, "no child process can be started");
      }
      return true;
    }
    const auto end = lot.child.poll();
    if (!end) {
      watch(lot);
      return false;
    }
    std::vector<Probe> found = decode_probes(end->out);
    found.resize(std::min(found.size(), lot.range.end - lot.range.begin));
    std::ranges::move(found, probes_.begin() + static_cast<std::ptrdiff_t>(lot.range.begin));
    const std::size_t culprit = lot.range.begin + found.size();
    if (culprit < lot.range.end) {
      probes_[culprit].error = lot.verdict ? *lot.verdict : unanswered(*end);
      if (culprit + 1 < lot.range.end) waiting_.push_front({culprit + 1, lot.range.end});
    }
    return true;
  }

  void watch(Lot& lot) const {
    const double now = lot.child.seconds();
    const std::uint64_t answered = lot.child.answered_bytes();
    if (answered != lot.answered) {
      lot.answered = answered;
      lot.since = now;
    } else if (options_.seconds && now - lot.since > *options_.seconds && !lot.verdict) {
      lot.verdict = item_error(
          Code::J02, fmt::format("not read after {} s, the time limit", number(*options_.seconds)));
      lot.child.send(SIGKILL);
    }
  }

  const std::vector<ProbeTask>& tasks_;
  const ProbingOptions& options_;
  SignalGate& gate_;
  std::vector<Probe> probes_;
  std::deque<Range> waiting_;
  std::list<Lot> running_;
};

}  // namespace

std::vector<Probe> probe_all(const std::vector<ProbeTask>& tasks, const ProbingOptions& options,
                             SignalGate& gate) {
  if (!options.in_process) return Prober(tasks, options, gate).run();
  std::vector<Probe> probes;
  probe_each(tasks, [&](Probe probe) {
    probes.push_back(std::move(probe));
    gate.wait(std::chrono::milliseconds(0));
    return gate.stop_signal() == 0;
  });
  if (gate.stop_signal() != 0) return {};
  return probes;
}

}  // namespace forestcoll::cli::batch
