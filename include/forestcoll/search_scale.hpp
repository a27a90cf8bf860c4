// How much the search for a schedule tries at which scale.
#pragma once

#include <cstddef>
#include <cstdint>

/// Beyond each of these numbers, what it names would take longer than all else that the search
/// does: then fewer candidates are made, or they are compared by rates and bounds.
namespace forestcoll::scale {

// GPUs up to which schedules are simulated at all.

/// Programs where every rank is a root, as of an allgather: even one tree per root has as many
/// steps as there are pairs of ranks.
inline constexpr std::size_t kMostRanksOfRoots = 512;
/// Programs of few trees: of a rooted collective, or of an allreduce in few variants.
inline constexpr std::size_t kMostRanksOfFewTrees = 1024;
/// Plans, each in several shapes and with many operations.
inline constexpr std::size_t kMostRanksOfPlans = 128;
/// An all-to-all, which has as many messages as there are pairs, and few that are alike.
inline constexpr std::size_t kMostRanksOfPaths = 128;
/// For a question that is not about the schedule, such as what is reached after a failure.
inline constexpr std::size_t kMostRanksAsked = 64;

// GPUs up to which a default has all variants: see `FastestOptions::few_variants`.

inline constexpr std::size_t kMostRanksOfAll = 128;      ///< of programs
inline constexpr std::size_t kMostRanksOfAllPlans = 4;   ///< of plans, unless a size is asked for
inline constexpr std::size_t kMostRanksOfAllPaths = 16;  ///< of an all-to-all
inline constexpr std::size_t kMostRanksOfAllTuned = 8;   ///< for NCCL's tuner, in all channels
/// Of few variants, also says what the time is made of: that takes two simulations more.
inline constexpr std::size_t kMostRanksOfCosts = 16;

// GPUs up to which one kind of candidate is made.

/// Lower trees at lower rates, and the same trees in more chunks; the model then chooses k.
inline constexpr std::size_t kMostRanksOfAllTrees = 64;
/// Trees for unequal shares that are packed anew, where those of equal shares lose little.
inline constexpr std::size_t kMostRanksPacked = 16;
/// Several k of trees for a plan, each of which is timed in all shapes.
inline constexpr std::size_t kMostRanksOfTimedPlans = 8;
/// All shapes of a plan whose trees are chosen, and so many edges of these.
inline constexpr std::size_t kMostRanksOfShapes = 32, kMostEdgesOfShapes = 8'000;
/// Of few variants, plans of what MSCCL++ has by itself, for one box.
inline constexpr std::size_t kMostRanksOfShots = 32;
/// Of few variants, plans of what is fast on many boxes alone, from so many GPUs on.
inline constexpr std::size_t kLeastRanksOfMany = 65;
/// Of few variants, plans of the trees of the highest rate, of any number.
inline constexpr std::size_t kMostRanksOfOptimum = 32;
/// Baselines that are searched for: `BaselineTraits::takes_long`.
inline constexpr std::size_t kMostRanksOfSearches = 512;
/// What goes along paths in more parts, and in all of them.
inline constexpr std::size_t kMostRanksOfParts = 8;
/// Trees per root, of equal shares, and those of baselines as they are.
inline constexpr std::int64_t kMostTrees = 16;
/// Parts of all pairs together: a number of parts beside others, and every number up to one.
inline constexpr std::size_t kMostParts = std::size_t{1} << 13;
inline constexpr std::size_t kMostPartsOfAll = std::size_t{1} << 14;
/// Paths that get the stops of others, and that are compared at all.
inline constexpr std::int64_t kMostPathsChanged = std::int64_t{1} << 15;
inline constexpr std::int64_t kMostPathsCompared = std::int64_t{1} << 19;

// One simulation.

/// Events of a candidate at a size; of few variants, which a default has, of which plans have more.
inline constexpr std::int64_t kMostEvents = 20'000'000;
inline constexpr std::int64_t kMostEventsOfFew = 2'000'000, kMostEventsOfFewPlans = 8'000'000;
/// The same where k is chosen by the model, for which some candidates suffice.
inline constexpr std::int64_t kMostEventsOfTrees = 5'000'000;
/// Steps of a program, or edges of a plan's trees: it is simulated again and again. Of a program of
/// more than `kMostRanksOfRoots` ranks, as many of each rank.
inline constexpr std::size_t kMostSteps = 64'000, kMostStepsOfRank = 640;
/// Edges of the trees that a runtime has by itself, which are simulated whatever their steps, as
/// files are compared with them.
inline constexpr std::size_t kMostEdgesOfOwn = std::size_t{1} << 20;
/// Steps at least that a program of few variants has in the most instances, where it is made in
/// several.
inline constexpr std::size_t kMostStepsOfInstances = 128'000;
/// Edges of the trees of one row of `compare`: of those that are lowered, two phases of a tree for
/// each of `kMostRanksOfRoots` ranks; of those that are simulated as trees, whose text and
/// simulation would else take minutes and gigabytes.
inline constexpr std::size_t kMostEdgesLowered = 600'000, kMostEdgesSimulated = 2'500'000;

}  // namespace forestcoll::scale
