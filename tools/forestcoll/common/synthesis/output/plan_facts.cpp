#include "common/synthesis/output/plan_facts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace forestcoll::cli {
namespace {

using PlanJson = nlohmann::json;

bool is_the_callers(const PlanJson& type) {
  return type == "i" || type == "o";
}

bool sends_from_the_callers(const PlanJson& operations) {
  return std::ranges::any_of(operations, [](const PlanJson& operation) {
    if (operation.contains("ops")) return sends_from_the_callers(operation["ops"]);
    if (operation["name"] != "put" || operation["channel_type"] != "port") return false;
    return std::ranges::any_of(operation["src_buff"], [](const PlanJson& slice) {
      return slice.contains("type") && is_the_callers(slice["type"]);
    });
  });
}

}  // namespace

PlanFacts facts_of_plan(std::string_view text) {
  const PlanJson plan = PlanJson::parse(text);
  PlanFacts facts{.name = plan["name"].get<std::string>()};
  for (const PlanJson& gpu : plan["gpus"]) {
    for (const PlanJson& block : gpu["threadblocks"]) {
      facts.begins_allocations = facts.begins_allocations || sends_from_the_callers(block["ops"]);
    }
    for (const PlanJson& channel : gpu["channels"]) {
      facts.multicasts_buffers =
          facts.multicasts_buffers ||
          (channel["channel_type"] == "switch" && is_the_callers(channel["buffer_type"]));
    }
  }
  return facts;
}

// The name is the first line.
std::string renamed_plan(std::string text, const std::string& name) {
  text.replace(0, text.find('\n'), "{\"name\":\"" + name + "\",");
  return text;
}

}  // namespace forestcoll::cli
