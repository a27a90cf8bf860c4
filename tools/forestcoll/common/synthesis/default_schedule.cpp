#include "common/synthesis/default_schedule.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/host.hpp"
#include "common/limits.hpp"
#include "common/options/solver_options.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/options.hpp"
#include "common/synthesis/size_of_calls.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

// As `--size` takes it.
std::string flag_of_size(std::int64_t bytes) {
  constexpr std::array<std::pair<char, int>, 3> kUnits = {{{'G', 30}, {'M', 20}, {'K', 10}}};
  for (const auto& [unit, bits] : kUnits) {
    if (bytes % (std::int64_t{1} << bits) == 0) return fmt::format("{}{}", bytes >> bits, unit);
  }
  return std::to_string(bytes);
}

// What the option that takes longer does not leave out.
std::string by_rate_alone(std::int64_t size) {
  return fmt::format(
      "chosen by rate and bounds, as simulating all algorithms takes longer on so many GPUs: "
      "--size {} does",
      flag_of_size(size));
}

std::string of_few_variants(std::int64_t size) {
  return fmt::format("of few variants, as comparing all takes longer: --size {} does",
                     flag_of_size(size));
}

// Up to which something is simulated.
std::size_t most_simulated(const CompileOptions& compile) {
  const Collective collective = compile.synthesis.collective;
  if (is_personalized(collective)) return scale::kMostRanksOfPaths;
  if (compile.format == Format::mscclpp) return scale::kMostRanksOfPlans;
  return is_rooted(collective) || collective == Collective::allreduce ? scale::kMostRanksOfFewTrees
                                                                      : scale::kMostRanksOfRoots;
}

// Whether few variants are compared.
bool are_few(const Fabric& fabric, const CompileOptions& compile) {
  const bool has_paths = is_personalized(compile.synthesis.collective);
  const std::size_t most = has_paths ? scale::kMostRanksOfAllPaths : scale::kMostRanksOfAll;
  return fabric.network.ranks.size() > most || are_few_plans(fabric, compile);
}

// Of a size that no schedule divides: what the default takes in its place.
Diagnostics with_size_of_calls(Diagnostics errors, std::int64_t size, const Fabric& fabric,
                               const CompileOptions& options) {
  const std::int64_t usable = size_of_calls(size, fabric, options);
  if (usable == size) return errors;
  const auto ranks = static_cast<std::int64_t>(fabric.network.ranks.size());
  const std::string such = fmt::format("such as --size {} ({}, {} for each of {} ranks)", usable,
                                       size_in_words(usable), size_in_words(usable / ranks), ranks);
  const Remedy remedy{Code::S03, such};
  return with_more_remedies(std::move(errors), {&remedy, 1});
}

// Of `synth`, where nothing else is asked for.
Expected<SynthArguments> arguments_of(const std::string& collective, const std::string& target) {
  SynthArguments arguments;
  arguments.collective = collective;
  arguments.target = target;
  arguments.target_given = true;
  return with_format(std::move(arguments));
}

// Programs run on the ranks alone.
Expected<Fabric> for_programs(const Fabric& fabric) {
  if (const auto done = refuse_many(fabric); !done) return done.errors();
  return has_relays(fabric.topology) ? members_alone(fabric) : Expected<Fabric>(fabric);
}

}  // namespace

Expected<void> refuse_many(const Fabric& fabric) {
  const std::size_t ranks = fabric.network.ranks.size();
  if (ranks <= scale::kMostRanksAsked) return {};
  return make_error(Code::N10,
                    fmt::format("a schedule for {} GPUs takes a while to make, and none is made "
                                "here for more than {}",
                                ranks, scale::kMostRanksAsked),
                    "`synth` says what it reaches");
}

bool are_few_plans(const Fabric& fabric, const CompileOptions& options) {
  return options.format == Format::mscclpp && !is_personalized(options.synthesis.collective) &&
         fabric.network.ranks.size() > scale::kMostRanksOfAllPlans;
}

Diagnostic no_target(const char* remedy) {
  return make_error(Code::N10, "no schedule is made to see what it reaches", remedy);
}

Expected<ChosenSchedule> compile_for_size(const Fabric& fabric, const SynthRequest& request,
                                          const SynthArguments& arguments, SizeSearch search) {
  auto found = fastest_schedule(fabric, {.compile = request.compile,
                                         .sizes = {*request.size},
                                         .instances = arguments.instances,
                                         .buffer_bytes = request.buffer_bytes,
                                         .counts = search.counts,
                                         .few_variants = search.few_variants});
  if (!found) return with_size_of_calls(found.errors(), *request.size, fabric, request.compile);
  return ChosenSchedule{std::move(found->compilation), std::move(found->choice),
                        std::move(found->window)};
}

Expected<ChosenSchedule> compile_by_default(const Fabric& fabric, const SynthRequest& request,
                                            const SynthArguments& arguments) {
  const std::size_t ranks = fabric.network.ranks.size();
  const bool of_few = are_few(fabric, request.compile);
  const std::int64_t size = size_of_calls(*request.size, fabric, request.compile);
  if (ranks <= most_simulated(request.compile)) {
    SynthRequest calls = request;
    calls.size = size;
    auto found = compile_for_size(fabric, calls, arguments,
                                  {.few_variants = of_few, .counts = ServedCounts::around});
    if (found && of_few) {
      found->left_out = of_few_variants(size);
      found->compiled.chosen.why.insert(0, found->left_out + ", ");
    }
    if (found) return found;
    if (const auto done = refuse_stopped(); !done) return done.errors();
  }
  auto compiled = compile(fabric, request.compile);
  if (!compiled) return compiled.errors();
  ChosenSchedule chosen{*std::move(compiled)};
  if (!of_few) return chosen;
  chosen.left_out = by_rate_alone(size);
  std::string& why = chosen.compiled.chosen.why;
  why = why.empty() ? chosen.left_out : fmt::format("{}; {}", why, chosen.left_out);
  return chosen;
}

Expected<Ratio> reached_by_default(const Fabric& given, Collective collective,
                                   std::optional<Rank> root, const std::string& target,
                                   const Console& console, std::optional<ParsedDemand> demand) {
  auto fabric = for_programs(given);
  if (!fabric) return fabric.errors();
  Console silent;
  silent.quiet = true;
  const Demand* amounts = demand ? &demand->demand : nullptr;
  if (auto done = divide_limits(*fabric, {collective, root, amounts}, silent); !done) {
    return done.errors();
  }
  const ProgressBar bar("making a schedule", console);
  const auto arguments = arguments_of(std::string(to_string(collective)), target);
  if (!arguments) return arguments.errors();
  auto request = resolve(*arguments);
  if (!request) return request.errors();
  const auto solver = resolve(arguments->solver);
  if (!solver) return solver.errors();
  SynthesizeOptions& synthesis = request->compile.synthesis;
  synthesis.root = root;
  request->compile.demand = std::move(demand);
  synthesis.packing.effort = solver->effort;
  synthesis.packing.threads = solver->threads;
  // The sizes that a file would be for are not looked for.
  if (request->compile.format == Format::msccl) {
    request->compile.xml.max_bytes = find_target(arguments->target)->default_max_bytes;
  }
  const auto made = compile_by_default(*fabric, *request, *arguments);
  if (!made) return made.errors();
  return reached_by(made->compiled);
}

}  // namespace forestcoll::cli
