// One collective on one fabric, carried out by several algorithms: what `compare` finds out, before
// it is written as a table, as JSON or as a page.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/solver_report.hpp"
#include "compare/measured/measured.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/bottleneck.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {

/// The name of our own row.
constexpr const char* kOurs = "forestcoll";

/// What a forest looks like.
/// What a runtime has to hold; the largest over the GPUs.
struct ProgramSize {
  std::int64_t chunks = 0;  ///< of the whole buffer
  std::int32_t threadblocks = 0, channels = 0, steps = 0;
};

/// The link that is nearest to its limit.
struct BusiestLink {
  std::string src, dst;
  Ratio load;       ///< data sent over it, in units of the whole buffer
  Ratio bandwidth;  ///< GB/s
  double busy = 0;  ///< part of the time at the row's rate, 0 … 1
};

/// What times are of. Trees send over each of their edges, flows over each of their paths, as fast
/// as the links allow; a program waits for its threadblocks too, and is never set against those.
enum class Simulated { trees, flows, program };
inline constexpr std::array kSimulatedKinds = {Simulated::trees, Simulated::flows,
                                               Simulated::program};

/// One algorithm. Where `error` is set, it does not exist on this fabric, and nothing else of the
/// result is.
struct ComparedRow {
  std::string algorithm;      ///< "forestcoll", "nccl-ring", …, or the name of a schedule's file
  std::string title, source;  ///< for people, and where it was published
  std::string note;           ///< what is to be known of it; may be empty
  std::optional<Diagnostic> error;

  Ratio algbw, busbw;  ///< GB/s, by the congestion model: phases of an allreduce run at once
  /// Of `Comparison::optimum`. Above 1 for an allreduce whose optimum is known of reduce-scatter,
  /// then allgather alone.
  double optimum_fraction = 0;
  std::optional<CollectiveForest> forest;
  std::optional<BranchingForest> branching;  ///< in place of `forest`
  std::optional<TreeShape> shape;
  std::optional<std::int64_t> parts;  ///< of an all-to-all's pairs
  std::optional<ProgramSize> program;
  std::optional<Diagnostic> program_error;  ///< why there is no program for the target
  std::optional<BusiestLink> busiest;
  std::optional<LimitUse> busiest_limit;  ///< of `Fabric::links()`, where links share capacities
  IdVector<ArcId, double> busy;  ///< of every arc, like BusiestLink::busy; empty: not known
  Simulated simulated = Simulated::trees;
  std::vector<SimulatedTime> times;
  std::optional<Diagnostic> times_error;  ///< why there are none
  /// Of trees, as programs that they are lowered to: by size the fastest.
  std::vector<SimulatedTime> program_times;
  std::optional<Diagnostic> program_times_error;
  std::vector<FastestChoice> choices;      ///< of which the times of programs are, by size
  std::vector<SimulatedTime> at_measured;  ///< like `times`, at the sizes of measured runs
  std::optional<double> seconds;           ///< that it took to make the schedule; none: a file
};

/// The times of one kind; empty where the row has none.
[[nodiscard]] const std::vector<SimulatedTime>& times_of(const ComparedRow& row, Simulated kind);

/// A size of a measured run, beside the row that it is compared with.
struct MeasuredTime {
  SimulatedTime measured;
  bool wrong = false;              ///< the results were, so that the time says nothing
  std::optional<double> modelled;  ///< GB/s algbw; none where the row cannot be simulated
};

/// One column of nccl-tests' output.
struct MeasuredRun {
  std::string file, placement;  ///< "out-of-place" or "in-place"
  std::string algorithm;        ///< the row that it is compared with
  RunOrigin origin;
  std::vector<MeasuredTime> times;
};

/// What of `--sizes` makes no sense, and why.
struct RefusedSize {
  std::string text;
  Diagnostic error;
};

/// Of what goes along paths: for what the optimum is, and what it follows from.
struct AlltoallLimit {
  ParsedDemand demand;
  AlltoallProof proof;
};

struct Comparison {
  /// What is known of an allreduce; null for other collectives.
  [[nodiscard]] const AllreduceFigures* allreduce() const {
    const auto& known = figures.rates.allreduce;
    return known ? &*known : nullptr;
  }

  const Fabric* fabric = nullptr;
  Collective collective = Collective::allreduce;
  std::string collective_name = {};
  std::optional<Rank> root = {};
  ThreeFigures figures;
  std::string target = LowerOptions().target;  ///< of XML
  /// GB/s: what nothing exceeds; where that is not known, of an allreduce reduce-scatter, then
  /// allgather, and of others the optimum by trees.
  Ratio optimum = {}, optimum_busbw = {};
  std::optional<AlltoallLimit> alltoall = {};  ///< set of an all-to-all alone
  Bottleneck bottleneck = {};  ///< of an all-to-all, `sending` alone, if it is a cut
  /// Whether `Fabric::lengths` are the bottleneck instead, of links and of what they share.
  bool is_by_lengths = false;
  std::vector<ComparedRow> rows = {};
  std::vector<std::int64_t> sizes = {};  ///< bytes, ascending
  std::vector<RefusedSize> refused_sizes = {};
  std::string gpu = {};         ///< whose figures the simulation uses
  std::string gpu_source = {};  ///< where they come from
  std::string gpu_chosen = {};  ///< why these, in words
  std::vector<MeasuredRun> measured = {};
};

/// The row of that name, or null.
[[nodiscard]] const ComparedRow* find_row(const Comparison& comparison, const std::string& name);

}  // namespace forestcoll::cli
