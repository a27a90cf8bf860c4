// Walks over a threadblock's slices in the order in which they are run.
#pragma once

#include <cstdint>

#include "audit/common/program.hpp"
#include "run/msccl/cut.hpp"

namespace forestcoll::run {

class Cursor {
 public:
  enum class Over { all_steps, receives };
  /// REQUIRES: both outlive it.
  Cursor(const audit::Threadblock& block, const Cut& cut, Over over);

  [[nodiscard]] bool at_end() const { return pass_ == cut_->passes; }
  [[nodiscard]] const audit::Step& step() const { return block_->steps[step_]; }
  [[nodiscard]] std::int32_t step_index() const { return static_cast<std::int32_t>(step_); }
  [[nodiscard]] std::int64_t pass() const { return pass_; }
  [[nodiscard]] bool at_step_begin() const { return chunk_ == 0 && slice_ == 0; }
  /// Elements of the slice, and where they begin in a buffer for an operand at that offset.
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t element(std::int32_t offset) const;
  /// Of this slice among those of all receiving operations, empty ones counted; where the operation
  /// does not receive, that of the next one that does.
  [[nodiscard]] std::int64_t receive_position() const {
    return receives_ * cut_->op_slices + (step().operation->receives ? slice_ : 0);
  }
  /// Goes on; true where that ended a step.
  bool next();

 private:
  [[nodiscard]] std::int64_t op_elements() const;
  void skip();  // what it does not go over

  const audit::Threadblock* block_;
  const Cut* cut_;
  Over over_;
  std::int64_t pass_ = 0;
  std::size_t step_ = 0;
  std::int32_t chunk_ = 0;  // of the step, where the operation begins
  std::int32_t slice_ = 0;
  std::int64_t receives_ = 0;  // operations before this one
};

}  // namespace forestcoll::run
