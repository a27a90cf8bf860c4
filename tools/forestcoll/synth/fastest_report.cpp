#include "synth/fastest_report.hpp"

namespace forestcoll::cli {

Json to_json(const LeastTime& least) {
  return {{"seconds", least.seconds},
          {"by", least.by == LeastTime::By::latency ? "latency" : "links"}};
}

Json to_json(const std::vector<ConsideredTime>& considered) {
  Json rows = Json::array();
  for (const ConsideredTime& each : considered) {
    rows.push_back(
        {{"algorithm", each.algorithm}, {"seconds", each.seconds}, {"at_least", each.is_bound}});
  }
  return rows;
}

Json to_json(const FastestChoice& choice) {
  return {{"bytes", choice.bytes},
          {"algorithm", choice.algorithm},
          {"name", choice.name},
          {"protocol", choice.protocol},
          {"instances", choice.instances},
          {"seconds", choice.seconds},
          {"least", to_json(choice.least)},
          {"estimate", "model, not measurement"},
          {"considered", to_json(choice.considered)}};
}

}  // namespace forestcoll::cli
