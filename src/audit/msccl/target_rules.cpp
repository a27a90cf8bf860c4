#include "audit/msccl/target_rules.hpp"

#include <array>

namespace forestcoll::audit {
namespace {

constexpr std::string_view kAll = " s r rcs rrs rrc rrcs cpy re nop ";
constexpr std::string_view kUnfused = " s r re cpy nop ";

// Lines of 16 bytes, 8 to a thread, half of them flags; 120 words to a thread, 15 of 16 data.
constexpr std::int64_t kNvidiaLL = 8 * 512 * 16 / 2;
constexpr std::int64_t kNvidiaLL128 = std::int64_t{120} * 640 * 8 / 16 * 15;
// The same with fewer threads; 28 words to a thread, 7 of 8 data.
constexpr std::int64_t kAmdLL = 8 * 256 * 16 / 2;
constexpr std::int64_t kAmdLL128 = std::int64_t{28} * 256 * 8 / 8 * 7;

constexpr TargetRules nvidia() {
  return {.name = "azure",
          .reduce_scatter_name = "reducescatter",
          .operations = kAll,
          .max_threadblocks = 1024,
          .max_steps = 64,
          .max_channels = 32,
          .requires_name = false,
          .honours_out_of_place = true,
          .max_bytes_is_included = true,
          .enforces_chunk_counts = false,
          .reads_threads = false,
          .allocates_scratch = false,
          .counts_parts = false,
          .ll_bytes = kNvidiaLL,
          .ll128_bytes = kNvidiaLL128};
}

constexpr TargetRules research() {
  TargetRules rules = nvidia();
  rules.name = "msccl";
  rules.reduce_scatter_name = "reduce_scatter";
  rules.max_threadblocks = 216;
  rules.max_steps = 256;
  rules.requires_name = true;
  rules.honours_out_of_place = false;
  rules.max_bytes_is_included = false;
  rules.enforces_chunk_counts = true;
  rules.reads_threads = true;
  rules.allocates_scratch = true;
  return rules;
}

constexpr TargetRules rccl(std::string_view name, std::string_view operations,
                           std::int32_t max_threadblocks, std::int32_t max_channels,
                           bool counts_parts) {
  TargetRules rules = nvidia();
  rules.name = name;
  rules.operations = operations;
  rules.max_threadblocks = max_threadblocks;
  rules.max_channels = max_channels;
  rules.counts_parts = counts_parts;
  rules.ll_bytes = kAmdLL;
  rules.ll128_bytes = kAmdLL128;
  return rules;
}

// rccl-6 stands for 6.0 and all later releases, but that 6.0 has no cpy.
constexpr std::array<TargetRules, 6> kTargets = {
    {nvidia(), rccl("rccl-5.7", kAll, 1024, 32, true), rccl("rccl-6", kUnfused, 64, 64, true),
     rccl("rccl-6.2", kUnfused, 64, 64, true), rccl("rccl-6.3", kUnfused, 64, 128, false),
     research()}};

}  // namespace

bool TargetRules::accepts(std::string_view operation) const {
  return operations.find(" " + std::string(operation) + " ") != std::string_view::npos;
}

const TargetRules* find_target_rules(std::string_view name) {
  for (const TargetRules& rules : kTargets) {
    if (rules.name == name) return &rules;
  }
  return nullptr;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const TargetRules& rules : kTargets) names.emplace_back(rules.name);
  return names;
}

}  // namespace forestcoll::audit
