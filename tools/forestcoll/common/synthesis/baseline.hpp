// `synth --algorithm`: the schedules of others.
#pragma once

#include <optional>
#include <string>

#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/baseline_options.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
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

}  // namespace forestcoll::cli
