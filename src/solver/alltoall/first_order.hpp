// Lengths and flows by the first-order method, proved as they come.
#pragma once

#include <stop_token>

#include "solver/alltoall/folded.hpp"
#include "solver/alltoall/instance/answer.hpp"
#include "solver/alltoall/instance/instance.hpp"

namespace forestcoll::solver::alltoall {

struct FirstOrderLimits {
  double gap = 0;           ///< that is near enough, as a fraction of the bound
  int iterations = 20'000;  ///< more than ever was needed: single precision has said all by then
  int threads = 1;
  std::stop_token stop;
};

/// Improves `answer` until it is near enough or `stop` asks for what there is. Returns how many
/// iterations that took: 0 where there was nothing to do, or too much for memory.
/// Cost: O(sources · m) per iteration, and a proof now and then.
int improve(const Instance& instance, const Folded& folded, const FirstOrderLimits& limits,
            Answer& answer);

}  // namespace forestcoll::solver::alltoall
