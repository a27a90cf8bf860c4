#include "stress/comparison.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "stress/reference_packer.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll::stress {
namespace {

using test::FabricBuilder;

Network cycles(std::mt19937_64& random, bool one_way, Capacity most) {
  const std::size_t n = 12 + random() % 49;
  FabricBuilder b(n);
  for (std::size_t count = 2 + random() % 2; count > 0; --count) {
    std::vector<std::size_t> nodes(n);
    std::iota(nodes.begin(), nodes.end(), std::size_t{0});
    std::shuffle(nodes.begin(), nodes.end(), random);
    const auto width = static_cast<Capacity>(1 + random() % static_cast<std::uint64_t>(most));
    for (std::size_t i = 0; i < n; ++i) {
      if (one_way) {
        b.arc(nodes[i], nodes[(i + 1) % n], width);
      } else {
        b.link(nodes[i], nodes[(i + 1) % n], width);
      }
    }
  }
  return b.build();
}

Network irregular(std::mt19937_64& random) {
  const std::size_t n = 12 + random() % 49;
  FabricBuilder b(n);
  const auto capacity = [&] { return static_cast<Capacity>(1 + random() % 6); };
  for (std::size_t v = 1; v < n; ++v) b.link(v, random() % v, capacity());
  for (std::size_t extra = random() % (2 * n); extra > 0; --extra) {
    const std::size_t v = random() % n, w = random() % n;
    if (v != w) b.link(v, w, capacity());
  }
  return b.build();
}

Network boxes_on_a_switch(std::mt19937_64& random) {
  const std::size_t count = 3 + random() % 3, size = 4 + random() % 3;
  FabricBuilder b(count * size, 1);
  for (std::size_t r = 0; r < count * size; ++r) {
    const std::size_t box = r / size;
    b.link(r, box * size + (r + 1) % size, static_cast<Capacity>(4 + random() % 3));
    if (r % size < 2) b.link(r, count * size, static_cast<Capacity>(1 + random() % 3));
  }
  return b.build();
}

Network leaves_and_spine(std::mt19937_64& random) {
  const std::size_t leaves = 3 + random() % 3, hosts = 4;
  FabricBuilder b(leaves * hosts, leaves + 1);
  for (std::size_t r = 0; r < leaves * hosts; ++r) b.link(r, leaves * hosts + r / hosts, 2);
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    b.link(leaves * hosts + leaf, leaves * hosts + leaves, static_cast<Capacity>(2 + random() % 7));
  }
  return b.build();
}

}  // namespace

Network comparison_fabric(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  switch (seed % 6) {
    case 0:
      return cycles(random, false, 1);
    case 1:
      return cycles(random, true, 1);
    case 2:
      return cycles(random, random() % 2 == 0, 4);
    case 3:
      return irregular(random);
    case 4:
      return boxes_on_a_switch(random);
    default:
      return leaves_and_spine(random);
  }
}

std::string find_difference(const Network& network) {
  const auto reference = reference_pack(network);
  if (!reference) return "the reference got stuck";
  if (!is_complete(*reference)) return "the reference is incomplete";
  const Weights weights = uniform_weights(network);
  const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
  if (scaling.k != reference->k || scaling.scale != Ratio(reference->scale)) {
    return "k " + std::to_string(scaling.k) + " at U " + scaling.scale.to_string() + ", not k " +
           std::to_string(reference->k) + " at U " + std::to_string(reference->scale);
  }
  const auto packing = pack(network, weights, scaling);
  if (!packing) return to_string(packing.errors().front());
  if (packing->scaling.scale != scaling.scale || packing->scaling.k != scaling.k) {
    return "the solver's forest is at U " + packing->scaling.scale.to_string();
  }
  return test::find_forest_flaw(network, weights, packing->scaling, packing->forest);
}

}  // namespace forestcoll::stress
