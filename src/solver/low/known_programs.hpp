// Linear programs over low trees that one search has solved, for its other parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "solver/low/low_program.hpp"

namespace forestcoll::solver {

/// All that a solution depends on, and what it came to; nothing where there was none. The program
/// of a height is the same for all numbers of trees. May be shared by threads: those that ask at
/// the same time both work. Cost: memory of some megabytes, as it knows no more than `kMostKnown`.
class KnownPrograms {
 public:
  static constexpr std::size_t kMostKnown = 64;

  /// The solution of `solve_low`, which is solved once. Null where that has none. Cost: that of
  /// `solve_low` the first time, then that of comparing the problems.
  [[nodiscard]] std::shared_ptr<const LowSolution> solve(const LowProblem& problem,
                                                         const std::stop_token& stop);

 private:
  using Answer = std::shared_ptr<const LowSolution>;

  std::mutex mutex_;
  std::vector<std::pair<LowProblem, Answer>> known_;
};

/// The same; anew where nothing is known, which is where `known` is null.
[[nodiscard]] std::shared_ptr<const LowSolution> solve_low_once(const LowProblem& problem,
                                                                KnownPrograms* known,
                                                                const std::stop_token& stop);

}  // namespace forestcoll::solver
