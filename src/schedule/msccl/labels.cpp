#include "schedule/msccl/labels.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/check.hpp"

namespace forestcoll::schedule {
namespace {

using Wire = std::tuple<Rank, Rank, std::int32_t>;  // sender, receiver, channel

bool only_stores(Operation operation) {
  return operation == Operation::recv || operation == Operation::recv_copy_send;
}

std::int64_t chunks_of(const RankProgram& program, Buffer buffer) {
  if (buffer == Buffer::input) return program.input_chunks;
  return buffer == Buffer::output ? program.output_chunks : program.scratch_chunks;
}

std::map<Wire, const Threadblock*> senders_of(const IdVector<Rank, RankProgram>& programs) {
  std::map<Wire, const Threadblock*> senders;
  for (std::size_t r = 0; r < programs.size(); ++r) {
    for (const Threadblock& block : programs[Rank(r)].threadblocks) {
      if (block.send_peer.valid()) senders[{Rank(r), block.send_peer, block.channel}] = &block;
    }
  }
  return senders;
}

// Where a threadblock keeps what it sends, one message after the other.
class SentFrom {
 public:
  explicit SentFrom(const Threadblock& sender)
      : next_(sender.steps.begin()), end_(sender.steps.end()) {}

  const Slice& next() {
    next_ = std::find_if(next_, end_, [](const Step& step) { return sends(step.operation); });
    FORESTCOLL_CHECK(next_ != end_, "what is received is sent");
    const Step& step = *next_++;
    return step.operation == Operation::send ? step.src : step.dst;
  }

 private:
  std::vector<Step>::const_iterator next_, end_;
};

}  // namespace

void name_senders(IdVector<Rank, RankProgram>& programs) {
  const auto senders = senders_of(programs);
  for (std::size_t r = 0; r < programs.size(); ++r) {
    RankProgram& program = programs[Rank(r)];
    for (Threadblock& block : program.threadblocks) {
      if (!block.recv_peer.valid()) continue;
      const auto sender = senders.find({block.recv_peer, Rank(r), block.channel});
      FORESTCOLL_CHECK(sender != senders.end(), "who receives has a sender");
      SentFrom places(*sender->second);
      for (Step& step : block.steps) {
        if (!receives(step.operation)) continue;
        const Slice& place = places.next();
        if (!only_stores(step.operation) || step.depends_on) continue;
        if (place.offset < chunks_of(program, place.buffer)) step.src = place;
      }
    }
  }
}

}  // namespace forestcoll::schedule
