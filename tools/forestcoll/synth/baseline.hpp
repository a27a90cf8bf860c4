// `synth --algorithm`: the schedules of others.
#pragma once

#include <optional>
#include <string>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

struct SynthArguments;

/// As written on the command line.
struct BaselineArguments {
  std::string algorithm = "forestcoll";
  std::string nccl_graph;  ///< a file; empty: the rings are searched for
  bool cross_nic = false, nccl_constants = false;
  [[nodiscard]] bool chosen() const { return algorithm != "forestcoll"; }
};
void add_baseline_options(CLI::App& command, BaselineArguments& arguments);

/// B09 an unknown algorithm; S04 options that ask it for what only the solver can do, or another
/// algorithm for what only NCCL's can.
[[nodiscard]] Expected<void> refuse_with_baseline(const SynthArguments& arguments);

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
