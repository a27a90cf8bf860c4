#include "choose/settle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::choose {

Diagnostic relays_in_schedule() {
  return make_error(Code::T06,
                    "a runtime runs a schedule on the members of the process group alone, and "
                    "other GPUs of this fabric are to relay",
                    "leave the relays out of the fabric, or write a forest or flows");
}

namespace {

constexpr std::int64_t kLargestAutomaticK = 16;

// How many trees, or where the choice of that begins.
void settle_trees(CompileOptions& options) {
  if (options.tree_count == TreeCount::by_format) {
    options.tree_count = is_schedule(options.format) ? TreeCount::chosen : TreeCount::as_given;
    options.synthesis.trees_per_root = {};
  }
  if (options.tree_count == TreeCount::chosen) {
    options.synthesis.trees_per_root = {TreesPerRoot::Mode::power_of_two, kLargestAutomaticK};
  }
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

void settle_threadblocks(std::int32_t& sms, std::string_view target,
                         std::int32_t& max_threadblocks) {
  if (sms == 0) sms = default_sms(target);
  max_threadblocks = std::min(max_threadblocks, sms);
}

Expected<CompileOptions> settle(const Fabric& fabric, CompileOptions options) {
  if (is_schedule(options.format) && has_relays(fabric.topology)) return relays_in_schedule();
  settle_trees(options);
  settle_threadblocks(options.sms, options.lowering.target, options.lowering.max_threadblocks);
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
  result.max_threadblocks = options.lowering.max_threadblocks;
  result.min_bytes = options.xml.min_bytes;
  result.max_bytes = options.xml.max_bytes;
  return result;
}

}  // namespace forestcoll::choose
