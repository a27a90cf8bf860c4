// What was lost where the scale asked for could not be packed: said exactly.
#include <gtest/gtest.h>

#include <stop_token>

#include "forestcoll/synthesize.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

TEST(Raise, TheLossIsTheQuotientOfTheScales) {
  int raised = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 7, .unbalanced = true});
    for (const std::int64_t k : {1, 3}) {
      SynthesizeOptions options{.collective = Collective::allgather};
      options.trees_per_root = {TreesPerRoot::Mode::fixed, k};
      const auto synthesis = synthesize(network, options);
      ASSERT_TRUE(synthesis) << seed;
      EXPECT_FALSE(synthesis->reduce_raise);
      EXPECT_EQ(synthesis->raised, synthesis->broadcast_raise.has_value());
      EXPECT_LE(synthesis->allowed, synthesis->forest.optimum);
      if (!synthesis->raised) {
        EXPECT_EQ(synthesis->forest.algbw, synthesis->allowed) << seed;
        continue;
      }
      ++raised;
      const Raise& raise = *synthesis->broadcast_raise;
      EXPECT_LT(raise.asked, raise.reached);
      EXPECT_EQ(synthesis->forest.algbw / synthesis->allowed, raise.asked / raise.reached) << seed;
    }
  }
  EXPECT_GT(raised, 0);
}

TEST(RaiseLongest, ALimitOnTheHeightIsOneToo) {
  SynthesizeOptions options{.collective = Collective::allreduce};
  const Network network = test::direct_boxes(2, 8);
  const auto free = synthesize(network, options);
  ASSERT_TRUE(free);
  EXPECT_FALSE(free->raised);
  options.max_height = free->forest.broadcast->max_height() - 1;
  const auto low = synthesize(network, options);
  ASSERT_TRUE(low);
  EXPECT_LE(low->forest.broadcast->max_height(), *options.max_height);
  EXPECT_EQ(low->raised, low->forest.algbw < low->allowed);
  EXPECT_EQ(low->allowed, free->forest.algbw);
}

TEST(RaiseLong, RowsOfTheTradeoffFallWithTheHeight) {
  const SynthesizeOptions options{.collective = Collective::allreduce};
  const auto rows = rate_by_height(test::direct_boxes(2, 8), options);
  ASSERT_TRUE(rows);
  ASSERT_FALSE(rows->empty());
  for (std::size_t i = 1; i < rows->size(); ++i) {
    EXPECT_LT((*rows)[i].height, (*rows)[i - 1].height);
    EXPECT_LE((*rows)[i].algbw, (*rows)[i - 1].algbw);
  }
}

TEST(RaiseLong, AStopLeavesTheRowsSoFar) {
  SynthesizeOptions options{.collective = Collective::allgather};
  const Network network = test::direct_boxes(2, 8);
  const auto all = rate_by_height(network, options);
  ASSERT_TRUE(all);
  ASSERT_GT(all->size(), 1U);
  std::stop_source source;
  bool first_is_done = false;
  options.packing.stop = source.get_token();
  options.packing.progress = [&](std::string_view stage, std::optional<double> done) {
    if (stage != "packing" || !done) return;
    if (first_is_done && *done < 1) source.request_stop();
    first_is_done |= *done >= 1;
  };
  const auto some = rate_by_height(network, options);
  ASSERT_TRUE(some) << some.errors().front().message;
  ASSERT_EQ(some->size(), 1U);
  EXPECT_EQ(some->front().height, all->front().height);
  EXPECT_EQ(some->front().algbw, all->front().algbw);
}

}  // namespace
}  // namespace forestcoll
