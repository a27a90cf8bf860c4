// Reads MSCCL XML into a Program.
#pragma once

#include <string_view>

#include "audit/common/findings.hpp"
#include "audit/common/line_index.hpp"
#include "audit/common/program.hpp"
#include "audit/msccl/target_rules.hpp"

namespace forestcoll::audit {

/// Reads the elements and attributes as a runtime would, with a finding for each that is missing
/// or that is not what it must be. Errors: the text is not well-formed XML (with line:column).
/// Children of one element beyond what a runtime can hold are not read (a finding says so).
/// Cost: linear in the text; memory of the result and, of well-formed text, a few <gpu> elements.
[[nodiscard]] Expected<Program> read_msccl_xml(std::string_view text, std::string_view file,
                                               const LineIndex& lines, const TargetRules& target,
                                               Findings& findings);

}  // namespace forestcoll::audit
