// The fabrics in topologies/, and schedules for them as `synth` makes them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "forestcoll/baseline.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"
#include "simulate/simulate_testing.hpp"
#include "support/topology_of.hpp"

namespace audit_test {

using forestcoll::test::bundled_topology;

inline forestcoll::CollectiveForest forest_on(const Topology& topology,
                                              forestcoll::Collective collective,
                                              forestcoll::TreesPerRoot trees = {}) {
  forestcoll::SynthesizeOptions options;
  options.collective = collective;
  options.trees_per_root = trees;
  const auto network = to_digraph(topology);
  auto synthesis = forestcoll::synthesize(*network, options);
  EXPECT_TRUE(synthesis);
  return synthesis->forest;
}

/// "forestcoll" is ours, with a power of two of trees per root as in XML by default. Nothing where
/// the algorithm has no forest on this fabric.
inline std::optional<forestcoll::CollectiveForest> forest_by(const std::string& algorithm,
                                                             const Topology& topology,
                                                             forestcoll::Collective collective) {
  if (algorithm == "forestcoll") {
    return forest_on(topology, collective, {forestcoll::TreesPerRoot::Mode::power_of_two, 16});
  }
  auto baseline =
      forestcoll::make_baseline(algorithm, topology, *to_digraph(topology), collective, {}, {});
  if (!baseline) return std::nullopt;
  return std::move(baseline->forest);
}

inline std::string xml_of(const forestcoll::CollectiveForest& forest, const Topology& topology,
                          const forestcoll::LowerOptions& options = {}) {
  const auto schedule = forestcoll::lower(forest, options);
  EXPECT_TRUE(schedule) << to_string(schedule.errors()[0]);
  return to_msccl_xml(*schedule, forest, topology, {});
}

}  // namespace audit_test
