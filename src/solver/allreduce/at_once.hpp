// Both phases of an allreduce at the same time, each on a part of the fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "forest/symmetry.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// The capacities of all arcs, divided between the phases, and the data among roots.
struct AllreduceDivision {
  Ratio algbw;            ///< GB/s, what trees reach on the parts
  Weights shares;         ///< of the roots, in lowest integers
  bool as_owned = false;  ///< what every rank owns, it roots
  Network broadcast;      ///< what out-trees take
  /// What in-trees take, turned round: they are out-trees on it, walked backwards. None where they
  /// are the broadcast's, walked backwards.
  std::optional<Network> reduce = {};
};

/// Divisions that are better than one phase after the other.
struct AllreduceParts {
  Ratio upper;  ///< GB/s, proved: no allreduce by trees that branch at ranks is faster
  /// Of the highest rate that is known: every link divided as evenly as all of that rate allows, or
  /// as the program's vertex has it where no such division is found.
  AllreduceDivision best;
  /// As fast as that, the program's vertex: for few ranks, where it may take fewer trees.
  std::optional<AllreduceDivision> vertex = {};
  /// Within some thousandths of it, which leaves more room: what is alike in the fabric is nearly
  /// so in the parts, and trees are low. None where `best` is that.
  std::optional<AllreduceDivision> even = {};
};

/// What was found out about both phases at the same time.
struct BothAtOnce {
  std::optional<AllreduceParts> parts;  ///< none: one after the other is as good, or stays
  /// Whether trees may be faster than what `parts` reach, or one phase after the other: nothing
  /// rules it out.
  bool is_open = false;
};

/// The best divisions where they are better than one phase after the other, which reach
/// `two_phases` (GB/s). None where they are not; and none, but open, where exact arithmetic does
/// not prove them, or there are more than 1,024 ranks that are not alike, or `stop` asks to give
/// up. Roots have what the ranks own, by `weights`, unless other shares are better: they are not
/// where both directions of every link are alike, for there a tree serves any root.
///
/// Where some group of automorphisms takes each rank to each other one and all own the same, it is
/// never better: the average of a best solution's images has as much entering every rank as leaves
/// it, in either phase, so that every cut is as wide one way as the other, either phase's
/// capacities serve the other, and half of both together serves both. The solution is not looked
/// for there, nor where what enters all ranks together allows no more: X(N − 1) edges enter them in
/// either phase. Cost: that of `allreduce_optimum`, twice where directions differ.
[[nodiscard]] BothAtOnce parts_at_once(const Network& network, const Weights& weights,
                                       const Ratio& two_phases, const std::stop_token& stop = {});

/// Divides by the greatest common divisor, and returns that. REQUIRES: some share is positive.
std::int64_t take_common_factor(Weights& shares);

}  // namespace forestcoll::solver
