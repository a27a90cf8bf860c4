// The route of one chunk is what all transfers together are made of.
#include <gtest/gtest.h>

#include "audit/common/fabric_load.hpp"
#include "support/files.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::audit {
namespace {

// Its arcs are in order, and those of a search of the whole fabric.
TEST(RouteTransfer, IsThatOfAllTransfersAlone) {
  for (const std::string& name : test::small_bundled_names()) {
    const Network network = test::bundled_network(name);
    const std::size_t ranks = network.ranks.size();
    for (std::size_t from = 0; from < ranks; ++from) {
      for (std::size_t to = 0; to < ranks; ++to) {
        if (from == to) continue;
        Findings of_all(""), of_one("");
        const auto all = route_transfers(
            network, {{{static_cast<std::int32_t>(from), static_cast<std::int32_t>(to)}, 1}},
            of_all);
        const auto one = route_transfer(network, Rank(from), Rank(to), of_one);
        ASSERT_TRUE(all && one) << name;
        EXPECT_EQ(of_all.count(), of_one.count()) << name;
        std::vector<std::pair<ArcId, Ratio>> expected;
        for (std::size_t a = 0; a < all->size(); ++a) {
          if ((*all)[ArcId(a)] > Ratio(0)) expected.emplace_back(a, (*all)[ArcId(a)]);
        }
        EXPECT_EQ(*one, expected) << name << ", " << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace forestcoll::audit
