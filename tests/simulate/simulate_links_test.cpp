// Fair shares against their definition, and event graphs by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "simulate/run/event_run.hpp"
#include "simulate/run/shared_links.hpp"

namespace forestcoll::simulate {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

Activity flow(std::int32_t kind, double bytes, double weight = 1) {
  Activity activity;
  activity.kind = kind;
  activity.bytes = bytes;
  activity.weight = weight;
  return activity;
}

TEST(SharedLinks, TheTextbookCase) {
  // A long flow over two links, one of them shared with a short flow, the other with two.
  const std::vector<double> capacity = {10, 12};
  const std::vector<FlowKind> kinds = {
      {{{0, 1}, {1, 1}}, kUnlimited}, {{{0, 1}}, kUnlimited}, {{{1, 1}}, kUnlimited}};
  SharedLinks links(capacity, kinds);
  links.begin(flow(0, 100), 0, 0);
  links.begin(flow(1, 100), 1, 0);
  links.begin(flow(2, 100), 2, 0);
  links.begin(flow(2, 100), 3, 0);
  links.share_out(0);
  EXPECT_DOUBLE_EQ(links.rate(0), 4);
  EXPECT_DOUBLE_EQ(links.rate(1), 6);
  EXPECT_DOUBLE_EQ(links.rate(2), 4);
  EXPECT_DOUBLE_EQ(links.next_end(), 100.0 / 6);
}

// By definition: no flow can have more without taking it from one that has no more than itself.
// So each has all that it may, or crosses a full link on which none has more.
void expect_fair(const std::vector<double>& capacity, const std::vector<FlowKind>& kinds,
                 const std::vector<double>& weight, const SharedLinks& links) {
  std::vector<double> load(capacity.size(), 0), most(capacity.size(), 0);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (weight[k] == 0) continue;
    const double rate = links.rate(static_cast<std::int32_t>(k));
    EXPECT_GT(rate, 0);
    EXPECT_LE(rate, kinds[k].most * (1 + 1e-9));
    for (const LinkPart& part : kinds[k].route) {
      const auto l = static_cast<std::size_t>(part.link);
      load[l] += weight[k] * part.part * rate;
      most[l] = std::max(most[l], rate);
    }
  }
  for (std::size_t l = 0; l < capacity.size(); ++l) EXPECT_LE(load[l], capacity[l] * (1 + 1e-9));
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (weight[k] == 0) continue;
    const double rate = links.rate(static_cast<std::int32_t>(k));
    const bool held_up =
        std::any_of(kinds[k].route.begin(), kinds[k].route.end(), [&](const LinkPart& part) {
          const auto l = static_cast<std::size_t>(part.link);
          return load[l] >= capacity[l] * (1 - 1e-9) && rate >= most[l] * (1 - 1e-9);
        });
    EXPECT_TRUE(held_up || rate >= kinds[k].most * (1 - 1e-9)) << "kind " << k;
  }
}

TEST(SharedLinks, AlwaysFairWhateverComesAndGoes) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    std::vector<double> capacity;
    for (int l = pick(1, 12); l > 0; --l) capacity.push_back(pick(1, 100));
    std::vector<FlowKind> kinds;
    for (int k = pick(1, 20); k > 0; --k) {
      FlowKind kind;
      kind.most = pick(0, 2) == 0 ? pick(1, 40) : kUnlimited;
      for (std::size_t l = 0; l < capacity.size(); ++l) {
        if (pick(0, 3) == 0) kind.route.push_back({static_cast<std::int32_t>(l), pick(1, 4) / 4.0});
      }
      if (kind.route.empty()) kind.route.push_back({0, 1});
      kinds.push_back(kind);
    }
    SharedLinks links(capacity, kinds);
    std::vector<double> weight(kinds.size(), 0);
    std::vector<Activity> all;
    double now = 0;
    for (int round = 0; round < 40; ++round) {
      for (int i = pick(0, 3); i > 0; --i) {
        const int k = pick(0, static_cast<int>(kinds.size()) - 1);
        all.push_back(flow(k, pick(1, 50), pick(1, 5)));
        links.begin(all.back(), static_cast<std::int32_t>(all.size()) - 1, now);
        weight[static_cast<std::size_t>(k)] += all.back().weight;
      }
      links.share_out(now);
      expect_fair(capacity, kinds, weight, links);
      if (links.next_end() == kUnlimited) continue;
      now = links.next_end();
      std::vector<std::int32_t> ended;
      links.end_flows(now, 0, ended);
      EXPECT_FALSE(ended.empty());
      for (const std::int32_t a : ended) {
        const Activity& activity = all[static_cast<std::size_t>(a)];
        weight[static_cast<std::size_t>(activity.kind)] -= activity.weight;
      }
      links.share_out(now);
      expect_fair(capacity, kinds, weight, links);
    }
  }
}

TEST(SharedLinks, ServeWhatWasAskedFor) {
  // However often rates change on the way: a link that is never idle ends when all is through.
  std::mt19937 random(7);
  const std::vector<double> capacity = {10};
  const std::vector<FlowKind> kinds = {{{{0, 1}}, kUnlimited}, {{{0, 1}}, kUnlimited}};
  SharedLinks links(capacity, kinds);
  double bytes = 0, now = 0;
  for (int i = 0; i < 200; ++i) {
    const double size = std::uniform_real_distribution<double>(1, 100)(random);
    links.begin(flow(i % 2, size), i, now);
    links.share_out(now);
    bytes += size;
  }
  std::vector<std::int32_t> ended;
  while (links.next_end() != kUnlimited) {
    EXPECT_GE(links.next_end(), now);
    now = links.next_end();
    links.end_flows(now, 0, ended);
    links.share_out(now);
  }
  EXPECT_EQ(ended.size(), 200U);
  EXPECT_NEAR(now, bytes / 10, 1e-6 * now);
}

TEST(EventRun, ChainsLagsAndRounds) {
  EventGraph graph;
  Activity work;
  work.seconds = 1;
  work.repeats = 5;
  const auto a = graph.add(work);
  work.seconds = 2;
  const auto b = graph.add(work);
  graph.wait(a, b, 0, 0.5);
  // a ends at 1, 2, …; b begins at 1.5 and is the slower one.
  EXPECT_DOUBLE_EQ(run_events(graph, {}, {}).seconds, 1.5 + 5 * 2);
  // With a wait of one round back, the two take turns.
  graph.wait(b, a, 1);
  EXPECT_DOUBLE_EQ(run_events(graph, {}, {}).seconds, 5 * (1 + 0.5 + 2));
  graph.waits.back().initial = 2;
  EXPECT_DOUBLE_EQ(run_events(graph, {}, {}).seconds, 1.5 + 5 * 2);
}

TEST(EventRun, AllRoundsBeforeAndAfter) {
  EventGraph graph;
  Activity once, often;
  once.seconds = 10;
  often.seconds = 1;
  often.repeats = 4;
  const auto first = graph.add(once);
  const auto loop = graph.add(often);
  const auto last = graph.add(once);
  graph.waits.push_back({first, loop, 0, 0, 4, 1});
  graph.waits.push_back({loop, last, 0, 0, 1, 4});
  const auto result = run_events(graph, {}, {});
  EXPECT_TRUE(result.complete);
  EXPECT_DOUBLE_EQ(result.seconds, 24);
  EXPECT_EQ(result.ended, 6);
}

TEST(EventRun, NamesWhoIsStuck) {
  EventGraph graph;
  const auto a = graph.add(Activity{});
  const auto b = graph.add(Activity{});
  graph.wait(a, b);
  graph.wait(b, a);
  const auto result = run_events(graph, {}, {});
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.stuck, a);
}

TEST(EventRun, EndsWhenTheLastEffectIsThere) {
  EventGraph graph;
  Activity message;
  message.seconds = 1;
  message.after = 4;
  graph.add(message);
  Activity work;
  work.seconds = 3;
  graph.add(work);
  EXPECT_DOUBLE_EQ(run_events(graph, {}, {}).seconds, 5);
}

}  // namespace
}  // namespace forestcoll::simulate
