#include "forestcoll/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "choose/branching.hpp"
#include "choose/forest_size.hpp"
#include "choose/settle.hpp"
#include "choose/switch_plan.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/stopwatch.hpp"
#include "forestcoll/topology.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "solver/portfolio/kept_trees.hpp"

namespace forestcoll {
namespace {

struct Written {
  std::string text;
  double seconds_to_lower = 0;  ///< trees to programs; 0 for forests, which stay trees
};

void tell(const CompileOptions& options, std::string_view stage) {
  const Progress& progress = options.synthesis.packing.progress;
  if (progress) progress(stage, std::nullopt);
}

Expected<Written> write_msccl(const CollectiveForest& forest, std::optional<Schedule> schedule,
                              const Topology& topology, const CompileOptions& options) {
  Stopwatch watch;
  if (!schedule) {
    auto lowered = lower(forest, options.lowering);
    if (!lowered) return lowered.errors();
    schedule = *std::move(lowered);
  }
  const double seconds = watch.restart();
  tell(options, "writing the schedule");
  return Written{to_msccl_xml(*schedule, forest, topology, options.xml), seconds};
}

Expected<Written> write_plan(const CollectiveForest& forest, const Topology& topology,
                             const CompileOptions& options) {
  Stopwatch watch;
  const auto plan = lower_to_plan(forest, boxes_of_ranks(topology), choose::plan_options(options));
  if (!plan) return plan.errors();
  std::string text = to_mscclpp_json(*plan, fmt::format("forestcoll-{}-{}-k{}", topology.name,
                                                        to_string(forest.collective), forest.k));
  return Written{std::move(text), watch.restart()};
}

// `schedule`: the forest's, where it was lowered before.
Expected<Written> write(const CollectiveForest& forest, std::optional<Schedule> schedule,
                        const Topology& topology, const CompileOptions& options) {
  tell(options, "making the schedule");
  switch (options.format) {
    case Format::msccl:
      return write_msccl(forest, std::move(schedule), topology, options);
    case Format::mscclpp:
      return write_plan(forest, topology, options);
    case Format::forest:
      return Written{to_forest_json(forest, topology)};
    case Format::forest_xml:
      return Written{to_forest_xml(forest, topology)};
    case Format::dot:
      return Written{to_dot(forest, topology)};
    case Format::forest_symmetric:
    case Format::none:
      break;
  }
  return Written{to_symmetric_forest_json(forest, topology)};
}

// What a stranger says of it.
void check(const std::string& text, const Topology& topology, Compilation& result) {
  tell(result.options, "checking");
  Stopwatch watch;
  auto verdict = verify(text, "<schedule>", &topology,
                        {.target = result.options.xml.target, .sms = result.options.sms});
  if (verdict) {
    result.verdict = *std::move(verdict);
  } else {
    result.verdict.findings = verdict.errors();
  }
  result.seconds.verify = watch.restart();
}

// Lowered, written, verified.
Expected<Compilation> make(const Topology& topology, ChosenForest chosen,
                           const CompileOptions& options) {
  Compilation result{.chosen = std::move(chosen)};
  const CollectiveForest& forest = result.chosen.synthesis.forest;
  if (const auto done = choose::refuse_large_forest(forest, options); !done) return done.errors();
  Stopwatch watch;
  auto schedule = std::exchange(result.chosen.schedule, std::nullopt);
  auto written = write(forest, std::move(schedule), topology, options);
  if (!written) return written.errors();
  if (const auto done = choose::refuse_large_text(written->text.size(), options); !done) {
    return done.errors();
  }
  result.seconds.lower = written->seconds_to_lower;
  result.seconds.emit = watch.restart() - written->seconds_to_lower;
  result.text = std::move(written->text);
  result.optimum_at_least = result.chosen.synthesis.optimum_at_least;
  result.options = options;
  const bool drawing = options.format == Format::forest_xml || options.format == Format::dot;
  check(drawing ? to_symmetric_forest_json(forest, topology) : result.text, topology, result);
  return result;
}

struct SwitchPlan {
  std::string text;
  bool packets = false;
};

// Where no message is larger than the model says that packets are good for.
std::optional<SwitchPlan> write_packet_plan(const SwitchPlan& other, const Fabric& fabric,
                                            const PlanOptions& options) {
  if (!options.max_bytes) return std::nullopt;
  const auto packets = choose::packet_plan(fabric, options);
  if (!packets) return std::nullopt;
  std::string text = to_mscclpp_json(packets->plan, packets->name);
  const auto mine = simulated_time(text, fabric, *options.max_bytes);
  const auto theirs = simulated_time(other.text, fabric, *options.max_bytes);
  if (!mine || !theirs || *theirs <= *mine) return std::nullopt;
  return SwitchPlan{std::move(text), true};
}

Expected<SwitchPlan> write_switch_plan(const BranchingForest& forest, const Fabric& fabric,
                                       const CompileOptions& options) {
  const PlanOptions asked = choose::plan_options(options);
  const auto sums = choose::switch_plan(forest, fabric, asked);
  if (!sums) return sums.errors();
  SwitchPlan written{to_mscclpp_json(sums->plan, sums->name)};
  auto packets = write_packet_plan(written, fabric, asked);
  return packets ? *std::move(packets) : std::move(written);
}

// The chosen forest stays as what it was compared with. A plan may not carry all that the trees do:
// what it reaches the checker says, and where that is no more than the chosen forest has, or the
// executor cannot run it, that is written.
Expected<Compilation> make_branching(const Fabric& fabric, ChosenForest chosen,
                                     choose::InNetwork in_network, const CompileOptions& options) {
  const bool is_plan = options.format == Format::mscclpp;
  BranchingForest& forest = *in_network.forest;
  Compilation result{.chosen = std::move(chosen), .options = options};
  if (in_network.reached < in_network.at_most) result.optimum_at_least = in_network.reached;
  Stopwatch watch;
  const std::string json = to_forest_json(forest, fabric.topology);
  const bool drawing = options.format == Format::dot;
  auto written = is_plan ? write_switch_plan(forest, fabric, options)
                         : Expected(SwitchPlan{drawing ? to_dot(forest, fabric.topology) : json});
  if (!written) return make(fabric.topology, std::move(result.chosen), options);
  result.text = std::move(written->text);
  result.packets = written->packets;
  if (const auto done = choose::refuse_large_text(result.text.size(), options); !done) {
    return done.errors();
  }
  if (options.previous_branching != nullptr) {
    result.kept = kept_trees(*options.previous_branching, forest, fabric.network);
  }
  result.branching = std::move(forest);
  result.seconds.emit = watch.restart();
  check(drawing ? json : result.text, fabric.topology, result);
  if (!is_plan || !result.verdict.ok) return result;
  const std::optional<Ratio>& reached = result.verdict.algbw;
  if (!reached || (!result.packets && *reached <= result.chosen.synthesis.forest.algbw)) {
    return make(fabric.topology, std::move(result.chosen), options);
  }
  result.branching->algbw = *reached;
  return result;
}

// Where trees that branch may be faster than the chosen ones, but none that are were made. XML and
// plans have an optimum of their own, of what they can say.
void heed_switches(const choose::InNetwork& in_network, const CompileOptions& options,
                   Synthesis& chosen) {
  if (options.format == Format::mscclpp) return;
  const Ratio known = chosen.optimum_at_least.value_or(chosen.forest.optimum);
  if (!in_network.at_most || *in_network.at_most <= chosen.forest.optimum) return;
  chosen.forest.optimum = *in_network.at_most;
  const Ratio least = in_network.reached ? std::max(known, *in_network.reached) : known;
  chosen.optimum_at_least.reset();
  if (least < chosen.forest.optimum) chosen.optimum_at_least = least;
}

}  // namespace

Expected<Compilation> compile_forest(const Fabric& fabric, ChosenForest chosen,
                                     const CompileOptions& options) {
  const auto settled = choose::settle(fabric, options);
  if (!settled) return settled.errors();
  return make(fabric.topology, std::move(chosen), *settled);
}

Expected<Compilation> compile(const Fabric& fabric, const CompileOptions& options) {
  const auto settled = choose::settle(fabric, options);
  if (!settled) return settled.errors();
  if (const auto done = choose::refuse_large_fabric(fabric.network, *settled); !done) {
    return done.errors();
  }
  if (const auto done = choose::refuse_former(fabric, *settled); !done) return done.errors();
  Stopwatch watch;
  auto chosen = choose_forest(fabric, *settled);
  if (!chosen) return chosen.errors();
  const auto two_phases = chosen->synthesis.two_phases;
  auto in_network = choose::branching_forest(fabric, *settled, chosen->synthesis.forest);
  if (!in_network.forest) {
    heed_switches(in_network, *settled, chosen->synthesis);
    if (settled->previous_branching != nullptr) {
      chosen->why = "nothing of the former forest is kept: here no trees that branch are better";
    }
  }
  const Ratio optimum = chosen->synthesis.forest.optimum;
  const auto optimum_at_least = chosen->synthesis.optimum_at_least;
  const double solving = watch.restart();
  auto result = in_network.forest
                    ? make_branching(fabric, *std::move(chosen), std::move(in_network), *settled)
                    : make(fabric.topology, *std::move(chosen), *settled);
  if (!result && two_phases && settled->synthesis.at_once) {
    // Trees of both phases at once differ more, and take more of what a target holds.
    CompileOptions apart = *settled;
    apart.synthesis.at_once = false;
    auto in_turn = compile(fabric, apart);
    if (!in_turn) return result.errors();
    in_turn->chosen.synthesis.two_phases = two_phases;
    in_turn->chosen.synthesis.forest.optimum = optimum;
    in_turn->optimum_at_least = optimum_at_least;
    in_turn->chosen.why = "both phases at once do not fit the target";
    return in_turn;
  }
  if (!result) return result.errors();
  CompileSeconds& seconds = result->seconds;
  seconds.rate = result->chosen.synthesis.seconds.rate;
  seconds.pack = result->chosen.synthesis.seconds.pack;
  seconds.choose = std::max(0.0, solving - seconds.rate - seconds.pack);
  return result;
}

}  // namespace forestcoll
