// A forest as what is asked for: lowered, then emitted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// The programs of a forest, for XML or as a plan; nothing where it stays trees.
using Lowered = std::variant<std::monostate, Schedule, ExecutionPlan>;

/// For `options.format`; a plan for large messages. `known`: its programs for XML, where it was
/// lowered before. Errors: those of `lower` and `lower_to_plan`.
[[nodiscard]] Expected<Lowered> lower_forest(const CollectiveForest& forest,
                                             std::optional<Schedule> known, const Fabric& fabric,
                                             const CompileOptions& options);

/// The text of `options.format`; of `forest_symmetric` for `none`.
/// REQUIRES: `lowered` is what `lower_forest` made of the forest.
[[nodiscard]] std::string emit_forest(const CollectiveForest& forest, const Lowered& lowered,
                                      const Topology& topology, const CompileOptions& options);

/// What a plan of trees is called.
[[nodiscard]] std::string plan_name(const Topology& topology, const CollectiveForest& forest,
                                    std::string_view algorithm = "forestcoll");

/// Of trees that branch at switches.
struct BranchingText {
  std::string text;
  bool packets = false;  ///< a plan for small messages
};

/// As `mscclpp` a plan of the switches, or one of packets, where no message is larger than the
/// model says that packets are good for; as `dot` a picture, else JSON. Errors: those of
/// `switch_plan`.
[[nodiscard]] Expected<BranchingText> emit_branching(const BranchingForest& forest,
                                                     const Fabric& fabric,
                                                     const CompileOptions& options);

/// Verifies the text with the independent checker, into the result's verdict.
void verify_text(const std::string& text, const Topology& topology, Compilation& result);

/// Tells people what is being done.
void tell(const CompileOptions& options, std::string_view stage);

}  // namespace forestcoll::choose
