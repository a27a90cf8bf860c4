// Legs of all-to-alls in fewer rounds: edge colourings whose least number is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "solver/alltoall/routes/rounds.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// What senders have for receivers: a leg over a link out and a link in.
std::vector<Traveller> between(std::size_t ranks, const std::vector<std::size_t>& receivers) {
  std::vector<Traveller> travellers;
  for (std::size_t i = 0; i < receivers.size(); ++i) {
    travellers.push_back({{{{ArcId(i % ranks), ArcId(ranks + receivers[i])}}}, 1});
  }
  return travellers;
}

// One after the other.
LegRounds in_turn(const std::vector<Traveller>& travellers) {
  LegRounds rounds;
  std::int32_t next = 0;
  for (const Traveller& traveller : travellers) {
    auto& of = rounds.emplace_back(traveller.legs.size());
    std::iota(of.begin(), of.end(), next);
    next += static_cast<std::int32_t>(of.size());
  }
  return rounds;
}

void expect_room(const std::vector<Traveller>& travellers, const std::vector<Int128>& room,
                 std::int32_t count, const LegRounds& rounds) {
  std::map<std::pair<ArcId, std::int32_t>, Int128> used;
  for (std::size_t i = 0; i < travellers.size(); ++i) {
    ASSERT_EQ(rounds[i].size(), travellers[i].legs.size());
    for (std::size_t leg = 0; leg < rounds[i].size(); ++leg) {
      EXPECT_LT(rounds[i][leg], count);
      EXPECT_GE(rounds[i][leg], leg == 0 ? 0 : rounds[i][leg - 1] + 1);
      for (const ArcId a : travellers[i].legs[leg].links) {
        used[{a, rounds[i][leg]}] += travellers[i].amount;
      }
    }
  }
  for (const auto& [slot, amount] : used) EXPECT_LE(amount, room[slot.first.index()]);
}

// Bipartite graphs have as many colours as the largest degree (König 1916): senders with ten
// messages each, in ten random orders of the receivers, need ten rounds.
TEST(FewerRounds, FindKoenigsColours) {
  constexpr std::size_t kRanks = 24;
  constexpr std::int32_t kDegree = 10;
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::size_t> receivers;
    for (std::int32_t i = 0; i < kDegree; ++i) {
      std::vector<std::size_t> order(kRanks);
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t at = kRanks; at > 1; --at) std::swap(order[at - 1], order[random() % at]);
      receivers.insert(receivers.end(), order.begin(), order.end());
    }
    const auto travellers = between(kRanks, receivers);
    const std::vector<Int128> room(2 * kRanks, 1);
    LegRounds rounds = in_turn(travellers);
    std::int64_t looks = 1 << 22;
    EXPECT_TRUE(fit_into_rounds(travellers, room, kDegree, rounds, looks)) << seed;
    expect_room(travellers, room, kDegree, rounds);
    const LegRounds before = rounds;
    looks = 1 << 14;
    EXPECT_FALSE(fit_into_rounds(travellers, room, kDegree - 1, rounds, looks));
    EXPECT_LE(looks, 0);
    EXPECT_EQ(rounds, before);
  }
}

// Amounts of 1 to 3 over links of 6, some of them by a relay, whose second leg comes later.
TEST(FewerRounds, KeepRoomAndOrder) {
  std::mt19937 random(3);
  std::vector<Traveller> travellers;
  for (int i = 0; i < 200; ++i) {
    Traveller& traveller = travellers.emplace_back();
    traveller.amount = 1 + static_cast<std::int64_t>(random() % 3);
    for (auto legs = 1 + random() % 3; legs > 0; --legs) {
      traveller.legs.push_back({{ArcId(random() % 8), ArcId(8 + random() % 8)}});
    }
  }
  const std::vector<Int128> room(16, 6);
  std::vector<Int128> loads(16, 0);
  for (const Traveller& traveller : travellers) {
    for (const Leg& leg : traveller.legs) {
      for (const ArcId a : leg.links) loads[a.index()] += traveller.amount;
    }
  }
  const auto least = static_cast<std::int32_t>((*std::ranges::max_element(loads) + 5) / 6);
  LegRounds rounds = in_turn(travellers);
  std::int64_t looks = 1 << 24;
  ASSERT_TRUE(fit_into_rounds(travellers, room, least + 2, rounds, looks));
  expect_room(travellers, room, least + 2, rounds);
}

TEST(FewerRounds, AreNoFewerThanLegs) {
  const std::vector<Traveller> travellers = {{{{{ArcId(0)}}, {{ArcId(1)}}}, 1}};
  LegRounds rounds = {{0, 1}};
  std::int64_t looks = 1000;
  EXPECT_FALSE(fit_into_rounds(travellers, std::vector<Int128>{1, 1}, 1, rounds, looks));
  EXPECT_EQ(rounds, (LegRounds{{0, 1}}));
}

}  // namespace
}  // namespace forestcoll::solver::alltoall
