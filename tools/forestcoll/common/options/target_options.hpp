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

/// A target of XML, or `plan_target`.
[[nodiscard]] bool is_target(std::string_view name);

/// What is wrong with the name of a target, for CLI11: "… [T07]"; empty where nothing is.
[[nodiscard]] std::string refuse_unknown_target(const std::string& name);

/// Adds `--target` and `--sms`; an unknown target is a usage error that lists the known ones.
/// `plan_target` is taken too.
void add_target_options(CLI::App& command, std::string& target, std::optional<std::int32_t>& sms);

/// Adds `--sms` alone.
void add_sms_option(CLI::App& command, std::optional<std::int32_t>& sms);

/// Threadblocks that a GPU of the target holds at once, where nobody said: those of the smallest
/// GPU that the runtime is used on. 104 for RCCL (MI250), 108 for the others (A100).
[[nodiscard]] std::int32_t assumed_sms(std::string_view target);

}  // namespace forestcoll::cli
