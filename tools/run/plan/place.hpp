// Where a threadblock of a plan stands in its program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/plan/buffers.hpp"
#include "run/plan/task.hpp"

namespace forestcoll::run {

/// A pipeline's operations are gone over in rounds, each of `unit_size` bytes of every chunk.
class PlanPlace {
 public:
  /// REQUIRES: `tasks` outlives it.
  PlanPlace(const std::vector<PlanTask>& tasks, std::int64_t chunk_bytes)
      : tasks_(&tasks), chunk_bytes_(chunk_bytes) {}

  [[nodiscard]] bool is_done() const { return at_ == tasks_->size(); }
  [[nodiscard]] std::size_t index() const { return at_; }
  [[nodiscard]] const PlanTask& task() const { return (*tasks_)[at_]; }
  /// What of the task's operands its round moves.
  [[nodiscard]] PlanExtent extent() const;
  void next();

 private:
  [[nodiscard]] const PlanTask& pipeline() const {
    return (*tasks_)[static_cast<std::size_t>(task().op->loop)];
  }
  [[nodiscard]] std::int64_t rounds() const;

  const std::vector<PlanTask>* tasks_;
  std::int64_t chunk_bytes_;
  std::size_t at_ = 0;
  std::int64_t round_ = 0;  // of the pipeline that it is in
};

}  // namespace forestcoll::run
