// How many steps a message takes at its two ends, at most.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/msccl/ends.hpp"
#include "schedule/msccl/waits.hpp"

namespace forestcoll::schedule {

/// How a rank adds what it receives.
enum class Addition {
  fused,    ///< rrc: receive, add and store in one step
  apart,    ///< r and re: receive into scratch, or where the sum will be, then add
  aliased,  ///< as `apart`, where input and output may be the same memory: one more cpy
};

/// Upper bounds, one nop for every wait but one counted in.
class StepBounds {
 public:
  /// `waits` are of the messages of trees.
  StepBounds(const Ends& ends, const Waits& waits, Addition addition)
      : ends_(ends), waits_(waits), addition_(addition) {}

  [[nodiscard]] std::int64_t send(MessageId m) const {
    return std::max<std::int64_t>(1, std::ssize(waits_.at_sender(ends_.of_tree(m))));
  }
  [[nodiscard]] std::int64_t recv(MessageId m) const {
    const auto awaited = waits_.at_receiver(ends_.of_tree(m));
    const std::int64_t adding = std::max<std::int64_t>(1, std::ssize(awaited));
    if (addition_ == Addition::fused || !ends_.at_ranks()[m].reduces) return adding;
    const bool is_copied = addition_ == Addition::aliased && awaited.empty();
    return 1 + adding + (is_copied ? 1 : 0);
  }
  /// Messages that must come before it, one after the other.
  [[nodiscard]] std::int32_t chain(MessageId m) const { return waits_.chain(ends_.of_tree(m)); }

 private:
  const Ends& ends_;
  const Waits& waits_;
  Addition addition_;
};

}  // namespace forestcoll::schedule
