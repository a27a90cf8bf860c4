// A set of schedules, one for each range of sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/compile.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll {

struct TuneOptions {
  /// What all files have in common; an empty protocol is chosen by size.
  CompileOptions compile = {};
  std::vector<std::int64_t> sizes;        ///< bytes of the whole buffer, ascending
  std::optional<std::int32_t> instances;  ///< none: 1, 2, 4 or 8, by size
  /// As in FastestOptions; all files are for one and the same.
  std::optional<std::int64_t> buffer_bytes = {};
};

/// What switches do in a plan of MSCCL++.
enum class SwitchUse {
  none,     ///< data goes along the trees, from GPU to GPU
  sums,     ///< they combine and copy
  packets,  ///< they copy packets, which GPUs add up
};
/// "none", "sums", "packets": as in names of files.
[[nodiscard]] std::string_view to_string(SwitchUse use);

/// One schedule, for the sizes from `first` to `last` (both included).
struct TunedFile {
  std::string name;  ///< "allreduce-16gpus-0000000065536-LL-k1x1.xml": sorted as the sizes are;
                     ///< of a plan of MSCCL++ "allreduce-16gpus-0000000065536-k1.json"
  std::string text;
  std::int64_t first = 0, last = 0;  ///< bytes
  double seconds = 0;                ///< at `first`, as simulated
  std::string algorithm;             ///< "forestcoll", or the name of a baseline or an exchange
  SwitchUse switches = SwitchUse::none;
  Ratio algbw, optimum;  ///< GB/s on the links, and what nothing exceeds that the format can say
  std::string why;       ///< what else was considered at `first`, in words
  std::string protocol;
  std::int32_t instances = 1;
  std::int64_t chunks = 0;
  std::int32_t threadblocks = 0, channels = 0;
  std::vector<ConsideredTime> considered;  ///< at `first`
  LeastTime least;                         ///< at `first`
  TimeCosts costs;                         ///< at `first`
  std::size_t forest = 0;                  ///< which of `Tuning::forests`
  std::string no_ll128;  ///< in LL128, which was asked for: why it may not be safe; else empty
  Verdict verdict;
};

struct Tuning {
  std::vector<CollectiveForest> forests;  ///< those of the files; of an exchange without trees
  std::vector<TunedFile> files;           ///< by size, with disjoint windows; at least one
  /// `NCCL_BUFFSIZE` that the processes are to be started with; 0: none in particular.
  std::int64_t buffer_bytes = 0;
  std::vector<std::int64_t> not_served;  ///< the sizes at which a runtime selects no candidate
  /// Protocols that nobody asked for and none is chosen in, each with the reason.
  std::vector<std::pair<std::string, std::string>> left_out;
};

/// For each size what `fastest_choices` has: of those schedules that the runtime selects at the
/// size, as it would pass over the others without a word. Sizes next to each other with the same
/// choice become one file. A file's window goes from its first size up to the next file's, which is
/// moved down as far as the simulation has it ahead and a runtime selects it; the last one ends at
/// the last size. The runtime reads the size of its buffers once for all files: it is that by which
/// the times of all sizes have the least product. Sizes in between are served where a runtime
/// selects the file for them. For `Format::mscclpp` they are plans, with their ranges of sizes.
/// Errors: those of `fastest_choices`. Cost: that, and of `verify` for
/// each file.
[[nodiscard]] Expected<Tuning> tune(const Fabric& fabric, const TuneOptions& options);

}  // namespace forestcoll
