// Schedules of an all-to-all: judged by a checker that shares no code with what makes them, against
// the proved optimum, against all paths on tiny fabrics, and at the limits of targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/compile.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"
#include "support/alltoall.hpp"
#include "support/fabrics.hpp"
#include "support/random_demand.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using test::FabricBuilder;
using ::testing::HasSubstr;

Fabric fabric_of(const Network& network) {
  auto fabric = make_fabric(test::topology_of(network));
  EXPECT_TRUE(fabric);
  return *std::move(fabric);
}

Expected<Compilation> compile_as(const Fabric& fabric, Format format, std::int64_t k) {
  return compile(fabric, test::alltoall_as(format, k));
}

// What must hold of every schedule, of any fabric.
void expect_sound(const Fabric& fabric, const Compilation& made, Format format) {
  ASSERT_TRUE(made.verdict.ok) << to_string(made.verdict.findings.front());
  EXPECT_EQ(made.verdict.collective_name, "alltoall");
  const Ratio& algbw = test::algbw_of(made);
  EXPECT_EQ(algbw, made.verdict.algbw);
  EXPECT_GT(algbw, Ratio(0));
  EXPECT_LE(algbw, test::optimum_of(made));
  const AlltoallRoutes& routes = made.paths->routes;
  if (format == Format::msccl) {
    EXPECT_TRUE(made.verdict.free_at_one_in_flight);
    EXPECT_EQ(made.verdict.chunks,
              static_cast<std::int64_t>(fabric.network.ranks.size()) * routes.k);
    return;
  }
  EXPECT_EQ(algbw, routes.rate * Ratio(static_cast<std::int64_t>(fabric.network.ranks.size())));
  EXPECT_LE(routes.rate_in_rounds, routes.rate);
}

TEST(AlltoallSchedulesLongest, OfRandomFabricsAreRight) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const Fabric fabric = fabric_of(test::fabric_of_any_sort(seed, 12));
    for (const std::int64_t k : {1, 3}) {
      for (const auto format : {Format::msccl, Format::flows}) {
        const auto made = compile_as(fabric, format, k);
        ASSERT_TRUE(made) << to_string(made.errors().front());
        expect_sound(fabric, *made, format);
      }
    }
  }
}

TEST(AlltoallSchedulesLongest, TwiceAsManyPartsNeverReachLess) {
  for (std::uint64_t seed = 100; seed < 116; ++seed) {
    const Fabric fabric = fabric_of(test::fabric_of_any_sort(seed, 8));
    Ratio previous = 0;
    for (const std::int64_t k : {1, 2, 4, 8}) {
      const auto made = compile_as(fabric, Format::flows, k);
      ASSERT_TRUE(made);
      EXPECT_GE(test::algbw_of(*made), previous) << seed << " " << k;
      previous = test::algbw_of(*made);
    }
  }
}

// What the flows of bundled fabrics reach of the optimum, in parts of 1,000, for k = 1, 2, 4, 8.
struct KnownShare {
  const char* name;
  std::vector<int> least;
};

void PrintTo(const KnownShare& share, std::ostream* out) {
  *out << share.name;
}

class BundledAlltoall : public ::testing::TestWithParam<KnownShare> {};

// Where a fabric has less than 1,000 at k, whole parts do not fit the optimum's loads any better.
TEST_P(BundledAlltoall, FlowsAndXmlAreRightAndReachTheirShare) {
  const Fabric fabric = test::bundled_fabric(GetParam().name);
  std::int64_t k = 1;
  for (const int least : GetParam().least) {
    SCOPED_TRACE(k);
    const auto flows = compile_as(fabric, Format::flows, k);
    ASSERT_TRUE(flows);
    expect_sound(fabric, *flows, Format::flows);
    EXPECT_GE(test::algbw_of(*flows) * Ratio(1000), test::optimum_of(*flows) * Ratio(least))
        << test::algbw_of(*flows).to_string() << " of " << test::optimum_of(*flows).to_string();
    const auto xml = compile_as(fabric, Format::msccl, k);
    ASSERT_TRUE(xml) << to_string(xml.errors().front());
    expect_sound(fabric, *xml, Format::msccl);
    k *= 2;
  }
}

std::string name_of_known(const ::testing::TestParamInfo<KnownShare>& shown) {
  std::string name = shown.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, BundledAlltoall,
                         ::testing::Values(KnownShare{"dgx-1-v100", {888, 969, 969, 992}},
                                           KnownShare{"dgx-a100-x1", {1000, 1000, 1000, 1000}},
                                           KnownShare{"dgx-a100-x2", {1000, 1000, 1000, 1000}},
                                           KnownShare{"hypercube-16", {1000, 1000, 1000, 1000}},
                                           KnownShare{"torus-4x4", {1000, 1000, 1000, 1000}}),
                         name_of_known);
INSTANTIATE_TEST_SUITE_P(AllLong, BundledAlltoall,
                         ::testing::Values(KnownShare{"dgx-a100-x2-degraded", {948, 948, 975, 989}},
                                           KnownShare{"dgx-a100-x4", {1000, 1000}},
                                           KnownShare{"dgx-h100-x4-rail", {1000, 1000}},
                                           KnownShare{"dgx-h100-x4-rail-2to1", {1000, 1000}},
                                           KnownShare{"fat-tree-4", {1000, 1000, 1000, 1000}},
                                           KnownShare{"mi250-x1", {969, 969, 992, 992}},
                                           KnownShare{"mi250-x2", {1000, 1000}},
                                           KnownShare{"mixed-a100-h100", {1000, 1000}}),
                         name_of_known);

// The best of all ways to give every pair one simple path, in parts of the rate's own kind.
class AllPaths {
 public:
  explicit AllPaths(const Network& network) : network_(network) {
    for (const NodeId s : network.ranks) {
      for (const NodeId t : network.ranks) {
        if (s != t) choices_.push_back(paths(s, t));
      }
    }
  }
  Ratio best() {
    loads_.assign(network_.graph.arc_count(), 0);
    choose(0);
    return best_ * network_.unit;
  }

 private:
  using Path = std::vector<ArcId>;
  std::vector<Path> paths(NodeId s, NodeId t) const {
    std::vector<Path> found;
    Path path;
    std::vector<bool> passed(network_.graph.node_count(), false);
    const std::function<void(NodeId)> extend = [&](NodeId v) {
      if (v == t) {
        found.push_back(path);
        return;
      }
      passed[v.index()] = true;
      for (ArcId a = network_.graph.first_out(v); a != network_.graph.last_out(v); ++a.value) {
        if (passed[network_.graph.head(a).index()]) continue;
        path.push_back(a);
        extend(network_.graph.head(a));
        path.pop_back();
      }
      passed[v.index()] = false;
    };
    extend(s);
    return found;
  }
  void choose(std::size_t pair) {
    Ratio rate(INT32_MAX);
    for (std::size_t a = 0; a < loads_.size(); ++a) {
      if (loads_[a] > 0) rate = std::min(rate, Ratio(network_.capacity[ArcId(a)], loads_[a]));
    }
    if (rate <= best_) return;
    if (pair == choices_.size()) {
      best_ = rate;
      return;
    }
    for (const Path& path : choices_[pair]) {
      for (const ArcId a : path) ++loads_[a.index()];
      choose(pair + 1);
      for (const ArcId a : path) --loads_[a.index()];
    }
  }

  const Network& network_;
  std::vector<std::vector<Path>> choices_;
  std::vector<std::int64_t> loads_;
  Ratio best_ = 0;
};

TEST(AlltoallSchedules, AreTheBestOfAllWaysOnTinyFabrics) {
  for (std::uint64_t seed = 200; seed < 260; ++seed) {
    test::RandomOptions options;
    options.max_compute = 4;
    options.max_switches = 1;
    options.max_capacity = 1 + static_cast<Capacity>(seed % 5);
    options.one_way = seed % 3 == 1;
    const Network network = test::random_fabric(seed, options);
    if (network.graph.arc_count() > 14) continue;
    const Demand demand = Demand::uniform(network.ranks.size());
    const auto optimum = alltoall_optimum(network, demand);
    ASSERT_TRUE(optimum);
    const auto routes = route_alltoall(network, demand, optimum->proof.at_most);
    ASSERT_TRUE(routes);
    EXPECT_EQ(routes->rate, AllPaths(network).best()) << seed;
  }
}

TEST(AlltoallSchedulesLong, OfDemandsAreRight) {
  for (std::uint64_t seed = 308; seed < 318; ++seed) {
    SCOPED_TRACE(seed);
    const Fabric fabric = fabric_of(test::fabric_of_any_sort(seed, 8));
    const std::size_t n = fabric.network.ranks.size();
    const Demand demand = test::random_demand(n, std::int64_t{1} << (2 + seed % 12), seed);
    std::int64_t total = 5;  // what ranks have for themselves
    for (std::size_t s = 0; s < n; ++s) {
      for (std::size_t t = 0; t < n; ++t) total += demand(Rank(s), Rank(t));
    }
    CompileOptions options = test::alltoall_as(Format::flows, 8);
    options.demand = ParsedDemand{demand, total};
    const auto made = compile(fabric, options);
    ASSERT_TRUE(made) << to_string(made.errors().front());
    ASSERT_TRUE(made->verdict.ok) << to_string(made->verdict.findings.front());
    EXPECT_EQ(made->verdict.collective_name, "alltoallv");
    EXPECT_LE(test::algbw_of(*made), test::optimum_of(*made));
    EXPECT_GE(test::algbw_of(*made) * Ratio(2), test::optimum_of(*made));
    if (seed > 308) continue;  // the others go the same way
    options.format = Format::msccl;
    const auto xml = compile(fabric, options);
    ASSERT_FALSE(xml);
    EXPECT_EQ(xml.errors().front().code, Code::T09);
  }
}

// One receiver of all, and a rank that has nothing for anybody.
TEST(AlltoallSchedules, OneHotReceiverGetsWhatItsLinksCarry) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  std::vector<std::int64_t> amounts(16 * 16, 0);
  for (std::size_t s = 1; s < 15; ++s) amounts[s * 16] = 1000;
  CompileOptions options = test::alltoall_as(Format::flows, 1);
  options.demand = ParsedDemand{Demand::matrix(16, amounts), 14'000};
  const auto made = compile(fabric, options);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->verdict.ok);
  EXPECT_EQ(made->verdict.busiest->dst, "box0/gpu0");
}

TEST(AlltoallSchedulesLong, SameBytesEveryTime) {
  const Fabric fabric = test::bundled_fabric("mi250-x1");
  for (const auto format : {Format::msccl, Format::flows}) {
    EXPECT_EQ(compile_as(fabric, format, 2)->text, compile_as(fabric, format, 2)->text);
  }
}

// The smallest of those that are as good: on fabrics where one part is enough, one.
TEST(AlltoallSchedulesLong, PartsAreChosen) {
  const CompileOptions options = test::alltoall_as(Format::flows);
  const Fabric enough = test::bundled_fabric("dgx-a100-x2"),
               uneven = test::bundled_fabric("dgx-1-v100");
  EXPECT_EQ(compile(enough, options)->paths->routes.k, 1);
  const auto several = compile(uneven, options);
  EXPECT_EQ(several->paths->routes.k, 8);
  ASSERT_EQ(several->chosen.synthesis.tradeoff.size(), 7U);  // up to 64
  EXPECT_EQ(several->chosen.synthesis.tradeoff[0].algbw, Ratio(200, 3));
}

Network star(std::size_t ranks) {
  FabricBuilder fabric(ranks, 1);
  for (std::size_t r = 0; r < ranks; ++r) fabric.link(r, ranks, 1);
  return fabric.build();
}

CompileOptions for_target(const std::string& target, std::int64_t k) {
  CompileOptions options = test::alltoall_as(Format::msccl, k);
  options.lowering.target = target;
  return options;
}

TEST(AlltoallSchedulesLong, EveryTargetTakesThem) {
  const Fabric direct = test::bundled_fabric("hypercube-16"), switched = fabric_of(star(40));
  for (const std::string target :
       {"azure", "rccl-5.7", "rccl-6", "rccl-6.2", "rccl-6.3", "msccl"}) {
    for (const Fabric* fabric : {&direct, &switched}) {
      for (const std::int64_t k : {1, 4}) {
        for (const bool merge : {false, true}) {
          auto options = for_target(target, k);
          options.lowering.threadblocks = merge ? ThreadblockUse::merge : ThreadblockUse::spread;
          const auto made = compile(*fabric, options);
          ASSERT_TRUE(made) << to_string(made.errors().front());
          // rccl-6 stands for 6.0 too, which lacks cpy, but 6.0 alone.
          EXPECT_TRUE(made->verdict.ok) << target << to_string(made->verdict.findings.front());
          EXPECT_TRUE(made->verdict.free_at_one_in_flight) << target;
        }
      }
    }
  }
}

// In instances: as many chunks of each part, each pair's on lanes of their own; what is a rank's
// own is copied by as many threadblocks.
TEST(AlltoallSchedules, InInstancesAreRight) {
  const Fabric relayed = test::bundled_fabric("hypercube-16"), switched = fabric_of(star(6));
  for (const Fabric* fabric : {&relayed, &switched}) {
    const auto ranks = static_cast<std::int64_t>(fabric->network.ranks.size());
    for (const std::int64_t k : {1, 3}) {
      Ratio rate;
      for (const std::int32_t instances : {1, 2, 4}) {
        for (const bool merge : {false, true}) {
          auto options = for_target("azure", k);
          options.lowering.threadblocks = merge ? ThreadblockUse::merge : ThreadblockUse::spread;
          options.lowering.instances = instances;
          const auto made = compile(*fabric, options);
          ASSERT_TRUE(made) << to_string(made.errors().front());
          ASSERT_TRUE(made->verdict.ok) << to_string(made->verdict.findings.front());
          EXPECT_TRUE(made->verdict.free_at_one_in_flight);
          EXPECT_EQ(made->verdict.chunks, ranks * k * instances);
          if (instances == 1 && !merge) rate = test::algbw_of(*made);
          EXPECT_EQ(test::algbw_of(*made), rate);
          if (fabric == &switched) {
            EXPECT_EQ(made->verdict.threadblocks, instances * (merge ? 6 : 11));
          }
        }
      }
    }
  }
}

// Forty ranks need 79 threadblocks where each has one direction, 40 where each has both.
TEST(AlltoallSchedules, MergeThreadblocksWhereTheyDoNotFit) {
  const Fabric fabric = fabric_of(star(40));
  const auto many = compile(fabric, for_target("azure", 1));
  const auto few = compile(fabric, for_target("rccl-6.3", 1));
  ASSERT_TRUE(many && few);
  EXPECT_EQ(many->verdict.threadblocks, 79);
  EXPECT_EQ(few->verdict.threadblocks, 40);
  EXPECT_EQ(few->verdict.channels, 2);  // no more than 32 to a channel
}

std::string refusal_of(const Fabric& fabric, const CompileOptions& options) {
  const auto made = compile(fabric, options);
  if (made) return "fits";
  const Diagnostic& error = made.errors().front();
  EXPECT_EQ(error.kind, info_of(*error.code).kind);
  return to_string(error);
}

TEST(AlltoallSchedules, WhatDoesNotFitIsRefusedInWords) {
  const Fabric sixty = fabric_of(star(66)), pair = fabric_of(star(2));
  EXPECT_THAT(refusal_of(sixty, for_target("rccl-6.3", 1)),
              AllOf(HasSubstr("T01"), HasSubstr("66 threadblocks"), HasSubstr("64 are allowed"),
                    HasSubstr("`format=flows`")));
  EXPECT_EQ(refusal_of(fabric_of(star(64)), for_target("rccl-6.3", 1)), "fits");
  EXPECT_THAT(refusal_of(pair, for_target("azure", 16385)),
              AllOf(HasSubstr("T04"), HasSubstr("`k=16384`")));
  auto few = for_target("azure", 1);
  few.lowering.max_threadblocks = 1;
  EXPECT_THAT(refusal_of(pair, few), HasSubstr("T01"));
  EXPECT_THAT(refusal_of(fabric_of(star(30)), for_target("azure", 5000)), HasSubstr("T10"));
  auto unknown = for_target("azure", 1);
  unknown.lowering.target = "none";
  const auto made = compile(pair, unknown);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.errors().front().code, Code::T07);
}

// Scratch is given back: on a ring of eight, far fewer places than chunks that are relayed.
TEST(AlltoallSchedules, ScratchIsUsedAgain) {
  FabricBuilder builder(8);
  for (std::size_t r = 0; r < 8; ++r) builder.link(r, (r + 1) % 8, 1);
  const Fabric ring = fabric_of(builder.build());
  const auto made = compile_as(ring, Format::msccl, 4);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->verdict.ok);
  std::int64_t relayed = 0;  // chunks, by all ranks
  for (const AlltoallPath& path : made->paths->routes.paths) {
    relayed += path.parts * (std::ssize(path.nodes) - 2);
  }
  EXPECT_GT(made->paths->scratch, 0);
  EXPECT_LT(made->paths->scratch * 8, relayed);
}

}  // namespace
}  // namespace forestcoll::testing
