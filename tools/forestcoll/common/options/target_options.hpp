// The options that name the runtime and the GPU that a schedule is for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// What selects plans of MSCCL++ where a runtime is named: their format has only one.
constexpr const char* kPlanTarget = "mscclpp";

/// A target of XML, or `kPlanTarget`.
[[nodiscard]] bool is_target(std::string_view name);

/// What is wrong with the name of a target, for CLI11: "… [T07]"; empty where nothing is.
[[nodiscard]] std::string refuse_unknown_target(const std::string& name);

/// Adds `--target` and `--sms`; an unknown target is a usage error that lists the known ones.
/// `kPlanTarget` is taken too.
void add_target_options(CLI::App& command, std::string& target, std::optional<std::int32_t>& sms);

/// Adds `--sms` alone.
void add_sms_option(CLI::App& command, std::optional<std::int32_t>& sms);

}  // namespace forestcoll::cli
