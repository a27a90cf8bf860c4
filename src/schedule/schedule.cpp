#include "forestcoll/schedule.hpp"

#include <algorithm>

namespace forestcoll {

bool sends(Operation operation) {
  return operation == Operation::send || operation == Operation::recv_copy_send ||
         operation == Operation::recv_reduce_send || operation == Operation::recv_reduce_copy_send;
}

bool receives(Operation operation) {
  return operation != Operation::send && operation != Operation::copy &&
         operation != Operation::reduce && operation != Operation::nop;
}

std::int32_t Schedule::max_threadblocks() const {
  std::size_t most = 0;
  for (const auto& program : programs) most = std::max(most, program.threadblocks.size());
  return static_cast<std::int32_t>(most);
}

std::int64_t Schedule::max_scratch() const {
  std::int64_t most = 0;
  for (const RankProgram& program : programs) most = std::max(most, program.scratch_chunks);
  return most;
}

std::int32_t Schedule::max_steps() const {
  std::size_t most = 0;
  for (const auto& program : programs) {
    for (const auto& block : program.threadblocks) most = std::max(most, block.steps.size());
  }
  return static_cast<std::int32_t>(most);
}

}  // namespace forestcoll
