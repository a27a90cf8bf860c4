#include "fastest/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "choose/artefact.hpp"
#include "choose/paths_artefact.hpp"
#include "choose/settle.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/stopwatch.hpp"
#include "simulate/least_latency.hpp"

namespace forestcoll::fastest {
namespace {

// GB/s, of trees over GPUs, and in plans of those that branch at switches.
Ratio optimum_of(const Contest& contest) {
  Ratio optimum = contest.candidates().front().forest().optimum;
  for (const Candidate& candidate : contest.candidates()) {
    if (candidate.switched) optimum = std::max(optimum, candidate.switched->trees.optimum);
  }
  return optimum;
}

// Packets cost what LL does.
std::vector<std::string> costs_in(const Contest& contest) {
  return contest.of_plans() ? std::vector<std::string>{"Simple", "LL"} : contest.protocols();
}

// In the protocol that is best for it; the optimum is of trees.
LeastTime least_time(const Contest& contest, std::int64_t bytes, const Fabric& fabric) {
  LeastTime least{std::numeric_limits<double>::infinity()};
  const SynthesizeOptions& asked = contest.compile().synthesis;
  const double optimum = optimum_of(contest).to_double() * 1e9;
  for (const std::string& name : costs_in(contest)) {
    const ProtocolParameters& costs = contest.parameters().of_protocol(name);
    const double latency =
        least_latency(fabric.topology, asked.collective, asked.root, contest.parameters(), costs);
    const double links = static_cast<double>(bytes) / (optimum * costs.efficiency);
    const double longer = std::max(latency, links);
    if (longer >= least.seconds) continue;
    least = {longer, latency > links ? LeastTime::By::latency : LeastTime::By::links};
  }
  return least;
}

// Of those that reach farthest, the one that most sizes are multiples for.
const Program& widest(Contest& contest) {
  const std::vector<const Program*> programs = contest.all_programs();
  return **std::ranges::max_element(programs, {}, [&](const Program* program) {
    return std::pair(program->max_bytes, -contest.elements(*program));
  });
}

}  // namespace

void keep_below(std::int64_t max_bytes, CompileOptions& options) {
  if (max_bytes == std::numeric_limits<std::int64_t>::max()) return;
  const TargetLimits* target = find_target(options.lowering.target);
  if (target == nullptr) return;  // lowering says so
  const std::int64_t most = target->max_bytes_for(max_bytes);
  options.xml.max_bytes = std::min(options.xml.max_bytes.value_or(most), most);
}

Expected<Lowered> lower_as_written(const Candidate& candidate, const Fabric& fabric,
                                   CompileOptions options) {
  if (candidate.algorithm != "forestcoll") options.xml.algorithm = candidate.algorithm;
  auto schedule = lower_candidate(candidate, fabric, options.lowering);
  if (!schedule) return schedule.errors();
  const ChosenForest& chosen = candidate.chosen;
  Lowered result{{chosen.synthesis, chosen.why}, std::move(options)};
  CollectiveForest& forest = result.chosen.synthesis.forest;
  if (forest.algbw == Ratio(0)) {
    const auto verdict =
        verify(to_msccl_xml(*schedule, forest, fabric.topology, result.options.xml),
               candidate.algorithm, &fabric.topology, choose::runtime_of(result.options));
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    if (verdict->algbw) forest.algbw = result.chosen.synthesis.allowed = *verdict->algbw;
  }
  result.chosen.schedule = *std::move(schedule);
  return result;
}

namespace {

// Within what it has room for.
Expected<Lowered> lower_winner(const Contest& contest, std::size_t contender,
                               const Fabric& fabric) {
  CompileOptions options = contest.compile();
  options.xml.protocol = contest.contenders()[contender].protocol;
  options.xml.buffer_bytes = contest.contenders()[contender].buffer_bytes;
  options.lowering.instances = contest.program(contender).instances;
  options.lowering.waiting = contest.candidate(contender).waiting;
  keep_below(contest.max_bytes(contender), options);
  const ChosenForest& chosen = contest.candidate(contender).chosen;
  const bool is_as_asked = options.lowering.instances == contest.compile().lowering.instances;
  if (chosen.schedule && is_as_asked) return Lowered{chosen, std::move(options)};
  return lower_as_written(contest.candidate(contender), fabric, std::move(options));
}

// The sizes of the window become those of the XML.
void claim(const SizeWindow& window, const std::string& target, XmlOptions& xml) {
  xml.min_bytes = window.first;
  if (window.last) xml.max_bytes = find_target(target)->max_bytes_for(*window.last);
}

// Of MSCCL++.
Expected<Compilation> write_plan(const Contest& contest, std::size_t contender,
                                 const Fabric& fabric, const std::optional<SizeWindow>& window,
                                 const std::string& name) {
  const Candidate& candidate = contest.candidate(contender);
  Compilation result{.chosen = candidate.chosen, .options = contest.compile()};
  result.options.synthesis.packing.progress = {};
  if (candidate.switched) {
    result.branching = candidate.switched->trees;
    result.packets = candidate.switched->plan.packets;
  }
  auto lowered = contest.program(contender).lower();
  if (!lowered) return lowered.errors();
  ExecutionPlan plan = *std::move(lowered);
  if (window) {
    plan.min_bytes = window->first;
    plan.max_bytes = std::min(plan.max_bytes, window->last.value_or(plan.max_bytes));
    result.options.xml.min_bytes = plan.min_bytes;
    result.options.xml.max_bytes = plan.max_bytes;
  }
  if (candidate.routes) result.paths.emplace().scratch = choose::scratch_of(plan);
  result.text = to_mscclpp_json(plan, name);
  Stopwatch watch;
  choose::verify_text(result.text, fabric.topology, result);
  result.seconds.verify = watch.restart();
  return result;
}

Expected<Compilation> write_program(const Contest& contest, std::size_t contender,
                                    const Fabric& fabric, const std::optional<SizeWindow>& window) {
  auto lowered = lower_winner(contest, contender, fabric);
  if (!lowered) return lowered.errors();
  lowered->options.synthesis.packing.progress = {};
  if (window) claim(*window, lowered->options.lowering.target, lowered->options.xml);
  const std::int64_t scratch = lowered->chosen.schedule->max_scratch();
  auto result = compile_forest(fabric, std::move(lowered->chosen), lowered->options);
  if (result && contest.candidate(contender).routes) result->paths.emplace().scratch = scratch;
  return result;
}

// GB/s. Where the search does not know the routes between two GPUs, the checker does.
Ratio algbw_of(const Contest& contest, std::size_t contender, const Fabric& fabric) {
  const Ratio& known = contest.candidate(contender).algbw();
  if (known > Ratio(0)) return known;
  const auto lowered = lower_winner(contest, contender, fabric);
  return lowered ? lowered->chosen.synthesis.forest.algbw : known;
}

// What our own reach, by the number of parts.
std::vector<RateAtK> rates_of_ours(const Contest& contest, const Fabric& fabric) {
  std::vector<RateAtK> rates;
  for (std::size_t c = 0; c < contest.contenders().size(); ++c) {
    const Candidate& candidate = contest.candidate(c);
    const bool is_first = c == 0 || &candidate != &contest.candidate(c - 1);
    if (candidate.algorithm != "forestcoll" || !is_first) continue;
    if (candidate.algbw() == Ratio(0) && !contest.is_there(c)) continue;  // it does not fit
    rates.push_back({candidate.routes->k, algbw_of(contest, c, fabric)});
  }
  return rates;
}

}  // namespace

FastestChoice describe(const Contest& contest, const Winner& winner, std::int64_t bytes,
                       const Fabric& fabric) {
  const Candidate& candidate = contest.candidate(winner.contender);
  const Program& program = contest.program(winner.contender);
  return {.bytes = bytes,
          .algorithm = candidate.algorithm,
          .name = candidate.in_words() + (contest.of_plans() ? ", a plan of MSCCL++" : ""),
          .protocol = contest.contenders()[winner.contender].protocol,
          .instances = program.instances,
          .buffer_bytes = contest.contenders()[winner.contender].buffer_bytes,
          .chunks = program.chunks,
          .threadblocks = program.threadblocks,
          .channels = program.channels,
          .steps = program.steps,
          .algbw = algbw_of(contest, winner.contender, fabric),
          .seconds = winner.seconds,
          .is_selected = contest.serves(winner.contender, bytes) &&
                         contest.is_divided(winner.contender, bytes),
          .least = least_time(contest, bytes, fabric),
          .considered = winner.considered,
          .is_bound = winner.is_bound};
}

Expected<Compilation> write_winner(const Contest& contest, std::size_t contender,
                                   const Fabric& fabric, const std::optional<SizeWindow>& window,
                                   const std::string& plan_name) {
  return contest.of_plans() ? write_plan(contest, contender, fabric, window, plan_name)
                            : write_program(contest, contender, fabric, window);
}

Expected<Compilation> compile_winner(const Contest& contest, std::size_t contender,
                                     const Fabric& fabric,
                                     const std::optional<SizeWindow>& window) {
  const Candidate& candidate = contest.candidate(contender);
  const std::string plan_name =
      candidate.switched
          ? candidate.switched->name
          : choose::plan_name(fabric.topology, candidate.forest(), candidate.algorithm);
  auto result = write_winner(contest, contender, fabric, window, plan_name);
  if (!result || !result->paths) return result;
  result->paths->routes = *candidate.routes;
  if (candidate.algorithm != "forestcoll") result->paths->stops = candidate.algorithm;
  Synthesis& synthesis = result->chosen.synthesis;
  synthesis.tradeoff = rates_of_ours(contest, fabric);
  if (synthesis.tradeoff.empty()) {
    synthesis.tradeoff.push_back({candidate.routes->k, algbw_of(contest, contender, fabric)});
  }
  return result;
}

Diagnostic nothing_served(Contest& contest, std::string_view option) {
  const Program& program = widest(contest);
  const std::int64_t elements = contest.elements(program);
  if (contest.of_plans()) {
    return make_error(
        Code::S03,
        fmt::format("{}: no plan is for any of these sizes: the one that is for most of them is "
                    "for multiples of {} bytes up to {}",
                    option, kElementBytes * elements, program.max_bytes),
        fmt::format("name multiples of {} bytes", kElementBytes * elements));
  }
  return make_error(
      Code::S03,
      fmt::format("{}: at none of these sizes would {} select a schedule: the one with the fewest "
                  "chunks has {}, and its buffers are multiples of {} elements",
                  option, contest.compile().lowering.target, program.chunks, elements),
      fmt::format(
          "name multiples of {} bytes (elements of {} bytes){}", kElementBytes * elements,
          kElementBytes,
          elements == program.chunks
              ? ""
              : ", or use RCCL 6.3 and `target=rccl-6.3`, which take multiples of the chunks"));
}

}  // namespace forestcoll::fastest
