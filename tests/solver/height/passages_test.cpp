#include "solver/height/whole/passages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "solver/common/core.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

using solver::Fit;

solver::Core core_at(const Network& network, std::int64_t scale) {
  IdVector<ArcId, Capacity> capacity = network.capacity;
  for (Capacity& each : capacity) each *= scale;
  return solver::make_core(network, capacity);
}

/// A fabric, and whose turn it is there.
struct Turns {
  solver::Core core;
  solver::Resources resources;
  solver::Passages passages;

  explicit Turns(solver::Core fabric)
      : core(std::move(fabric)),
        resources(solver::plain_resources(core.capacity)),
        passages(core, resources, core.capacity) {}

  /// One tree of every root: how many passages there are into each rank, and out of it.
  std::pair<std::map<Rank, int>, std::map<Rank, int>> counts(Fit fit) {
    std::map<Rank, int> into, out_of;
    for (std::size_t r = 0; r < core.compute.size(); ++r) {
      for (std::size_t g = 0; g < passages.group_count(); ++g) {
        const solver::Passage passage = passages.take(g, Rank(r), 1, fit);
        if (g == passages.group_of(Rank(r))) {
          EXPECT_EQ(passage.to, Rank(r));
          continue;
        }
        EXPECT_EQ(passages.group_of(passage.to), g);
        EXPECT_EQ(passages.group_of(passage.from), passages.group_of(Rank(r)));
        ++into[passage.to];
        ++out_of[passage.from];
      }
    }
    return {into, out_of};
  }
};

TEST(Passages, SharesTheWorkEvenlyWhereLinksAreAlike) {
  for (const Fit fit : {Fit::within, Fit::perhaps}) {
    Turns turns(core_at(test::dgx_a100(4), 1000));
    ASSERT_EQ(turns.passages.group_count(), 4U);
    const auto [into, out_of] = turns.counts(fit);
    for (std::size_t r = 0; r < 32; ++r) {
      EXPECT_EQ(into.at(Rank(r)), 3);
      EXPECT_EQ(out_of.at(Rank(r)), 3);
    }
  }
}

// The link of rank 5 to the network has room for two trees; it owes three, and gets three.
TEST(Passages, GoesAroundLinksThatAreFull) {
  const solver::Core whole = core_at(test::dgx_a100(4), 1000);
  const NodeId node = whole.compute[5];
  const Capacity widest = *std::max_element(whole.capacity.begin(), whole.capacity.end());
  solver::Core narrow = whole;
  for (std::size_t a = 0; a < narrow.graph.arc_count(); ++a) {
    const Arc arc = narrow.graph.arcs()[a];
    const bool is_at_rank = arc.tail == node || arc.head == node;
    if (is_at_rank && narrow.capacity[ArcId(a)] < widest) narrow.capacity[ArcId(a)] = 2;
  }
  Turns turns(narrow);
  const auto [into, out_of] = turns.counts(Fit::perhaps);
  EXPECT_EQ(into.at(Rank(5)), 2);
  EXPECT_EQ(out_of.at(Rank(5)), 2);

  Turns heedless(narrow);
  EXPECT_EQ(heedless.counts(Fit::within).first.at(Rank(5)), 3);
}

}  // namespace
}  // namespace forestcoll
