// Steps. Every message is one step at each end, and every threadblock takes its steps in the global
// order of the messages. What a step must wait for (waits.hpp) was received by steps of the same
// GPU; a wait becomes a dependency on that step unless it is kept anyway:
//   - the awaited step is earlier in the same threadblock, or
//   - this threadblock has waited before for that step's threadblock to get as far or further.
// A step carries one dependency; each further one needs a nop in front.
//
// Why there is no deadlock, at any split of steps and with one operation in flight (D = 1):
// number the operations of all steps by (message, part of the message, sending before receiving).
// Every edge of the criterion's graph goes from a lower number to a higher one:
//   program order     a threadblock's steps follow the messages, and no message has both its ends
//                     in one threadblock; a nop counts as the beginning of the step it precedes;
//   dependency        from an earlier message to a later one;
//   send to receive   the same message and part, the receive being second;
//   credit            from the receive of one operation to the send of the next on the same
//                     connection, which is a later part or a later message.
// So the graph has no cycle.
#include "schedule/programs.hpp"

#include <algorithm>

namespace forestcoll::schedule {
namespace {

// One end of a message, to be turned into a step.
struct End {
  MessageId message;
  std::int32_t threadblock;
  bool sends;
};

// The program of one rank, written in the order of the messages.
class ProgramWriter {
 public:
  ProgramWriter(const IdVector<MessageId, Message>& messages, const Waits& waits,
                const InPlaceAddressing& addressing, IdVector<MessageId, StepRef>& received)
      : messages_(messages), waits_(waits), addressing_(addressing), received_(received) {}

  RankProgram write(const IdVector<LaneId, PlacedLane>& lanes,
                    const std::vector<ThreadblockPlan>& plans) {
    program_.input_chunks = addressing_.input_chunks();
    program_.output_chunks = addressing_.output_chunks();
    for (const End& end : ends(lanes, plans)) {
      wait(end);
      append(end);
    }
    put_depended_first();
    return std::move(program_);
  }

 private:
  // Makes the threadblocks, without steps, and lists the ends in order.
  std::vector<End> ends(const IdVector<LaneId, PlacedLane>& lanes,
                        const std::vector<ThreadblockPlan>& plans) {
    std::vector<End> result;
    for (const ThreadblockPlan& plan : plans) {
      const auto threadblock = static_cast<std::int32_t>(program_.threadblocks.size());
      Threadblock& made = program_.threadblocks.emplace_back();
      if (plan.send.valid()) {
        made.send_peer = lanes[plan.send].dst;
        made.channel = lanes[plan.send].channel;
        for (const MessageId m : lanes[plan.send].lane.messages) {
          result.push_back({m, threadblock, true});
        }
      }
      if (plan.recv.valid()) {
        made.recv_peer = lanes[plan.recv].src;
        made.channel = lanes[plan.recv].channel;
        for (const MessageId m : lanes[plan.recv].lane.messages) {
          result.push_back({m, threadblock, false});
        }
      }
    }
    std::sort(result.begin(), result.end(),
              [](const End& a, const End& b) { return a.message < b.message; });
    const std::size_t n = plans.size();
    reached_.assign(n, std::vector<std::int32_t>(n, -1));
    return result;
  }

  // Leaves in pending_ the dependencies that the next step of the end's threadblock needs.
  void wait(const End& end) {
    auto& reached = reached_[static_cast<std::size_t>(end.threadblock)];
    pending_.clear();
    const auto awaited =
        end.sends ? waits_.at_sender(end.message) : waits_.at_receiver(end.message);
    // Backwards: the latest step of each threadblock comes first, and implies the others.
    for (auto it = awaited.rbegin(); it != awaited.rend(); ++it) {
      const StepRef step = received_[*it];
      if (step.threadblock == end.threadblock) continue;
      auto& furthest = reached[static_cast<std::size_t>(step.threadblock)];
      if (furthest >= step.step) continue;
      furthest = step.step;
      pending_.push_back(step);
    }
    for (const StepRef& step : pending_) {
      block(step.threadblock).steps[static_cast<std::size_t>(step.step)].has_dependent = true;
    }
  }

  // Appends the step, with a nop in front for each dependency but the last.
  void append(const End& end) {
    const Message& message = messages_[end.message];
    const Slice at_src = addressing_.slice(message.src, message.first_chunk);
    const Slice at_dst = addressing_.slice(message.dst, message.first_chunk);
    Step step;
    step.count = message.count;
    step.src = end.sends ? at_src : at_dst;
    step.dst = at_dst;
    step.operation = end.sends         ? Operation::send
                     : message.reduces ? Operation::recv_reduce_copy
                                       : Operation::recv;
    auto& steps = block(end.threadblock).steps;
    for (std::size_t i = 0; i + 1 < pending_.size(); ++i) {
      Step nop;
      nop.src = nop.dst = step.src;
      nop.depends_on = pending_[i];
      steps.push_back(nop);
    }
    if (!pending_.empty()) step.depends_on = pending_.back();
    if (!end.sends) {
      received_[end.message] = {end.threadblock, static_cast<std::int32_t>(steps.size())};
    }
    steps.push_back(step);
  }

  // Dependencies can name low threadblock numbers only.
  void put_depended_first() {
    auto& blocks = program_.threadblocks;
    std::vector<std::int32_t> order(blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    std::stable_partition(order.begin(), order.end(), [&](std::int32_t i) {
      const auto& steps = block(i).steps;
      return std::any_of(steps.begin(), steps.end(),
                         [](const Step& step) { return step.has_dependent; });
    });
    std::vector<std::int32_t> place(order.size());
    std::vector<Threadblock> sorted(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
      sorted[i] = std::move(block(order[i]));
    }
    for (Threadblock& each : sorted) {
      for (Step& step : each.steps) {
        if (step.depends_on) {
          step.depends_on->threadblock =
              place[static_cast<std::size_t>(step.depends_on->threadblock)];
        }
      }
    }
    blocks = std::move(sorted);
  }

  Threadblock& block(std::int32_t i) { return program_.threadblocks[static_cast<std::size_t>(i)]; }

  const IdVector<MessageId, Message>& messages_;
  const Waits& waits_;
  const InPlaceAddressing& addressing_;
  IdVector<MessageId, StepRef>& received_;  // where each message arrives
  RankProgram program_;
  std::vector<std::vector<std::int32_t>> reached_;  // steps of others that each has waited for
  std::vector<StepRef> pending_;
};

}  // namespace

IdVector<Rank, RankProgram> write_programs(
    const IdVector<MessageId, Message>& messages, const Waits& waits,
    const IdVector<LaneId, PlacedLane>& lanes,
    const IdVector<Rank, std::vector<ThreadblockPlan>>& threadblocks,
    const InPlaceAddressing& addressing) {
  IdVector<MessageId, StepRef> received(messages.size());
  IdVector<Rank, RankProgram> programs;
  programs.reserve(threadblocks.size());
  for (const auto& plans : threadblocks) {
    programs.push_back(ProgramWriter(messages, waits, addressing, received).write(lanes, plans));
  }
  return programs;
}

}  // namespace forestcoll::schedule
