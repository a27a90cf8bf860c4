// What each runtime accepts. The numbers are compiled into the runtimes' loaders and kernels; where
// releases of one runtime differ, a row holds what all of them take.
#include <array>

#include "forestcoll/schedule.hpp"

namespace forestcoll {
namespace {

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
          .reduce_scatter_name = "reducescatter",
          .default_max_bytes = std::int64_t{1} << 40};
}

TargetLimits rccl_6() {
  TargetLimits limits = common("rccl-6");
  limits.max_threadblocks = 64;
  limits.fused_steps = false;
  return limits;
}

TargetLimits msccl() {
  TargetLimits limits = common("msccl");
  limits.max_threadblocks = 216;
  limits.max_steps = 256;
  limits.both_placements = false;
  limits.reduce_scatter_name = "reduce_scatter";
  limits.default_max_bytes = std::int64_t{1} << 30;
  return limits;
}

const std::array<TargetLimits, 4>& targets() {
  static const std::array<TargetLimits, 4> rows = {common("azure"), common("rccl-5.7"), rccl_6(),
                                                   msccl()};
  return rows;
}

}  // namespace

const TargetLimits* find_target(std::string_view name) {
  for (const TargetLimits& row : targets()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string known_targets() {
  std::string names;
  for (const TargetLimits& row : targets()) names += (names.empty() ? "" : ", ") + row.name;
  return names;
}

}  // namespace forestcoll
