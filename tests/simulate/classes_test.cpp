// Classes of an event graph against the whole graph, and against partitions by definition.
#include "simulate/run/classes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "simulate/fabric/equitable_partition.hpp"
#include "simulate/run/event_run.hpp"

namespace forestcoll::simulate {
namespace {

using Classes = std::vector<std::int32_t>;

// By definition: split by label and by the multiset of (class, label) that comes in, until nothing
// changes.
Classes partition_by_definition(const LabelledGraph& graph) {
  const std::size_t n = graph.labels.size();
  Classes classes(n, 0);
  for (std::size_t count = 0;;) {
    using In = std::multiset<std::pair<std::int32_t, std::uint64_t>>;
    std::vector<In> in(n);
    for (const auto& edge : graph.edges) {
      in[static_cast<std::size_t>(edge.to)].emplace(classes[static_cast<std::size_t>(edge.from)],
                                                    edge.label);
    }
    std::map<std::tuple<std::int32_t, std::uint64_t, In>, std::int32_t> numbers;
    Classes next;
    for (std::size_t v = 0; v < n; ++v) {
      const auto number = static_cast<std::int32_t>(numbers.size());
      next.push_back(
          numbers.emplace(std::tuple(classes[v], graph.labels[v], in[v]), number).first->second);
    }
    classes = std::move(next);
    if (numbers.size() == count) return classes;
    count = numbers.size();
  }
}

// Whether the same vertices are together in both.
bool are_same(const Classes& a, const Classes& b) {
  std::map<std::int32_t, std::int32_t> to, from;
  for (std::size_t v = 0; v < a.size(); ++v) {
    if (to.emplace(a[v], b[v]).first->second != b[v]) return false;
    if (from.emplace(b[v], a[v]).first->second != a[v]) return false;
  }
  return true;
}

TEST(EquitablePartition, IsTheCoarsestByDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    LabelledGraph graph;
    const auto n = static_cast<std::int32_t>(1 + random() % 14);
    for (std::int32_t v = 0; v < n; ++v) graph.labels.push_back(random() % 2);
    const std::size_t edges = random() % 30;
    for (std::size_t e = 0; e < edges; ++e) {
      graph.edges.push_back({static_cast<std::int32_t>(random() % static_cast<unsigned>(n)),
                             static_cast<std::int32_t>(random() % static_cast<unsigned>(n)),
                             random() % 2});
    }
    EXPECT_TRUE(are_same(equitable_partition(graph), partition_by_definition(graph)))
        << "round " << round;
  }
}

TEST(EquitablePartition, TellsTheVerticesOfAPathApartAndThoseOfACircleNot) {
  LabelledGraph path{{0, 0, 0, 0}, {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}}};
  EXPECT_TRUE(are_same(equitable_partition(path), {0, 1, 2, 3}));
  path.edges.push_back({3, 0, 0});
  EXPECT_TRUE(are_same(equitable_partition(path), {0, 0, 0, 0}));
  path.edges.back().label = 1;
  EXPECT_TRUE(are_same(equitable_partition(path), {0, 1, 2, 3}));
  EXPECT_TRUE(equitable_partition({}).empty());
}

// `copies` of a random program side by side on links of their own and on links that all share; with
// waits of each for the next one, too.
struct Copies {
  EventGraph graph;
  std::vector<double> capacity;
};

class CopyMaker {
 public:
  CopyMaker(std::mt19937& random, std::int32_t copies) : random_(random), copies_(copies) {}

  Copies make() {
    const std::int32_t own = below(3) + 1, shared = below(2);
    for (std::int32_t l = 0; l < own; ++l) add_capacity(copies_, 1 + below(4));
    for (std::int32_t l = 0; l < shared; ++l) add_capacity(1, 2 + below(8));
    const std::int32_t kinds = below(3) + 1;
    for (std::int32_t k = 0; k < kinds; ++k) add_kind(own, shared);
    const std::int32_t steps = below(5) + 2;
    for (std::int32_t s = 0; s < steps; ++s) add_activity(kinds);
    for (std::int32_t s = 1; s < steps; ++s) add_wait(below(s), s, below(copies_));
    add_wait(steps - 1, 0, below(copies_), 1 + below(2));
    return std::move(made_);
  }

 private:
  std::int32_t below(std::int32_t bound) {
    return static_cast<std::int32_t>(random_() % static_cast<unsigned>(bound));
  }
  void add_capacity(std::int32_t count, double value) {
    made_.capacity.insert(made_.capacity.end(), static_cast<std::size_t>(count), value);
  }
  void add_kind(std::int32_t own, std::int32_t shared) {
    const std::int32_t link = below(own);
    const bool is_shared = shared > 0 && below(2) == 0;
    const double most = below(2) == 0 ? 1e9 : 1.5, part = below(2) == 0 ? 1 : 0.5;
    for (std::int32_t c = 0; c < copies_; ++c) {
      FlowKind kind{{{link * copies_ + c, part}}, most};
      if (is_shared) kind.route.push_back({own * copies_ + below(1), 1});
      made_.graph.kinds.push_back(kind);
    }
  }
  void add_activity(std::int32_t kinds) {
    const std::int32_t kind = below(kinds + 1) - 1;
    const double seconds = 0.25 * below(4);
    const double bytes = 1 + below(5);
    for (std::int32_t c = 0; c < copies_; ++c) {
      made_.graph.add({.seconds = seconds,
                       .kind = kind < 0 ? -1 : kind * copies_ + c,
                       .bytes = kind < 0 ? 0 : bytes,
                       .repeats = 6});
    }
  }
  // Of every copy for the one that comes `shift` later.
  void add_wait(std::int32_t from, std::int32_t to, std::int32_t shift, std::int64_t lag = 0) {
    const double delay = 0.5 * below(3);
    for (std::int32_t c = 0; c < copies_; ++c) {
      made_.graph.wait(from * copies_ + c, to * copies_ + (c + shift) % copies_, lag, delay);
    }
  }

  std::mt19937& random_;
  std::int32_t copies_;
  Copies made_;
};

TEST(ClassGraph, TakesAsLongAsTheWholeGraph) {
  std::mt19937 random(11);
  for (int round = 0; round < 400; ++round) {
    const auto copies = static_cast<std::int32_t>(2 + random() % 6);
    const auto [graph, capacity] = CopyMaker(random, copies).make();
    const auto classes = class_graph(graph, capacity);
    ASSERT_TRUE(classes) << "round " << round;
    EXPECT_LE(classes->graph.activities.size() * static_cast<std::size_t>(copies),
              graph.activities.size());
    const EventRunResult whole = run_events(graph, capacity, {});
    const EventRunResult once = run_events(classes->graph, classes->capacity, {});
    EXPECT_EQ(whole.complete, once.complete) << "round " << round;
    EXPECT_NEAR(whole.seconds, once.seconds, 1e-9 * whole.seconds) << "round " << round;
  }
}

TEST(ClassGraph, OneSlowLinkIsAClassOfItsOwn) {
  EventGraph graph;
  std::vector<double> capacity(8, 4);
  for (std::int32_t l = 0; l < 8; ++l) {
    graph.kinds.push_back({{{l, 1}}, 1e9});
    graph.add({.kind = l, .bytes = 8});
  }
  EXPECT_EQ(class_graph(graph, capacity)->graph.activities.size(), 1U);
  capacity[3] = 1;
  const auto classes = class_graph(graph, capacity);
  EXPECT_EQ(classes->graph.activities.size(), 2U);
  EXPECT_DOUBLE_EQ(run_events(classes->graph, classes->capacity, {}).seconds, 8);
}

TEST(ClassGraph, AllThatAClassPutsOnASharedLinkCounts) {
  EventGraph graph;
  for (std::int32_t a = 0; a < 4; ++a) {
    graph.kinds.push_back({{{a, 1}, {4, 0.5}}, 1e9});
    graph.add({.kind = a, .bytes = 6});
  }
  const std::vector<double> capacity = {10, 10, 10, 10, 2};
  const auto classes = class_graph(graph, capacity);
  ASSERT_EQ(classes->graph.activities.size(), 1U);
  EXPECT_DOUBLE_EQ(run_events(classes->graph, classes->capacity, {}).seconds, 6);
}

TEST(ClassGraph, IsNoneWhereNothingIsAlike) {
  EventGraph graph;
  for (std::int32_t a = 0; a < 4; ++a) graph.add({.seconds = 1.0 + a});
  EXPECT_FALSE(class_graph(graph, {}));
}

}  // namespace
}  // namespace forestcoll::simulate
