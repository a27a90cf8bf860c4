#include "common/options/target_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/options/validator_text.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int32_t kSmsAtMost = 4096;

}  // namespace

std::string refuse_unknown_target(const std::string& name) {
  if (is_target(name)) return {};
  return validator_text(Code::T07,
                        fmt::format("\"{}\" is no target; known are {}", name, names_of_targets()));
}

bool is_target(std::string_view name) {
  return find_target(name) != nullptr;
}

std::string names_of_targets() {
  std::string names = known_targets();
  for (const PlanTarget& each : plan_targets()) names += ", " + each.name;
  return names;
}

void add_target_options(CLI::App& command, std::string& target, std::optional<std::int32_t>& sms) {
  command
      .add_option("--target", target,
                  fmt::format("The runtime whose limits apply: {};\n"
                              "the last two are releases of MSCCL++, for --format mscclpp, and {}\n"
                              "is the newer one",
                              names_of_targets(), kPlanTarget))
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
                              default_sms("azure"), default_sms("rccl-6")))
      ->check(CLI::Range(1, kSmsAtMost).description(""))
      ->type_name("N");
}

}  // namespace forestcoll::cli
