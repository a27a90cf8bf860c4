// What `forestcoll synth` is asked for, from the words of the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/fabric.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/solver_options.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// As written on the command line.
struct SynthArguments {
  std::string topology;
  std::string output = "-";
  bool output_given = false;  ///< a - that was asked for is written to a terminal, too
  std::string deploy;         ///< a directory, in place of `output`; empty: none
  std::string collective = "allreduce";
  bool collective_given = false;
  std::string demand;  ///< a file; empty: all pairs have the same
  std::string root;
  std::string trees;  ///< of -k; empty: by format
  std::string format = "msccl";
  bool format_given = false;
  std::string target = "azure";
  bool target_given = false;
  std::optional<std::int32_t> sms;              ///< none: `default_sms` of target and GPU
  bool in_place = false, out_of_place = false;  ///< neither: in place
  std::string protocol;  ///< empty: Simple or LL (see `choose_protocol`), or what --tune chooses
  bool force_simple = false;              ///< also where it hangs
  std::optional<std::int32_t> instances;  ///< none: 1, or what --tune chooses
  std::string threadblocks;               ///< empty: as many as fit and help
  bool unfused = false;
  bool any_buffers = false;          ///< of plans: callers' buffers may be any
  std::string min_bytes, max_bytes;  ///< empty: the target's whole range
  std::string sizes;                 ///< the window in one word; empty: none
  std::string size;                  ///< to be fast for; empty: for large ones
  std::string tune;                  ///< sizes; empty: one file for all
  std::string buffers;               ///< of --size and --tune; empty: chosen
  bool json = false;
  ReadingOptions reading;
  Failures failures;
  SolverArguments solver;
  BaselineArguments baseline;
};
void add_synth_arguments(CLI::App& command, SynthArguments& arguments);

/// What is written where no format is asked for: MSCCL XML, which has neither scatter nor gather,
/// or of these a plan.
[[nodiscard]] std::string_view default_format(std::string_view collective);
/// And for which target.
[[nodiscard]] std::string default_target(Collective collective);

/// With the format that a release of MSCCL++ asks for as `--target`, or with the newest release
/// where the format alone is asked for. Error S04: another format is asked for.
[[nodiscard]] Expected<SynthArguments> with_format(SynthArguments arguments);

/// With the sizes of a directory, where one is asked for (`-o DIR/`, or `--deploy` and nothing that
/// says how its schedule is chosen): a file for each range of sizes.
[[nodiscard]] SynthArguments with_sizes(SynthArguments arguments);

/// As resolved.
struct SynthRequest {
  /// But for what only the fabric knows, root, demand and previous forest, and what `compile`
  /// settles.
  CompileOptions compile;
  std::optional<std::int64_t> size;          ///< bytes; none: trees of the highest rate
  bool size_is_default = false;              ///< nobody asked for it: large messages
  std::vector<std::int64_t> tune;            ///< bytes, ascending; empty: one file for all
  std::optional<std::int64_t> buffer_bytes;  ///< of NCCL_BUFFSIZE; 0: not set; none: chosen
  std::optional<std::int64_t> trace;         ///< bytes; none: what is written is no trace
};
/// Errors (ErrorKind::input): S03 a value that cannot be read, S04 values that do not go together;
/// B06, B09 of --algorithm; of an all-to-all S02, T06.
[[nodiscard]] Expected<SynthRequest> resolve(const SynthArguments& arguments);

}  // namespace forestcoll::cli
