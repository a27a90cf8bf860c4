// By the least common multiple of the denominators, divided by the greatest common divisor.
#include "topology/model/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::topology {
namespace {

// Far above every sensible share, and leaves room for products with capacities.
constexpr Int128 kMaxTotal = Int128{1} << 40;

const Ratio& weight_of(const Topology& topology, NodeId rank) {
  return topology.nodes[rank].weight;
}

Diagnostic no_data(const Topology& topology) {
  const NodeId first = topology.ranks.front();
  return make_error(Code::E05,
                    fmt::format("every compute node has weight 0 ({} is the first): nobody owns "
                                "any data",
                                topology.nodes[first].id),
                    "Give at least one compute node a positive weight.");
}

Diagnostic too_fine(const Topology& topology) {
  const auto finest =
      std::max_element(topology.ranks.begin(), topology.ranks.end(), [&](NodeId a, NodeId b) {
        const Ratio& x = weight_of(topology, a);
        const Ratio& y = weight_of(topology, b);
        return std::max(x.num(), x.den()) < std::max(y.num(), y.den());
      });
  return make_error(
      Code::E14,
      fmt::format("the weights are too large or too fine together for exact "
                  "arithmetic: {} has {}",
                  topology.nodes[*finest].id, weight_of(topology, *finest).to_string()),
      "Use weights that are small integers in proportion, such as 1, 2 and 3.");
}

}  // namespace

Expected<IdVector<Rank, std::int64_t>> integral_weights(const Topology& topology) {
  IdVector<Rank, std::int64_t> weights;
  if (topology.ranks.empty()) return weights;
  Int128 common = 1;
  bool alike = true;
  for (const NodeId rank : topology.ranks) {
    const Ratio& weight = weight_of(topology, rank);
    alike &= weight == weight_of(topology, topology.ranks.front());
    common *= weight.den() / std::gcd(static_cast<std::int64_t>(common), weight.den());
    if (common > kMaxTotal) return too_fine(topology);
  }
  if (alike && weight_of(topology, topology.ranks.front()) == Ratio(0)) return no_data(topology);
  if (alike) return weights;

  std::vector<Int128> scaled;
  Int128 divisor = 0;
  for (const NodeId rank : topology.ranks) {
    const Ratio& weight = weight_of(topology, rank);
    scaled.push_back(weight.num() * (common / weight.den()));
    Int128 other = scaled.back();
    while (other != 0) divisor = std::exchange(other, divisor % other);
  }
  Int128 total = 0;
  for (const Int128 weight : scaled) {
    total += weight / divisor;
    if (total > kMaxTotal) return too_fine(topology);
    weights.push_back(static_cast<std::int64_t>(weight / divisor));
  }
  return weights;
}

}  // namespace forestcoll::topology
