#include "batch/workers/execution.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace forestcoll::cli::batch {
namespace {

// Where much is waiting, only so many are looked at for one that fits.
constexpr int kLongestLook = 64;

void start_what_fits(std::list<std::size_t>& waiting, const Execution& execution, Runner& runner) {
  int looked_at = 0;
  for (auto next = waiting.begin(); next != waiting.end() && looked_at < kLongestLook;) {
    const auto item = next++;
    const std::uint64_t footprint = execution.footprint(*item);
    if (!runner.has_room(footprint)) {
      ++looked_at;
      continue;
    }
    runner.start(*item, execution.task(*item), footprint);
    waiting.erase(item);
  }
}

}  // namespace

void execute(const Execution& execution, Runner& runner, SignalGate& gate) {
  std::list<std::size_t> waiting(execution.order.begin(), execution.order.end());
  bool stopping = false, asked_to_stop = false;
  while (true) {
    if (gate.stop_signal() != 0 && !asked_to_stop) {
      stopping = asked_to_stop = true;
      gate.let_through();  // whoever asks twice does not want to wait
      if (!runner.can_abandon() && runner.running() > 0) execution.waiting(runner.running());
    }
    if (stopping) {
      waiting.clear();
      runner.stop();
    }
    start_what_fits(waiting, execution, runner);
    if (runner.running() == 0 && waiting.empty()) return;
    gate.wait(std::chrono::milliseconds(runner.interval_ms()));
    for (Finished& finished : runner.poll()) {
      if (!execution.finished(std::move(finished))) stopping = true;
    }
    execution.tick();
  }
}

}  // namespace forestcoll::cli::batch
