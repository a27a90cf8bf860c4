#include "stress/kinds.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "support/fabrics.hpp"

namespace forestcoll::stress {
namespace {

using test::FabricBuilder;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15 + 1) {}

  std::size_t below(std::size_t n) { return engine_() % n; }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  Capacity capacity(Capacity high) {
    return static_cast<Capacity>(between(1, static_cast<std::size_t>(high)));
  }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::vector<std::size_t> shuffled(std::size_t n) {
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::shuffle(all.begin(), all.end(), engine_);
    return all;
  }

 private:
  std::mt19937_64 engine_;
};

// Cycles through all nodes, and at times a short one more or a link less.
Network tight(Random& random) {
  const std::size_t n = random.between(4, 24);
  const bool one_way = random.one_in(3);
  FabricBuilder b(n);
  const auto add_cycle = [&](std::size_t length) {
    const auto nodes = random.shuffled(n);
    for (std::size_t i = 0; i < length; ++i) {
      if (one_way) {
        b.arc(nodes[i], nodes[(i + 1) % length], 1);
      } else {
        b.link(nodes[i], nodes[(i + 1) % length], 1);
      }
    }
  };
  for (std::size_t cycles = random.between(1, 4); cycles > 0; --cycles) add_cycle(n);
  if (random.one_in(3)) add_cycle(random.between(3, n));
  return b.build();
}

Network multi_level(Random& random) {
  const std::size_t leaves = random.between(2, 5), hosts = random.between(1, 4);
  const std::size_t aggregations = random.between(1, 3), spines = random.between(1, 2);
  const std::size_t ranks = leaves * hosts;
  FabricBuilder b(ranks, leaves + aggregations + spines);
  const Capacity most = random.one_in(2) ? 1 : 5;
  for (std::size_t r = 0; r < ranks; ++r) {
    b.link(r, ranks + r / hosts, random.capacity(most));
    if (random.one_in(4)) b.link(r, ranks + random.below(leaves), random.capacity(most));
  }
  const auto join = [&](std::size_t low, std::size_t lows, std::size_t high, std::size_t highs) {
    for (std::size_t i = 0; i < lows; ++i) {
      b.link(low + i, high + i % highs, random.capacity(2 * most));
      for (std::size_t j = 0; j < highs; ++j) {
        if (random.one_in(2)) b.link(low + i, high + j, random.capacity(2 * most));
      }
    }
  };
  const std::size_t first = ranks + leaves;
  join(ranks, leaves, first, aggregations);
  join(first, aggregations, first + aggregations, spines);
  // Spines and aggregations that are joined by chance alone still are one fabric.
  for (std::size_t a = 0; a < aggregations; ++a) b.link(first + a, first + aggregations, 1);
  return b.build();
}

Network boxes(Random& random) {
  const std::size_t count = random.between(2, 6), size = random.between(2, 4);
  const std::size_t switches = random.between(1, 2);
  const bool has_inner_switch = random.one_in(2);
  FabricBuilder b(count * size, switches + (has_inner_switch ? count : 0));
  const std::size_t outside = count * size, inside = outside + switches;
  std::vector<Capacity> uplink(size), inner(size);
  for (std::size_t i = 0; i < size; ++i) {
    uplink[i] = random.capacity(4);
    inner[i] = random.capacity(12);
  }
  for (std::size_t box = 0; box < count; ++box) {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t rank = box * size + i;
      b.link(rank, outside + i % switches, uplink[i]);
      b.link(rank, has_inner_switch ? inside + box : box * size + (i + 1) % size, inner[i]);
    }
  }
  for (std::size_t s = 1; s < switches; ++s) b.link(outside, outside + s, random.capacity(9));
  if (random.one_in(3)) b.link(random.below(count * size), outside, 1);
  return b.build();
}

}  // namespace

const KindName& kind_of(std::uint64_t seed) {
  return kKinds[seed % kKinds.size()];
}

Network random_fabric_of(Kind kind, std::uint64_t seed) {
  Random random(seed);
  switch (kind) {
    case Kind::easy:
      return test::random_fabric(seed, {.max_compute = random.between(3, 12), .max_switches = 4});
    case Kind::tight:
      return tight(random);
    case Kind::one_way:
      return test::random_fabric(seed, {.max_compute = random.between(3, 12),
                                        .max_switches = 5,
                                        .max_capacity = random.one_in(2) ? 2 : 9,
                                        .one_way = true});
    case Kind::multi_level:
      return multi_level(random);
    case Kind::wide:
      return test::random_fabric(seed, {.max_compute = random.between(3, 10),
                                        .max_switches = 4,
                                        .max_capacity = 1'000'000'000,
                                        .one_way = random.one_in(3)});
    case Kind::unbalanced:
      return test::random_fabric(seed, {.max_compute = random.between(3, 9),
                                        .max_switches = 4,
                                        .max_capacity = random.one_in(4) ? 1'000 : 6,
                                        .one_way = random.one_in(3),
                                        .unbalanced = true});
    case Kind::boxes:
      return boxes(random);
  }
  std::abort();
}

IdVector<Rank, std::int64_t> random_weights(std::size_t ranks, std::uint64_t seed) {
  Random random(~seed);
  IdVector<Rank, std::int64_t> weights(ranks, 0);
  for (auto& weight : weights) weight = static_cast<std::int64_t>(random.below(4));
  weights[Rank(random.below(ranks))] = 2;
  return weights;
}

}  // namespace forestcoll::stress
