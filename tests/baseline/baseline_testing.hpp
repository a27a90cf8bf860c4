// Fabrics and baselines for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/baseline.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"
#include "support/files.hpp"

namespace forestcoll::test {

inline Topology parse(const std::string& text) {
  auto parsed = parse_topology(text, "test");
  if (!parsed) throw std::runtime_error(to_string(parsed.errors().front()));
  return std::move(parsed->topology);
}

/// A topology with its network.
struct TestFabric {
  explicit TestFabric(Topology from) : topology(std::move(from)), network(*to_digraph(topology)) {}
  Topology topology;
  Network network;
};

inline TestFabric bundled(const std::string& name) {
  return TestFabric(parse(bundled_text(name)));
}

/// A bundled fabric of two boxes, with more of them.
inline TestFabric with_boxes(const std::string& name, int boxes) {
  std::string text = bundled_text(name);
  const std::string two = "box[0-1]", more = "box[0-" + std::to_string(boxes - 1) + "]";
  for (auto at = text.find(two); at != std::string::npos; at = text.find(two, at + more.size())) {
    text.replace(at, two.size(), more);
  }
  return TestFabric(parse(text));
}

inline TestFabric only_ranks(const TestFabric& fabric, const std::string& ranks) {
  auto degraded = degrade(fabric.topology, {.drop = {}, .derate = {}, .ranks = ranks});
  if (!degraded) throw std::runtime_error(to_string(degraded.errors().front()));
  return TestFabric(std::move(degraded->topology));
}

inline TestFabric generated(const std::string& name,
                            const std::map<std::string, std::string>& values) {
  const auto document = generate(name, values);
  if (!document) throw std::runtime_error(to_string(document.errors().front()));
  return TestFabric(parse(to_topology_json(*document)));
}

/// Ranks around a switch, with links of 1 GB/s.
inline TestFabric star(int ranks) {
  return TestFabric(
      parse(R"({"format": "forestcoll-topology", "version": 1, "nodes": [{"id": "g[0-)" +
            std::to_string(ranks - 1) +
            R"(]", "type": "compute"}, {"id": "sw", "type": "switch"}],
    "links": [{"src": "g[0-)" +
            std::to_string(ranks - 1) + R"(]", "dst": "sw", "bandwidth": 1}]})"));
}

inline Expected<BaselineResult> try_make(const std::string& name, const TestFabric& fabric,
                                         Collective collective = Collective::allgather,
                                         const BaselineOptions& options = {}) {
  std::optional<Rank> root;
  if (is_rooted(collective)) root = Rank(fabric.network.ranks.size() / 2);
  return make_baseline(name, fabric.topology, fabric.network, collective, root, options);
}

/// REQUIRES: it exists.
inline BaselineResult make(const std::string& name, const TestFabric& fabric,
                           Collective collective = Collective::allgather,
                           const BaselineOptions& options = {}) {
  auto result = try_make(name, fabric, collective, options);
  if (!result) throw std::runtime_error(to_string(result.errors().front()));
  return *std::move(result);
}

/// The one error's code, if there is one.
inline std::optional<Code> code_of(const Expected<BaselineResult>& result) {
  return result ? std::nullopt : result.errors().front().code;
}

inline std::vector<Rank> all_ranks(const TestFabric& fabric) {
  std::vector<Rank> ranks;
  for (std::size_t r = 0; r < fabric.network.ranks.size(); ++r) ranks.emplace_back(r);
  return ranks;
}

}  // namespace forestcoll::test
