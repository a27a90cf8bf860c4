#include "choose/schedule_program.hpp"

#include <utility>

#include "base/check.hpp"
#include "emit/msccl_programs.hpp"

namespace forestcoll::choose {
namespace {

audit::Buffer buffer_of(Buffer buffer) {
  if (buffer == Buffer::input) return audit::Buffer::input;
  return buffer == Buffer::output ? audit::Buffer::output : audit::Buffer::scratch;
}

audit::Step step_of(const Step& step) {
  audit::Step result;
  result.operation = audit::find_operation(emit::letters(step.operation));
  result.source = buffer_of(step.src.buffer);
  result.destination = buffer_of(step.dst.buffer);
  result.source_offset = static_cast<std::int32_t>(step.src.offset);
  result.destination_offset = static_cast<std::int32_t>(step.dst.offset);
  result.count = static_cast<std::int32_t>(step.count);
  const StepRef awaited = step.depends_on.value_or(StepRef());
  result.depends_threadblock = awaited.threadblock;
  result.depends_step = awaited.step;
  result.has_dependent = step.has_dependent;
  return result;
}

audit::Threadblock threadblock_of(const Threadblock& block, std::int32_t id) {
  audit::Threadblock result;
  result.id = id;
  result.send_peer = block.send_peer.value;
  result.recv_peer = block.recv_peer.value;
  result.channel = block.channel;
  result.steps.reserve(block.steps.size());
  for (const Step& step : block.steps) result.steps.push_back(step_of(step));
  return result;
}

audit::Gpu gpu_of(const RankProgram& program, std::int32_t id) {
  audit::Gpu gpu;
  gpu.id = id;
  gpu.input_chunks = program.input_chunks;
  gpu.output_chunks = program.output_chunks;
  gpu.scratch_chunks = program.scratch_chunks;
  for (const Threadblock& block : program.threadblocks) {
    gpu.threadblocks.push_back(
        threadblock_of(block, static_cast<std::int32_t>(gpu.threadblocks.size())));
  }
  return gpu;
}

}  // namespace

audit::Program program_of(const Schedule& schedule) {
  audit::Program program;
  const auto pattern = audit::parse_pattern(to_string(schedule.collective));
  FORESTCOLL_CHECK(pattern.has_value(), "the checker knows every collective that is lowered");
  program.pattern = *pattern;
  program.protocol = "Simple";
  program.channels = schedule.channels;
  program.chunks = schedule.chunks;
  program.ranks = static_cast<std::int64_t>(schedule.programs.size());
  program.in_place = schedule.in_place;
  program.out_of_place = schedule.out_of_place;
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    program.gpus.push_back(gpu_of(schedule.programs[Rank(r)], static_cast<std::int32_t>(r)));
  }
  return program;
}

}  // namespace forestcoll::choose
