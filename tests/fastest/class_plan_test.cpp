// The plan that one rank of each class has is the one that it has among all.
#include "schedule/mscclpp/class_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "choose/plan_file.hpp"
#include "choose/plan_shapes.hpp"
#include "fastest/fabrics.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/prepare_program.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

std::optional<CollectiveForest> our_forest(const Fabric& fabric, Collective collective,
                                           std::int64_t k) {
  return test::forest_of(fabric, collective, "forestcoll", k);
}

Expected<Simulator> simulator_of(const Fabric& fabric, const schedule::ClassPlan& classes) {
  auto links = simulate::Fabric::make(without_relays(fabric.topology));
  if (!links) return links.errors();
  return simulate::prepare_plan(choose::plan_file_of(classes.plan), classes.plan.collective,
                                fabric.topology, *std::move(links), choose::images_of(classes));
}

void expect_equal_times(const Fabric& fabric, const schedule::ClassPlan& classes,
                        const ExecutionPlan& all) {
  auto links = simulate::Fabric::make(without_relays(fabric.topology));
  ASSERT_TRUE(links);
  const auto one = simulator_of(fabric, classes);
  const auto each = simulate::prepare_plan(choose::plan_file_of(all), all.collective,
                                           fabric.topology, *std::move(links));
  ASSERT_TRUE(one) << one.errors().front().message;
  ASSERT_TRUE(each);
  const auto parameters = find_simulation_parameters(fabric.gpu.name);
  ASSERT_TRUE(parameters);
  for (const std::int64_t bytes : {std::int64_t{1} << 16, std::int64_t{1} << 28}) {
    const auto fast = one->run({bytes}, *parameters, {});
    const auto full = each->run({bytes}, *parameters, {});
    ASSERT_TRUE(fast && full);
    EXPECT_NEAR(fast->times.front().seconds / full->times.front().seconds, 1, 1e-9) << bytes;
    ASSERT_EQ(fast->links.size(), full->links.size());
    for (std::size_t i = 0; i < fast->links.size(); ++i) {
      EXPECT_EQ(fast->links[i].src, full->links[i].src);
      EXPECT_NEAR(fast->links[i].busy, full->links[i].busy, 1e-9);
    }
  }
}

// How many shapes have plans of classes, which are compared with those of all ranks.
int compare(const Fabric& fabric, const std::optional<CollectiveForest>& forest,
            PlanOptions options = {}) {
  int alike = 0;
  EXPECT_TRUE(forest);
  if (!forest) return alike;
  const auto boxes = boxes_of_ranks(fabric.topology);
  for (const PlanShape& shape : choose::plan_shapes(choose::PlanOf::trees)) {
    options.shape = shape;
    const auto found = schedule::lower_classes_to_plan(*forest, boxes, options);
    if (found && !*found) continue;
    const auto all = lower_to_plan(*forest, boxes, options);
    EXPECT_EQ(found.has_value(), all.has_value());
    if (!found || !all) continue;
    ++alike;
    const schedule::ClassPlan& classes = **found;
    expect_equal_times(fabric, classes, *all);
    EXPECT_EQ(classes.plan.max_bytes, all->max_bytes);
    if (options.any_buffers) continue;  // others stage nothing, and so have less scratch
    const audit::PlanFile one = choose::plan_file_of(classes.plan);
    const audit::PlanFile each = choose::plan_file_of(*all);
    for (std::size_t r = 0; r < each.gpus.size(); ++r) {
      if (!classes.views.is_first(Rank(r))) continue;
      EXPECT_TRUE(one.gpus[r] == each.gpus[r]) << "rank " << r;
    }
  }
  return alike;
}

Fabric boxes_of(const std::string& name, int boxes) {
  auto fabric =
      make_fabric(test::generated_topology(name, {{"boxes", std::to_string(boxes)}}), Metadata{});
  EXPECT_TRUE(fabric);
  return *std::move(fabric);
}

TEST(ClassPlanLong, PlansOfOurTreesAreThoseOfAll) {
  const Fabric nvidia = boxes_of("dgx-a100", 3), amd = boxes_of("mi300x", 2);
  EXPECT_GT(compare(nvidia, our_forest(nvidia, Collective::allreduce, 1)), 3);
  EXPECT_GT(compare(nvidia, our_forest(nvidia, Collective::allgather, 2)), 3);
  EXPECT_GT(compare(amd, our_forest(amd, Collective::reduce_scatter, 3)), 3);
}

TEST(ClassPlanLong, PlansOfOthersAreThoseOfAll) {
  const Fabric fabric = boxes_of("dgx-h100", 2);
  for (const char* algorithm : {"nccl-ring", "two-level", "two-level-pat", "hierarchical",
                                "double-tree", "double-tree-direct"}) {
    EXPECT_GT(compare(fabric, test::forest_of(fabric, Collective::allreduce, algorithm, 0)), 0)
        << algorithm;
  }
}

TEST(ClassPlanLong, PlansOfOneBoxAreThoseOfAllWhateverTheBuffers) {
  for (const bool in_place : {false, true}) {
    for (const bool any_buffers : {false, true}) {
      PlanOptions options;
      options.in_place = in_place;
      options.any_buffers = any_buffers;
      const Fabric star = test::star_of(4), boxes = test::boxes_of_two(2);
      EXPECT_GT(compare(star, our_forest(star, Collective::allreduce, 2), options), 0);
      EXPECT_GT(compare(boxes, our_forest(boxes, Collective::allgather, 1), options), 0);
    }
  }
}

// Trees may be more alike than links.
TEST(ClassPlan, ItIsNotSimulatedWhereLinksDiffer) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2-degraded");
  const auto forest = our_forest(fabric, Collective::allgather, 1);
  ASSERT_TRUE(forest);
  const auto classes =
      schedule::lower_classes_to_plan(*forest, boxes_of_ranks(fabric.topology), {});
  ASSERT_TRUE(classes && *classes);
  const auto simulator = simulator_of(fabric, **classes);
  ASSERT_FALSE(simulator);
  EXPECT_EQ(simulator.errors().front().code, Code::M04);
}

TEST(ClassPlan, ThereIsNoneWhereRanksDiffer) {
  const Fabric fabric = test::fabric_of(R"({"format": "forestcoll-topology", "version": 1,
    "name": "a path", "nodes": [{"id": "n[0-2]", "type": "compute"}],
    "links": [{"src": "n[0-1]", "dst": "n[1-2]", "pair": "zip", "bandwidth": 50}]})");
  const auto forest = our_forest(fabric, Collective::allreduce, 1);
  ASSERT_TRUE(forest);
  const auto classes =
      schedule::lower_classes_to_plan(*forest, boxes_of_ranks(fabric.topology), {});
  ASSERT_TRUE(classes);
  EXPECT_FALSE(*classes);
}

// A turn of all ranks by one takes ranks of one box to ranks of two.
TEST(ClassPlan, BoxesAreExchangedAsWholes) {
  const Fabric star = test::star_of(4);
  const auto forest = our_forest(star, Collective::allgather, 1);
  ASSERT_TRUE(forest);
  const schedule::Views views(*forest);
  ASSERT_EQ(views.images(), 4u);
  const auto are_kept = [&](const std::vector<std::int32_t>& numbers) {
    IdVector<Rank, std::int32_t> boxes;
    for (const std::int32_t number : numbers) boxes.push_back(number);
    return schedule::keep_boxes(views, boxes);
  };
  EXPECT_TRUE(are_kept({0, 0, 0, 0}));
  EXPECT_TRUE(are_kept({-1, -1, -1, -1}));
  EXPECT_FALSE(are_kept({0, 0, 0, 1}));
  EXPECT_FALSE(are_kept({0, 0, -1, -1}));
}

}  // namespace
}  // namespace forestcoll
