// The fastest schedule for a size, of all algorithms that there are, and sets of them by size: by
// simulation, which is a model, not a measurement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/baseline.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll {

/// Which counts a file must serve: a runtime selects it where its chunks divide the count.
enum class ServedCounts {
  of_size,    ///< that of the size
  or_around,  ///< where nothing serves that, those of sizes around it
  around,     ///< also where what serves the size takes more than twice as long as what does these
  any,        ///< none in particular: also schedules that a runtime would not select at the size
};

struct FastestOptions {
  /// What all schedules have in common; an empty protocol is chosen by size. Where a number of
  /// trees or parts is asked for, these alone are looked at. REQUIRES: the format is that of a
  /// schedule; an all-to-all of one block for every pair, with no other's paths.
  CompileOptions compile = {};
  std::vector<std::int64_t> sizes;  ///< bytes of the whole buffer, ascending, at least one
  std::optional<std::int32_t> instances = {};  ///< none: 1, 2, 4 or 8, by size
  /// `NCCL_BUFFSIZE` of the runtime, bytes; 0: not set; none: chosen by size.
  std::optional<std::int64_t> buffer_bytes = {};
  ServedCounts counts = ServedCounts::of_size;
  /// `fastest_of_each` has a row more, `kAsWritten`, of files for these.
  std::optional<ServedCounts> as_written = {};
  /// Names of the algorithms and selectors that have rows of their own there; none: all.
  std::optional<std::vector<std::string>> rows = {};
  std::optional<SimulationParameters> parameters = {};  ///< none: those of the fabric's GPU
  BaselineOptions baseline = {};
  std::vector<std::string> algorithms = {};  ///< names; none: all
  /// Where programs take long to make and to simulate. Of trees: those of `choose_forest` and what
  /// others have for large messages, in one instance, and what a runtime has in up to four. Of an
  /// all-to-all: of our own paths the best number of parts alone, of others whole blocks, each in
  /// the most instances up to four that fit; of direct sends, which a runtime has, parts and fewer
  /// instances, too. Beyond 512 ranks, trees with too many edges to be simulated soon are compared
  /// by what their links need. What the time is made of is not looked into.
  bool few_variants = false;
};

/// What an algorithm's best schedule takes for a size.
struct ConsideredTime {
  std::string algorithm;  ///< "forestcoll", or the name of a baseline or an exchange
  double seconds = 0;
  /// It takes at least `seconds`, no less than the choice takes, so nobody looked further.
  bool is_bound = false;
};

/// What no schedule is below for a size, and why.
struct LeastTime {
  double seconds = 0;
  enum class By { latency, links } by = By::latency;
};

/// What a time is made of, in seconds; the sum is the time.
struct TimeCosts {
  double links = 0;         ///< what the busiest link needs
  double waiting = 0;       ///< for one another on links: the pipeline fills and drains, flows meet
  double latencies = 0;     ///< of messages and hops
  double threadblocks = 0;  ///< steps, and what one threadblock moves and adds
};

/// What is fastest for a size.
struct FastestChoice {
  std::int64_t bytes = 0;
  std::string algorithm;  ///< as in ConsideredTime
  std::string name;       ///< for people: "forestcoll, k 4, height 2", "bfb"
  std::string protocol;
  std::int32_t instances = 1;
  std::int64_t buffer_bytes = 0;  ///< `NCCL_BUFFSIZE` that it needs for this; 0: none in particular
  std::int64_t chunks = 0;
  std::int32_t threadblocks = 0, channels = 0, steps = 0;
  Ratio algbw;  ///< GB/s: what the links carry
  double seconds = 0;
  /// Whether a runtime selects it at `bytes`, or only at sizes around, which its chunks divide.
  bool is_selected = true;
  LeastTime least;
  std::vector<ConsideredTime> considered;  ///< by time; each algorithm once
  std::optional<TimeCosts> costs = {};     ///< of what is written
  /// In a table: it takes at least `seconds`, so many times what the fastest takes that nobody
  /// looked further.
  bool is_bound = false;
};

/// "bfb, LL, 2 instances: 12.3 us (model, not measurement), 81 % of the least possible; …": the
/// choice and those that come after it.
[[nodiscard]] std::string in_words(const FastestChoice& choice);
/// "links 71 %, waiting for one another 12 %, latencies 3 %, threadblocks 14 %".
[[nodiscard]] std::string in_words(const TimeCosts& costs);

/// For every size that some schedule serves, what is fastest there, in the order of the sizes.
/// Candidates as XML: forests of 1, 2, 4, 8 and 16 trees per root, lower ones at lower rates, what
/// `choose_forest` takes, all of `baselines()` and `exchanges()` that the fabric has, each in
/// 1, 2, 4 and 8 instances, and in all protocols that the runtime can run there, in Simple with
/// buffers of 4 MiB, as the runtime has them, of 2 MiB and of 512 KiB: passes that carry less fill
/// and drain high trees faster. As plans of MSCCL++: the same trees, and in place of exchanges what
/// copies and combines in switches, ours and NVLS, by its operations or by packets; trees in
/// several shapes (threadblocks, parts of trees for each, phases apart) in place of instances. Of
/// an all-to-all: paths for 1, 2, 4 and 8 parts of every pair, of few GPUs up to 64, where more
/// parts reach more, and all of `alltoall_baselines()`, in as many instances, protocols and
/// buffers, or plans for as many threadblocks as come, are enough, and are allowed. Each is lowered
/// for the target and simulated as it would be written; left out at a size is only what its links
/// or `Simulator::least_seconds` prove to be slower than the choice, or faster by less than a
/// twentieth of a per cent. Equal input gives equal choices. Errors: those of `compile`; T01 …
/// where no candidate fits the target; S03 where no size is served. Cost: that of `synthesize`,
/// some fifteen times, of the baselines, and of simulating.
[[nodiscard]] Expected<std::vector<FastestChoice>> fastest_choices(const Fabric& fabric,
                                                                   const FastestOptions& options);

/// What an algorithm's best schedule takes at each size; none where no schedule serves it.
struct AlgorithmTimes {
  std::string algorithm;
  std::vector<std::optional<FastestChoice>> by_size;  ///< `considered` is of this algorithm alone
};

/// What `fastest_schedule` takes, of whatever algorithm, for `FastestOptions::as_written`.
inline constexpr const char* kAsWritten = "as written";
/// What NCCL's own selector would pick at each size, and MSCCL++'s.
inline constexpr const char *kNcclPick = "nccl-pick", *kMscclppPick = "mscclpp-pick";

/// The same for each algorithm of the rows by itself, in the order of the candidates; an algorithm
/// without any program that fits is left out. Then also what the selectors that are in use would
/// pick for an allreduce: see `selectors`; and `kAsWritten`. Where the time is more than a
/// twentieth above that of the fastest algorithm at the size, it is at most 1 % above that of the
/// algorithm's own best program; where it is more than 16 times that of the fastest, and long to
/// simulate, it is a lower bound. `found` is told of each of them, but not of selectors, once its
/// times are known, by one thread at a time, in any order. Cost: several times that of
/// `fastest_choices`, as less can be left out.
[[nodiscard]] Expected<std::vector<AlgorithmTimes>> fastest_of_each(
    const Fabric& fabric, const FastestOptions& options,
    const std::function<void(const AlgorithmTimes&)>& found = {});

/// What a schedule takes at a size, and what a runtime would take that has no schedule for it.
struct TimeBeside {
  std::int64_t bytes = 0;
  double seconds = 0;
  std::string runtime_algorithm = {};  ///< "nccl-ring"; empty: not known
  double runtime_seconds = 0;
};

/// The sizes that a schedule's file claims, bytes of the whole buffer, both included.
struct SizeWindow {
  std::int64_t first = 0;
  std::optional<std::int64_t> last;  ///< none: as far as the target goes
  std::vector<TimeBeside> times;     ///< at up to three sizes of it, ascending
};

/// A schedule for the first of the sizes, written and verified.
struct FastestSchedule {
  /// Where the runtime's own choice is faster than all that it selects at the size, what is fastest
  /// at sizes around: see `FastestChoice::is_selected`.
  FastestChoice choice;
  Compilation compilation;
  /// Where the options of `compile` have no sizes of their own, those that its file is for: at
  /// which it is no slower than the runtime's own choice, and at most 10 % slower than the fastest.
  std::optional<SizeWindow> window = {};
};
/// Errors and cost: those of `fastest_choices`; for the window, of several sizes.
[[nodiscard]] Expected<FastestSchedule> fastest_schedule(const Fabric& fabric,
                                                         const FastestOptions& given);

/// The programs of an exchange in the protocol and the instances of `given`, written and
/// verified. REQUIRES: the collective is allreduce, the format MSCCL XML. Errors: those of
/// `compile_forest` and `lower_exchange`; T08 Simple, for sizes beyond what it has room for. The
/// window ends there; an empty protocol is LL where there is such an end.
[[nodiscard]] Expected<Compilation> compile_exchange(const Fabric& fabric,
                                                     const ExchangeInfo& exchange,
                                                     const CompileOptions& given);

// A set of schedules, one for each range of sizes.

/// What switches do in a plan of MSCCL++.
enum class SwitchUse {
  none,     ///< data goes along the trees, from GPU to GPU
  sums,     ///< they combine and copy
  packets,  ///< they copy packets, or GPUs put them at all, and add them up
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
  std::vector<TimeBeside> times;  ///< at the first and the last of the sizes that it is chosen for
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
/// the times of all sizes have the least product, where a size that is slower than with the
/// runtime's own buffers counts sixteen times. Sizes in between are served where a runtime
/// selects the file for them. For `Format::mscclpp` they are plans, with their ranges of sizes.
/// Errors: those of `fastest_choices`. Cost: that, and of `verify` for
/// each file.
[[nodiscard]] Expected<Tuning> tune(const Fabric& fabric, const FastestOptions& options);

}  // namespace forestcoll
