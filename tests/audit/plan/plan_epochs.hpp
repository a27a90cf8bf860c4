// The program of a plan's threadblock, divided where all of its threads are in step.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace audit_test {

struct PlanItem {
  const nlohmann::json* op = nullptr;
  int element = -1;  // thread; −1: all of them
  bool done = false;
  bool is_issued = false;  // a pwsf that waits for its flush
};

/// A barrier is an epoch of its own.
using PlanEpochs = std::vector<std::vector<PlanItem>>;

inline bool is_packets(const std::string& name) {
  return name.ends_with("pkt");
}

inline bool is_data(const std::string& name) {
  return name == "put" || name == "pws" || name == "pwsf" || name == "get" || name == "copy" ||
         name == "re" || name == "res" || name == "rre" || name == "rres" || name == "glres" ||
         name == "gstore" || is_packets(name);
}

/// A pipeline is one round.
inline PlanEpochs epochs_of(const nlohmann::json& ops) {
  using Json = nlohmann::json;
  PlanEpochs epochs(1);
  const std::function<void(const Json&)> add = [&](const Json& op) {
    const std::string name = op.at("name");
    if (name == "nop") {
      epochs.emplace_back();
    } else if (name == "barrier") {
      epochs.push_back({{&op, -1, false}});
      epochs.emplace_back();
    } else if (name == "pipeline") {
      for (const Json& inner : op.at("ops")) add(inner);
    } else if (name == "rppkt" && op.at("channel_type") == "port") {
      epochs.back().push_back({&op, -1, false});
      epochs.emplace_back();
      for (int e = 0; e < static_cast<int>(op.at("channel_ids").size()); ++e) {
        epochs.back().push_back({&op, e, false});
      }
    } else if (is_data(name) && op.value("channel_type", "") != "port") {
      epochs.back().push_back({&op, -1, false});
    } else {
      const char* list = name.starts_with("sem_") ? "semaphore_ids"
                         : name == "flush"        ? "dst_buff"  // as the executor counts
                                                  : "channel_ids";
      const std::size_t elements = op.contains(list) ? op.at(list).size() : 0;
      for (int e = 0; e < static_cast<int>(elements); ++e) {
        epochs.back().push_back({&op, e, false});
      }
    }
  };
  for (const Json& op : ops) add(op);
  return epochs;
}

}  // namespace audit_test
