// Rates that are kept up to date against progressive filling from nothing, as it is defined.
#include "simulate/run/fair_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "simulate/run/binding_links.hpp"

namespace forestcoll::simulate {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct SharedFabric {
  std::vector<double> capacity;
  std::vector<FlowKind> kinds;
};

// All rates grow together, until a link is full or a kind has its most; those stop, the others go
// on.
std::vector<double> by_definition(const SharedFabric& fabric, const std::vector<double>& weight) {
  std::vector<double> rate(weight.size(), -1);  // −1: it grows
  for (;;) {
    std::vector<double> left = fabric.capacity, growing(left.size(), 0);
    double level = kInfinite;
    for (std::size_t k = 0; k < weight.size(); ++k) {
      if (weight[k] == 0) continue;
      if (rate[k] < 0) level = std::min(level, fabric.kinds[k].most);
      for (const auto& [l, part] : fabric.kinds[k].route) {
        const auto link = static_cast<std::size_t>(l);
        if (rate[k] < 0) growing[link] += weight[k] * part;
        left[link] -= std::max(rate[k], 0.0) * weight[k] * part;
      }
    }
    for (std::size_t l = 0; l < left.size(); ++l) {
      if (growing[l] > 0) level = std::min(level, left[l] / growing[l]);
    }
    bool is_done = true;
    for (std::size_t k = 0; k < weight.size(); ++k) {
      if (weight[k] == 0 || rate[k] >= 0) continue;
      is_done = false;
      const bool stops = fabric.kinds[k].most <= level ||
                         std::ranges::any_of(fabric.kinds[k].route, [&](const LinkPart& part) {
                           const auto l = static_cast<std::size_t>(part.link);
                           return left[l] / growing[l] <= level * (1 + 1e-12);
                         });
      if (stops) rate[k] = level;
    }
    if (is_done) return rate;
  }
}

class FairSharesOf : public testing::TestWithParam<unsigned> {
 protected:
  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

  // Of a few capacities and a few limits, so that many links are full at once.
  SharedFabric any_fabric() {
    SharedFabric fabric;
    for (int l = pick(1, 24); l > 0; --l) fabric.capacity.push_back(10 * pick(1, 3));
    const int links = static_cast<int>(fabric.capacity.size());
    for (int k = pick(1, 60); k > 0; --k) {
      FlowKind kind{{}, pick(0, 2) == 0 ? pick(1, 6) : kInfinite};
      const int first = pick(0, links - 1), hops = pick(1, std::min(links, 5));
      for (int h = 0; h < hops; ++h) kind.route.push_back({(first + h) % links, pick(1, 4) / 4.0});
      fabric.kinds.push_back(kind);
    }
    return fabric;
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(FairSharesOf, AnyFabricAreThoseOfProgressiveFilling) {
  const SharedFabric fabric = any_fabric();
  FairShares shares(fabric.capacity, fabric.kinds);
  std::vector<double> weight(fabric.kinds.size(), 0), told(weight);
  for (int round = 0; round < 60; ++round) {
    for (int i = pick(1, 4); i > 0; --i) {
      const int k = pick(0, static_cast<int>(weight.size()) - 1);
      double& changed = weight[static_cast<std::size_t>(k)];
      changed = pick(0, 1) == 0 ? 0 : pick(1, 5);
      shares.set_weight(k, changed);
    }
    for (const auto& [k, rate] : shares.share_out()) told[static_cast<std::size_t>(k)] = rate;
    const std::vector<double> expected = by_definition(fabric, weight);
    for (std::size_t k = 0; k < weight.size(); ++k) {
      if (weight[k] == 0) continue;
      const double rate = shares.rate(static_cast<std::int32_t>(k));
      ASSERT_NEAR(rate, expected[k], 1e-8 * expected[k]) << "kind " << k << ", round " << round;
      ASSERT_EQ(told[k], rate) << "kind " << k << ", round " << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FairSharesOf, testing::Range(0U, 150U));

TEST(FairShares, AreTheSameHoweverOftenOthersCameAndWent) {
  // One kind that stays, as it has its most; one that comes and goes; and one that takes the rest.
  const std::vector<double> capacity = {1e9 / 3};
  const std::vector<FlowKind> kinds = {
      {{{0, 0.7}}, 1e7 / 3}, {{{0, 0.3}}, 1e7 / 7}, {{{0, 1}}, kInfinite}};
  FairShares shares(capacity, kinds), fresh(capacity, kinds);
  for (FairShares* each : {&shares, &fresh}) each->set_weight(0, 3);
  for (int i = 1; i < 30'000; ++i) {
    shares.set_weight(1, i % 2 == 0 ? 0 : 1 + std::fmod(i * 0.618, 5));
    (void)shares.share_out();
  }
  shares.set_weight(1, 0);
  for (FairShares* each : {&shares, &fresh}) {
    (void)each->share_out();
    each->set_weight(2, 1);
    (void)each->share_out();
  }
  EXPECT_EQ(shares.rate(2), fresh.rate(2));
}

TEST(BindingLinks, AreThoseThatMayBeFullAlone) {
  // From a GPU to its NIC, to the network, and on over a link that is shared with another flow.
  const std::vector<double> capacity = {25, 25, 50, 20, kInfinite};
  const std::vector<FlowKind> kinds = {{{{0, 1}, {1, 1}, {2, 1}, {4, 1}}, kInfinite},
                                       {{{2, 1}, {3, 0.5}}, kInfinite}};
  // The first of two that are the same; 3 has room for 40 where 2 has for 50.
  EXPECT_EQ(binding_links(capacity, kinds), (std::vector<char>{1, 0, 1, 1, 0}));
  // What half of it goes over is full after what all of it goes over.
  const std::vector<FlowKind> halves = {{{{0, 1}, {1, 0.5}, {3, 0.5}}, kInfinite}};
  EXPECT_EQ(binding_links(capacity, halves), (std::vector<char>{1, 0, 1, 0, 1}));
}

TEST(FairShares, LeaveAloneWhomNothingConcerns) {
  // Two links that each hold a kind up; a third kind comes to one of them.
  const std::vector<double> capacity = {12, 20};
  const std::vector<FlowKind> kinds = {
      {{{0, 1}}, kInfinite}, {{{1, 1}}, kInfinite}, {{{0, 1}}, kInfinite}};
  FairShares shares(capacity, kinds);
  shares.set_weight(0, 1);
  shares.set_weight(1, 1);
  EXPECT_EQ(shares.share_out().size(), 2U);
  shares.set_weight(2, 1);
  std::vector<std::int32_t> changed;
  for (const auto& change : shares.share_out()) changed.push_back(change.kind);
  std::ranges::sort(changed);
  EXPECT_EQ(changed, (std::vector<std::int32_t>{0, 2}));
  EXPECT_DOUBLE_EQ(shares.rate(0), 6);
  EXPECT_DOUBLE_EQ(shares.rate(1), 20);
  EXPECT_TRUE(shares.share_out().empty());
}

}  // namespace
}  // namespace forestcoll::simulate
