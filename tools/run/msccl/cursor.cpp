#include "run/msccl/cursor.hpp"

#include <algorithm>

namespace forestcoll::run {

Cursor::Cursor(const audit::Threadblock& block, const Cut& cut, Over over)
    : block_(&block), cut_(&cut), over_(over) {
  skip();
}

std::int64_t Cursor::op_elements() const {
  return cut_->in_pass(pass_) * std::min(cut_->op_chunks, step().count - chunk_);
}

std::int64_t Cursor::elements() const {
  const std::int64_t all = op_elements(), slice = cut_->slice_of(all);
  return std::min(slice, all - slice_ * slice);
}

std::int64_t Cursor::element(std::int32_t offset) const {
  return (offset + chunk_) * cut_->chunk + pass_ * cut_->pass +
         slice_ * cut_->slice_of(op_elements());
}

bool Cursor::next() {
  ++slice_;
  if (slice_ * cut_->slice_of(op_elements()) < op_elements()) return false;
  slice_ = 0;
  if (step().operation->receives) ++receives_;
  chunk_ += cut_->op_chunks;
  if (chunk_ < step().count) return false;
  chunk_ = 0;
  ++step_;
  skip();
  return true;
}

void Cursor::skip() {
  const std::size_t steps = block_->steps.size();
  const auto is_passed_over = [&] {
    return over_ == Over::receives && !step().operation->receives;
  };
  while (!at_end() && (step_ == steps || is_passed_over())) {
    if (step_ < steps) {
      ++step_;
    } else {
      step_ = 0;
      ++pass_;
    }
  }
}

}  // namespace forestcoll::run
