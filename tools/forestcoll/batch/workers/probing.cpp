#include "batch/workers/probing.hpp"

#include <algorithm>

#include "batch/workers/wire.hpp"

namespace forestcoll::cli::batch {
namespace {

constexpr std::size_t kLargestLot = 256;

struct Range {
  std::size_t begin, end;
};

// Threads cannot be stopped within a lot, and are not ended by what one file does.
std::vector<Range> lots_of(std::size_t tasks, const RunnerLimits& limits, const Runner& runner) {
  const std::size_t fair = tasks / static_cast<std::size_t>(limits.jobs) + 1;
  const std::size_t size = runner.can_abandon() ? std::min(fair, kLargestLot) : 1;
  std::vector<Range> lots;
  for (std::size_t begin = 0; begin < tasks; begin += size) {
    lots.push_back({begin, std::min(begin + size, tasks)});
  }
  return lots;
}

}  // namespace

std::vector<Probe> probe_all(const std::vector<ProbeTask>& tasks, const RunnerLimits& limits,
                             Runner& runner, SignalGate& gate) {
  std::vector<Probe> probes(tasks.size());
  std::vector<Range> lots = lots_of(tasks.size(), limits, runner);
  Execution execution;
  for (std::size_t lot = 0; lot < lots.size(); ++lot) execution.waiting.push_back(lot);
  execution.footprint = [](std::size_t) { return 0; };
  execution.request = [&](std::size_t lot) {
    const auto first = tasks.begin();
    return encode(std::vector(first + static_cast<std::ptrdiff_t>(lots[lot].begin),
                              first + static_cast<std::ptrdiff_t>(lots[lot].end)));
  };
  execution.finished = [&](const Finished& finished) {
    const Range lot = lots[finished.number];
    std::vector<Probe> found = decode_probes(finished.answer);
    found.resize(std::min(found.size(), lot.end - lot.begin));
    std::ranges::move(found, probes.begin() + static_cast<std::ptrdiff_t>(lot.begin));
    const std::size_t culprit = lot.begin + found.size();
    if (culprit == lot.end) return true;
    probes[culprit].error = why_ended(finished, limits, "not read");
    if (culprit + 1 < lot.end) {
      execution.waiting.push_front(lots.size());
      lots.push_back({culprit + 1, lot.end});
    }
    return true;
  };
  execute(execution, runner, gate);
  if (gate.stop_signal() != 0) return {};
  return probes;
}

}  // namespace forestcoll::cli::batch
