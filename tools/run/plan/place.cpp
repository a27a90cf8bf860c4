#include "run/plan/place.hpp"

#include <algorithm>

namespace forestcoll::run {

std::int64_t PlanPlace::rounds() const {
  const std::int64_t unit = pipeline().op->unit_size;
  return (chunk_bytes_ + unit - 1) / unit;
}

PlanExtent PlanPlace::extent() const {
  const std::int64_t all = task().chunks * chunk_bytes_;
  if (task().op->loop < 0) return {0, all};
  const std::int64_t unit = pipeline().op->unit_size * task().chunks;
  const std::int64_t begin = round_ * unit;
  return {begin, std::min(unit, all - begin)};
}

void PlanPlace::next() {
  const std::int32_t loop = task().op->loop;
  const bool ends_round =
      loop >= 0 && (at_ + 1 == tasks_->size() || (*tasks_)[at_ + 1].op->loop != loop);
  if (ends_round && round_ + 1 < rounds()) {
    ++round_;
    at_ = static_cast<std::size_t>(loop) + 1;
    return;
  }
  if (ends_round) round_ = 0;
  ++at_;
}

}  // namespace forestcoll::run
