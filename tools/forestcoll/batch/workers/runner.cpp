#include "batch/workers/runner.hpp"

#include <fmt/format.h>

#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

// Where much is waiting, only so many are looked at for one that fits.
constexpr int kLongestLook = 64;

void start_what_fits(Execution& execution, Runner& runner) {
  int looked_at = 0;
  for (auto next = execution.waiting.begin();
       next != execution.waiting.end() && looked_at < kLongestLook;) {
    const auto job = next++;
    const std::uint64_t footprint = execution.footprint(*job);
    if (!runner.has_room(footprint)) {
      ++looked_at;
      continue;
    }
    runner.start({*job, execution.request(*job), footprint});
    execution.waiting.erase(job);
  }
}

}  // namespace

ItemError why_ended(const Finished& finished, const RunnerLimits& limits, std::string_view undone) {
  if (finished.end == End::late) {
    return item_error(Code::J02, fmt::format("{} after {} s, the time limit", undone,
                                             number(limits.seconds.value_or(0))));
  }
  if (finished.end == End::too_large) {
    return item_error(Code::J03,
                      fmt::format("takes more than the {} MiB of --memory", limits.memory >> 20));
  }
  return finished.error;
}

void execute(Execution& execution, Runner& runner, SignalGate& gate) {
  bool stopping = false, asked_to_stop = false;
  while (true) {
    if (gate.stop_signal() != 0 && !asked_to_stop) {
      stopping = asked_to_stop = true;
      gate.let_through();  // whoever asks twice does not want to wait
      if (!runner.can_abandon() && runner.running() > 0) execution.cannot_stop(runner.running());
    }
    if (stopping) {
      execution.waiting.clear();
      runner.stop();
    }
    start_what_fits(execution, runner);
    if (runner.running() == 0 && execution.waiting.empty()) return;
    gate.wait(std::chrono::milliseconds(runner.interval_ms()));
    for (Finished& finished : runner.poll()) {
      if (!execution.finished(std::move(finished))) stopping = true;
    }
    execution.tick();
  }
}

}  // namespace forestcoll::cli::batch
