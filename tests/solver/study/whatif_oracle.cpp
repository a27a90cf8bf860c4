#include "whatif_oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "forestcoll/failures.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll::testing {
namespace {

// What nothing exceeds, of a fabric by itself.
Ratio optimum_of(const Topology& topology, Collective collective) {
  if (!topology.limits.empty()) {
    const Network network = *to_digraph(topology);
    return optimum_of_all(network, operation_of_all(network, collective))->at_most;
  }
  return rate_figures(*to_digraph(topology), switch_roles(topology), collective, std::nullopt)
      .optimum->at_most;
}

// Nothing where the parser says that the fabric falls apart.
std::optional<Ratio> from_scratch(const Topology& topology, Collective collective) {
  if (!parse_topology(to_topology_json(flat_document(topology)), "changed")) return std::nullopt;
  return optimum_of(topology, collective);
}

// The fabric without a node or a box, as --drop leaves it.
Ratio without(const Topology& topology, const std::string& name, Collective collective) {
  const auto left = degrade(topology, {.drop = {name}});
  return left ? optimum_of(left->topology, collective) : Ratio(0);
}

}  // namespace

void expect_losses_exact(const Topology& topology, Collective collective, const WhatIf& result) {
  std::set<NodeId> nodes;
  for (const NodeFailureEffect& failure : result.node_failures) {
    for (const NodeId node : failure.nodes) EXPECT_TRUE(nodes.insert(node).second);
    for (const NodeId node : failure.ways_in) EXPECT_TRUE(nodes.insert(node).second);
    for (const std::string& name : names_of(failure, topology)) {
      EXPECT_EQ(failure.algbw, without(topology, name, collective))
          << topology.name << " without " << name;
    }
  }
  EXPECT_EQ(nodes.size(), topology.nodes.size());
  EXPECT_TRUE(std::ranges::is_sorted(result.node_failures, {}, &NodeFailureEffect::algbw));
  std::set<std::string> boxes, met;
  for (const TopologyNode& node : topology.nodes) {
    if (!node.box.empty()) boxes.insert(node.box);
  }
  for (const BoxFailureEffect& failure : result.box_failures) {
    for (const std::string& box : failure.boxes) {
      EXPECT_TRUE(met.insert(box).second);
      EXPECT_EQ(failure.algbw, without(topology, box, collective)) << topology.name << box;
    }
  }
  EXPECT_EQ(met, boxes.size() > 1 ? boxes : std::set<std::string>());
  EXPECT_TRUE(std::ranges::is_sorted(result.box_failures, {}, &BoxFailureEffect::algbw));
}

void expect_failures_exact(const std::vector<FailureEffect>& failures, const Topology& topology,
                           Collective collective, std::size_t links) {
  std::set<LinkId> met;
  for (const FailureEffect& failure : failures) {
    for (std::size_t i = 0; i < failure.links.size(); ++i) {
      Topology without = topology;
      std::vector<LinkId> gone = {failure.links[i]};
      if (!failure.ways_back.empty()) gone.push_back(failure.ways_back[i]);
      for (const LinkId id : gone) {
        EXPECT_TRUE(met.insert(id).second);
        TopologyLink& link = without.links[id];
        link.enabled = failure.one_cable;
        if (failure.one_cable) link.bandwidth = link.bandwidth * Ratio(link.count - 1, link.count);
        link.count = 1;
      }
      EXPECT_EQ(failure.algbw, from_scratch(without, collective).value_or(Ratio(0)))
          << topology.name << " without " << topology.nodes[topology.links[failure.links[i]].src].id
          << " " << topology.nodes[topology.links[failure.links[i]].dst].id << failure.one_cable;
    }
  }
  EXPECT_EQ(met.size(), links);
  EXPECT_TRUE(std::ranges::is_sorted(failures, {}, &FailureEffect::algbw));
}

void expect_names_drop(const Topology& topology, Collective collective, const WhatIf& result) {
  for (const auto* failures : {&result.failures, &result.cable_failures}) {
    for (const FailureEffect& failure : *failures) {
      const auto text = drop_text(failure, topology);
      ASSERT_TRUE(text) << topology.name;
      EXPECT_EQ(text->ends_with("*1"), failure.one_cable) << *text;
      EXPECT_EQ(failure.algbw, without(topology, *text, collective)) << topology.name << *text;
    }
  }
}

std::size_t bundles_in(const Topology& topology) {
  return static_cast<std::size_t>(std::ranges::count_if(
      topology.links, [](const TopologyLink& link) { return link.count > 1; }));
}

void expect_all_exact(const Topology& topology, Collective collective) {
  const auto result = what_if(topology, {.collective = collective});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->algbw, from_scratch(topology, collective));
  expect_failures_exact(result->failures, topology, collective, topology.links.size());
  expect_failures_exact(result->cable_failures, topology, collective, bundles_in(topology));
  expect_names_drop(topology, collective, *result);
  expect_losses_exact(topology, collective, *result);

  // Every single link is either listed with its gain, or brings none.
  std::map<LinkId, Ratio> gains;
  for (const UpgradeEffect& upgrade : result->upgrades) {
    EXPECT_GT(upgrade.algbw, result->algbw);
    Topology wider = topology;
    for (const LinkId link : upgrade.links) {
      if (upgrade.together) wider.links[link].bandwidth = topology.links[link].bandwidth * Ratio(2);
      if (!upgrade.together || upgrade.links.size() == 1) gains[link] = upgrade.algbw;
    }
    if (upgrade.together) {
      EXPECT_EQ(upgrade.algbw, from_scratch(wider, collective));
    }
  }
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkId link(i);
    Topology wider = topology;
    wider.links[link].bandwidth = wider.links[link].bandwidth * Ratio(2);
    const Ratio gain = gains.contains(link) ? gains[link] : result->algbw;
    EXPECT_EQ(gain, from_scratch(wider, collective));
  }

  // The same of what links share: alone, what is not listed brings nothing.
  const auto with_wider = [&](const std::vector<std::size_t>& limits) {
    Topology wider = topology;
    for (const std::size_t limit : limits) {
      wider.limits[limit].bandwidth = topology.limits[limit].bandwidth * Ratio(2);
    }
    return from_scratch(wider, collective);
  };
  std::set<std::size_t> listed;
  for (const LimitUpgradeEffect& upgrade : result->limit_upgrades) {
    EXPECT_GT(upgrade.algbw, result->algbw);
    EXPECT_EQ(upgrade.algbw, with_wider(upgrade.limits));
    listed.insert(upgrade.limits.begin(), upgrade.limits.end());
  }
  for (std::size_t limit = 0; limit < topology.limits.size(); ++limit) {
    if (!listed.contains(limit)) {
      EXPECT_EQ(result->algbw, with_wider({limit}));
    }
  }
}

}  // namespace forestcoll::testing
