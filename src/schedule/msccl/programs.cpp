// Steps. Every message is one step at each end, or shares one with the message that it relays, and
// every threadblock takes its steps in one order of all messages. What a step must wait for
// (waits.hpp) was received by steps of the same GPU; a wait becomes a dependency on that step
// unless it is kept anyway:
//   - the awaited step is earlier in the same threadblock, or
//   - this threadblock has waited before for that step's threadblock to get as far or further.
// A step carries one dependency; each further one needs a nop in front.
//
// Why there is no deadlock, at any split of steps and with one operation in flight (D = 1):
// number the operations of all steps by (turn, part of the message, place in the chain of relays,
// sending before receiving before adding). Every edge of the criterion's graph goes from a lower
// number to a higher one:
//   program order     a threadblock's steps follow the turns, and no message has both its ends
//                     in one threadblock; a nop counts as the beginning of the step it precedes;
//   dependency        from an earlier turn to a later one, or from a copy, which waits for nothing;
//   send to receive   the same message and part, the receive being second;
//   credit            from the receive of one operation to the send of the next on the same
//                     connection, which is a later part or a later turn.
// So the graph has no cycle. (`re` and `cpy` come after all parts of what they wait for, in the
// threadblock that received it, and before the next turn.)
#include "schedule/msccl/programs.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/check.hpp"
#include "schedule/msccl/copies.hpp"
#include "schedule/msccl/labels.hpp"

namespace forestcoll::schedule {
namespace {

// A step to be: the message of a tree that it receives, the one that it sends, or both.
struct Event {
  MessageId recv, send;
  std::int32_t threadblock;
  std::int32_t turn;
};

// The program of one rank, written in the order of turns.
class ProgramWriter {
 public:
  ProgramWriter(const Writing& writing, IdVector<MessageId, StepRef>& received, Rank rank)
      : w_(writing), received_(received), rank_(rank) {}

  RankProgram write(const std::vector<BlockLanes>& placed) {
    program_.input_chunks = w_.addressing.input_chunks(rank_);
    program_.output_chunks = w_.addressing.output_chunks(rank_);
    const std::vector<Event> all = events(placed);
    if (w_.addressing.sends_copies()) copy_own(placed);
    for (const Event& event : all) append(event);
    if (!w_.addressing.sends_copies()) copy_own(placed);
    put_depended_first();
    program_.scratch_chunks = scratch_used_;
    return std::move(program_);
  }

 private:
  // Makes the threadblocks, without steps, and lists the events in order.
  std::vector<Event> events(const std::vector<BlockLanes>& placed) {
    std::vector<Event> result;
    for (const BlockLanes& served : placed) {
      const auto threadblock = static_cast<std::int32_t>(program_.threadblocks.size());
      Threadblock& made = program_.threadblocks.emplace_back();
      std::int64_t& largest = largest_addition_.emplace_back(0);
      if (served.send.valid()) {
        made.send_peer = w_.lanes[served.send].dst;
        made.channel = w_.lanes[served.send].channel;
        for (const MessageId m : w_.lanes[served.send].lane.messages) {
          const MessageId of_tree = w_.ends.of_tree(m);
          if (w_.fusion.received_as[of_tree].valid()) continue;  // in the event that receives
          result.push_back({{}, of_tree, threadblock, w_.fusion.turn[of_tree]});
        }
      }
      if (served.recv.valid()) {
        made.recv_peer = w_.lanes[served.recv].src;
        made.channel = w_.lanes[served.recv].channel;
        for (const MessageId m : w_.lanes[served.recv].lane.messages) {
          const MessageId of_tree = w_.ends.of_tree(m);
          result.push_back(
              {of_tree, w_.fusion.sent_as[of_tree], threadblock, w_.fusion.turn[of_tree]});
          const Message& message = w_.ends.at_ranks()[m];
          if (message.reduces) largest = std::max<std::int64_t>(largest, message.count);
        }
      }
    }
    std::sort(result.begin(), result.end(), [](const Event& a, const Event& b) {
      return std::pair(a.turn, a.threadblock) < std::pair(b.turn, b.threadblock);
    });
    return result;
  }

  // Copies the rank's own chunks into its output.
  void copy_own(const std::vector<BlockLanes>& placed) {
    const ChunkRange own = w_.addressing.copied(rank_);
    if (own.size() == 0) return;
    const std::vector<BlockLoad> loads = loads_of(placed);
    CopyLimits limits{w_.max_steps, w_.max_count, w_.most_with_copies - std::ssize(placed),
                      w_.max_elements};
    for (const BlockLoad& load : loads) limits.elements -= 1 + load.steps;
    for (const CopyShare& share : share_copies(own, loads, limits, ends_of_copies(placed))) {
      while (program_.threadblocks.size() <= share.threadblock) {
        program_.threadblocks.emplace_back();
      }
      copy(share);
    }
  }

  void copy(const CopyShare& share) {
    for (std::int64_t c = share.range.begin; c < share.range.end; c += w_.max_count) {
      Step step;
      step.operation = Operation::copy;
      step.src = w_.addressing.own(rank_, c);
      step.dst = *w_.addressing.kept(rank_, c);
      step.count = std::min<std::int64_t>(w_.max_count, share.range.end - c);
      copied_[c] = push(static_cast<std::int32_t>(share.threadblock), step, {});
    }
  }

  [[nodiscard]] std::vector<BlockLoad> loads_of(const std::vector<BlockLanes>& placed) const {
    const auto chunks = [&](LaneId lane) {
      std::int64_t sum = 0;
      for (const MessageId m : w_.lanes[lane].lane.messages) sum += w_.ends.at_ranks()[m].count;
      return sum;
    };
    std::vector<BlockLoad> loads;
    for (const BlockLanes& served : placed) {
      const bool sends = served.send.valid(), receives = served.recv.valid();
      const std::int64_t sent = sends ? chunks(served.send) : 0;
      const std::int64_t received = receives ? chunks(served.recv) : 0;
      loads.push_back({sent + received, std::max(sent, received),
                       (sends ? w_.lanes[served.send].lane.send_steps : 0) +
                           (receives ? w_.lanes[served.recv].lane.recv_steps : 0)});
    }
    return loads;
  }

  // Where copies are sent, no message is of two threadblocks' copies: it would need a step more to
  // wait for the second one.
  [[nodiscard]] std::vector<std::int64_t> ends_of_copies(
      const std::vector<BlockLanes>& placed) const {
    if (!w_.addressing.sends_copies()) return {};
    std::map<std::int64_t, std::int64_t> sent;  // the end of what begins somewhere
    for (const BlockLanes& served : placed) {
      if (!served.send.valid()) continue;
      for (const MessageId m : w_.lanes[served.send].lane.messages) {
        const Message& message = w_.ends.at_ranks()[m];
        auto& end = sent[message.first_chunk];
        end = std::max<std::int64_t>(end, message.end_chunk());
      }
    }
    std::vector<std::int64_t> ends;
    std::int64_t end = 0;
    for (const auto& [begin, its_end] : sent) {
      if (begin >= end && end > 0) ends.push_back(end);
      end = std::max(end, its_end);
    }
    ends.push_back(std::max(end, w_.addressing.copied(rank_).end));
    return ends;
  }

  void append(const Event& event) {
    if (!event.recv.valid()) return send(event);
    const Message& message = received_message(event);
    if (event.send.valid()) return relay(event);
    if (!message.reduces) return receive(event);
    if (w_.addition == Addition::fused) return receive_and_add(event);
    add_apart(event);
  }

  void send(const Event& event) {
    const Message& message = w_.ends.at_ranks()[w_.ends.sent(event.send)];
    const auto awaited = w_.waits.at_sender(event.send);
    Step step = step_for(Operation::send, message);
    step.src =
        awaited.empty() ? w_.addressing.first_source(rank_, message.first_chunk) : kept(message);
    step.dst = at_receiver(message).value_or(step.src);
    std::vector<StepRef> steps = steps_of(awaited);
    if (awaited.empty() && w_.addressing.sends_copies()) add_copies(message, steps);
    push(event.threadblock, step, steps);
  }

  // Where the receiver keeps it: runtimes ignore that but for the bounds of this rank's own buffer,
  // whose output is smaller where this rank owns less.
  [[nodiscard]] std::optional<Slice> at_receiver(const Message& message) const {
    const auto place = w_.addressing.kept(message.dst, message.first_chunk);
    if (!place || place->buffer != Buffer::output) return place;
    return place->offset < program_.output_chunks ? place : std::nullopt;
  }

  void receive(const Event& event) {
    const Message& message = received_message(event);
    Step step = step_for(Operation::recv, message);
    step.dst = step.src = kept(message);
    received_[event.recv] = push(event.threadblock, step, {});
  }

  void relay(const Event& event) {
    const Message& message = received_message(event);
    if (!message.reduces) {
      Step step = step_for(Operation::recv_copy_send, message);
      step.dst = step.src = kept(message);
      received_[event.recv] = push(event.threadblock, step, {});
      return;
    }
    const auto awaited = w_.waits.at_receiver(event.recv);
    const bool at_root = !w_.ends.at_ranks()[w_.ends.sent(event.send)].reduces;
    Step step =
        step_for(at_root ? Operation::recv_reduce_copy_send : Operation::recv_reduce_send, message);
    step.src = sum_so_far(message, awaited.empty());
    step.dst = at_root ? kept(message) : step.src;
    received_[event.recv] = push(event.threadblock, step, steps_of(awaited));
  }

  void receive_and_add(const Event& event) {
    const Message& message = received_message(event);
    const auto awaited = w_.waits.at_receiver(event.recv);
    Step step = step_for(Operation::recv_reduce_copy, message);
    step.src = sum_so_far(message, awaited.empty());
    step.dst = kept(message);
    received_[event.recv] = push(event.threadblock, step, steps_of(awaited));
  }

  // Out of place, what comes first is put where the sum will be, and the rank's own added to it;
  // otherwise it goes to scratch and is added from there. With both placements the rank's own may
  // lie where the sum will be, so they are added in scratch and copied.
  void add_apart(const Event& event) {
    const Message& message = received_message(event);
    const auto awaited = w_.waits.at_receiver(event.recv);
    const bool is_first = awaited.empty();
    const Placement placement = w_.addressing.placement();
    const Slice sum = kept(message);
    const Slice own = w_.addressing.own(rank_, message.first_chunk);
    const bool at_once = is_first && placement == Placement::out_of_place;
    const bool copied = is_first && placement == Placement::both;

    Step recv = step_for(Operation::recv, message);
    recv.dst = recv.src = at_once ? sum : arrivals(event.threadblock);
    push(event.threadblock, recv, {});
    Step add = step_for(Operation::reduce, message);
    add.dst = copied ? recv.dst : sum;
    add.src = at_once || copied ? own : recv.dst;
    received_[event.recv] = push(event.threadblock, add, steps_of(awaited));
    if (!copied) return;
    Step copy = step_for(Operation::copy, message);
    copy.src = recv.dst;
    copy.dst = sum;
    received_[event.recv] = push(event.threadblock, copy, {});
  }

  [[nodiscard]] const Message& received_message(const Event& event) const {
    return w_.ends.at_ranks()[w_.ends.received(event.recv)];
  }

  static Step step_for(Operation operation, const Message& message) {
    Step step;
    step.operation = operation;
    step.count = message.count;
    return step;
  }

  [[nodiscard]] Slice sum_so_far(const Message& message, bool is_first) {
    return is_first ? w_.addressing.own(rank_, message.first_chunk) : kept(message);
  }

  // Where this rank keeps the message's chunks; scratch is given out on first use.
  [[nodiscard]] Slice kept(const Message& message) {
    if (const auto slice = w_.addressing.kept(rank_, message.first_chunk)) return *slice;
    const auto [it, is_new] = scratch_.try_emplace(message.first_chunk, scratch_used_);
    if (is_new) scratch_used_ += message.count;
    return {Buffer::scratch, it->second};
  }

  // Scratch for what a threadblock receives before it is added. One place serves all its messages:
  // each is added before the next is received.
  [[nodiscard]] Slice arrivals(std::int32_t threadblock) {
    const auto [it, is_new] = arrivals_.try_emplace(threadblock, scratch_used_);
    if (is_new) scratch_used_ += largest_addition_[static_cast<std::size_t>(threadblock)];
    return {Buffer::scratch, it->second};
  }

  void add_copies(const Message& message, std::vector<StepRef>& steps) const {
    auto it = copied_.upper_bound(message.first_chunk);
    if (it != copied_.begin()) --it;
    for (; it != copied_.end() && it->first < message.end_chunk(); ++it) {
      steps.push_back(it->second);
    }
  }

  [[nodiscard]] std::vector<StepRef> steps_of(std::span<const MessageId> awaited) const {
    std::vector<StepRef> steps;
    for (const MessageId m : awaited) steps.push_back(received_[m]);
    return steps;
  }

  // Appends the step, with a nop in front for each dependency but the last that is not kept anyway.
  StepRef push(std::int32_t threadblock, Step step, const std::vector<StepRef>& awaited) {
    const std::vector<StepRef> pending = still_to_wait_for(threadblock, awaited);
    if (!pending.empty() && w_.acquires_outputs) {
      step.src = w_.addressing.as_output(rank_, step.src, step.count).value_or(step.src);
    }
    auto& steps = block(threadblock).steps;
    for (std::size_t i = 0; i + 1 < pending.size(); ++i) {
      Step nop;
      nop.src = nop.dst = step.src;
      nop.depends_on = pending[i];
      steps.push_back(nop);
    }
    if (!pending.empty()) step.depends_on = pending.back();
    steps.push_back(step);
    return {threadblock, static_cast<std::int32_t>(steps.size() - 1)};
  }

  std::vector<StepRef> still_to_wait_for(std::int32_t threadblock,
                                         const std::vector<StepRef>& awaited) {
    if (awaited.empty()) return {};
    auto& reached = reached_from(threadblock);
    std::vector<StepRef> pending;
    for (const StepRef& last : latest_of_each(awaited)) {
      auto& furthest = reached[static_cast<std::size_t>(last.threadblock)];
      if (last.threadblock == threadblock || furthest >= last.step) continue;
      furthest = last.step;
      pending.push_back(last);
      block(last.threadblock).steps[static_cast<std::size_t>(last.step)].has_dependent = true;
    }
    return pending;
  }

  // The latest step of each threadblock implies the others. The threadblocks from the last to the
  // first one.
  static std::vector<StepRef> latest_of_each(const std::vector<StepRef>& steps) {
    std::vector<StepRef> latest;
    for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
      FORESTCOLL_CHECK(it->step >= 0, "what a step waits for is written before it");
      const auto known = std::ranges::find(latest, it->threadblock, &StepRef::threadblock);
      if (known == latest.end()) {
        latest.push_back(*it);
      } else {
        known->step = std::max(known->step, it->step);
      }
    }
    return latest;
  }

  // The furthest step of each other threadblock that this one has waited for.
  std::vector<std::int32_t>& reached_from(std::int32_t threadblock) {
    const std::size_t n = program_.threadblocks.size();
    while (reached_.size() < n) reached_.emplace_back(n, -1);
    return reached_[static_cast<std::size_t>(threadblock)];
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

  const Writing& w_;
  IdVector<MessageId, StepRef>& received_;  // the step after which a message's data can be used
  Rank rank_;
  RankProgram program_;
  std::vector<std::vector<std::int32_t>> reached_;  // by threadblock that waits, and awaited
  std::map<std::int64_t, StepRef> copied_;          // by first chunk
  std::map<std::int32_t, std::int64_t> scratch_;    // of sums, by first chunk
  std::map<std::int32_t, std::int64_t> arrivals_;   // by threadblock
  std::vector<std::int64_t> largest_addition_;      // by threadblock, in chunks
  std::int64_t scratch_used_ = 0;
};

}  // namespace

bool take_turns(const Writing& writing,
                const IdVector<Rank, std::vector<BlockLanes>>& threadblocks) {
  if (writing.ends.are_all()) return true;
  const auto is_open = [&](const BlockLanes& block) {
    std::vector<std::int32_t> turns;
    if (block.send.valid()) {
      for (const MessageId m : writing.lanes[block.send].lane.messages) {
        const MessageId of_tree = writing.ends.of_tree(m);
        if (writing.fusion.received_as[of_tree].valid()) continue;
        turns.push_back(writing.fusion.turn[of_tree]);
      }
    }
    if (block.recv.valid()) {
      for (const MessageId m : writing.lanes[block.recv].lane.messages) {
        turns.push_back(writing.fusion.turn[writing.ends.of_tree(m)]);
      }
    }
    std::sort(turns.begin(), turns.end());
    return std::adjacent_find(turns.begin(), turns.end()) != turns.end();
  };
  for (std::size_t r = 0; r < threadblocks.size(); ++r) {
    if (!writing.ends.is_written(Rank(r))) continue;
    if (std::ranges::any_of(threadblocks[Rank(r)], is_open)) return false;
  }
  return true;
}

IdVector<Rank, RankProgram> write_programs(
    const Writing& writing, const IdVector<Rank, std::vector<BlockLanes>>& threadblocks) {
  IdVector<MessageId, StepRef> received(writing.ends.tree_messages());
  IdVector<Rank, RankProgram> programs(threadblocks.size());
  // A rank looks up what it has received itself, and no others.
  tbb::parallel_for(std::size_t{0}, threadblocks.size(), [&](std::size_t r) {
    if (!writing.ends.is_written(Rank(r))) return;
    programs[Rank(r)] = ProgramWriter(writing, received, Rank(r)).write(threadblocks[Rank(r)]);
  });
  if (writing.ends.are_all()) name_senders(programs);
  return programs;
}

}  // namespace forestcoll::schedule
