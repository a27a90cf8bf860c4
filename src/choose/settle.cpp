#include "choose/settle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/topology.hpp"
#include "solver/pack/known_packings.hpp"

namespace forestcoll::choose {

namespace {

// Of a pair's data: so many lose little on a few GPUs, and take long on many.
constexpr std::int64_t kMostAutomaticParts = 8, kMostAutomaticPartsOfFew = 64;

// The remedies are those that work.
Diagnostic relays_in_schedule(const Fabric& fabric, Collective collective) {
  const bool are_joined = degrade(fabric.topology, {.relays = Failures::Relays::none}).has_value();
  const char* other = is_personalized(collective) ? "flows" : "a forest";
  return make_error(
      Code::T06,
      "a runtime runs a schedule on the members of the process group alone, and "
      "other GPUs of this fabric are to relay",
      fmt::format("{}write {}", are_joined ? "leave them out with `relays=none`, or " : "", other));
}

Expected<void> refuse_format(const CompileOptions& options) {
  const Collective collective = options.synthesis.collective;
  if (is_personalized(collective) && is_rooted(collective) && options.format == Format::msccl) {
    return make_error(Code::T06,
                      fmt::format("no runtime of MSCCL XML has a {}", to_string(collective)),
                      "write a plan of MSCCL++, or flows");
  }
  const bool has_paths = is_personalized(options.synthesis.collective);
  const bool is_either = is_schedule(options.format) || options.format == Format::none;
  if (is_either || has_paths == (options.format == Format::flows)) return {};
  return make_error(Code::S04,
                    has_paths ? "its data goes along paths, and has no trees to write"
                              : "flows are paths, and its data goes along trees",
                    has_paths ? "write flows" : "write a forest");
}

Diagnostic unequal_amounts() {
  return make_error(Code::T09, "MSCCL XML and plans cannot say that pairs have unequal amounts",
                    "write the paths with `format=flows`");
}

// As one block for every pair, where all have as much.
Expected<void> make_equal(CompileOptions& options) {
  if (!options.demand) return {};
  const Demand demand = options.demand->demand;
  options.demand.reset();
  if (demand.is_of_blocks()) return {};
  options.proof = nullptr;  // of other amounts
  const std::int64_t amount = demand(Rank(0), Rank(1));
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) {
      if (s != t && demand(Rank(s), Rank(t)) != amount) return unequal_amounts();
    }
  }
  return {};
}

// How many trees or parts, or where the choice of that begins.
Expected<void> settle_trees(std::size_t ranks, CompileOptions& options) {
  TreesPerRoot& trees = options.synthesis.trees_per_root;
  const bool of_parts = is_personalized(options.synthesis.collective);
  if (options.tree_count == TreeCount::by_format) {
    const bool is_chosen = of_parts || is_schedule(options.format);
    options.tree_count = is_chosen ? TreeCount::chosen : TreeCount::as_given;
    trees = {};
  }
  if (options.tree_count == TreeCount::chosen) {
    const std::int64_t most_parts =
        ranks <= scale::kMostRanksOfParts ? kMostAutomaticPartsOfFew : kMostAutomaticParts;
    trees = {TreesPerRoot::Mode::power_of_two, of_parts ? most_parts : scale::kMostTrees};
  }
  if (!of_parts || trees.mode != TreesPerRoot::Mode::optimal) return {};
  return make_error(Code::S03, "the optimum of what goes along paths may need any number of parts",
                    "ask for a number of parts, or for the best up to one");
}

// The release of MSCCL++ that plans are for: the newest where a runtime of XML is named.
Expected<void> settle_release(std::string& target) {
  if (find_target(target) == nullptr) {
    return make_error(Code::T07, fmt::format("there is no target \"{}\"", target),
                      "plans are for mscclpp-0.10 or mscclpp-0.9");
  }
  const PlanTarget* asked = find_plan_target(target);
  target = asked == nullptr ? find_plan_target(kPlanTarget)->name : asked->name;
  return {};
}

}  // namespace

Expected<CompileOptions> settle(const Fabric& fabric, CompileOptions options) {
  if (is_schedule(options.format) && has_relays(fabric.topology)) {
    return relays_in_schedule(fabric, options.synthesis.collective);
  }
  if (const auto done = refuse_format(options); !done) return done.errors();
  if (auto done = refuse_without_owner(fabric.network, options.synthesis.collective); !done) {
    return done.errors();
  }
  if (is_schedule(options.format)) {
    if (const auto done = make_equal(options); !done) return done.errors();
  }
  if (!options.synthesis.packing.known) {
    options.synthesis.packing.known = std::make_shared<KnownPackings>();
  }
  const std::size_t ranks = fabric.network.ranks.size();
  if (const auto done = settle_trees(ranks, options); !done) return done.errors();
  if (options.sms == 0) options.sms = default_sms(options.lowering.target, fabric.gpu);
  options.lowering.max_threadblocks = std::min(options.lowering.max_threadblocks, options.sms);
  if (options.format == Format::mscclpp) {
    if (const auto done = settle_release(options.lowering.target); !done) return done.errors();
  }
  options.lowering.boxes = boxes_of_nodes(fabric.topology);
  if (options.format != Format::msccl) {
    if (options.xml.protocol.empty()) options.xml.protocol = "Simple";
    return options;
  }
  auto protocol = choose_protocol(options.xml.protocol, options.force_simple,
                                  options.synthesis.collective, fabric.topology);
  if (!protocol) return protocol.errors();
  options.xml.protocol = *std::move(protocol);
  return options;
}

VerifyOptions runtime_of(const CompileOptions& options) {
  return {.target = options.lowering.target, .sms = options.sms};
}

PlanOptions plan_options(const CompileOptions& options) {
  PlanOptions result;
  const PlanTarget* release = find_plan_target(options.lowering.target);
  result.switch_stores = release == nullptr || release->switch_stores;
  result.in_place = options.lowering.placement == Placement::in_place;
  result.any_buffers = options.any_buffers;
  result.max_threadblocks = options.lowering.max_threadblocks;
  result.shape.threadblocks = kEnoughThreadblocks;
  result.min_bytes = options.xml.min_bytes;
  result.max_bytes = options.xml.max_bytes;
  return result;
}

}  // namespace forestcoll::choose
