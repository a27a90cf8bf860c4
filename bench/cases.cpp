#include "cases.hpp"

#include <utility>
#include <vector>

#include "support/fabrics.hpp"

namespace forestcoll::bench {
namespace {

using test::derated;

// All but its own share must enter a box, through its `entry` GB/s.
Ratio around_a_box(std::int64_t boxes, const Ratio& entry) {
  return Ratio(boxes) * entry / Ratio(boxes - 1);
}

// All but its own must enter a rank. For tori and hypercubes no cut is narrower: they are connected
// and vertex-transitive (Mader 1971). For the others bisection on minimum cuts gives the same value
// (`forestcoll bound --check`).
Ratio around_a_rank(std::int64_t ranks, std::int64_t entry) {
  return Ratio(ranks * entry, ranks - 1);
}

// A box's eight NICs of 25, one of them perhaps at a part of that.
Ratio a100_optimum(std::int64_t boxes, const Ratio& first_nic = 25) {
  return around_a_box(boxes, Ratio(7 * 25) + first_nic);
}

// The link between the first GPU and its NIC: two switches and the first box's NVSwitch come before
// the NIC.
Network a100_with_first_nic_at(std::size_t boxes, const Ratio& factor) {
  return derated(test::dgx_a100(boxes), NodeId(std::size_t{0}), NodeId(8 * boxes + 3), factor);
}

Case a100(std::int64_t boxes) {
  return {.name = "a100-x" + std::to_string(boxes),
          .make = [boxes] { return test::dgx_a100(static_cast<std::size_t>(boxes)); },
          .algbw = a100_optimum(boxes)};
}

// NICs of 8 × 50; a unit's uplinks are shared by too many boxes' worth of data only beyond 2:1.
Case h100(std::int64_t boxes, std::int64_t oversubscription) {
  return {.name = "h100-" + std::to_string(oversubscription) + "to1-x" + std::to_string(boxes),
          .make =
              [boxes, oversubscription] {
                return test::h100_rails(static_cast<std::size_t>(boxes), oversubscription);
              },
          .algbw = around_a_box(boxes, 400)};
}

// 16 dies of 16 GB/s each.
Case mi250(std::int64_t boxes) {
  return {.name = "mi250-x" + std::to_string(boxes),
          .make = [boxes] { return test::mi250(static_cast<std::size_t>(boxes)); },
          .algbw = around_a_box(boxes, 256)};
}

Case torus(const std::vector<std::size_t>& sides) {
  std::string name = "torus";
  std::int64_t ranks = 1;
  for (const std::size_t side : sides) {
    name += (ranks == 1 ? "-" : "x") + std::to_string(side);
    ranks *= static_cast<std::int64_t>(side);
  }
  return {.name = name,
          .make = [sides] { return test::torus(sides); },
          .algbw = around_a_rank(ranks, static_cast<std::int64_t>(2 * sides.size()))};
}

Case hypercube(std::size_t dimension) {
  return {
      .name = "hypercube-" + std::to_string(dimension),
      .make = [dimension] { return test::hypercube(dimension); },
      .algbw = around_a_rank(std::int64_t{1} << dimension, static_cast<std::int64_t>(dimension))};
}

Case fat_tree(std::int64_t ports) {
  return {.name = "fat-tree-" + std::to_string(ports),
          .make = [ports] { return test::fat_tree(static_cast<std::size_t>(ports)); },
          .algbw = around_a_rank(ports * ports * ports / 4, 1)};
}

Case with(Case each, When rate, When pack, When generic, When yardstick) {
  each.rate = rate;
  each.pack = pack;
  each.generic = generic;
  each.yardstick = yardstick;
  return each;
}

std::vector<Case> make_cases() {
  constexpr When always = When::always, large = When::large, never = When::never;
  const auto small = [](Case each) {
    return with(std::move(each), always, always, always, always);
  };
  // About 1,000, 4,000 and 16,000 ranks.
  const auto thousand = [](Case each) {
    return with(std::move(each), always, always, always, always);
  };
  const auto four = [](Case each) { return with(std::move(each), always, always, never, large); };
  const auto sixteen = [](Case each) { return with(std::move(each), large, large, never, never); };

  Case mi250_pair = mi250(2);
  mi250_pair.algbw = Ratio(5312, 15);  // around two dies, not around a box
  Case a100_pair = a100(2);
  a100_pair.algbw = Ratio(1040, 3);  // around a GPU
  return {
      small(std::move(a100_pair)),
      small(a100(4)),
      small(a100(8)),
      small(a100(16)),
      thousand(a100(128)),
      four(a100(512)),
      sixteen(a100(2048)),
      thousand({.name = "a100-x128-half",
                .make = [] { return a100_with_first_nic_at(128, Ratio(1, 2)); },
                .algbw = a100_optimum(128, Ratio(25, 2))}),
      thousand({.name = "a100-x128-missing",
                .make = [] { return a100_with_first_nic_at(128, 0); },
                .algbw = a100_optimum(128, 0)}),
      thousand(h100(128, 1)),
      four(h100(512, 1)),
      sixteen(h100(2048, 1)),
      thousand(h100(128, 2)),
      four(h100(512, 2)),
      sixteen(h100(2048, 2)),
      small(std::move(mi250_pair)),
      small(mi250(4)),
      small(mi250(16)),
      thousand(mi250(64)),
      four(mi250(256)),
      with(mi250(1024), always, large, never, never),
      small(torus({12, 12})),
      small(torus({8, 8, 8})),
      thousand(torus({32, 32})),
      four(torus({64, 64})),
      sixteen(torus({128, 128})),
      four(torus({16, 16, 16})),
      thousand(hypercube(10)),
      thousand({.name = "dragonfly-8-4-4",
                .make = [] { return test::dragonfly(8, 4, 4); },
                .algbw = around_a_rank(1056, 1)}),
      thousand(fat_tree(16)),
      four(fat_tree(26)),
      sixteen(fat_tree(40)),
      thousand({.name = "jellyfish-128x8",
                .make = [] { return test::jellyfish(128, 8, 8, 1); },
                .algbw = around_a_rank(1024, 1)}),
  };
}

}  // namespace

std::span<const Case> all_cases() {
  static const std::vector<Case> cases = make_cases();
  return cases;
}

const Network& Fabric::network() {
  if (!network_) {
    network_ = definition_.make();
    weights_ = uniform_weights(*network_);
  }
  return *network_;
}

const Weights& Fabric::weights() {
  static_cast<void>(network());  // makes them
  return weights_;
}

const Scaling& Fabric::scaling() {
  if (!scaling_) scaling_ = scale_to_optimum(network(), optimal_rate(network(), weights()));
  return *scaling_;
}

}  // namespace forestcoll::bench
