#include "common/options/target_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int32_t kSmsAtMost = 4096;
constexpr std::int32_t kSmsOfA100 = 108;
constexpr std::int32_t kCusOfMi250 = 104;

}  // namespace

std::string refuse_unknown_target(const std::string& name) {
  if (is_target(name)) return {};
  return fmt::format("\"{}\" is no target; known are {} [T07]", name, known_targets());
}

bool is_target(std::string_view name) {
  return find_target(name) != nullptr || name == kPlanTarget;
}

void add_target_options(CLI::App& command, std::string& target, std::optional<std::int32_t>& sms) {
  command
      .add_option("--target", target,
                  fmt::format("The runtime whose limits apply: {}; {} is\n"
                              "--format mscclpp",
                              known_targets(), kPlanTarget))
      ->check(CLI::Validator(refuse_unknown_target, "NAME"))
      ->capture_default_str();
  add_sms_option(command, sms);
}

void add_sms_option(CLI::App& command, std::optional<std::int32_t>& sms) {
  command
      .add_option("--sms", sms,
                  fmt::format("Threadblocks that a GPU holds at once (its streaming "
                              "multiprocessors);\ndefault {}, for RCCL {}: with more, a schedule "
                              "hangs",
                              kSmsOfA100, kCusOfMi250))
      ->check(CLI::Range(1, kSmsAtMost).description(""))
      ->type_name("N");
}

std::int32_t assumed_sms(std::string_view target) {
  return target.starts_with("rccl") ? kCusOfMi250 : kSmsOfA100;
}

}  // namespace forestcoll::cli
