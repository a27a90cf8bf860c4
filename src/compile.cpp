#include "forestcoll/compile.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "choose/artefact.hpp"
#include "choose/branching.hpp"
#include "choose/forest_size.hpp"
#include "choose/settle.hpp"
#include "fastest/paths/compile_paths.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/stopwatch.hpp"
#include "forestcoll/topology.hpp"
#include "solver/portfolio/kept_trees.hpp"
#include "solver/symmetry/automorphisms.hpp"

namespace forestcoll {
namespace {

bool is_drawing(Format format) {
  return format == Format::forest_xml || format == Format::dot;
}

// Trees are made for a part of the links where these share limits; what exchanges links of the part
// need not exchange those of the fabric.
void expand_what_is_no_image(CollectiveForest& forest, const Fabric& fabric) {
  if (!fabric.whole) return;
  for (auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase && !solver::keeps_fabric((*phase)->symmetry(), *fabric.whole)) {
      *phase = (*phase)->expanded();
    }
  }
}

// From a forest to a verified artefact.
Expected<Compilation> make(const Fabric& fabric, ChosenForest chosen,
                           const CompileOptions& options) {
  const Topology& topology = fabric.topology;
  Compilation result{.chosen = std::move(chosen), .options = options};
  expand_what_is_no_image(result.chosen.synthesis.forest, fabric);
  const CollectiveForest& forest = result.chosen.synthesis.forest;
  result.optimum_at_least = result.chosen.synthesis.optimum_at_least;
  if (const auto done = choose::refuse_large_forest(forest, options); !done) return done.errors();
  // Lower.
  Stopwatch watch;
  const auto lowered = choose::lower_forest(
      forest, std::exchange(result.chosen.schedule, std::nullopt), fabric, options);
  if (!lowered) return lowered.errors();
  result.seconds.lower = watch.restart();
  // Emit.
  result.text = choose::emit_forest(forest, *lowered, topology, options);
  if (const auto done = choose::refuse_large_text(result.text.size(), options); !done) {
    return done.errors();
  }
  result.seconds.emit = watch.restart();
  // Verify.
  choose::verify_text(
      is_drawing(options.format) ? to_symmetric_forest_json(forest, topology) : result.text,
      topology, result);
  result.seconds.verify = watch.restart();
  return result;
}

// A plan hangs all GPUs of a box on one switch. Where not all of the best trees do, those of NVLS
// take their place.
Expected<choose::BranchingText> emit_trees(BranchingForest& forest, const Fabric& fabric,
                                           const CompileOptions& options) {
  auto emitted = choose::emit_branching(forest, fabric, options);
  if (emitted || options.format != Format::mscclpp) return emitted;
  auto nvls =
      make_baseline("nvls", fabric.topology, fabric.links(), forest.collective, std::nullopt, {});
  if (!nvls || !nvls->branching) return emitted;
  auto of_nvls = choose::emit_branching(*nvls->branching, fabric, options);
  if (!of_nvls) return emitted;
  nvls->branching->optimum = forest.optimum;
  forest = *std::move(nvls->branching);
  return of_nvls;
}

// The same of trees that branch at switches; the chosen forest stays as what they were compared
// with. A plan may not carry all that the trees do: what it reaches the checker says, and where
// that is no more than a plan of the chosen forest reaches, or the executor cannot run it, that is
// made.
Expected<Compilation> make_branching(const Fabric& fabric, ChosenForest chosen,
                                     choose::InNetwork in_network, const CompileOptions& options) {
  BranchingForest& forest = *in_network.forest;
  Compilation result{.chosen = std::move(chosen), .options = options};
  if (in_network.reached < in_network.at_most) result.optimum_at_least = in_network.reached;
  // Emit.
  Stopwatch watch;
  auto emitted = emit_trees(forest, fabric, options);
  if (!emitted) return make(fabric, std::move(result.chosen), options);
  result.text = std::move(emitted->text);
  result.packets = emitted->packets;
  if (const auto done = choose::refuse_large_text(result.text.size(), options); !done) {
    return done.errors();
  }
  if (options.previous_branching != nullptr) {
    result.kept = kept_trees(*options.previous_branching, forest, fabric.links());
  }
  result.seconds.emit = watch.restart();
  // Verify.
  choose::verify_text(
      is_drawing(options.format) ? to_forest_json(forest, fabric.topology) : result.text,
      fabric.topology, result);
  result.seconds.verify = watch.restart();
  result.branching = std::move(forest);
  if (options.format != Format::mscclpp || !result.verdict.ok) return result;
  const std::optional<Ratio>& reached = result.verdict.algbw;
  if (!reached) return make(fabric, std::move(result.chosen), options);
  if (!result.packets && *reached <= result.chosen.synthesis.forest.algbw) {
    auto over_gpus = make(fabric, result.chosen, options);
    if (over_gpus && *reached <= reached_by(*over_gpus)) return over_gpus;
  }
  result.branching->algbw = *reached;
  return result;
}

// One phase of an allreduce after the other, where trees of both at once, which differ more, take
// more than a target holds. `at_once` are these trees: what is known of the optimum is theirs.
std::optional<Compilation> compile_in_turn(const Fabric& fabric, CompileOptions options,
                                           const Synthesis& at_once) {
  if (!at_once.two_phases || !options.synthesis.at_once) return std::nullopt;
  options.synthesis.at_once = false;
  auto result = compile(fabric, options);
  if (!result) return std::nullopt;
  result->chosen.synthesis.two_phases = at_once.two_phases;
  result->chosen.synthesis.forest.optimum = at_once.forest.optimum;
  result->optimum_at_least = at_once.optimum_at_least;
  result->chosen.why = "both phases at once do not fit the target";
  return *std::move(result);
}

}  // namespace

Ratio reached_by(const Compilation& made) {
  if (made.verdict.algbw) return *made.verdict.algbw;
  return made.branching ? made.branching->algbw : made.chosen.synthesis.forest.algbw;
}

Expected<Compilation> compile_forest(const Fabric& fabric, ChosenForest chosen,
                                     const CompileOptions& options) {
  const auto settled = choose::settle(fabric, options);
  if (!settled) return settled.errors();
  return make(fabric, std::move(chosen), *settled);
}

Expected<Compilation> compile(const Fabric& fabric, const CompileOptions& options) {
  const auto settled = choose::settle(fabric, options);
  if (!settled) return settled.errors();
  if (is_personalized(settled->synthesis.collective)) return compile_paths(fabric, *settled);
  if (const auto done = choose::refuse_large_fabric(fabric.network, *settled); !done) {
    return done.errors();
  }
  if (const auto done = choose::refuse_previous(fabric, *settled); !done) return done.errors();
  // Rate, scale and pack, for every number of trees that may be; choose one of these forests.
  Stopwatch watch;
  auto chosen = choose_forest(fabric, *settled);
  if (!chosen) return chosen.errors();
  // Choose trees that branch at switches instead, where these are better.
  auto in_network = choose::branching_forest(fabric, *settled, chosen->synthesis.forest);
  if (!in_network.forest) choose::update_optimum(in_network, *settled, *chosen);
  const Synthesis known = chosen->synthesis;
  const double solving = watch.restart();
  // Lower, emit and verify.
  auto result = in_network.forest
                    ? make_branching(fabric, *std::move(chosen), std::move(in_network), *settled)
                    : make(fabric, *std::move(chosen), *settled);
  if (!result) {
    auto in_turn = compile_in_turn(fabric, *settled, known);
    return in_turn ? Expected(*std::move(in_turn)) : std::move(result);
  }
  CompileSeconds& seconds = result->seconds;
  seconds.rate = result->chosen.synthesis.seconds.rate;
  seconds.pack = result->chosen.synthesis.seconds.pack;
  seconds.choose = std::max(0.0, solving - seconds.rate - seconds.pack);
  return result;
}

}  // namespace forestcoll
