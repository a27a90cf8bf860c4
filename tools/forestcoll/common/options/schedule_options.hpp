// Whose schedule, and for which runtime and GPU: options that several commands have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/plan_target.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// A target of XML or of plans, or `kPlanTarget`.
[[nodiscard]] bool is_target(std::string_view name);

/// Those of XML and of plans: "azure, …, mscclpp-0.10, mscclpp-0.9".
[[nodiscard]] std::string names_of_targets();

/// "; did you mean "azure"?", or empty; of NCCL, what it takes in place of schedules.
[[nodiscard]] std::string nearest_target(std::string_view name);

/// What is wrong with the name of a target, for CLI11: "… [T07]"; empty where nothing is.
[[nodiscard]] std::string refuse_unknown_target(const std::string& name);

/// Adds `--target` and `--sms`; an unknown target is a usage error that lists the known ones.
void add_target_options(CLI::App& command, std::string& target, std::optional<std::int32_t>& sms);

/// Adds `--sms` alone.
void add_sms_option(CLI::App& command, std::optional<std::int32_t>& sms);

/// As written on the command line.
struct BaselineArguments {
  std::string algorithm = "forestcoll";
  std::string nccl_graph;  ///< a file; empty: the rings are searched for
  bool cross_nic = false, nccl_constants = false;
  [[nodiscard]] bool chosen() const { return algorithm != "forestcoll"; }
};
void add_baseline_options(CLI::App& command, BaselineArguments& arguments);

/// True of the algorithms that go round the rings of boxes.
[[nodiscard]] bool has_box_rings(const std::string& algorithm);

/// Those of NCCL_GRAPH_DUMP_FILE; nothing where `path` is empty. Errors: those of reading, and B07.
[[nodiscard]] Expected<std::optional<NcclGraph>> read_rings(const std::string& path);

}  // namespace forestcoll::cli
