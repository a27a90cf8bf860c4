#include "common/synthesis/report/fastest_report.hpp"

#include "common/report/figures/choice_report.hpp"

namespace forestcoll::cli {

Json to_json(const LeastTime& least) {
  return {{"seconds", least.seconds}, {"by", bounding(least)}};
}

Json to_json(const std::vector<ConsideredTime>& considered) {
  Json rows = Json::array();
  for (const ConsideredTime& each : considered) {
    rows.push_back(
        {{"algorithm", each.algorithm}, {"seconds", each.seconds}, {"at_least", each.is_bound}});
  }
  return rows;
}

Json to_json(const TimeCosts& costs) {
  return {{"links", costs.links},
          {"waiting", costs.waiting},
          {"latencies", costs.latencies},
          {"threadblocks", costs.threadblocks}};
}

Json to_json(const FastestChoice& choice) {
  Json json = choice_json(choice);
  json["least"] = to_json(choice.least);
  if (choice.costs) json["costs_seconds"] = to_json(*choice.costs);
  json["estimate"] = "model, not measurement";
  json["considered"] = to_json(choice.considered);
  return json;
}

}  // namespace forestcoll::cli
