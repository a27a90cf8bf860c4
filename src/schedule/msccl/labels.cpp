#include "schedule/msccl/labels.hpp"

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

// What each connection carries, in order: the place that the sender keeps it in.
std::map<Wire, std::vector<Slice>> sent_from(const IdVector<Rank, RankProgram>& programs) {
  std::map<Wire, std::vector<Slice>> result;
  for (std::size_t r = 0; r < programs.size(); ++r) {
    for (const Threadblock& block : programs[Rank(r)].threadblocks) {
      for (const Step& step : block.steps) {
        if (!sends(step.operation)) continue;
        result[{Rank(r), block.send_peer, block.channel}].push_back(
            step.operation == Operation::send ? step.src : step.dst);
      }
    }
  }
  return result;
}

}  // namespace

void name_senders(IdVector<Rank, RankProgram>& programs) {
  const auto sent = sent_from(programs);
  for (std::size_t r = 0; r < programs.size(); ++r) {
    RankProgram& program = programs[Rank(r)];
    for (Threadblock& block : program.threadblocks) {
      if (!block.recv_peer.valid()) continue;
      const auto places = sent.find({block.recv_peer, Rank(r), block.channel});
      std::size_t next = 0;
      for (Step& step : block.steps) {
        if (!receives(step.operation)) continue;
        FORESTCOLL_CHECK(places != sent.end() && next < places->second.size(),
                         "what is received is sent");
        const Slice& place = places->second[next++];
        if (!only_stores(step.operation) || step.depends_on) continue;
        if (place.offset < chunks_of(program, place.buffer)) step.src = place;
      }
    }
  }
}

}  // namespace forestcoll::schedule
