// One schedule: made as it was asked for.
#pragma once

#include <optional>

#include "command.hpp"
#include "common/group_rates.hpp"
#include "common/options/solver_options.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/solver_report.hpp"
#include "common/synthesis/baseline.hpp"
#include "common/synthesis/prepare.hpp"
#include "common/synthesis/report/write_report.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/stopwatch.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

/// What each stage takes, one after the other.
class Laps {
 public:
  SynthSeconds seconds;

  double lap() {
    const double taken = watch_.restart();
    seconds.total += taken;
    return taken;
  }

 private:
  Stopwatch watch_;
};

/// A schedule, where it came from, and what others would be.
struct MadeSchedule {
  Compilation compiled;
  std::optional<SolvedBaseline> baseline;
  std::optional<FastestChoice> choice;  ///< for --size, and by default
  std::optional<SizeWindow> window;
  std::string left_out;  ///< see `ChosenSchedule`
  std::optional<BesideRings> beside;
  std::optional<ThreeFigures> figures;
  std::optional<GroupRates> group;
  std::optional<Tradeoff> tradeoff;

  [[nodiscard]] const Synthesis& solved() const { return compiled.chosen.synthesis; }
  [[nodiscard]] const Verdict& verdict() const { return compiled.verdict; }
};

/// How `request` packs under a bar, which must outlive the work, until the time is over.
[[nodiscard]] PackOptions packing_under(ProgressBar& bar, const SolverRequest& request,
                                        const TimeLimit& limit);

/// What `work` returns, done under a progress bar that `options` report to, with what `request`
/// says of effort, threads and height; when the time is over, what stands then.
template <class Work>
[[nodiscard]] auto under_bar(SynthesizeOptions& options, const SolverRequest& request,
                             const TimeLimit& limit, const Console& console, Work&& work) {
  ProgressBar bar("solving", console);
  options.packing = packing_under(bar, request, limit);
  options.max_height = request.max_height;
  options.answer_when_stopped = request.seconds.has_value();  // not where a host asks to stop
  auto result = work();
  options.packing.progress = {};
  return result;
}

/// The forest, its schedule, and the verdict of the independent checker; what `compare_baselines`
/// finds is not there yet. Errors: those of `solve_baseline`, `compile` and `fastest_schedule`.
[[nodiscard]] Expected<MadeSchedule> make_schedule(PreparedSynthesis& prepared, Laps& laps,
                                                   const Console& console);

/// The two figures that no format changes: of an all-to-all by the proof that it was made with.
[[nodiscard]] RateFigures rates_beside(const Compilation& made, const PreparedSynthesis& prepared);

}  // namespace forestcoll::cli
