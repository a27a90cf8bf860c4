// The schedules of others: in place of ours (`synth --algorithm`), and beside ours.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/options/schedule_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::cli {

/// A baseline in the place of the solver's result.
struct SolvedBaseline {
  Synthesis synthesis;  ///< its optimum is the bound, or what is reached where that is more
  Ratio bound;          ///< GB/s, of equal shares: an allreduce of few roots can beat it
  std::string note;     ///< what the baseline says of itself
  const ExchangeInfo* exchange = nullptr;  ///< set of one that has no trees
};
/// Errors: those of `make_baseline` and of the graph file; B10 no trees describe the algorithm
/// here, and where `writes_programs` does not hold, no exchange either.
[[nodiscard]] Expected<SolvedBaseline> solve_baseline(const Fabric& fabric, Collective collective,
                                                      std::optional<Rank> root,
                                                      const BaselineArguments& arguments,
                                                      bool writes_programs);

/// Its line in the summary: which algorithm, by whom, how it came out.
[[nodiscard]] std::string baseline_line(const BaselineArguments& arguments,
                                        const SolvedBaseline& solved);
/// {"name", "title", "source", "note", "bound"}
[[nodiscard]] Json baseline_json(const BaselineArguments& arguments, const SolvedBaseline& solved);

/// XML has a power of two of trees and names no routes, so its links can carry less than the
/// optimum, and less than NCCL's rings. Rings wait longer for one another; what that comes to, only
/// a model of time says.
struct BesideRings {
  Ratio rings;        ///< GB/s: what the links allow the rings of `nccl-ring`
  Ratio ours;         ///< GB/s: what they allow the schedule, less than that
  std::string whose;  ///< the note of `nccl-ring`
  /// Seconds for 1 GiB by the model; nothing where one of the two cannot be simulated.
  std::optional<double> rings_seconds, our_seconds;
};

/// Nothing where the schedule reaches the optimum, or carries no less than the rings, or there are
/// no rings, or once `stop` asks to give up. Cost: of `nccl-ring`, and where it carries more, of
/// simulating both.
[[nodiscard]] std::optional<BesideRings> beside_rings(const Fabric& fabric,
                                                      const Compilation& compiled,
                                                      const std::stop_token& stop,
                                                      const Console& console);

/// A line of the summary, without its end.
[[nodiscard]] std::string in_words(const BesideRings& beside);
/// {"rings", "ours", "note", "rings_seconds", "our_seconds"}
[[nodiscard]] Json to_json(const BesideRings& beside);

}  // namespace forestcoll::cli
