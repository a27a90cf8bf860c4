// How many steps a message takes at its two ends, at most.
#pragma once

#include <algorithm>
#include <cstdint>

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
  StepBounds(const IdVector<MessageId, Message>& messages, const Waits& waits, Addition addition)
      : messages_(messages), waits_(waits), addition_(addition) {}

  [[nodiscard]] std::int64_t send(MessageId m) const {
    return std::max<std::int64_t>(1, std::ssize(waits_.at_sender(m)));
  }
  [[nodiscard]] std::int64_t recv(MessageId m) const {
    const std::int64_t adding = std::max<std::int64_t>(1, std::ssize(waits_.at_receiver(m)));
    if (addition_ == Addition::fused || !messages_[m].reduces) return adding;
    const bool is_copied = addition_ == Addition::aliased && waits_.at_receiver(m).empty();
    return 1 + adding + (is_copied ? 1 : 0);
  }

 private:
  const IdVector<MessageId, Message>& messages_;
  const Waits& waits_;
  Addition addition_;
};

}  // namespace forestcoll::schedule
