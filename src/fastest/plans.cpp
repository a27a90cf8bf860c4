// Ways as plans of MSCCL++, which have neither protocols nor instances.
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <optional>
#include <utility>

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
Expected<choose::NamedPlan> plan_of(const Way& way, const Fabric& fabric,
                                    const CompileOptions& options) {
  if (way.switched) return choose::NamedPlan{way.switched->plan, way.switched->name};
  const CollectiveForest& forest = way.forest();
  auto plan = lower_to_plan(forest, boxes_of_ranks(fabric.topology), choose::plan_options(options));
  if (!plan) return plan.errors();
  return choose::NamedPlan{*std::move(plan),
                           fmt::format("{}-{}-{}-k{}", way.algorithm, fabric.topology.name,
                                       to_string(forest.collective), forest.k)};
}

class PlanMaker {
 public:
  PlanMaker(std::vector<Way>& ways, const Fabric& fabric, const CompileOptions& options)
      : ways_(ways), fabric_(fabric), options_(options) {}

  [[nodiscard]] Expected<Program> make(std::size_t number) const {
    Way& way = ways_[number];
    const bool is_first = number == 0;
    if (!is_first && !way.switched && edge_count(way.forest()) > kMostPlanEdges) {
      return make_error(Code::N07, "too many edges");
    }
    auto planned = plan_of(way, fabric_, options_);
    if (!planned) return planned.errors();
    std::string text = to_mscclpp_json(planned->plan, planned->name);
    const auto verdict =
        verify(text, way.algorithm, &fabric_.topology, choose::runtime_of(options_));
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    auto simulator = prepare_simulation(text, way.algorithm, fabric_.topology);
    if (!simulator) return simulator.errors();
    if (way.switched && verdict->algbw) way.switched->trees.algbw = *verdict->algbw;
    const std::int64_t max_bytes = planned->plan.max_bytes;
    const Fingerprint fingerprint = fingerprint_of(text);
    return Program{.way = number,
                   .instances = 1,
                   .simulator = *std::move(simulator),
                   .chunks = verdict->chunks,
                   .threadblocks = verdict->threadblocks,
                   .channels = verdict->channels,
                   .steps = verdict->steps,
                   .fingerprint = fingerprint,
                   .no_ll128 = {},
                   .lowered = std::move(planned->plan),
                   .plan = std::move(text),
                   .max_bytes = max_bytes};
  }

 private:
  std::vector<Way>& ways_;
  const Fabric& fabric_;
  const CompileOptions& options_;
};

}  // namespace

Expected<std::vector<Program>> make_plans(std::vector<Way>& ways, const Fabric& fabric,
                                          const CompileOptions& options) {
  const PlanMaker maker(ways, fabric, options);
  std::vector<std::optional<Expected<Program>>> made(ways.size());
  tbb::parallel_for(std::size_t{0}, ways.size(), [&](std::size_t w) { made[w] = maker.make(w); });
  std::vector<Program> plans;
  for (auto& each : made) {
    if (*each) plans.push_back(**std::move(each));
  }
  if (plans.empty()) return made.front()->errors();
  return plans;
}

}  // namespace forestcoll::fastest
