// What operations at once can have beyond their joint rate, without taking from one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/commodity.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// Operations that are held at one rate, and why none of them can have more.
struct MaxMinLevel {
  Ratio rate;  ///< as of `JointOptimum`: GB/s of `JointDemand::whole()`
  std::vector<std::size_t> operations;
  ArcLengths lengths;
  std::vector<std::int64_t> limit_lengths;
};

struct MaxMinRates {
  std::vector<MaxMinLevel> levels;  ///< their rates ascend
  /// Whether the last level is proved. Where it is not, its operations reach its rate, perhaps more
  /// is possible, and its lengths are empty.
  bool is_exact = true;

  /// Of an operation, as `MaxMinLevel::rate`.
  [[nodiscard]] Ratio rate_of(std::size_t operation) const;
};

/// The lexicographically largest rates of all operations, each beside its amount: first the joint
/// optimum, then the largest rate of those that it leaves room for, and so on. All can be had at
/// the same time.
///
/// The proof of a level are lengths y of its links. For each operation let rate_g(y) be the bound
/// that y proves for it alone, then any rates that can be had at once satisfy
///     Σ_g rate_g / rate_g(y) ≤ 1,
/// with equality here. Operations of later levels cover nothing under y. So where those of earlier
/// levels have what they have, none of this level can have more unless another has less.
///
/// A level is found by Dinkelbach's method (1967): the joint optimum of what earlier levels have
/// and of a rate for the others that is too large gives lengths, these give a smaller rate that is
/// not too small, and so on until it can be had. REQUIRES: `together` is the joint optimum of the
/// demand on the network. Errors: those of `joint_optimum`. Cost: per level a few joint optima.
[[nodiscard]] Expected<MaxMinRates> max_min_rates(const Network& network, const JointDemand& demand,
                                                  const JointOptimum& together,
                                                  const JointLimits& limits = {});

}  // namespace forestcoll
