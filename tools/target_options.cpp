#include "target_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int32_t sms_at_most = 4096;

std::string refuse_unknown_target(const std::string& name) {
  if (find_target(name) != nullptr) return {};
  return fmt::format("\"{}\" is no target; known are {} [T07]", name, known_targets());
}

}  // namespace

void add_target_options(CLI::App& command, std::string& target, std::int32_t& sms) {
  command.add_option("--target", target, "The runtime whose limits apply: " + known_targets())
      ->check(CLI::Validator(refuse_unknown_target, "NAME"))
      ->capture_default_str();
  command
      .add_option("--sms", sms,
                  "Threadblocks that a GPU holds at once (its streaming multiprocessors)")
      ->check(CLI::Range(1, sms_at_most).description(""))
      ->capture_default_str()
      ->type_name("N");
}

}  // namespace forestcoll::cli
