#include "common/synthesis/prepare.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "common/files/file_set.hpp"
#include "common/files/io.hpp"
#include "common/limits.hpp"
#include "common/options/collective_option.hpp"
#include "common/report/alltoall_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/time_report.hpp"
#include "common/synthesis/request/refusals.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

// The default target is a runtime of NVIDIA's GPUs.
void note_default_target(const SynthArguments& arguments, const CompileOptions& options,
                         const Fabric& fabric, const Console& console) {
  if (arguments.target_given || arguments.format != "msccl") return;
  if (!fabric.gpu.name.starts_with("mi")) return;  // AMD's: mi250, mi300x
  note(console, fmt::format("target {} by default, which does not run on {}: RCCL loads what "
                            "--target rccl-6.3 makes (see docs/commands.md for other releases)",
                            options.lowering.target, fabric.gpu.name));
}

// Trees that branch at switches stay trees; they are no programs.
Expected<void> keep_trees_of(const AnyForest& previous, const SynthArguments& arguments,
                             CompileOptions& options) {
  options.synthesis.previous = std::get_if<CollectiveForest>(&previous);
  options.previous_branching = std::get_if<BranchingForest>(&previous);
  if (options.previous_branching == nullptr || options.format == Format::forest ||
      options.format == Format::dot) {
    return {};
  }
  return make_error(
      Code::S04,
      fmt::format("the trees of the --warm file branch at switches, which --format {} cannot keep",
                  arguments.format),
      "write --format forest or dot, or give a forest over GPUs alone");
}

// What is asked for, as far as that can be told without the fabric.
Expected<std::unique_ptr<PreparedSynthesis>> resolve_all(const SynthArguments& arguments) {
  auto request = resolve(arguments);
  if (!request) return request.errors();
  if (!arguments.deploy.empty()) {
    const auto done = refuse_directory(arguments.deploy, "--deploy");
    if (!done) return done.errors();
  }
  const auto solver = resolve(arguments.solver);
  if (!solver) return solver.errors();
  return std::make_unique<PreparedSynthesis>(arguments, *std::move(request), *solver);
}

// Programs run on the ranks alone.
Expected<void> set_fabric(PreparedSynthesis& prepared, Expected<Fabric> fabric) {
  if (!fabric) return fabric.errors();
  if (is_schedule(prepared.request.compile.format) && has_relays(fabric->topology)) {
    prepared.with_relays = fabric->network;
    fabric = members_alone(*std::move(fabric));
    if (!fabric) return fabric.errors();
  }
  prepared.fabric = *std::move(fabric);
  return {};
}

Expected<void> read_fabric(PreparedSynthesis& prepared, const Console& console) {
  const SynthArguments& arguments = prepared.arguments;
  auto done = set_fabric(
      prepared, load_fabric(arguments.topology, arguments.reading, arguments.failures, console));
  if (!done) return done;
  report_reading(prepared.fabric, arguments.reading, console);
  const bool gives_times =
      prepared.request.size || !prepared.request.tune.empty() || prepared.fabric.before;
  if (gives_times) report_latencies(prepared.fabric.topology, console);
  return {};
}

// What of the request only the fabric can tell: the root, how many threadblocks its GPUs hold, and
// whether Simple would hang.
Expected<void> fit_to_fabric(PreparedSynthesis& prepared, const Console& console) {
  CompileOptions& options = prepared.request.compile;
  const SynthArguments& arguments = prepared.arguments;
  const Topology& topology = prepared.fabric.topology;
  const auto root = find_root(topology, options.synthesis.collective, arguments.root);
  if (!root) return root.errors();
  options.synthesis.root = *root;
  if (options.sms == 0) options.sms = default_sms(arguments.target, prepared.fabric.gpu);
  if (auto done = refuse_force_simple(arguments, options, topology); !done) return done;
  if (auto done = refuse_deployed_shares(arguments, options, prepared.fabric.network); !done) {
    return done;
  }
  note_default_target(arguments, options, prepared.fabric, console);
  return {};
}

Expected<void> read_what_pairs_have(PreparedSynthesis& prepared, const Console& /*console*/) {
  if (prepared.arguments.demand.empty()) return {};
  auto demand = read_demand(prepared.fabric.network, Collective::alltoall, std::nullopt,
                            prepared.arguments.demand);
  if (!demand) return demand.errors();
  prepared.request.compile.demand = *std::move(demand);
  return {};
}

// Links that share a capacity have the parts of it that this collective takes at its best.
Expected<void> keep_limits(PreparedSynthesis& prepared, const Console& console) {
  const CompileOptions& options = prepared.request.compile;
  const Demand* demand = options.demand ? &options.demand->demand : nullptr;
  return divide_limits(
      prepared.fabric,
      {options.synthesis.collective, options.synthesis.root, demand, prepared.solver.max_height},
      console);
}

// The forest of --warm; nothing where `path` is empty. Errors: those of reading, and F01, F02.
Expected<std::optional<AnyForest>> load_previous(const std::string& path,
                                                 const Topology& topology) {
  if (path.empty()) return std::optional<AnyForest>();
  const auto text = read_input(path);
  if (!text) return text.errors();
  auto previous = parse_any_forest(*text, display_name(path), topology);
  if (!previous) return previous.errors();
  return std::optional(*std::move(previous));
}

Expected<void> read_previous(PreparedSynthesis& prepared, const Console& console) {
  auto previous = at_work("reading the previous forest", console, [&] {
    return load_previous(prepared.arguments.solver.warm, prepared.fabric.topology);
  });
  if (!previous) return previous.errors();
  prepared.previous = *std::move(previous);
  if (!prepared.previous) return {};
  return keep_trees_of(*prepared.previous, prepared.arguments, prepared.request.compile);
}

}  // namespace

PreparedSynthesis::PreparedSynthesis(const SynthArguments& given, SynthRequest resolved,
                                     SolverRequest how)
    : arguments(given), request(std::move(resolved)), solver(how), limit(solver.seconds) {}

Expected<std::unique_ptr<PreparedSynthesis>> prepare(const SynthArguments& arguments,
                                                     const Console& console) {
  auto prepared = resolve_all(arguments);
  if (!prepared) return prepared;
  for (const auto step :
       {read_fabric, fit_to_fabric, read_what_pairs_have, keep_limits, read_previous}) {
    if (const auto done = step(**prepared, console); !done) return done.errors();
  }
  return prepared;
}

Expected<std::unique_ptr<PreparedSynthesis>> prepare_on(forestcoll::Fabric fabric,
                                                        const SynthArguments& arguments,
                                                        const Console& console) {
  auto prepared = resolve_all(arguments);
  if (!prepared) return prepared;
  if (auto done = set_fabric(**prepared, Fabric{std::move(fabric), {}}); !done) {
    return done.errors();
  }
  if (auto done = fit_to_fabric(**prepared, console); !done) return done.errors();
  return prepared;
}

RateFigures rates_of(const PreparedSynthesis& prepared) {
  const CompileOptions& options = prepared.request.compile;
  const SynthesizeOptions& asked = options.synthesis;
  const Fabric& fabric = prepared.fabric;
  if (is_personalized(asked.collective)) {
    const ParsedDemand demand = demand_of(options, fabric.network);
    if (fabric.optimum) return paths_figures(*fabric.optimum, demand);
    const auto optimum =
        alltoall_optimum(fabric.network, demand.demand,
                         {.threads = prepared.solver.threads, .stop = prepared.limit.token()});
    if (!optimum) return {optimum.errors(), optimum.errors()};
    return paths_figures(optimum->proof, demand);
  }
  const Network& network = prepared.with_relays ? *prepared.with_relays : fabric.links();
  const SwitchRoles roles = switch_roles(fabric.topology);
  const std::stop_token stop = prepared.limit.token();
  if (network.limits.empty()) {
    return rate_figures(network, roles, asked.collective, asked.root, stop);
  }
  return rates_within_limits(network, roles, asked.collective, asked.root,
                             prepared.with_relays ? std::nullopt : fabric.optimum, stop);
}

Expected<std::unique_ptr<PreparedSynthesis>> prepare_before(const PreparedSynthesis& after) {
  auto before = fabric_before(after.fabric);
  if (!before) return before.errors();
  if (!*before || after.request.compile.demand) return std::unique_ptr<PreparedSynthesis>();
  SynthRequest request = after.request;
  request.compile.synthesis.previous = nullptr;
  request.compile.previous_branching = nullptr;
  auto prepared =
      std::make_unique<PreparedSynthesis>(after.arguments, std::move(request), after.solver);
  if (const auto done = set_fabric(*prepared, **std::move(before)); !done) return done.errors();
  if (auto& root = prepared->request.compile.synthesis.root) {
    const auto same = same_rank(after.fabric.topology, *root, prepared->fabric.topology);
    if (!same) return same.errors();
    root = *same;
  }
  Console silent;
  silent.quiet = true;
  if (const auto done = keep_limits(*prepared, silent); !done) return done.errors();
  return prepared;
}

}  // namespace forestcoll::cli
