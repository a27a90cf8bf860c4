// Looking at a stop token while flows go to one sink after another.
#pragma once

#include <cstddef>
#include <stop_token>

#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// Looks once per some milliseconds of work. What is done before the first look is done whatever
/// the token says, so that the smallest time limit leaves an answer on all but large fabrics.
class StopPoller {
 public:
  StopPoller(const Network& network, const std::stop_token& stop)
      : stop_(stop), interval_(kArcsBetween / (network.graph.arc_count() + 1) + 1) {}

  /// To be asked before each sink.
  [[nodiscard]] bool stopped_before_sink() {
    return ++sinks_ % interval_ == 0 && stop_.stop_requested();
  }

 private:
  static constexpr std::size_t kArcsBetween = std::size_t{1} << 20;

  const std::stop_token& stop_;
  std::size_t interval_;
  std::size_t sinks_ = 0;
};

}  // namespace forestcoll::solver
