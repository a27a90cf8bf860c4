#include "fastest/fingerprint.hpp"

#include <boost/functional/hash.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace forestcoll::fastest {
namespace {

// Lists come with their lengths, so that no two sequences of them are the same.
class Hasher {
 public:
  explicit Hasher(const std::string& protocol) : print_{0, std::hash<std::string>()(protocol)} {}

  void add(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) boost::hash_combine(print_.hash, value);
  }
  void add(const std::vector<std::int64_t>& values) {
    add({std::ssize(values)});
    for (const std::int64_t value : values) add({value});
  }
  void add(const std::vector<audit::PlanSlice>& slices) {
    add({std::ssize(slices)});
    for (const audit::PlanSlice& slice : slices) {
      add({static_cast<std::int64_t>(slice.buffer), slice.remote, slice.switch_channel, slice.index,
           slice.size});
    }
  }
  void add(const std::vector<audit::PlanChannels>& lists) {
    add({std::ssize(lists)});
    for (const audit::PlanChannels& list : lists) {
      add({static_cast<std::int64_t>(list.kind), static_cast<std::int64_t>(list.buffer),
           std::ssize(list.groups)});
      add(list.ids);
      for (const auto& group : list.groups) add(group);
    }
  }
  void count_steps(std::size_t steps) { print_.size += steps; }

  [[nodiscard]] const Fingerprint& print() const { return print_; }

 private:
  Fingerprint print_;
};

void add_block(const audit::PlanThreadblock& block, Hasher& hasher) {
  hasher.add(block.channels);
  hasher.add(block.remote_buffers);
  hasher.count_steps(block.ops.size());
  for (const audit::PlanOp& op : block.ops) {
    hasher.add({static_cast<std::int64_t>(op.kind), static_cast<std::int64_t>(op.channel_kind),
                op.unit_size, op.loop_chunks, op.loop});
    hasher.add(op.channels);
    hasher.add(op.sources);
    hasher.add(op.destinations);
  }
}

}  // namespace

Fingerprint fingerprint_of(const audit::Program& program) {
  Hasher hasher(program.protocol);
  hasher.add({program.chunks, program.in_place ? 1 : 0, program.out_of_place ? 1 : 0});
  for (const audit::Gpu& gpu : program.gpus) {
    for (const audit::Threadblock& block : gpu.threadblocks) {
      hasher.add({gpu.id, block.id, block.send_peer, block.recv_peer, block.channel});
      for (const audit::Step& step : block.steps) {
        hasher.add({step.operation - audit::find_operation("s"),
                    static_cast<std::int64_t>(step.source), step.source_offset,
                    static_cast<std::int64_t>(step.destination), step.destination_offset,
                    step.count, step.depends_threadblock, step.depends_step});
      }
      hasher.count_steps(block.steps.size());
    }
  }
  return hasher.print();
}

Fingerprint fingerprint_of(const audit::PlanFile& plan) {
  Hasher hasher(plan.protocol);
  hasher.add({plan.in_place ? 1 : 0, static_cast<std::int64_t>(plan.min_size),
              static_cast<std::int64_t>(plan.max_size)});
  for (const audit::PlanGpu& gpu : plan.gpus) {
    hasher.add({gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks,
                std::ssize(gpu.remote_buffers), std::ssize(gpu.threadblocks)});
    hasher.add(gpu.channels);
    for (const audit::PlanRemoteBuffer& buffer : gpu.remote_buffers) {
      hasher.add({buffer.rank, static_cast<std::int64_t>(buffer.buffer), buffer.memory ? 1 : 0});
    }
    for (const audit::PlanThreadblock& block : gpu.threadblocks) add_block(block, hasher);
  }
  return hasher.print();
}

}  // namespace forestcoll::fastest
