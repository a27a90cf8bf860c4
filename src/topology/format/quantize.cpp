#include "topology/format/quantize.hpp"

#include <algorithm>

namespace forestcoll::topology {
namespace {

// The nearest whole number that is at least 1, halves up. REQUIRES: a positive value.
std::int64_t nearest_positive(const Ratio& value) {
  const std::int64_t below = value.num() / value.den();
  const std::int64_t rest = value.num() % value.den();
  const bool up = rest >= value.den() - rest;
  return std::max<std::int64_t>(1, below + (up ? 1 : 0));
}

}  // namespace

std::optional<Ratio> quantize(Topology& topology, const Ratio& step) {
  Ratio largest = 0;
  for (TopologyLink& link : topology.links) {
    const auto steps = checked_div(link.bandwidth, step);
    if (!steps) return std::nullopt;
    const auto rounded = checked_mul(Ratio(nearest_positive(*steps)), step);
    const auto ratio = rounded ? checked_div(*rounded, link.bandwidth) : std::nullopt;
    const auto change = ratio ? checked_add(*ratio, Ratio(-1)) : std::nullopt;
    if (!change) return std::nullopt;
    largest = std::max(largest, *change < 0 ? Ratio(-change->num(), change->den()) : *change);
    link.bandwidth = *rounded;
  }
  return largest;
}

}  // namespace forestcoll::topology
