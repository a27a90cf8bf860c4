#include "schedule/alltoall/programs.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "schedule/msccl/labels.hpp"

namespace forestcoll::schedule {
namespace {

// Something that a rank does with a message.
struct Deed {
  std::int32_t level = 0;
  bool receives = false;  // what is sent comes first
  std::int32_t message = 0;
};

bool operator<(const Deed& a, const Deed& b) {
  return std::tuple(a.level, a.receives, a.message) < std::tuple(b.level, b.receives, b.message);
}

// Peer, channel and direction of a threadblock: 0 sends, 1 receives, 2 both.
using BlockKey = std::tuple<std::int32_t, Rank, int>;

class AlltoallWriter {
 public:
  explicit AlltoallWriter(const AlltoallWriting& writing)
      : w_(writing),
        all_(writing.messages.all),
        programs_(static_cast<std::size_t>(writing.ranks)),
        deeds_(programs_.size()),
        blocks_(programs_.size()),
        sent_(all_.size()),
        received_(all_.size()),
        slot_(all_.size(), 0),
        freed_by_(all_.size(), -1) {}

  IdVector<Rank, RankProgram> write() {
    for (std::size_t m = 0; m < all_.size(); ++m) {
      const auto number = static_cast<std::int32_t>(m);
      deeds_[all_[m].from].push_back({all_[m].level, false, number});
      deeds_[all_[m].to].push_back({all_[m].level, true, number});
    }
    for (std::size_t r = 0; r < programs_.size(); ++r) {
      std::sort(deeds_[Rank(r)].begin(), deeds_[Rank(r)].end());
      give_slots(Rank(r));
    }
    for (std::size_t r = 0; r < programs_.size(); ++r) write_rank(Rank(r));
    name_senders(programs_);
    return std::move(programs_);
  }

 private:
  const AlltoallMessage& message(std::int32_t m) const { return all_[static_cast<std::size_t>(m)]; }

  // Places in scratch, of as many chunks as a message has, from the one that brings the data until
  // the one that takes it on was sent.
  void give_slots(Rank r) {
    std::map<std::int64_t, std::vector<std::pair<std::int32_t, std::int64_t>>> free;
    std::int64_t used = 0;
    for (const Deed& deed : deeds_[r]) {
      const AlltoallMessage& m = message(deed.message);
      if (!deed.receives && m.previous >= 0) {
        free[m.count].emplace_back(deed.message, slot_[static_cast<std::size_t>(m.previous)]);
      }
      if (!deed.receives || m.is_last) continue;
      auto& places = free[m.count];
      // What was sent at the same level may still be waiting for what is received here.
      const auto earliest = places.begin();
      if (earliest == places.end() || message(earliest->first).level >= m.level) {
        slot_[static_cast<std::size_t>(deed.message)] = used;
        used += m.count;
        continue;
      }
      freed_by_[static_cast<std::size_t>(deed.message)] = earliest->first;
      slot_[static_cast<std::size_t>(deed.message)] = earliest->second;
      places.erase(earliest);
    }
    programs_[r].scratch_chunks = used;
  }

  // Steps are pushed by level, so what a step waits for stands already.
  void write_rank(Rank r) {
    programs_[r].output_chunks = w_.ranks * w_.k;
    programs_[r].input_chunks = w_.gathers ? w_.k : programs_[r].output_chunks;
    for (const Deed& deed : deeds_[r]) {
      deed.receives ? receive(r, deed.message) : send(r, deed.message);
    }
    if (!w_.in_place) copy_own(r);
  }

  // Of what a rank has for another.
  [[nodiscard]] Slice own(Rank to, std::int64_t chunk) const {
    return {Buffer::input, w_.gathers ? chunk : to.value * w_.k + chunk};
  }

  void send(Rank r, std::int32_t number) {
    const AlltoallMessage& m = message(number);
    Step step;
    step.operation = Operation::send;
    step.count = m.count;
    step.src = own(m.dst, m.first);
    StepRef awaited;
    if (m.previous >= 0) {
      step.src = {Buffer::scratch, slot_[static_cast<std::size_t>(m.previous)]};
      awaited = received_[static_cast<std::size_t>(m.previous)];
    }
    step.dst = step.src;
    sent_[static_cast<std::size_t>(number)] = push(r, {m.to, false, m.lane}, step, awaited);
  }

  void receive(Rank r, std::int32_t number) {
    const AlltoallMessage& m = message(number);
    Step step;
    step.operation = Operation::recv;
    step.count = m.count;
    step.dst = {Buffer::output, m.src.value * w_.k + m.first};
    StepRef awaited;
    if (!m.is_last) {
      step.dst = {Buffer::scratch, slot_[static_cast<std::size_t>(number)]};
      const std::int32_t before = freed_by_[static_cast<std::size_t>(number)];
      if (before >= 0) awaited = sent_[static_cast<std::size_t>(before)];
    }
    step.src = step.dst;
    received_[static_cast<std::size_t>(number)] = push(r, {m.from, true, m.lane}, step, awaited);
  }

  // One side of a lane.
  struct Side {
    Rank peer;
    bool receives = false;
    std::int32_t lane = 0;
  };

  // What the same threadblock did before needs no flag.
  StepRef push(Rank r, const Side& side, Step step, const StepRef& awaited) {
    const std::int32_t number = block_for(r, side);
    auto& blocks = programs_[r].threadblocks;
    if (awaited.threadblock >= 0 && awaited.threadblock != number) {
      blocks[static_cast<std::size_t>(awaited.threadblock)]
          .steps[static_cast<std::size_t>(awaited.step)]
          .has_dependent = true;
      step.depends_on = awaited;
    }
    auto& steps = blocks[static_cast<std::size_t>(number)].steps;
    steps.push_back(step);
    return {number, static_cast<std::int32_t>(steps.size()) - 1};
  }

  std::int32_t block_for(Rank r, const Side& side) {
    const std::int32_t channel = channel_of(r, side);
    const int direction = w_.both_directions ? 2 : static_cast<int>(side.receives);
    auto& blocks = programs_[r].threadblocks;
    const auto [at, is_new] = blocks_[r].try_emplace(BlockKey(channel, side.peer, direction),
                                                     static_cast<std::int32_t>(blocks.size()));
    if (is_new) {
      blocks.emplace_back();
      blocks.back().channel = channel;
    }
    Threadblock& block = blocks[static_cast<std::size_t>(at->second)];
    (side.receives ? block.recv_peer : block.send_peer) = side.peer;
    return at->second;
  }

  // Two ranks are so far apart in either direction round; so many distances share a channel.
  [[nodiscard]] std::int32_t channel_of(Rank r, const Side& side) const {
    const auto n = static_cast<std::int32_t>(w_.ranks);
    const std::int32_t there = (side.peer.value - r.value + n) % n;
    const std::int32_t apart = std::min(there, n - there);
    const auto distances = static_cast<std::int32_t>(w_.max_per_channel / 2);
    return (apart - 1) / distances * w_.messages.lanes + side.lane;
  }

  // As much in each threadblock as in one that sends to another rank.
  void copy_own(Rank r) {
    const std::int64_t parts = w_.k / w_.instances;
    for (std::int32_t instance = 0; instance < w_.instances; ++instance) {
      Threadblock block;
      for (std::int64_t done = 0; done < parts; done += w_.max_count) {
        Step step;
        step.operation = Operation::copy;
        step.count = std::min(w_.max_count, parts - done);
        const std::int64_t first = instance * parts + done;
        step.src = own(r, first);
        step.dst = {Buffer::output, r.value * w_.k + first};
        block.steps.push_back(step);
      }
      programs_[r].threadblocks.push_back(std::move(block));
    }
  }

  const AlltoallWriting& w_;
  const std::vector<AlltoallMessage>& all_;
  IdVector<Rank, RankProgram> programs_;
  IdVector<Rank, std::vector<Deed>> deeds_;
  IdVector<Rank, std::map<BlockKey, std::int32_t>> blocks_;
  // By message: its steps, its place in scratch, and the message whose sending made that free.
  std::vector<StepRef> sent_, received_;
  std::vector<std::int64_t> slot_;
  std::vector<std::int32_t> freed_by_;
};

}  // namespace

IdVector<Rank, RankProgram> write_alltoall(const AlltoallWriting& writing) {
  return AlltoallWriter(writing).write();
}

}  // namespace forestcoll::schedule
