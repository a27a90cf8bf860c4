// What the tests of `forestcoll compare` have in common.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {

/// Times are of trees, which takes much less time than programs by size.
inline Result compare(const std::vector<std::string>& more,
                      const std::string& fabric = "dgx-a100-x2") {
  std::vector<std::string> arguments = {"compare", topology(fabric)};
  if (std::ranges::count_if(
          more, [](const std::string& word) { return word.starts_with("alltoall"); }) == 0) {
    arguments.emplace_back("--trees");
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

inline nlohmann::json compare_json(std::vector<std::string> more,
                                   const std::string& fabric = "dgx-a100-x2") {
  more.emplace_back("--json");
  const auto result = compare(more, fabric);
  EXPECT_EQ(result.code, 0) << result.err;
  auto report = nlohmann::json::parse(result.out);
  expect_valid(report, "forestcoll-compare.schema.json");
  return report;
}

inline nlohmann::json row(const nlohmann::json& report, const std::string& algorithm) {
  for (const auto& candidate : report["rows"]) {
    if (candidate["algorithm"] == algorithm) return candidate;
  }
  ADD_FAILURE() << "no row " << algorithm;
  return {};
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

// The cells of a line, without their quotes.
inline std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

// A box whose switch copies and adds: 8 GPUs of 450 GB/s.
inline std::string combining_switch() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "NVLS box",
 "nodes": [{"id": "gpu[0-7]", "type": "compute", "box": "box"},
           {"id": "sw", "type": "switch", "box": "box", "multicast": true, "reduce": true}],
 "links": [{"src": "gpu[0-7]", "dst": "sw", "bandwidth": 450, "kind": "nvlink"}]})";
}

}  // namespace forestcoll::testing
