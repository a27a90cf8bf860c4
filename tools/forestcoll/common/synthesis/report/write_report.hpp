// The summary of `forestcoll synth`, in text and in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/report/branching_report.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

/// What each stage took; they add up to the total.
struct SynthSeconds {
  double parse = 0, rate = 0;
  double pack = 0;    ///< or to find paths, which is called "route"
  double choose = 0;  ///< to try others than what was taken, and what no other stage has
  double lower = 0, emit = 0, verify = 0, write = 0;
  double compare = 0;  ///< with NCCL's rings
  double total = 0;
  bool of_paths = false;

  /// A compilation that took `all`: what it doesn't name is its choosing.
  void add(const CompileSeconds& compiled, double all);
  /// Each but the total with its name, in this order.
  [[nodiscard]] std::vector<std::pair<const char*, double>> stages() const;
};

/// In text, a line that is not ended, whose total is the sum of what is printed; and in JSON.
[[nodiscard]] std::string seconds_line(const SynthSeconds& seconds);
[[nodiscard]] Json seconds_json(const SynthSeconds& seconds);

/// What the summary of a schedule says beside what its forest and its verdict know.
struct ScheduleNotes {
  std::string why;       ///< this k was chosen; empty: it was asked for
  bool is_warm = false;  ///< a previous forest was given, and `why` says what became of it
  std::string boxes;     ///< a line on what a plan takes for boxes; empty: no plan
  std::string protocol;  ///< the reason for LL where nobody asked for it; empty: none
  std::string
      no_ll128;  ///< the reason why nobody tried LL128; empty: somebody did, or nobody chose
  std::int32_t sms = 0;
  bool sms_are_assumed = false;  ///< nobody said how many
  std::string beside_rings;      ///< a line on NCCL's rings, where these carry more; else empty
  std::string relays;            ///< a line on what GPUs outside of the group could; else empty
  std::string window;            ///< lines on the sizes that it is for, where it chose them itself
  std::string window_in_short;   ///< the same in one line
  std::string all_sizes;  ///< a line, where the file is for all sizes though none were compared
  std::string left_out;   ///< what was not compared, which `why` says too; empty: nothing
  const BranchingForest* branching = nullptr;  ///< written in place of the synthesis, if any
  Branching branching_as = Branching::trees;
  std::optional<RepackStatistics> kept = {};  ///< of previous trees that branched
};

/// Of a run that chose among several k, what each reaches: `of` says what k counts.
[[nodiscard]] std::string rates_by_k_lines(const Synthesis& synthesis, std::string_view of);
[[nodiscard]] Json rates_by_k_json(const Synthesis& synthesis);

/// The programs, in a line and in keys.
[[nodiscard]] std::string threadblocks_line(const Verdict& verdict, std::int32_t sms,
                                            bool sms_are_assumed = false);
void put_programs(Json& json, const Verdict& verdict);

/// Behind the first line of a summary that has times: that they are simulated. Else empty.
[[nodiscard]] std::string head_of_times(const ScheduleNotes& notes, bool verbose);
/// What a caller needs to know: sizes beside the runtime's own times, usable counts, conditions.
[[nodiscard]] std::string use_lines(const Verdict& verdict, const ScheduleNotes& notes,
                                    bool verbose);
/// Without the end of its last line.
[[nodiscard]] std::string ended(std::string text);

/// A few lines, the last one not ended; `verbose` adds how the schedule was made.
[[nodiscard]] std::string text_report(const SynthSeconds& seconds, const Synthesis& synthesis,
                                      const ThreeFigures& figures, const Verdict& verdict,
                                      const Topology& topology, const ScheduleNotes& notes,
                                      bool verbose);

/// {"format": "forestcoll-synth", "version": 3, …}
[[nodiscard]] Json json_report(const SynthSeconds& seconds, const Synthesis& synthesis,
                               const ThreeFigures& figures, const Verdict& verdict,
                               const Topology& topology);

/// What was asked of the schedule: placement, protocol, instances.
void add_schedule_request(Json& json, const LowerOptions& lowering, const XmlOptions& xml);

}  // namespace forestcoll::cli
