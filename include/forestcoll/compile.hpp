// The facade: from a fabric, and what is asked for, to a verified artefact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {

/// What an artefact is written as; `none`: it is solved and verified, and not for writing.
enum class Format { msccl, mscclpp, forest, forest_symmetric, forest_xml, dot, none };

/// What a runtime loads.
[[nodiscard]] constexpr bool is_schedule(Format format) {
  return format == Format::msccl || format == Format::mscclpp;
}

/// At first: an allreduce as `forestcoll synth` makes it where nothing else is asked for.
struct CompileOptions {
  /// Collective, root, trees per root, and how to pack them.
  SynthesizeOptions synthesis = {.trees_per_root = {TreesPerRoot::Mode::power_of_two, 16}};
  /// Nobody asked for a number of trees: `synthesis.trees_per_root` is where the choice begins (see
  /// `choose_forest`).
  bool choose_trees = true;
  Format format = Format::msccl;
  /// Trees that branch at switches, to keep as far as they fit. REQUIRES: the format is `forest` or
  /// `dot`; no `synthesis.previous`, no `synthesis.max_height`.
  const BranchingForest* previous_branching = nullptr;
  /// The boxes of nodes are taken from the fabric.
  LowerOptions lowering = {};
  /// An empty protocol: Simple, or LL where that hangs.
  XmlOptions xml = {.protocol = ""};
  bool force_simple = false;  ///< also where it hangs
  std::int32_t sms = 108;     ///< threadblocks that a GPU holds at once
};

/// A forest, and why it is this one.
struct ChosenForest {
  Synthesis synthesis;
  std::string why;  ///< what the model said of those that could have been chosen; empty: no choice
  /// The forest's programs, where it was lowered to see whether it fits; let it go with the forest.
  std::optional<Schedule> schedule = {};
};

/// What the stages took.
struct CompileSeconds {
  double rate = 0, pack = 0;
  /// To try other trees than those that were taken, and to lower those that may be.
  double choose = 0;
  double lower = 0;  ///< 0 where choosing did that
  double emit = 0, verify = 0;
};

struct Compilation {
  ChosenForest chosen = {};
  /// What was written in place of the chosen forest: trees that branch at switches and are faster.
  std::optional<BranchingForest> branching = {};
  /// GB/s: where the optimum of what was written is not known, what it is at least; nothing exceeds
  /// the `optimum` of its trees.
  std::optional<Ratio> optimum_at_least = {};
  /// What of `previous_branching` is in it.
  std::optional<RepackStatistics> kept = {};
  /// What was written is a plan for small messages, with a lower rate.
  bool packets = false;
  std::string text = {};  ///< of the format that was asked for; of `forest_symmetric` for `none`
  CompileOptions options = {};  ///< with what the fabric decided: boxes, protocol
  /// The opinion of a checker that shares no code with what made it: of the text, or of the forest
  /// where that is a drawing. What is not `ok` must not be used: either a runtime selects it for no
  /// size (V19 alone), or it is a bug of ours.
  Verdict verdict = {};
  CompileSeconds seconds = {};
};

/// Where `options.choose_trees`: of the powers of two up to 16, and of those up to 128 that gain at
/// least half a percent each (their trees carry several chunks each, so that uneven trees share the
/// data out more exactly), those count that have a higher rate than all smaller ones and fit the
/// target, as they are or taller. XML gets the one that is fastest for 1 GiB as `simulate` has it,
/// and one of more chunks only where it gains 5 % by them; forests and plans the highest rate,
/// plans beyond 16 only for 5 % each. An allreduce by XML over a number of ranks that is no power
/// of two gets roots that sum unequal numbers of chunks, 2^m in all, where that fits. Rows of the
/// larger powers that were tried are in `tradeoff`. Errors: those of `synthesize`. Cost: that of
/// `synthesize`, at most ten times.
[[nodiscard]] Expected<ChosenForest> choose_forest(const Fabric& fabric,
                                                   const CompileOptions& options);

/// Lowers, writes and verifies a forest, whoever made it.
/// Errors: T06 (a schedule for a fabric with relays, which run no programs), T08 (see
/// `choose_protocol`), T10 (a forest with more edges than the checker reads),
/// those of `lower` and `lower_to_plan`.
[[nodiscard]] Expected<Compilation> compile_forest(const Fabric& fabric, ChosenForest chosen,
                                                   const CompileOptions& options);

/// `choose_forest`, then `compile_forest`: all that stands between a fabric and what a runtime
/// loads. The command line makes its schedules by this. Without a former
/// forest, an allreduce as `Format::forest` or `dot` branches at switches that copy and combine
/// where that is faster: of k·N trees in each phase where k trees per root are asked for, for there
/// a switch can be a root, too. So do broadcasts and reductions where fewer messages follow one
/// another. As
/// `Format::mscclpp`, without a given number of trees or limit of height, where its executor can
/// run that: by packets where `xml.max_bytes` is so small that the model finds them faster. Errors:
/// those of both; R02 (`previous_branching` does not fit the network or the collective).
[[nodiscard]] Expected<Compilation> compile(const Fabric& fabric, const CompileOptions& options);

}  // namespace forestcoll
