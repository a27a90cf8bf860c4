#include "audit/target_rules.hpp"

#include <array>

namespace forestcoll::audit {
namespace {

constexpr std::string_view kAll = " s r rcs rrs rrc rrcs cpy re nop ";
constexpr std::string_view kUnfused = " s r re cpy nop ";

constexpr std::array<TargetRules, 4> kTargets = {{
    {"azure", "reducescatter", kAll, 1024, 64, 32, false, true, true, false, false, false},
    {"rccl-5.7", "reducescatter", kAll, 1024, 64, 32, false, true, true, false, false, false},
    {"rccl-6", "reducescatter", kUnfused, 64, 64, 64, false, true, true, false, false, false},
    {"msccl", "reduce_scatter", kAll, 216, 256, 32, true, false, false, true, true, true},
}};

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
