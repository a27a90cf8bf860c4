#include "forestcoll/nccl_tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/limits.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/solver_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/time_report.hpp"
#include "common/synthesis/made_schedule.hpp"
#include "common/synthesis/request/nccl_files.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"
#include "synth/ways.hpp"

namespace forestcoll::cli {
namespace {

// What is less is nothing: the model knows nothing so exactly.
constexpr double kLeastGain = 0.005;

double gain_of(const NcclTunedSize& size) {
  return size.own.seconds / size.best.seconds - 1;
}

// "tree in ll"
std::string words_of(const NcclChoice& choice) {
  return fmt::format("{} in {}", choice.algorithm, choice.protocol);
}

std::string gain_in_words(double gain) {
  return gain < kLeastGain ? "gains nothing" : fmt::format("{:.0f} % faster", 100 * gain);
}

// The first, the middle and the last.
std::vector<NcclTunedSize> three_of(const std::vector<NcclTunedSize>& sizes) {
  std::vector<NcclTunedSize> three;
  for (const std::size_t i : {std::size_t{0}, sizes.size() / 2, sizes.size() - 1}) {
    if (three.empty() || three.back().bytes != sizes[i].bytes) three.push_back(sizes[i]);
  }
  return three;
}

std::string line_of(const NcclTunedSize& size) {
  return fmt::format("  {:>11}  {:<16} {:>8}  NCCL's own choice: {:<16} {:>8}  {}",
                     size_in_words(size.bytes), words_of(size.best),
                     time_in_words(size.best.seconds), words_of(size.own),
                     time_in_words(size.own.seconds), gain_in_words(gain_of(size)));
}

void report(const NcclTuning& tuning, const Console& console) {
  note(console, fmt::format("  {}: {}", to_string(tuning.collective),
                            counted(tuning.rules.size() + tuning.otherwise.size(), "row")));
  const auto told = console.verbose ? tuning.sizes : three_of(tuning.sizes);
  for (const NcclTunedSize& size : told) note(console, line_of(size));
  const NcclTunedSize& most = *std::ranges::max_element(tuning.sizes, {}, gain_of);
  note(console, gain_of(most) < kLeastGain
                    ? "    gains nothing at any of these sizes: NCCL's own choice is the fastest "
                      "that it has"
                    : fmt::format("    gains most at {}: {}", size_in_words(most.bytes),
                                  gain_in_words(gain_of(most))));
}

void tell_of_others(const SynthArguments& arguments, const NcclCommunicator& communicator,
                    const Console& console) {
  note(console,
       fmt::format("  rows are for communicators of {} on {}; {}",
                   counted(static_cast<std::size_t>(communicator.ranks), "rank"),
                   counted(static_cast<std::size_t>(communicator.nodes), "node"),
                   arguments.format == kNcclTuner
                       ? "NCCL's example plugin gives all others, and calls that no row fits, one "
                         "channel"
                       : "NCCLX chooses by itself for all others, and for calls that no row fits"));
  if (!arguments.collective_given) return;
  note(console, fmt::format("  other collectives than {} have no row: leave -c out for all",
                            arguments.collective));
}

Json json_of(const NcclChoice& choice) {
  return {{"algorithm", choice.algorithm},
          {"protocol", choice.protocol},
          {"simulated_seconds", choice.seconds}};
}

Json json_of(const std::vector<NcclRule>& rules) {
  Json json = Json::array();
  for (const NcclRule& rule : rules) {
    Json row = {{"min_bytes", rule.first}, {"max_bytes", rule.last}, {"channels", 0}};
    row.update(json_of(rule.choice));
    json.push_back(std::move(row));
  }
  return json;
}

Json json_of(const NcclTuning& tuning) {
  Json sizes = Json::array();
  for (const NcclTunedSize& size : tuning.sizes) {
    sizes.push_back({{"bytes", size.bytes},
                     {"best", json_of(size.best)},
                     {"own", json_of(size.own)},
                     {"gain", gain_of(size)}});
  }
  return {{"collective", to_string(tuning.collective)},
          {"rules", json_of(tuning.rules)},
          {"otherwise", json_of(tuning.otherwise)},
          {"sizes", std::move(sizes)}};
}

Json json_of(const std::vector<NcclTuning>& tunings, const Topology& topology) {
  const NcclCommunicator communicator = nccl_communicator(topology);
  Json json = {{"format", "forestcoll-nccl-tuner"},   {"version", 2},
               {"topology", topology.name},           {"box_count", communicator.nodes},
               {"compute_nodes", communicator.ranks}, {"estimate", "model, not measurement"}};
  json["collectives"] = Json::array();
  for (const NcclTuning& tuning : tunings) json["collectives"].push_back(json_of(tuning));
  return json;
}

Expected<void> refuse_shares(const Fabric& fabric, const std::vector<Collective>& collectives) {
  for (const Collective collective : collectives) {
    if (!has_unequal_shares(fabric.network, collective)) continue;
    return make_error(Code::T06,
                      fmt::format("NCCL's {} gives all ranks as much, and these ranks own unequal "
                                  "shares",
                                  to_string(collective)),
                      "leave the weights of the topology out");
  }
  return {};
}

// What the tuner is told, with the files read.
struct TunerRequest {
  std::vector<Collective> collectives;
  std::vector<std::int64_t> sizes;
  SolverRequest solver;
  std::optional<NcclGraph> graph;
};

Expected<TunerRequest> resolve_tuner(const SynthArguments& arguments) {
  if (const auto done = refuse_with_nccl_file(arguments); !done) return done.errors();
  auto collectives = collectives_to_tune(arguments);
  if (!collectives) return collectives.errors();
  auto sizes = sizes_of_tuner(arguments);
  if (!sizes) return sizes.errors();
  const auto solver = resolve(arguments.solver);
  if (!solver) return solver.errors();
  auto graph = read_rings(arguments.baseline.nccl_graph);
  if (!graph) return graph.errors();
  return TunerRequest{*std::move(collectives), *std::move(sizes), *solver, *std::move(graph)};
}

Expected<NcclTuning> tune_one(const Fabric& whole, Collective collective,
                              const TunerRequest& request, const SynthArguments& arguments,
                              const Console& console) {
  Fabric fabric = whole;
  NcclTunerOptions options;
  SynthesizeOptions& synthesis = options.compile.synthesis;
  synthesis.collective = collective;
  // Any: rings are as long from each.
  if (is_rooted(collective)) synthesis.root = Rank(std::size_t{0});
  if (const auto done = divide_limits(fabric, {collective, synthesis.root}, console); !done) {
    return done.errors();
  }
  options.sizes = request.sizes;
  options.baseline = {.graph = request.graph ? &*request.graph : nullptr,
                      .cross_nic = arguments.baseline.cross_nic,
                      .nccl_constants = arguments.baseline.nccl_constants};
  const TimeLimit limit(std::nullopt);
  return under_bar(synthesis, request.solver, limit, console,
                   [&] { return tune_nccl(fabric, options); });
}

// What helps against what is too large for one of all collectives.
Diagnostics beside_others(Diagnostics errors, Collective collective,
                          const SynthArguments& arguments) {
  if (arguments.collective_given) return errors;
  for (Diagnostic& error : errors) {
    if (error.kind != ErrorKind::limit && error.kind != ErrorKind::threadblocks) continue;
    error.message = fmt::format("{}: {}", to_string(collective), error.message);
    error.remedy = "name another collective with -c";
  }
  return errors;
}

Expected<Fabric> fabric_to_tune(const SynthArguments& arguments, const Console& console) {
  auto fabric = load_fabric(arguments.topology, arguments.reading, arguments.failures, console);
  if (!fabric) return fabric;
  report_reading(*fabric, arguments.reading, console);
  report_latencies(fabric->topology, console);
  return has_relays(fabric->topology) ? members_alone(*std::move(fabric)) : std::move(fabric);
}

}  // namespace

Expected<ExitCode> tune_nccl_itself(const SynthArguments& arguments, const Console& console) {
  const auto request = resolve_tuner(arguments);
  if (!request) return request.errors();
  const auto fabric = fabric_to_tune(arguments, console);
  if (!fabric) return fabric.errors();
  if (const auto done = refuse_shares(*fabric, request->collectives); !done) return done.errors();
  std::vector<NcclTuning> tunings;
  for (const Collective collective : request->collectives) {
    auto tuning = tune_one(*fabric, collective, *request, arguments, console);
    if (!tuning) return beside_others(tuning.errors(), collective, arguments);
    tunings.push_back(*std::move(tuning));
  }
  const std::string text = arguments.format == kNcclTuner
                               ? to_nccl_tuner_csv(tunings, fabric->topology)
                               : to_ncclx_tuner_csv(tunings, fabric->topology);
  if (const auto done = write_output(arguments.output, text); !done) return done.errors();
  note(console, fmt::format("{}: rules for NCCL's own algorithms by size (a model, not a "
                            "measurement)",
                            fabric->topology.name));
  for (const NcclTuning& tuning : tunings) report(tuning, console);
  tell_of_others(arguments, nccl_communicator(fabric->topology), console);
  if (!arguments.json) return ExitCode::done;
  return finish(write_output("-", report_text(json_of(tunings, fabric->topology), console)));
}

}  // namespace forestcoll::cli
