#include "support/fabrics.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace forestcoll::test {

void FabricBuilder::arc(std::size_t tail, std::size_t head, Capacity capacity) {
  arcs_.push_back({NodeId(tail), NodeId(head)});
  capacities_.push_back(capacity);
}

void FabricBuilder::link(std::size_t a, std::size_t b, Capacity capacity) {
  arc(a, b, capacity);
  arc(b, a, capacity);
}

Network FabricBuilder::build() const {
  std::map<std::pair<NodeId, NodeId>, Capacity> sums;
  for (std::size_t i = 0; i < arcs_.size(); ++i) {
    sums[{arcs_[i].tail, arcs_[i].head}] += capacities_[i];
  }
  Capacity divisor = 0;
  std::vector<Arc> arcs;
  for (const auto& [ends, capacity] : sums) {
    arcs.push_back({ends.first, ends.second});
    divisor = std::gcd(divisor, capacity);
  }
  Network network;
  network.graph = Digraph(nodes_, arcs);
  for (const auto& [ends, capacity] : sums) network.capacity.push_back(capacity / divisor);
  network.unit = Ratio(divisor);
  network.rank_of.assign(nodes_, Rank());
  for (std::size_t r = 0; r < compute_; ++r) {
    network.ranks.push_back(NodeId(r));
    network.rank_of[NodeId(r)] = Rank(r);
  }
  return network;
}

Network dgx_a100(std::size_t boxes) {
  FabricBuilder b(8 * boxes);
  const std::size_t ib[2] = {b.add_switch(), b.add_switch()};
  for (std::size_t box = 0; box < boxes; ++box) {
    const std::size_t nvswitch = b.add_switch();
    for (std::size_t g = 0; g < 8; ++g) {
      const std::size_t gpu = 8 * box + g;
      b.link(gpu, nvswitch, 300);
      if (boxes == 1) continue;
      const std::size_t nic = b.add_switch();
      b.link(gpu, nic, 25);
      b.link(nic, ib[g % 2], 25);
    }
  }
  return b.build();
}

Network h100_rails(std::size_t boxes, std::int64_t oversubscription) {
  constexpr std::size_t kUnit = 32;
  FabricBuilder b(8 * boxes);
  std::vector<std::size_t> spines, leaves;
  for (std::size_t rail = 0; rail < 8; ++rail) spines.push_back(b.add_switch());
  for (std::size_t box = 0; box < boxes; ++box) {
    if (box % kUnit == 0) {
      const std::size_t below = std::min(kUnit, boxes - box);
      leaves.clear();
      for (std::size_t rail = 0; rail < 8; ++rail) {
        leaves.push_back(b.add_switch());
        b.link(leaves.back(), spines[rail], static_cast<Capacity>(below) * 50 / oversubscription);
      }
    }
    const std::size_t nvswitch = b.add_switch();
    for (std::size_t g = 0; g < 8; ++g) {
      b.link(8 * box + g, nvswitch, 450);
      const std::size_t nic = b.add_switch();
      b.link(8 * box + g, nic, 50);
      b.link(nic, leaves[g], 50);
    }
  }
  return b.build();
}

Network mi250(std::size_t boxes) {
  struct Links {
    Capacity capacity;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
  };
  const std::vector<Links> kinds = {
      {200, {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}},
      {100, {{0, 4}, {3, 7}, {8, 12}, {11, 15}}},
      {50,
       {{0, 8},
        {1, 9},
        {2, 10},
        {3, 11},
        {1, 10},
        {2, 9},
        {1, 5},
        {2, 6},
        {9, 13},
        {10, 14},
        {4, 6},
        {5, 6},
        {5, 7},
        {12, 14},
        {13, 14},
        {13, 15}}}};
  FabricBuilder b(16 * boxes);
  const std::size_t ib = boxes > 1 ? b.add_switch() : 0;
  for (std::size_t box = 0; box < boxes; ++box) {
    for (const Links& kind : kinds) {
      for (const auto& [x, y] : kind.pairs) b.link(16 * box + x, 16 * box + y, kind.capacity);
    }
    for (std::size_t die = 0; boxes > 1 && die < 16; ++die) b.link(16 * box + die, ib, 16);
  }
  return b.build();
}

Network torus(const std::vector<std::size_t>& sides) {
  const std::size_t n =
      std::accumulate(sides.begin(), sides.end(), std::size_t{1}, std::multiplies<>());
  FabricBuilder b(n);
  for (std::size_t v = 0; v < n; ++v) {
    std::size_t stride = 1;
    for (const std::size_t side : sides) {
      const std::size_t at = v / stride % side;
      b.link(v, v - at * stride + (at + 1) % side * stride, 1);
      stride *= side;
    }
  }
  return b.build();
}

Network hypercube(std::size_t dimension) {
  FabricBuilder b(std::size_t{1} << dimension);
  for (std::size_t v = 0; v < (std::size_t{1} << dimension); ++v) {
    for (std::size_t bit = 0; bit < dimension; ++bit) b.arc(v, v ^ (std::size_t{1} << bit), 1);
  }
  return b.build();
}

Network dragonfly(std::size_t routers, std::size_t hosts, std::size_t global) {
  const std::size_t groups = routers * global + 1;
  FabricBuilder b(groups * routers * hosts, groups * routers);
  const std::size_t first = groups * routers * hosts;
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t r = 0; r < routers; ++r) {
      const std::size_t router = first + g * routers + r;
      for (std::size_t h = 0; h < hosts; ++h) b.link((g * routers + r) * hosts + h, router, 1);
      for (std::size_t other = r + 1; other < routers; ++other) {
        b.link(router, first + g * routers + other, 1);
      }
      for (std::size_t l = 0; l < global; ++l) {
        const std::size_t port = r * global + l;
        const std::size_t target = (g + port + 1) % groups;
        const std::size_t back = groups - 2 - port;
        b.arc(router, first + target * routers + back / global, 1);
      }
    }
  }
  return b.build();
}

Network fat_tree(std::size_t ports) {
  const std::size_t half = ports / 2;
  FabricBuilder b(ports * half * half, half * half + 2 * ports * half);
  const std::size_t core = ports * half * half;
  const std::size_t pods = core + half * half;
  for (std::size_t pod = 0; pod < ports; ++pod) {
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t edge = pods + pod * ports + i;
      for (std::size_t j = 0; j < half; ++j) {
        const std::size_t aggregation = pods + pod * ports + half + j;
        b.link((pod * half + i) * half + j, edge, 1);
        b.link(edge, aggregation, 1);
        b.link(pods + pod * ports + half + i, core + i * half + j, 1);
      }
    }
  }
  return b.build();
}

Network jellyfish(std::size_t switches, std::size_t hosts, std::size_t degree, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::pair<std::size_t, std::size_t>> edges;
  // A ring for connectivity, then random pairs with free ports; degrees may end one short.
  std::vector<std::size_t> free(switches, degree - 2);
  for (std::size_t s = 0; s < switches; ++s) {
    edges.insert(std::minmax(s, (s + 1) % switches));
  }
  for (std::size_t tries = 0; tries < switches * degree * 50; ++tries) {
    const std::size_t a = random() % switches, c = random() % switches;
    if (a == c || free[a] == 0 || free[c] == 0 || edges.count(std::minmax(a, c))) continue;
    edges.insert(std::minmax(a, c));
    --free[a];
    --free[c];
  }
  FabricBuilder b(switches * hosts, switches);
  for (std::size_t s = 0; s < switches; ++s) {
    for (std::size_t h = 0; h < hosts; ++h) b.link(s * hosts + h, switches * hosts + s, 1);
  }
  for (const auto& [a, c] : edges) b.link(switches * hosts + a, switches * hosts + c, 1);
  return b.build();
}

Network direct_boxes(std::size_t boxes, std::size_t size) {
  FabricBuilder b(boxes * size);
  const std::size_t ib = b.add_switch();
  for (std::size_t box = 0; box < boxes; ++box) {
    const std::size_t base = box * size;
    for (std::size_t d = 0; d < size; ++d) {
      if (d % 2 == 0) b.link(base + d, base + d + 1, 200);
      b.link(base + d, base + (d + 3) % size, 50);
      if (d < size / 2) b.link(base + d, base + d + size / 2, 50);
      const std::size_t nic = b.add_switch();
      b.link(base + d, nic, 25);
      b.link(nic, ib, 25);
    }
  }
  return b.build();
}

Network generalized_kautz(std::size_t ranks, std::size_t degree) {
  FabricBuilder b(ranks);
  for (std::size_t v = 0; v < ranks; ++v) {
    for (std::size_t j = 1; j <= degree; ++j) {
      const std::size_t to = (ranks * degree - (degree * v) % ranks + ranks - j) % ranks;
      if (to != v) b.arc(v, to, 1);
    }
  }
  return b.build();
}

Network slim_fly(std::size_t q) {
  // The powers of a primitive root, even and odd ones.
  std::vector<std::size_t> powers;
  for (std::size_t root = 2; powers.size() != q - 1; ++root) {
    powers.assign(1, 1);
    while (powers.back() * root % q != 1) powers.push_back(powers.back() * root % q);
  }
  std::vector<std::set<std::size_t>> steps(2);
  for (std::size_t i = 0; i < powers.size(); ++i) steps[i % 2].insert(powers[i]);
  FabricBuilder b(2 * q * q);
  for (std::size_t x = 0; x < q; ++x) {
    for (std::size_t y = 0; y < q; ++y) {
      for (std::size_t side = 0; side < 2; ++side) {
        for (const std::size_t step : steps[side]) {
          b.arc((side * q + x) * q + y, (side * q + x) * q + (y + step) % q, 1);
        }
      }
      for (std::size_t m = 0; m < q; ++m) {
        b.link(x * q + y, (q + m) * q + (y + q * q - m * x) % q, 1);
      }
    }
  }
  return b.build();
}

Network random_regular(std::size_t ranks, std::size_t degree, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  // Circles of neighbours near and far, of which pairs of links exchange their ends.
  std::vector<std::pair<std::size_t, std::size_t>> links;
  std::set<std::pair<std::size_t, std::size_t>> known;
  const auto add = [&](std::size_t a, std::size_t c) {
    links.emplace_back(a, c);
    known.insert(std::minmax(a, c));
  };
  for (std::size_t v = 0; v < ranks; ++v) {
    for (std::size_t step = 1; step <= degree / 2; ++step) add(v, (v + step) % ranks);
    if (degree % 2 == 1 && v < ranks / 2) add(v, v + ranks / 2);
  }
  for (std::size_t tries = 0; tries < 20 * links.size(); ++tries) {
    auto& [a, c] = links[random() % links.size()];
    auto& [e, f] = links[random() % links.size()];
    if (a == e || a == f || c == e || c == f || known.count(std::minmax(a, f)) > 0 ||
        known.count(std::minmax(e, c)) > 0) {
      continue;
    }
    known.erase(std::minmax(a, c));
    known.erase(std::minmax(e, f));
    std::swap(c, f);
    known.insert(std::minmax(a, c));
    known.insert(std::minmax(e, f));
  }
  FabricBuilder b(ranks);
  for (const auto& [a, c] : links) b.link(a, c, 1);
  return b.build();
}

namespace {

// `count` of `all`, without repetition.
std::set<std::size_t> pick(std::size_t all, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::size_t> picked;
  while (picked.size() < count) picked.insert(random() % all);
  return picked;
}

}  // namespace

Network nvl72_planes(std::size_t boxes, std::size_t dead, std::uint64_t seed) {
  constexpr std::size_t kGpus = 72, kPlanes = 18, kRails = 4;
  const std::set<std::size_t> without = pick(boxes * kGpus, dead, seed);
  FabricBuilder b(boxes * kGpus, boxes * kPlanes + kRails);
  for (std::size_t gpu = 0; gpu < boxes * kGpus; ++gpu) {
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      b.link(gpu, boxes * kGpus + gpu / kGpus * kPlanes + plane, 50);
    }
    if (without.count(gpu) == 0) {
      b.link(gpu, boxes * kGpus + boxes * kPlanes + gpu % kRails, 50);
    }
  }
  return b.build();
}

Network h100_rails_alone(std::size_t boxes, std::size_t dead, std::uint64_t seed) {
  const std::set<std::size_t> without = pick(8 * boxes, dead, seed);
  FabricBuilder b(8 * boxes, boxes + 8);
  for (std::size_t gpu = 0; gpu < 8 * boxes; ++gpu) {
    b.link(gpu, 8 * boxes + gpu / 8, 450);
    if (without.count(gpu) == 0) b.link(gpu, 9 * boxes + gpu % 8, 50);
  }
  return b.build();
}

Network damaged_fat_tree(std::size_t ports, std::size_t dead, std::uint64_t seed) {
  Network network = fat_tree(ports);
  std::vector<Arc> links;
  for (const Arc& arc : network.graph.arcs()) {
    if (!network.is_compute(arc.tail) && !network.is_compute(arc.head) && arc.tail < arc.head) {
      links.push_back(arc);
    }
  }
  for (const std::size_t i : pick(links.size(), dead, seed)) {
    network = derated(network, links[i].tail, links[i].head, 0);
  }
  return network;
}

Network one_percent_degraded(const Network& network, std::uint64_t seed) {
  std::vector<Arc> links;
  for (const Arc& arc : network.graph.arcs()) {
    if (arc.tail < arc.head) links.push_back(arc);
  }
  Network result = network;
  for (const std::size_t i :
       pick(links.size(), std::max<std::size_t>(1, links.size() / 100), seed)) {
    result = derated(result, links[i].tail, links[i].head, Ratio(1, 2));
  }
  return result;
}

Network derated(const Network& network, NodeId a, NodeId b, const Ratio& factor) {
  const std::size_t ranks = network.ranks.size();
  FabricBuilder builder(ranks, network.graph.node_count() - ranks);
  for (std::size_t i = 0; i < network.graph.arc_count(); ++i) {
    const Arc arc = network.graph.arcs()[i];
    const bool is_worse = (arc.tail == a && arc.head == b) || (arc.tail == b && arc.head == a);
    const Capacity capacity = network.capacity[ArcId(i)] * (is_worse ? factor.num() : factor.den());
    if (capacity > 0) builder.arc(arc.tail.index(), arc.head.index(), capacity);
  }
  Network result = builder.build();
  result.unit = result.unit * network.unit / Ratio(factor.den());
  return result;
}

Network torus_with_narrow_corner() {
  const Network whole = torus({32, 32});
  const auto is_corner = [](NodeId v) { return v.index() >= 1022; };
  FabricBuilder builder(1024);
  for (const Arc& arc : whole.graph.arcs()) {
    const int ends = (is_corner(arc.tail) ? 1 : 0) + (is_corner(arc.head) ? 1 : 0);
    builder.arc(arc.tail.index(), arc.head.index(), ends == 0 ? 3 : ends == 1 ? 1 : 9);
  }
  return builder.build();
}

Network random_fabric(std::uint64_t seed, const RandomOptions& options) {
  std::mt19937_64 random(seed);
  const std::size_t compute = 2 + random() % (options.max_compute - 1);
  const std::size_t switches = random() % (options.max_switches + 1);
  const std::size_t n = compute + switches;
  const auto capacity = [&] {
    return static_cast<Capacity>(1 + random() % static_cast<std::uint64_t>(options.max_capacity));
  };
  FabricBuilder b(compute, switches);
  // A closed walk over all nodes keeps it strongly connected (and balanced where it is one-way).
  const auto cycle = [&](std::size_t length) {
    std::vector<std::size_t> nodes(n);
    std::iota(nodes.begin(), nodes.end(), std::size_t{0});
    std::shuffle(nodes.begin(), nodes.end(), random);
    const Capacity width = capacity();
    for (std::size_t i = 0; i < length; ++i) b.arc(nodes[i], nodes[(i + 1) % length], width);
  };
  if (options.one_way) {
    cycle(n);
    for (std::size_t extra = random() % (n + 2); extra > 0; --extra) cycle(2 + random() % (n - 1));
  } else {
    for (std::size_t v = 1; v < n; ++v) b.link(v, random() % v, capacity());
    for (std::size_t extra = random() % (2 * n + 1); extra > 0; --extra) {
      const std::size_t v = random() % n, w = random() % n;
      if (v != w) b.link(v, w, capacity());
    }
  }
  if (options.unbalanced) {
    for (std::size_t extra = 1 + random() % n; extra > 0; --extra) {
      const std::size_t v = random() % n, w = random() % n;
      if (v != w) b.arc(v, w, capacity());
    }
  }
  return b.build();
}

Network fabric_of_any_sort(std::uint64_t seed, std::size_t max_compute) {
  return random_fabric(seed, {.max_compute = max_compute,
                              .max_switches = 4,
                              .max_capacity = 1 + static_cast<Capacity>(seed % 9),
                              .one_way = seed % 3 == 1,
                              .unbalanced = seed % 4 == 2});
}

}  // namespace forestcoll::test
