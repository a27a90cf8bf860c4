// What is simulated without text is what the checker's reader makes of the text.
#include "choose/plan_file.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "audit/common/findings.hpp"
#include "choose/paths_artefact.hpp"
#include "choose/plan_shapes.hpp"
#include "choose/settle.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "support/alltoall.hpp"
#include "support/files.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

void expect_as_read(const ExecutionPlan& plan) {
  audit::Findings findings("plan");
  const auto read = audit::read_plan(to_mscclpp_json(plan, "plan"), "plan", findings);
  ASSERT_TRUE(read) << to_string(read.errors().front());
  EXPECT_EQ(findings.count(), 0U);
  EXPECT_TRUE(choose::plan_file_of(plan) == *read)
      << to_string(plan.collective) << " over " << plan.gpus.size() << " ranks";
}

std::optional<Rank> root_of(Collective collective) {
  return is_rooted(collective) ? std::optional(Rank(std::size_t{1})) : std::nullopt;
}

void expect_trees_as_read(const Fabric& fabric, Collective collective) {
  SynthesizeOptions asked;
  asked.collective = collective;
  asked.root = root_of(collective);
  asked.trees_per_root = {TreesPerRoot::Mode::fixed, 1};
  const auto made = synthesize(fabric.network, asked);
  ASSERT_TRUE(made) << to_string(made.errors().front());
  int plans = 0;
  for (const PlanShape& shape : choose::plan_shapes(choose::PlanOf::trees)) {
    PlanOptions options;
    options.shape = shape;
    options.any_buffers = plans == 0;
    const auto plan = lower_to_plan(made->forest, boxes_of_ranks(fabric.topology), options);
    if (!plan) continue;  // too many operations
    expect_as_read(*plan);
    ++plans;
  }
  EXPECT_GT(plans, 0);
}

void expect_paths_as_read(const Fabric& fabric, Collective collective) {
  CompileOptions asked = test::alltoall_as(Format::mscclpp, 1);
  asked.synthesis.collective = collective;
  asked.synthesis.root = root_of(collective);
  const auto settled = choose::settle(fabric, asked);
  ASSERT_TRUE(settled) << to_string(settled.errors().front());
  const auto routes = make_alltoall_baseline("direct", fabric.topology, fabric.network,
                                             demand_of(*settled, fabric.network).demand, 1, 1000);
  ASSERT_TRUE(routes) << to_string(routes.errors().front());
  const auto plan = choose::paths_plan(fabric, *routes, *settled, 1);
  ASSERT_TRUE(plan) << to_string(plan.errors().front());
  expect_as_read(*plan);
}

class PlanFiles : public ::testing::TestWithParam<std::string> {};

TEST_P(PlanFiles, AreWhatIsReadOfTheirText) {
  const Fabric fabric = test::bundled_fabric(GetParam());
  for (const Collective collective : {Collective::allreduce, Collective::allgather,
                                      Collective::reduce_scatter, Collective::broadcast}) {
    expect_trees_as_read(fabric, collective);
  }
  for (const Collective collective :
       {Collective::alltoall, Collective::scatter, Collective::gather}) {
    expect_paths_as_read(fabric, collective);
  }
}

std::vector<std::string> small_fabrics() {
  std::vector<std::string> names = test::small_bundled_names();
  for (const char* other : {"fat-tree-4", "l40s-x1", "rtx-pro-workstation-x1"}) {
    names.emplace_back(other);
  }
  return names;
}

std::string fabric_name(const ::testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(BundledLong, PlanFiles, ::testing::ValuesIn(small_fabrics()), fabric_name);

IdVector<Rank, std::int32_t> boxes_of(std::size_t boxes, std::size_t gpus) {
  IdVector<Rank, std::int32_t> box_of;
  for (std::size_t r = 0; r < boxes * gpus; ++r) {
    box_of.push_back(static_cast<std::int32_t>(r / gpus));
  }
  return box_of;
}

// Sums and packets, with the operations of both releases, which differ.
TEST(PlanFile, OfSwitchesIsWhatIsReadOfItsText) {
  for (const bool switch_stores : {false, true}) {
    PlanOptions options;
    options.switch_stores = switch_stores;
    for (const auto& plan :
         {make_packet_plan(boxes_of(1, 8), options), make_box_plan(boxes_of(2, 4), options)}) {
      ASSERT_TRUE(plan) << to_string(plan.errors().front());
      expect_as_read(*plan);
    }
  }
}

TEST(PlanFile, OfProcessGroupsIsWhatIsReadOfItsText) {
  auto plan = make_packet_plan(boxes_of(1, 2), {});
  ASSERT_TRUE(plan);
  plan->process_groups = {{Rank(std::size_t{1})}, {Rank(std::size_t{0})}};
  expect_as_read(*plan);
}

}  // namespace
}  // namespace forestcoll
