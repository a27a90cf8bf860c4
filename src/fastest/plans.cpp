// Candidates as plans of MSCCL++, which have no protocols, and shapes in place of instances.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "choose/paths_artefact.hpp"
#include "choose/plan_file.hpp"
#include "choose/plan_shapes.hpp"
#include "choose/settle.hpp"
#include "fastest/programs.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/mscclpp/class_plan.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/prepare_program.hpp"

namespace forestcoll::fastest {
namespace {

choose::PlanOf plan_of(const Candidate& candidate) {
  if (candidate.routes) return choose::PlanOf::paths;
  return candidate.switched ? choose::PlanOf::switches : choose::PlanOf::trees;
}

PlanOptions asked_of(const PlanShape& shape, const CompileOptions& options) {
  PlanOptions asked = choose::plan_options(options);
  asked.shape = shape;
  return asked;
}

// Errors: those of `lower_to_plan`.
Expected<ExecutionPlan> lowered_plan(const Candidate& candidate, const PlanShape& shape,
                                     const Fabric& fabric, const CompileOptions& options) {
  if (candidate.switched) return candidate.switched->plan;
  if (candidate.routes) {
    return choose::paths_plan(fabric, *candidate.routes, options, shape.threadblocks);
  }
  return lower_to_plan(candidate.forest(), boxes_of_ranks(fabric.topology),
                       asked_of(shape, options));
}

// The largest over the GPUs.
struct PlanSize {
  std::int64_t chunks = 0;  // of the whole buffer
  std::int32_t threadblocks = 0, channels = 0, steps = 0;
};

// The loop stands in one operation.
std::size_t steps_of(const PlanThreadblock& block) {
  const std::size_t once = block.before.size() + block.after.size();
  return block.loop.empty() ? once : once + 1 + block.loop.size();
}

PlanSize size_of(const ExecutionPlan& plan) {
  PlanSize size;
  const auto keep = [](std::int32_t& most, std::size_t value) {
    most = std::max(most, static_cast<std::int32_t>(value));
  };
  for (const PlanGpu& gpu : plan.gpus) {
    size.chunks = std::max({size.chunks, gpu.input_chunks, gpu.output_chunks});
    keep(size.threadblocks, gpu.threadblocks.size());
    std::size_t channels = gpu.switch_groups.size();
    for (const auto& peers : gpu.peers) channels += peers.size();
    keep(size.channels, channels);
    for (const PlanThreadblock& block : gpu.threadblocks) keep(size.steps, steps_of(block));
  }
  return size;
}

class PlanMaker : public std::enable_shared_from_this<PlanMaker> {
 public:
  PlanMaker(std::span<Candidate> candidates, const Fabric& fabric, simulate::Fabric links,
            const CompileOptions& options)
      : candidates_(candidates), fabric_(fabric), links_(std::move(links)), options_(options) {}

  // In all shapes, as far as they fit and make a difference.
  [[nodiscard]] Expected<std::vector<Program>> make(std::size_t number) const {
    const Candidate& candidate = candidates_[number];
    const bool is_first = number == 0;
    if (!is_first && !candidate.switched && edge_count(candidate.forest()) > scale::kMostSteps) {
      return make_error(Code::N07, "too many edges");
    }
    std::vector<Program> made;
    Diagnostics errors;
    bool has_classes = !candidate.switched && !candidate.routes;
    for (const PlanShape& shape : choose::plan_shapes(plan_of(candidate))) {
      auto next = make_one(number, shape, made.empty(), has_classes);
      if (!next) {
        if (errors.empty()) errors = next.errors();
        continue;
      }
      const auto is_same = [&](const Program& each) {
        return each.fingerprint == next->fingerprint;
      };
      if (std::ranges::none_of(made, is_same)) made.push_back(*std::move(next));
      if (options_.synthesis.packing.stop.stop_requested()) break;
    }
    if (made.empty()) return errors;
    return made;
  }

 private:
  // `has_classes` becomes false where the fabric's links are not as alike as the trees.
  [[nodiscard]] Expected<Program> make_one(std::size_t number, const PlanShape& shape,
                                           bool is_first, bool& has_classes) const {
    Candidate& candidate = candidates_[number];
    if (has_classes) {
      auto of_first_ranks = of_classes(number, shape, has_classes);
      if (!of_first_ranks) return of_first_ranks.errors();
      if (*of_first_ranks) return **std::move(of_first_ranks);
    }
    auto plan = lowered_plan(candidate, shape, fabric_, options_);
    if (!plan) return plan.errors();
    if (is_first && (candidate.switched || candidate.routes)) {
      if (const auto done = note_rate(candidate, *plan); !done) return done.errors();
    }
    return prepared(number, shape, *plan, {});
  }

  // Where one rank of each class does what all do, no other is lowered or simulated.
  [[nodiscard]] Expected<std::optional<Program>> of_classes(std::size_t number,
                                                            const PlanShape& shape,
                                                            bool& has_classes) const {
    std::optional<Program> made;
    const auto classes = schedule::lower_classes_to_plan(
        candidates_[number].forest(), boxes_of_ranks(fabric_.topology), asked_of(shape, options_));
    if (!classes) return classes.errors();
    if (!*classes) return made;
    auto program = prepared(number, shape, (*classes)->plan, choose::images_of(**classes));
    has_classes = program.has_value();
    if (program) made = *std::move(program);
    return made;
  }

  // Whoever asks for the plan has the maker.
  [[nodiscard]] Expected<Program> prepared(std::size_t number, const PlanShape& shape,
                                           const ExecutionPlan& plan,
                                           const simulate::PlanImages& images) const {
    audit::PlanFile file = choose::plan_file_of(plan);
    const Fingerprint fingerprint = fingerprint_of(file);
    auto simulator =
        simulate::prepare_plan(std::move(file), plan.collective, fabric_.topology, links_, images);
    if (!simulator) return simulator.errors();
    const PlanSize size = size_of(plan);
    const auto lower = [maker = shared_from_this(), number, shape] {
      return lowered_plan(maker->candidates_[number], shape, maker->fabric_, maker->options_);
    };
    return Program{.candidate = number,
                   .instances = 1,
                   .simulator = *std::move(simulator),
                   .chunks = size.chunks,
                   .threadblocks = size.threadblocks,
                   .channels = size.channels,
                   .steps = size.steps,
                   .fingerprint = fingerprint,
                   .no_ll128 = {},
                   .lower = lower,
                   .max_bytes = plan.max_bytes};
  }

  // What goes along no trees of GPUs reaches what the checker says.
  [[nodiscard]] Expected<void> note_rate(Candidate& candidate, const ExecutionPlan& plan) const {
    const auto verdict = verify(to_mscclpp_json(plan, "plan"), candidate.algorithm,
                                &fabric_.topology, choose::runtime_of(options_));
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    if (!verdict->algbw) return {};
    if (candidate.switched) candidate.switched->trees.algbw = *verdict->algbw;
    if (candidate.routes) candidate.chosen.synthesis.forest.algbw = *verdict->algbw;
    return {};
  }

  std::span<Candidate> candidates_;
  const Fabric& fabric_;
  simulate::Fabric links_;
  const CompileOptions options_;
};

}  // namespace

Expected<ProgramsOf> plans_of(std::span<Candidate> candidates, const Fabric& fabric,
                              const CompileOptions& options) {
  auto links = simulate::Fabric::make(without_relays(fabric.topology));
  if (!links) return links.errors();
  const auto maker =
      std::make_shared<const PlanMaker>(candidates, fabric, *std::move(links), options);
  return ProgramsOf([maker](std::size_t candidate) { return maker->make(candidate); });
}

std::size_t plan_count() {
  return choose::plan_shapes(choose::PlanOf::trees).size();
}

}  // namespace forestcoll::fastest
