// The runtime's waits, without the data: threadblocks run their steps in order; an operation waits
// for a flag, for a message, or for room on its connection. A threadblock runs until it must wait,
// and is woken by the one that it waits for.

#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {
namespace {

class WaitRun {
 public:
  WaitRun(const StepGraph& graph, std::int32_t chunks_per_operation, std::int64_t depth,
          std::vector<std::int32_t>* order)
      : graph_(graph), chunks_(chunks_per_operation), depth_(depth), order_(order) {
    states_.resize(graph.blocks.size());
    for (std::size_t b = 0; b < states_.size(); ++b) states_[b].step = graph.blocks[b].begin;
  }

  std::optional<Deadlock> run() {
    for (std::size_t b = 0; b < states_.size(); ++b) ready_.push_back(static_cast<std::int32_t>(b));
    while (!ready_.empty()) {
      const std::int32_t block = ready_.back();
      ready_.pop_back();
      advance(block);
    }
    for (std::size_t b = 0; b < states_.size(); ++b) {
      if (states_[b].step < graph_.blocks[b].end) return find_cycle(static_cast<std::int32_t>(b));
    }
    return std::nullopt;
  }

 private:
  struct State {
    std::int32_t step = 0;
    std::int32_t operation = 0;  // within the step
    std::int64_t sent = 0, received = 0;
    std::int32_t waits_for = -1;  // a threadblock
    Deadlock::Wait::For cause = Deadlock::Wait::For::dependency;
    std::vector<std::int32_t> waiters;
  };

  State& state(std::int32_t block) { return states_[static_cast<std::size_t>(block)]; }

  // Whether the next operation must wait; notes for whom.
  bool must_wait(std::int32_t block) {
    State& self = state(block);
    const StepGraph::Node& node = graph_.node(self.step);
    const StepGraph::Block& ends = graph_.blocks[static_cast<std::size_t>(block)];
    const auto wait = [&](std::int32_t other, Deadlock::Wait::For cause) {
      self.waits_for = other;
      self.cause = cause;
      return true;
    };
    if (self.operation == 0 && node.depends_on >= 0) {
      const std::int32_t other = graph_.node(node.depends_on).threadblock;
      if (state(other).step <= node.depends_on) return wait(other, Deadlock::Wait::For::dependency);
    }
    if (node.message_from >= 0 && state(ends.receives_from).sent <= self.received) {
      return wait(ends.receives_from, Deadlock::Wait::For::message);
    }
    if (node.message_to >= 0 && self.sent - state(ends.sends_to).received >= depth_) {
      return wait(ends.sends_to, Deadlock::Wait::For::room);
    }
    return false;
  }

  void advance(std::int32_t block) {
    State& self = state(block);
    const std::int32_t end = graph_.blocks[static_cast<std::size_t>(block)].end;
    bool moved = false;
    while (self.step < end && !must_wait(block)) {
      moved = true;
      perform(self);
    }
    if (self.step < end) state(self.waits_for).waiters.push_back(block);
    if (!moved) return;
    ready_.insert(ready_.end(), self.waiters.begin(), self.waiters.end());
    self.waiters.clear();
  }

  void perform(State& self) {
    const StepGraph::Node& node = graph_.node(self.step);
    if (node.message_from >= 0) ++self.received;
    if (node.message_to >= 0) ++self.sent;
    const bool message = node.message_from >= 0 || node.message_to >= 0;
    const std::int32_t operations = message ? (node.step->count + chunks_ - 1) / chunks_ : 1;
    if (++self.operation < operations) return;
    if (order_ != nullptr) order_->push_back(self.step);
    self.operation = 0;
    ++self.step;
  }

  // Whoever is stuck waits for another that is stuck, so following the waits closes a cycle.
  Deadlock find_cycle(std::int32_t block) {
    std::vector<bool> seen(states_.size(), false);
    while (!seen[static_cast<std::size_t>(block)]) {
      seen[static_cast<std::size_t>(block)] = true;
      block = state(block).waits_for;
    }
    Deadlock deadlock;
    const std::int32_t first = block;
    do {
      deadlock.cycle.push_back({state(block).step, state(block).cause});
      block = state(block).waits_for;
    } while (block != first);
    return deadlock;
  }

  const StepGraph& graph_;
  std::int32_t chunks_;
  std::int64_t depth_;
  std::vector<std::int32_t>* order_;
  std::vector<State> states_;
  std::vector<std::int32_t> ready_;
};

}  // namespace

std::optional<Deadlock> find_deadlock(const StepGraph& graph, std::int32_t chunks_per_operation,
                                      std::int64_t depth, std::vector<std::int32_t>* order) {
  return WaitRun(graph, chunks_per_operation, depth, order).run();
}

}  // namespace forestcoll::audit
