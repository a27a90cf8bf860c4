// Fabrics and requests for the tests of this folder.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/baseline.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology_text.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::test {

/// GPUs on a switch, by NVLink of an A100, 0.7 µs a link.
inline Fabric star_of(std::size_t gpus) {
  return fabric_of(fmt::format(
      R"({{"format": "forestcoll-topology", "version": 1, "name": "star of A100",
    "nodes": [{{"id": "gpu[0-{0}]", "type": "compute"}}, {{"id": "sw", "type": "switch"}}],
    "links": [{{"src": "gpu[0-{0}]", "dst": "sw", "bandwidth": 300, "latency": "0.7us"}}]}})",
      gpus - 1));
}

/// Boxes of two GPUs of an A100, by NVLink in them, and a switch between all.
inline Fabric boxes_of_two(std::size_t boxes) {
  return fabric_of(fmt::format(
      R"({{"format": "forestcoll-topology", "version": 1, "name": "boxes of two",
    "templates": {{"box": {{"nodes": [{{"id": "gpu[0-1]", "type": "compute"}}],
                            "links": [{{"src": "gpu0", "dst": "gpu1", "bandwidth": 100,
                                        "latency": "0.7us"}}]}}}},
    "boxes": [{{"id": "box[0-{0}]", "template": "box"}}],
    "nodes": [{{"id": "ib", "type": "switch"}}],
    "links": [{{"src": "box[0-{0}]/gpu[0-1]", "dst": "ib", "bandwidth": 25,
                "latency": "1us"}}]}})",
      boxes - 1));
}

/// Trees of ours, `k` of each root, or of a baseline, which has its own number; none where there
/// are none.
inline std::optional<CollectiveForest> forest_of(const Fabric& fabric, Collective collective,
                                                 const std::string& algorithm, std::int64_t k) {
  if (algorithm != "forestcoll") {
    auto made = make_baseline(algorithm, fabric.topology, fabric.links(), collective, {}, {});
    if (!made) return std::nullopt;
    return std::move(made->forest);
  }
  SynthesizeOptions options;
  options.collective = collective;
  options.trees_per_root = {TreesPerRoot::Mode::fixed, k};
  auto found = synthesize(fabric.network, options);
  if (!found) return std::nullopt;
  return std::move(found->forest);
}

/// A collective, broadcast and reduce from (to) rank 0, at these sizes.
inline FastestOptions options_for(Collective collective, std::vector<std::int64_t> sizes) {
  FastestOptions options;
  options.compile.synthesis.collective = collective;
  if (is_rooted(collective)) options.compile.synthesis.root = Rank(std::size_t{0});
  options.sizes = std::move(sizes);
  return options;
}

}  // namespace forestcoll::test
