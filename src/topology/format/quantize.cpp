#include "topology/format/quantize.hpp"

#include <algorithm>
#include <vector>

namespace forestcoll::topology {
namespace {

// The nearest whole number that is at least 1, halves up. REQUIRES: a positive value.
std::int64_t nearest_positive(const Ratio& value) {
  const std::int64_t below = value.num() / value.den();
  const std::int64_t rest = value.num() % value.den();
  const bool up = rest >= value.den() - rest;
  return std::max<std::int64_t>(1, below + (up ? 1 : 0));
}

// Rounds it, and returns the relative change; nothing where it does not fit.
std::optional<Ratio> round_to(Ratio& bandwidth, const Ratio& step) {
  const auto steps = checked_div(bandwidth, step);
  if (!steps) return std::nullopt;
  const auto rounded = checked_mul(Ratio(nearest_positive(*steps)), step);
  const auto ratio = rounded ? checked_div(*rounded, bandwidth) : std::nullopt;
  const auto change = ratio ? checked_add(*ratio, Ratio(-1)) : std::nullopt;
  if (!change) return std::nullopt;
  bandwidth = *rounded;
  return *change < 0 ? Ratio(-change->num(), change->den()) : *change;
}

}  // namespace

std::optional<Ratio> quantize(Topology& topology, const Ratio& step) {
  std::vector<Ratio*> bandwidths;
  for (TopologyLink& link : topology.links) bandwidths.push_back(&link.bandwidth);
  for (SharedLimit& limit : topology.limits) bandwidths.push_back(&limit.bandwidth);
  Ratio largest = 0;
  for (Ratio* bandwidth : bandwidths) {
    const auto change = round_to(*bandwidth, step);
    if (!change) return std::nullopt;
    largest = std::max(largest, *change);
  }
  return largest;
}

}  // namespace forestcoll::topology
