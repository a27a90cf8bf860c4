// What a runtime's caller has to know of a plan of MSCCL++ that was written.
#pragma once

#include <string>
#include <string_view>

namespace forestcoll::cli {

struct PlanFacts {
  std::string name;                 ///< by which MSCCL++ knows the plan
  bool begins_allocations = false;  ///< ports send from the callers' buffers: see `to_mscclpp_json`
  bool multicasts_buffers = false;  ///< switches reach the callers' buffers
};

/// REQUIRES: a plan of our own. Cost: linear in the text.
[[nodiscard]] PlanFacts facts_of_plan(std::string_view text);

/// The plan under another name. REQUIRES: a plan of our own, and a name without quotes.
[[nodiscard]] std::string renamed_plan(std::string text, const std::string& name);

}  // namespace forestcoll::cli
