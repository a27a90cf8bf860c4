// The options that name the runtime and the GPU that a schedule is for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "forestcoll/plan_target.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// A target of XML or of plans, or `kPlanTarget`.
[[nodiscard]] bool is_target(std::string_view name);

/// Those of XML and of plans: "azure, …, mscclpp-0.10, mscclpp-0.9".
[[nodiscard]] std::string names_of_targets();

/// What is wrong with the name of a target, for CLI11: "… [T07]"; empty where nothing is.
[[nodiscard]] std::string refuse_unknown_target(const std::string& name);

/// Adds `--target` and `--sms`; an unknown target is a usage error that lists the known ones.
void add_target_options(CLI::App& command, std::string& target, std::optional<std::int32_t>& sms);

/// Adds `--sms` alone.
void add_sms_option(CLI::App& command, std::optional<std::int32_t>& sms);

}  // namespace forestcoll::cli
