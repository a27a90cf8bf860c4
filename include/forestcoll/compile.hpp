// The facade: from a fabric, and what is asked for, to a verified artefact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {

/// What an artefact is written as; `none`: it is solved and verified, and not for writing.
enum class Format {
  msccl,
  mscclpp,
  forest,
  forest_symmetric,
  forest_xml,
  dot,
  flows,  ///< paths: of an all-to-all, a scatter or a gather
  none,
};

/// What a runtime loads.
[[nodiscard]] constexpr bool is_schedule(Format format) {
  return format == Format::msccl || format == Format::mscclpp;
}

/// Who says how many trees per root there are, or along paths parts per pair.
enum class TreeCount {
  /// `chosen` for what a runtime loads and for paths; of the rest, the fewest that reach the
  /// optimum.
  by_format,
  /// See `choose_forest`; of parts the smallest of 1, 2, 4 and 8, of few GPUs of powers of
  /// two up to 64, within 1 % of the best of them,
  /// larger ones as long as they fit the target and there are few pairs.
  chosen,
  /// `synthesis.trees_per_root` does; of parts not `optimal`, and `best_up_to` is the fastest
  /// itself.
  as_given,
};

/// At first: an allreduce as `forestcoll synth -k auto` makes it where nothing else is asked for.
struct CompileOptions {
  /// Collective, root, and how to pack trees; their number where it is given.
  SynthesizeOptions synthesis = {};
  TreeCount tree_count = TreeCount::by_format;
  Format format = Format::msccl;
  /// Trees that branch at switches, to keep as far as they fit. REQUIRES: the format is `forest` or
  /// `dot`; no `synthesis.previous`, no `synthesis.max_height`.
  const BranchingForest* previous_branching = nullptr;
  /// Of an all-to-all, what every rank has for every other; none: blocks, as the collective says.
  std::optional<ParsedDemand> demand = {};
  /// The optimum along paths, where it is known already; null: it is found.
  const AlltoallProof* proof = nullptr;
  /// Of `alltoall_baselines`, whose paths are taken, in one part where no number is given; empty:
  /// ours.
  std::string paths_of = {};
  /// What a rank sends, in bytes, for which flows are the fastest of several by simulation; none:
  /// as for so much that links alone count.
  std::optional<std::int64_t> bytes = {};
  /// The boxes of nodes are taken from the fabric.
  LowerOptions lowering = {};
  /// An empty protocol: Simple, or LL where that hangs.
  XmlOptions xml = {.protocol = ""};
  bool force_simple = false;  ///< also where it hangs
  /// Of a plan of MSCCL++: other GPUs and switches reach this GPU's scratch alone, so that callers
  /// may pass any buffers; see `PlanOptions`.
  bool any_buffers = false;
  /// Threadblocks that a GPU holds at once; 0: as many as `default_sms` says of target and GPU. No
  /// rank gets more, nor more than `lowering.max_threadblocks`.
  std::int32_t sms = 0;
};

/// What pairs have by these options: blocks, where no demand is given. REQUIRES: a collective along
/// paths, with a root where it has one.
[[nodiscard]] ParsedDemand demand_of(const CompileOptions& options, const Network& network);

/// A forest, and why it is this one.
struct ChosenForest {
  Synthesis synthesis;
  std::string why;  ///< what the model said of those that could have been chosen; empty: no choice
  /// The forest's programs, where it was lowered to see whether it fits; let it go with the forest.
  std::optional<Schedule> schedule = {};
};

/// What the stages took.
struct CompileSeconds {
  double rate = 0, pack = 0;  ///< along paths, to find the optimum, and them
  /// To try other trees than those that were taken, and to lower those that may be.
  double choose = 0;
  double lower = 0;  ///< 0 where choosing did that
  double emit = 0, verify = 0;
};

/// What carries an all-to-all, a scatter or a gather in place of trees. Rates and numbers of parts
/// that were tried are in `Synthesis::tradeoff`, the number of parts is the k of its forest.
struct CompiledPaths {
  AlltoallProof proof;
  /// Paths by links for flows, by peers for programs, where the runtime chooses the links.
  AlltoallRoutes routes;
  std::optional<Ratio> algbw_in_rounds;  ///< of flows, where every round waits for the one before
  /// Of our programs, where they are below the optimum: GB/s of paths that name links, in as many
  /// parts.
  std::optional<Ratio> algbw_by_links;
  std::string stops;      ///< of ours: the baseline whose GPUs paths stop at; empty: searched for
  bool combined = false;  ///< of ours: few rounds, in which messages over the same links are one
  std::optional<double> seconds_at_bytes;  ///< by simulation, with the figures of the fabric's GPU
  std::int64_t scratch = 0;                ///< of programs: the most of any rank, in chunks
};

struct Compilation {
  /// Along paths, without trees: k, rate and optimum.
  ChosenForest chosen = {};
  std::optional<CompiledPaths> paths = {};  ///< where data goes along paths
  /// What was written in place of the chosen forest: trees that branch at switches and are faster.
  std::optional<BranchingForest> branching = {};
  /// GB/s: where the optimum of what was written is not known, what it is at least; nothing exceeds
  /// the `optimum` of its trees.
  std::optional<Ratio> optimum_at_least = {};
  /// What of `previous_branching` is in it.
  std::optional<RepackStatistics> kept = {};
  /// What was written is a plan for small messages, with a lower rate.
  bool packets = false;
  /// Of the format that was asked for; for `none` of `forest_symmetric`, or of `flows`.
  std::string text = {};
  /// With what was left to fabric, format and target: boxes, protocol, k, threadblocks.
  CompileOptions options = {};
  /// The opinion of a checker that shares no code with what made it: of the text, or of the forest
  /// where that is a drawing. What is not `ok` must not be used: either a runtime selects it for no
  /// size (V19 alone), or it is a bug of ours.
  Verdict verdict = {};
  CompileSeconds seconds = {};
};

/// GB/s: what the artefact reaches, by the checker's addition where that fits 64 bits. With the two
/// of `rate_figures`, the third figure of a collective.
[[nodiscard]] Ratio reached_by(const Compilation& made);

/// Where the number of trees is `chosen`: of the powers of two up to 16, and of those up to 128
/// that gain at least half a percent each (their trees carry several chunks each, so that uneven
/// trees share the data out more exactly), those count that have a higher rate than all smaller
/// ones and fit the target, as they are or taller. XML gets the one that is fastest for 1 GiB as
/// `simulate` has it, and one of more chunks only where it gains 5 % by them; forests and plans the
/// highest rate, plans beyond 16 only for 5 % each. An allreduce by XML over a number of ranks that
/// is no power of two gets roots that sum unequal numbers of chunks, 2^m in all, where that fits.
/// Rows of the larger powers that were tried are in `tradeoff`. Errors: those of `synthesize`.
/// Cost: that of `synthesize`, at most ten times.
[[nodiscard]] Expected<ChosenForest> choose_forest(const Fabric& fabric,
                                                   const CompileOptions& given);

/// Lowers, writes and verifies a forest, whoever made it.
/// Errors: T06 (a schedule for a fabric with relays, which run no programs), T08 (see
/// `choose_protocol`), T10 (a forest with more edges than the checker reads),
/// those of `lower` and `lower_to_plan`.
[[nodiscard]] Expected<Compilation> compile_forest(const Fabric& fabric, ChosenForest chosen,
                                                   const CompileOptions& options);

/// `choose_forest`, then `compile_forest`: all that stands between a fabric and what a runtime
/// loads. The command line makes its schedules by this. Without a previous
/// forest, an allreduce as `Format::forest` or `dot` branches at switches that copy and combine
/// where that is faster: of k·N trees in each phase where k trees per root are asked for, for there
/// a switch can be a root, too. So do broadcasts and reductions where fewer messages follow one
/// another. As
/// `Format::mscclpp`, without a given number of trees or limit of height, where its executor can
/// run that: by packets where `xml.max_bytes` is so small that the model finds them faster. Errors:
/// those of both; R02 (`previous_branching` does not fit the network or the collective).
///
/// An all-to-all, a scatter and a gather have no forest: their paths are those that are searched
/// for, or, of equal rate, those that stop where a baseline's do and whose rounds are shorter.
/// Flows for `options.bytes` are the fastest of all of these and of the searched ones in as few
/// rounds as there are legs on a path, so that small messages for the next hop are one. A demand
/// whose amounts are equal after all fits programs. Its algbw is of what a rank has for all, itself
/// included, on average. Errors: those of `alltoall_optimum`, `route_alltoall`,
/// `make_alltoall_baseline` and of lowering; S03 `optimal` parts; T09 unequal amounts as a program.
/// Cost: that of `alltoall_optimum`, and of routing for each k.
[[nodiscard]] Expected<Compilation> compile(const Fabric& fabric, const CompileOptions& options);

/// What competes for a size, each of them made once: first what `compile` makes without
/// `options.bytes`, which alone has the proof; then, of ours, what may take less time for small
/// messages, in the order in which the first of equally fast ones is taken. None fails its
/// verification, but the first may. REQUIRES: an all-to-all. Errors and cost: those of `compile`.
[[nodiscard]] Expected<std::vector<Compilation>> compile_alltoalls(const Fabric& fabric,
                                                                   const CompileOptions& options);

}  // namespace forestcoll
