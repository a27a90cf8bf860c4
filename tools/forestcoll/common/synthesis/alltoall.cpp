#include "common/synthesis/alltoall.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/bound_alltoall.hpp"
#include "common/files/file_set.hpp"
#include "common/files/io.hpp"
#include "common/group_rates.hpp"
#include "common/options/time_limit.hpp"
#include "common/report/figures/alltoall_report.hpp"
#include "common/report/figures/price_report.hpp"
#include "common/report/findings/warnings.hpp"
#include "common/report/latency_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "common/synthesis/output/deploy.hpp"
#include "common/synthesis/output/trace.hpp"
#include "common/synthesis/prepare.hpp"
#include "common/synthesis/report/alltoall_report.hpp"
#include "common/synthesis/report/fastest_report.hpp"
#include "common/synthesis/report/price_times.hpp"
#include "common/synthesis/request/alltoall_request.hpp"
#include "common/synthesis/request/trace_request.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/stopwatch.hpp"

namespace forestcoll::cli {
namespace {

Json algorithm_json(const std::string& name, const AlltoallCompilation& made) {
  const BaselineInfo& info = *find_alltoall_baseline(name);
  return {{"name", info.name},
          {"title", info.title},
          {"source", info.source},
          {"note", ""},
          {"bound", exact(made.optimum)}};
}

// What a runtime sees of them.
CompileOptions options_of_runtime(const AlltoallCompileOptions& options) {
  CompileOptions compile;
  compile.format = options.format == AlltoallFormat::msccl ? Format::msccl : Format::none;
  compile.synthesis.collective = Collective::allgather;  // whose calls count alike
  compile.lowering.target = options.lowering.target;
  compile.lowering.placement = Placement::out_of_place;
  compile.xml = options.xml;
  compile.sms = options.sms;
  return compile;
}

Expected<void> deploy_alltoall(const AlltoallCompilation& made, const Fabric& fabric,
                               const AlltoallCompileOptions& options,
                               const std::string& directory) {
  const CompileOptions compile = options_of_runtime(options);
  const TargetLimits& target = *find_target(options.lowering.target);
  const auto ranks = static_cast<std::int64_t>(fabric.topology.ranks.size());
  DeployedSchedule schedule;
  schedule.file = {fmt::format("alltoall-{}gpus-{}chunks.xml", ranks, made.verdict.chunks),
                   made.text};
  schedule.first = options.xml.min_bytes;
  schedule.last = target.last_selected(options.xml.max_bytes.value_or(target.default_max_bytes));
  schedule.unit =
      target.selected_elements(compile.synthesis.collective, made.verdict.chunks, ranks);
  const auto files =
      deployment_files({fabric.topology, compile, "alltoall", {std::move(schedule)}});
  if (!files) return files.errors();
  return write_files(directory, *files);
}

Expected<void> write_alltoall(const AlltoallCompilation& made, const Fabric& fabric,
                              const AlltoallCompileOptions& options,
                              const SynthArguments& arguments) {
  if (is_trace(arguments.format)) return write_trace(made.text, *options.bytes, arguments);
  if (arguments.deploy.empty()) return write_output(arguments.output, made.text);
  return deploy_alltoall(made, fabric, options, arguments.deploy);
}

ExitCode refuse_verdict(const Verdict& verdict, const Console& console) {
  if (verdict.finding_count == 1 && verdict.faults == std::vector{Fault::unused}) {
    return fail({make_error(Code::S03,
                            "the sizes of the request leave none at which a runtime selects the "
                            "schedule: " +
                                verdict.findings.front().message,
                            "name a larger --max-bytes, or a smaller -k")},
                console);
  }
  print(verdict.findings, console);
  say("forestcoll: internal error: the schedule did not pass its own verification and was not "
      "written; please report it\n");
  return ExitCode::internal;
}

// Programs run on the ranks alone.
Expected<Fabric> load_for(AlltoallFormat format, const SynthArguments& arguments,
                          const Console& console) {
  auto fabric = load_fabric(arguments.topology, arguments.reading, arguments.failures, console);
  const bool is_program = format == AlltoallFormat::msccl || format == AlltoallFormat::mscclpp;
  if (!fabric || !is_program || !has_relays(fabric->topology)) return fabric;
  return members_alone(*std::move(fabric));
}

Expected<ThreeFigures> figures_of(const AlltoallCompilation& made, const ParsedDemand& demand) {
  const auto rates = rates_of(made.proof, demand.demand, demand.total);
  if (!rates) return rates.errors();
  return ThreeFigures{figures_of(*rates), made.algbw};
}

// What --drop and --derate cost where all pairs have the same: it is made for the fabric before,
// up to 64 GPUs.
Expected<std::optional<FailurePrice>> price_of(const AlltoallCompilation& made,
                                               const ThreeFigures& after, const Fabric& fabric,
                                               const ParsedDemand& demand,
                                               AlltoallCompileOptions options,
                                               const Console& console) {
  auto before = fabric_before(fabric);
  if (!before) return before.errors();
  if (!*before || !demand.demand.is_uniform() || !refuse_many(**before)) {
    return std::optional<FailurePrice>();
  }
  const bool is_program =
      options.format == AlltoallFormat::msccl || options.format == AlltoallFormat::mscclpp;
  auto whole = is_program && has_relays((*before)->topology) ? members_alone(**std::move(before))
                                                             : Expected(**std::move(before));
  if (!whole) return whole.errors();
  const auto same = read_demand(whole->network, "");
  if (!same) return same.errors();
  const auto first =
      at_work("solving", console, [&] { return compile_alltoall(*whole, *same, options); });
  if (!first) return first.errors();
  auto figures = figures_of(*first, *same);
  if (!figures) return figures.errors();
  FailurePrice price{.collective = std::string(kAlltoall),
                     .before = figures->rates,
                     .after = after.rates,
                     .reached_before = figures->reached,
                     .reached_after = after.reached};
  add_times(price, first->text, *whole, made.text, fabric);
  return std::optional(std::move(price));
}

// The summary for people.
void tell(const AlltoallCompilation& made, const std::optional<GroupRates>& group,
          const Fabric& fabric, const AlltoallCompileOptions& options,
          const SynthArguments& arguments, const AlltoallTimes& times, const Console& console) {
  if (!options.algorithm.empty()) {
    const BaselineInfo& info = *find_alltoall_baseline(options.algorithm);
    note(console, fmt::format("algorithm {}: {} ({})", info.name, info.title, info.source));
  }
  note(console, alltoall_summary(made, fabric, options.sms, times));
  if (group) note(console, summary_line(*group, "flows"));
  warn_of_peers(made, console);
  const std::string next =
      is_trace(arguments.format)
          ? trace_line(arguments)
          : next_line(options_of_runtime(options), arguments.output, arguments.deploy);
  if (!next.empty()) note(console, next);
}

}  // namespace

ExitCode synth_alltoall(const SynthArguments& arguments, const Console& console, Json* summary) {
  AlltoallTimes times;
  Stopwatch watch;
  const auto request = resolve_alltoall(arguments);
  if (!request) return fail(request.errors(), console);
  AlltoallCompileOptions options = request->options;
  if (!arguments.deploy.empty()) {
    const auto done = refuse_directory(arguments.deploy, "--deploy");
    if (!done) return fail(done.errors(), console);
  }
  const auto solver = resolve(arguments.solver);
  if (!solver) return fail(solver.errors(), console);
  const TimeLimit limit(solver->seconds);
  options.solver.stop = limit.token();
  options.solver.threads = solver->threads;
  const auto fabric = load_for(options.format, arguments, console);
  if (!fabric) return fail(fabric.errors(), console);
  report_reading(*fabric, arguments.reading, console);
  if (request->by_size || fabric->before) report_latencies(fabric->topology, console);
  const auto demand = read_demand(fabric->network, arguments.demand);
  if (!demand) return fail(demand.errors(), console);
  times.parse = watch.restart();

  auto chosen = at_work("solving", console, [&] {
    return compile_chosen(*fabric, *demand, *request, std::move(options), arguments.instances);
  });
  if (!chosen) return fail(chosen.errors(), console);
  options = std::move(chosen->options);
  const std::optional<FastestChoice>& choice = chosen->choice;
  const AlltoallCompilation* made = &chosen->compiled;
  times.compile = watch.restart();
  if (!made->verdict.ok) return refuse_verdict(made->verdict, console);
  if (options.format != AlltoallFormat::none) {
    const auto done = write_alltoall(*made, *fabric, options, arguments);
    if (!done) return fail(done.errors(), console);
  }
  times.write = watch.restart();
  const auto group = at_work("finding what relays add", console, [&] {
    return group_rates(*fabric, *demand, options.solver, made->optimum);
  });
  tell(*made, group, *fabric, options, arguments, times, console);
  if (chosen->window) note(console, window_lines(*chosen->window, choice));
  if (choice) {
    note(console, fmt::format("  fastest {}for this size: {}",
                              chosen->of_few_variants
                                  ? "of few variants (--size 1G compares all, and takes longer) "
                                  : "",
                              in_words(*choice)));
  }
  if (choice && choice->buffer_bytes > 0) note(console, buffers_line(choice->buffer_bytes));
  const auto figures = figures_of(*made, *demand);
  if (!figures) return fail(figures.errors(), console);
  Expected<std::optional<FailurePrice>> price = std::optional<FailurePrice>();
  if (is_priced(arguments, console, summary)) {
    price = price_of(*made, *figures, *fabric, *demand, options, console);
  }
  if (!price) return fail(price.errors(), console);
  if (*price) note(console, in_words(**price));
  if (!arguments.json) return ExitCode::done;
  Json json = alltoall_json(*made, *figures, *fabric, times);
  if (*price) json["failure"] = to_json(**price);
  if (!options.algorithm.empty()) json["algorithm"] = algorithm_json(options.algorithm, *made);
  if (choice) {
    json["latencies"] = latencies_json(fabric->topology);
    json["fastest"] = to_json(*choice);
  }
  if (chosen->window) json["window"] = to_json(*chosen->window);
  if (group) put_group_rate(json, *group);
  if (summary != nullptr) {
    *summary = std::move(json);
    return ExitCode::done;
  }
  return finish(write_output("-", to_text(json)), console);
}

}  // namespace forestcoll::cli
