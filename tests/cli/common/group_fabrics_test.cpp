// Process groups as fabrics of their own: what stays of the whole one, and what they have in
// common.
#include "common/job/group_fabrics.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/latency.hpp"

namespace forestcoll::testing {
namespace {

using cli::GroupFabrics;

Topology parsed(const std::string& text) {
  return parse_topology(text, "test.json")->topology;
}

std::vector<Rank> group_of(const std::vector<std::size_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

TEST(GroupFabrics, GroupsThatLieAlikeDifferByNamesAlone) {
  const Topology whole = parsed(read_file(topology("dgx-a100-x2")));
  const GroupFabrics fabrics(whole, false);
  std::set<std::string> shapes;
  for (std::size_t r = 0; r < 8; ++r) {
    const auto part = fabrics.of(group_of({r, r + 8}));
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(part->ranks.size(), 2);
    shapes.insert(shape_of(*part));
  }
  EXPECT_EQ(shapes.size(), 1);
}

// The same GPUs, and the same links between any two of them that carry something, as where all
// others are left out of the whole fabric.
TEST(GroupFabrics, HaveWhatTheWholeHasForTheirMembers) {
  for (const char* name : {"dgx-a100-x2", "dgx-1-v100", "torus-4x4", "dgx-h100-x4-rail"}) {
    const Topology whole = parsed(read_file(topology(name)));
    const auto latencies = link_latencies(whole).us;
    const auto part = GroupFabrics(whole, false).of(group_of({1, 0, 2}));
    ASSERT_TRUE(part.has_value()) << name;
    EXPECT_EQ(part->nodes[part->ranks[0]].id, whole.nodes[whole.ranks[1]].id);
    Failures others;
    others.members = "1,0,2";
    const auto left = degrade(whole, others);
    ASSERT_TRUE(left.has_value());
    std::multiset<std::string> here, there;
    const auto of_members = [](const Topology& fabric, std::multiset<std::string>& links,
                               const auto& latency_of) {
      for (std::size_t i = 0; i < fabric.links.size(); ++i) {
        const TopologyLink& link = fabric.links[LinkId(i)];
        const TopologyNode &src = fabric.nodes[link.src], &dst = fabric.nodes[link.dst];
        const bool is_of_gpu = src.type == NodeType::compute || dst.type == NodeType::compute;
        if (!link.enabled || !src.enabled || !dst.enabled || !is_of_gpu) continue;
        links.insert(src.id + dst.id + link.bandwidth.to_string() +
                     latency_of(LinkId(i)).to_string());
      }
    };
    of_members(*part, here, [&](LinkId link) { return *part->links[link].latency; });
    of_members(left->topology, there, [&](LinkId link) { return latencies[link]; });
    for (const std::string& link : here) EXPECT_TRUE(there.contains(link)) << name << link;
  }
}

TEST(GroupFabrics, ErrorsAreThoseOfTheWhole) {
  const Topology whole = parsed(read_file(topology("torus-4x4")));
  const auto part = GroupFabrics(whole, false).of(group_of({2, 7}));
  Failures others;
  others.members = "2,7";
  ASSERT_FALSE(part.has_value());
  EXPECT_EQ(to_string(part.errors().front()), to_string(degrade(whole, others).errors().front()));
  EXPECT_TRUE(GroupFabrics(whole, true).of(group_of({2, 7})).has_value());
}

}  // namespace
}  // namespace forestcoll::testing
