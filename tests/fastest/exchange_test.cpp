// Exchanges of whole buffers, on any number of ranks and for all runtimes.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "choose/as_written.hpp"
#include "fastest/fabrics.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/run.hpp"

namespace forestcoll {
namespace {

using ::testing::HasSubstr;

LowerOptions in_instances(std::int32_t instances, const std::string& target = "azure") {
  LowerOptions options;
  options.instances = instances;
  options.target = target;
  return options;
}

// The checker, and sums in any order of threadblocks that the waits leave.
void expect_right(Exchange exchange, std::size_t ranks, const LowerOptions& options) {
  const auto schedule = lower_exchange(exchange, ranks, options);
  ASSERT_TRUE(schedule) << to_string(schedule.errors().front());
  const Fabric fabric = test::star_of(ranks);
  CollectiveForest head;
  head.collective = Collective::allreduce;
  XmlOptions xml;
  const bool is_ll_only = exchange == Exchange::all_pairs || exchange == Exchange::all_pairs_once;
  if (is_ll_only) xml.protocol = "LL";
  const auto verdict = verify(to_msccl_xml(*schedule, head, fabric.topology, xml), "exchange",
                              &fabric.topology, {.target = options.target});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << ranks << " " << to_string(verdict->findings.front());
  EXPECT_NE(verdict->free_at_one_in_flight, is_ll_only);
  EXPECT_EQ(testing::run_in_many_ways(*schedule, 3, is_ll_only ? 8 : 1), "") << ranks;
}

LowerOptions placed(LowerOptions options, bool in_place) {
  options.placement = in_place ? Placement::in_place : Placement::out_of_place;
  return options;
}

// Where threadblocks are told before they are made, they are as many as are made.
TEST(Exchange, TakesAsManyThreadblocksAsItIsRefusedFor) {
  for (const ExchangeInfo& info : exchanges()) {
    for (const std::size_t ranks : {2U, 4U, 8U, 9U, 16U}) {
      for (const std::int32_t instances : {1, 2}) {
        LowerOptions options = in_instances(instances);
        const auto made = lower_exchange(info.exchange, ranks, options);
        if (!made) continue;  // Swing, on 9 ranks
        options.max_threadblocks = static_cast<std::int32_t>(made->max_threadblocks());
        EXPECT_TRUE(lower_exchange(info.exchange, ranks, options)) << info.name << " " << ranks;
        --options.max_threadblocks;
        const auto refused = lower_exchange(info.exchange, ranks, options);
        ASSERT_FALSE(refused) << info.name << " " << ranks;
        EXPECT_EQ(refused.errors().front().code, Code::T01);
        EXPECT_THAT(
            refused.errors().front().message,
            HasSubstr(std::to_string(made->max_threadblocks()) + " threadblocks of a rank"));
      }
    }
  }
}

TEST(ExchangeLong, IsRightOnAnyNumberOfRanks) {
  for (std::size_t ranks = 2; ranks <= 13; ++ranks) {
    for (const ExchangeInfo& info : exchanges()) {
      if (info.exchange == Exchange::swing && !std::has_single_bit(ranks)) continue;
      for (const bool in_place : {true, false}) {
        expect_right(info.exchange, ranks, placed(in_instances(ranks % 3 == 0 ? 2 : 1), in_place));
      }
    }
  }
}

// Runtimes make additions in a row into one place one, and hold sixteen of them.
TEST(ExchangeLong, RowsOfAdditionsEndInTime) {
  for (const std::size_t ranks : {17, 33}) {
    expect_right(Exchange::all_pairs_once, ranks, in_instances(1));
  }
}

TEST(ExchangeLong, IsRightForAllRuntimes) {
  for (const std::string target : {"azure", "msccl", "rccl-5.7", "rccl-6", "rccl-6.3"}) {
    for (const ExchangeInfo& info : exchanges()) {
      for (const bool in_place : {true, false}) {
        expect_right(info.exchange, 8, placed(in_instances(2, target), in_place));
      }
    }
  }
}

// Everybody sends all: of 5 ranks 4 times; with doubling log N times.
TEST(Exchange, LoadsLinksWithWholeBuffers) {
  for (const auto& [name, load] : {std::pair("one-shot", 7), std::pair("recursive-doubling", 3),
                                   std::pair("swing-doubling", 3)}) {
    const auto schedule = lower_exchange(find_exchange(name)->exchange, 8, in_instances(1));
    const Fabric fabric = test::star_of(8);
    CollectiveForest head;
    head.collective = Collective::allreduce;
    const auto verdict = verify(to_msccl_xml(*schedule, head, fabric.topology, {}), "exchange",
                                &fabric.topology, {});
    ASSERT_TRUE(verdict && verdict->algbw);
    EXPECT_EQ(*verdict->algbw, Ratio(300, load)) << name;
  }
}

// Each threadblock but the one too many sums what it got; a part of the whole crosses each link
// twice, or the whole once.
TEST(Exchange, AllPairsShareTheSums) {
  const auto twice = lower_exchange(Exchange::all_pairs, 8, in_instances(8, "rccl-6.3"));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->max_threadblocks(), 64);
  EXPECT_EQ(twice->chunks, 8 * 8 * 8);
  const Fabric fabric = test::star_of(8);
  CollectiveForest head;
  head.collective = Collective::allreduce;
  for (const auto& [name, load] :
       {std::pair("all-pairs-once", Ratio(7)), std::pair("all-pairs", Ratio(14, 8))}) {
    const auto schedule = lower_exchange(find_exchange(name)->exchange, 8, in_instances(1));
    const auto verdict = verify(to_msccl_xml(*schedule, head, fabric.topology, {.protocol = "LL"}),
                                "exchange", &fabric.topology, {});
    ASSERT_TRUE(verdict && verdict->algbw);
    EXPECT_EQ(*verdict->algbw, Ratio(300) / load) << name;
    for (const RankProgram& program : schedule->programs) {
      for (const Threadblock& block : program.threadblocks) {
        const auto sums = std::ranges::count(block.steps, Operation::reduce, &Step::operation);
        EXPECT_EQ(sums, 7);
      }
    }
  }
}

// Eight messages in flight: room in LL for any size.
TEST(Exchange, AllPairsAreInLlByDefault) {
  const Fabric fabric = test::star_of(8);
  CompileOptions options;
  const auto& all_pairs = *find_exchange("all-pairs");
  const auto made = compile_exchange(fabric, all_pairs, options);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->verdict.ok);
  EXPECT_THAT(made->text, HasSubstr("proto=\"LL\""));
}

// In Simple, where two operations are in flight, up to what the checker finds, too.
TEST(Exchange, AllPairsInSimpleEndWhereTheRoomDoes) {
  for (std::size_t ranks = 2; ranks <= 12; ++ranks) {
    const Fabric fabric = test::star_of(ranks);
    for (const std::string name : {"all-pairs", "all-pairs-once"}) {
      CompileOptions options;
      options.xml.protocol = "Simple";
      options.lowering.instances = 2;
      const ExchangeInfo& info = *find_exchange(name);
      const auto made = compile_exchange(fabric, info, options);
      ASSERT_TRUE(made) << to_string(made.errors().front());
      EXPECT_TRUE(made->verdict.ok) << ranks << to_string(made->verdict.findings.front());
      EXPECT_EQ(made->verdict.protocol, "Simple");
      const auto most = most_bytes_in_simple(info.exchange, ranks, 2, kDefaultBufferBytes);
      EXPECT_EQ(most.has_value(), ranks > 2);
      EXPECT_EQ(made->verdict.safe_bytes, most) << ranks << name;
      if (!most) continue;
      options.xml.min_bytes = *most + 1;
      const auto refused = compile_exchange(fabric, info, options);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.errors().front().code, Code::T08);
    }
  }
}

// Out of place, exchanges win at small sizes as they do in place.
TEST(ExchangeLong, CompetesInBothPlacements) {
  const Fabric fabric = test::star_of(8);
  for (const bool in_place : {true, false}) {
    FastestOptions options;
    options.sizes = {4096};
    options.compile.lowering = placed({}, in_place);
    const auto made = fastest_schedule(fabric, options);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->choice.algorithm, "all-pairs-once");
    EXPECT_TRUE(made->compilation.verdict.ok);
    EXPECT_THAT(made->compilation.text, HasSubstr(in_place ? "inplace=\"1\"" : "inplace=\"0\""));
  }
}

TEST(Exchange, SaysWhatDoesNotFit) {
  const auto code = [](Exchange exchange, std::size_t ranks, const LowerOptions& options) {
    const auto schedule = lower_exchange(exchange, ranks, options);
    EXPECT_FALSE(schedule);
    EXPECT_FALSE(schedule.errors().front().remedy.empty());
    return schedule ? std::nullopt : schedule.errors().front().code;
  };
  EXPECT_EQ(code(Exchange::one_shot, 200, in_instances(1)), Code::T01);
  EXPECT_EQ(code(Exchange::one_shot, 2, in_instances(33)), Code::T03);
  EXPECT_EQ(code(Exchange::swing, 12, in_instances(1)), Code::B02);
  EXPECT_EQ(code(Exchange::all_pairs, 40, in_instances(1)), Code::T02);
  EXPECT_EQ(code(Exchange::one_shot, 4, in_instances(1, "none")), Code::T07);
  LowerOptions both = in_instances(1);
  both.placement = Placement::both;
  EXPECT_EQ(code(Exchange::one_shot, 4, both), Code::T06);
  EXPECT_EQ(find_exchange("nothing"), nullptr);
}

// What the search goes by is what the checker, which shares no code with it, finds in the text;
// nothing where two GPUs have no route through switches alone, or fractions become too long.
TEST(RateOfPrograms, IsTheOneThatTheCheckerFinds) {
  const std::string limited = R"({"format": "forestcoll-topology", "version": 1, "name": "limited",
    "nodes": [{"id": "gpu[0-3]", "type": "compute"}, {"id": "sw", "type": "switch"}],
    "links": [{"src": "gpu[0-3]", "dst": "sw", "bandwidth": 10}],
    "limits": [{"links": ["gpu0->sw", "gpu1->sw"], "bandwidth": 13, "weights": [1, 2]}]})";
  const std::vector<Fabric> fabrics = {test::fabric_of(limited), test::boxes_of_two(3),
                                       test::star_of(5), test::bundled_fabric("dgx-1-v100"),
                                       test::bundled_fabric("dgx-a100-x2")};
  std::size_t known = 0;
  for (const Fabric& fabric : fabrics) {
    for (const ExchangeInfo& info : exchanges()) {
      const std::size_t ranks = fabric.network.ranks.size();
      const auto schedule = lower_exchange(info.exchange, ranks, in_instances(1));
      if (!schedule) continue;  // Swing, on a number of ranks that it cannot serve
      CollectiveForest head;
      head.collective = Collective::allreduce;
      XmlOptions xml;
      xml.protocol = "LL";
      const auto verdict = verify(to_msccl_xml(*schedule, head, fabric.topology, xml), "exchange",
                                  &fabric.topology, {});
      ASSERT_TRUE(verdict);
      const auto rate = choose::algbw_by_peers(*schedule, fabric.links());
      if (!rate) continue;
      EXPECT_EQ(rate, verdict->algbw) << fabric.topology.name << " " << info.name;
      ++known;
    }
  }
  EXPECT_GE(known, 15U);
}

}  // namespace
}  // namespace forestcoll
