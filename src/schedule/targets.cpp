// What each runtime accepts. The numbers are compiled into the runtimes' loaders and kernels; where
// releases of one runtime differ, a row holds what all of them take.
//
//            releases        channels  selects allgather and reduce_scatter by
//   rccl-5.7 5.6, 5.7        32        the part of a rank
//   rccl-6   6.0 to 7.12     32        the part of a rank
//   rccl-6.2 6.1, 6.2        64        the part of a rank
//   rccl-6.3 6.3 to 7.12     128       the whole buffer
//
// Where the part of a rank is a multiple of the chunks, so is the whole buffer: what rccl-6 names
// is selected by all of them. Only 6.0 has no steps that copy, which calls out of place need. On
// GPUs before MI300, RCCL drops a file with more than 32 channels whatever it holds, so no more are
// ever given out.
#include <fmt/format.h>

#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/xml_target.hpp"

namespace forestcoll {
namespace {

constexpr std::int32_t kSmsOfA100 = 108;
constexpr std::int32_t kCusOfMi250 = 104;

// Shared by all parsers, which descend from one: 4,096 nodes of which one is lost, 1,024 children,
// 16-bit offsets, 8-bit signed threadblock ids in dependencies, steps of up to 71 chunks.
TargetLimits common(std::string name) {
  return {.name = std::move(name),
          .max_threadblocks = 1024,
          .max_steps = 64,
          .max_channels = 32,
          .max_count = 71,
          .max_elements = 4095,
          .max_children = 1024,
          .max_per_channel = 32,
          .max_offset = 32767,
          .max_depended = 128,
          .fused_steps = true,
          .both_placements = true,
          .excludes_max_bytes = false,
          .counts_parts = false,
          .equal_parts = false,
          .acquires_outputs = false,
          .reduce_scatter_name = "reducescatter",
          .default_max_bytes = std::int64_t{1} << 40,
          .default_sms = kSmsOfA100};
}

TargetLimits rccl(std::string name) {
  TargetLimits limits = common(std::move(name));
  limits.default_sms = kCusOfMi250;
  return limits;
}

TargetLimits rccl_5_7() {
  TargetLimits limits = rccl("rccl-5.7");
  limits.counts_parts = true;
  return limits;
}

// From 6.0 on: 64 threadblocks, and no steps that receive and do something else at once.
TargetLimits rccl_6(std::string name, bool counts_parts) {
  TargetLimits limits = rccl(std::move(name));
  limits.max_threadblocks = 64;
  limits.fused_steps = false;
  limits.counts_parts = counts_parts;
  limits.acquires_outputs = true;
  return limits;
}

TargetLimits msccl() {
  TargetLimits limits = common("msccl");
  limits.max_threadblocks = 216;
  limits.max_steps = 256;
  limits.both_placements = false;
  limits.excludes_max_bytes = true;
  limits.equal_parts = true;
  limits.reduce_scatter_name = "reduce_scatter";
  limits.default_max_bytes = std::int64_t{1} << 30;
  return limits;
}

// Of XML's limits, plans have those of sizes and of SMs; see schedule/mscclpp/blocks.hpp for
// theirs.
const std::vector<TargetLimits>& rows_of_plans() {
  static const std::vector<TargetLimits> rows = [] {
    std::vector<TargetLimits> result;
    for (const PlanTarget& target : plan_targets()) result.push_back(common(target.name));
    return result;
  }();
  return rows;
}

bool is_divided(Collective collective) {
  return collective == Collective::allgather || collective == Collective::reduce_scatter ||
         collective == Collective::alltoall;
}

const std::array<TargetLimits, 6>& targets() {
  static const std::array<TargetLimits, 6> rows = {
      common("azure"),           rccl_5_7(), rccl_6("rccl-6", true), rccl_6("rccl-6.2", true),
      rccl_6("rccl-6.3", false), msccl()};
  return rows;
}

}  // namespace

std::int64_t TargetLimits::selected_counts(Collective collective, std::int64_t chunks,
                                           std::int64_t ranks) const {
  const bool multiplied = is_divided(collective) && !counts_parts;
  return multiplied ? chunks / std::gcd(chunks, ranks) : chunks;
}

std::int64_t TargetLimits::selected_elements(Collective collective, std::int64_t chunks,
                                             std::int64_t ranks) const {
  return selected_counts(collective, chunks, ranks) * (is_divided(collective) ? ranks : 1);
}

std::int64_t TargetLimits::max_bytes_for(std::int64_t last) const {
  return excludes_max_bytes && last < std::numeric_limits<std::int64_t>::max() ? last + 1 : last;
}

std::int64_t TargetLimits::last_selected(std::int64_t max_bytes) const {
  return excludes_max_bytes ? max_bytes - 1 : max_bytes;
}

const TargetLimits* find_target(std::string_view name) {
  for (const TargetLimits& row : targets()) {
    if (row.name == name) return &row;
  }
  const PlanTarget* plans = find_plan_target(name);
  return plans == nullptr ? nullptr : &rows_of_plans()[plans - plan_targets().data()];
}

Expected<const TargetLimits*> schedule::xml_target(std::string_view name) {
  for (const TargetLimits& row : targets()) {
    if (row.name == name) return &row;
  }
  return make_error(Code::T07,
                    find_plan_target(name) == nullptr
                        ? fmt::format("there is no target \"{}\"", name)
                        : fmt::format("target {} loads plans of MSCCL++, not MSCCL XML", name),
                    "the targets are " + known_targets());
}

std::string known_targets() {
  return listed(targets(), &TargetLimits::name);
}

std::int32_t default_sms(std::string_view target) {
  const TargetLimits* row = find_target(target);
  return row != nullptr ? row->default_sms : kSmsOfA100;
}

}  // namespace forestcoll
