// A schedule of threadblocks.
#pragma once

#include <utility>

#include "run/msccl/run.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {

class ProgramSchedule : public Schedule {
 public:
  /// REQUIRES: the program's structure is right, and its messages have two ends.
  ProgramSchedule(audit::Program program, ScheduleFacts facts)
      : program_(std::move(program)), facts_(std::move(facts)) {}

  [[nodiscard]] const ScheduleFacts& facts() const override { return facts_; }
  [[nodiscard]] std::int64_t scratch_chunks(std::int64_t rank) const override {
    return gpu(rank).scratch_chunks;
  }
  [[nodiscard]] std::unique_ptr<RankRun> prepare(std::int64_t rank, const CallShape& shape,
                                                 ElementType type,
                                                 const Connections& connections) const override {
    const Cut cut = cut_call(program_.protocol, shape.whole / program_.chunks, size_of(type),
                             connections.buffer_bytes);
    return std::make_unique<ProgramRun>(gpu(rank),
                                        connections.whole ? in_whole_operations(cut) : cut, type,
                                        connections.hold, connections.communicator);
  }

 private:
  [[nodiscard]] const audit::Gpu& gpu(std::int64_t rank) const {
    return program_.gpus[static_cast<std::size_t>(rank)];
  }

  audit::Program program_;
  ScheduleFacts facts_;
};

}  // namespace forestcoll::run
