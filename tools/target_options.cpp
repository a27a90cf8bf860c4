#include "target_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int32_t sms_at_most = 4096;
constexpr std::int32_t sms_of_a100 = 108;
constexpr std::int32_t cus_of_mi250 = 104;

std::string refuse_unknown_target(const std::string& name) {
  if (is_target(name)) return {};
  return fmt::format("\"{}\" is no target; known are {} [T07]", name, known_targets());
}

}  // namespace

bool is_target(std::string_view name) {
  return find_target(name) != nullptr || name == plan_target;
}

void add_target_options(CLI::App& command, std::string& target, std::optional<std::int32_t>& sms) {
  command
      .add_option("--target", target,
                  fmt::format("The runtime whose limits apply: {}; {} is\n"
                              "--format mscclpp",
                              known_targets(), plan_target))
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
                              sms_of_a100, cus_of_mi250))
      ->check(CLI::Range(1, sms_at_most).description(""))
      ->type_name("N");
}

std::int32_t assumed_sms(std::string_view target) {
  return target.starts_with("rccl") ? cus_of_mi250 : sms_of_a100;
}

}  // namespace forestcoll::cli
