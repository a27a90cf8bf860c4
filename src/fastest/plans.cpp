// Candidates as plans of MSCCL++, which have neither protocols nor instances.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "choose/paths_artefact.hpp"
#include "choose/settle.hpp"
#include "choose/switch_plan.hpp"
#include "fastest/programs.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::fastest {
namespace {

// Of trees, so many edges in all: beyond, a plan takes too long to be simulated again and again.
constexpr std::size_t kMostPlanEdges = 64'000;

// Errors: those of `lower_to_plan`.
Expected<choose::NamedPlan> plan_of(const Candidate& candidate, const Fabric& fabric,
                                    const CompileOptions& options) {
  if (candidate.switched) {
    return choose::NamedPlan{candidate.switched->plan, candidate.switched->name};
  }
  const CollectiveForest& forest = candidate.forest();
  auto plan = candidate.routes ? choose::paths_plan(fabric, *candidate.routes, options)
                               : lower_to_plan(forest, boxes_of_ranks(fabric.topology),
                                               choose::plan_options(options));
  if (!plan) return plan.errors();
  return choose::NamedPlan{*std::move(plan),
                           fmt::format("{}-{}-{}-k{}", candidate.algorithm, fabric.topology.name,
                                       to_string(forest.collective), forest.k)};
}

class PlanMaker {
 public:
  PlanMaker(std::span<Candidate> candidates, const Fabric& fabric, const CompileOptions& options)
      : candidates_(candidates), fabric_(fabric), options_(options) {}

  [[nodiscard]] Expected<Program> make(std::size_t number) const {
    Candidate& candidate = candidates_[number];
    const bool is_first = number == 0;
    if (!is_first && !candidate.switched && edge_count(candidate.forest()) > kMostPlanEdges) {
      return make_error(Code::N07, "too many edges");
    }
    auto planned = plan_of(candidate, fabric_, options_);
    if (!planned) return planned.errors();
    std::string text = to_mscclpp_json(planned->plan, planned->name);
    const auto verdict =
        verify(text, candidate.algorithm, &fabric_.topology, choose::runtime_of(options_));
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    auto simulator = prepare_simulation(text, candidate.algorithm, fabric_.topology);
    if (!simulator) return simulator.errors();
    if (candidate.switched && verdict->algbw) candidate.switched->trees.algbw = *verdict->algbw;
    if (candidate.routes && verdict->algbw) {
      candidate.chosen.synthesis.forest.algbw = *verdict->algbw;
    }
    const std::int64_t max_bytes = planned->plan.max_bytes;
    const Fingerprint fingerprint = fingerprint_of(text);
    return Program{.candidate = number,
                   .instances = 1,
                   .simulator = *std::move(simulator),
                   .chunks = verdict->chunks,
                   .threadblocks = verdict->threadblocks,
                   .channels = verdict->channels,
                   .steps = verdict->steps,
                   .fingerprint = fingerprint,
                   .no_ll128 = {},
                   .lowered = std::move(planned->plan),
                   .plan_name = std::move(planned->name),
                   .max_bytes = max_bytes};
  }

 private:
  std::span<Candidate> candidates_;
  const Fabric& fabric_;
  const CompileOptions options_;
};

}  // namespace

ProgramsOf plans_of(std::span<Candidate> candidates, const Fabric& fabric,
                    const CompileOptions& options) {
  const auto maker = std::make_shared<const PlanMaker>(candidates, fabric, options);
  return [maker](std::size_t candidate) -> Expected<std::vector<Program>> {
    auto made = maker->make(candidate);
    if (!made) return made.errors();
    std::vector<Program> plans;
    plans.push_back(*std::move(made));
    return plans;
  };
}

}  // namespace forestcoll::fastest
