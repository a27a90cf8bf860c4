#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "solver/alltoall/halpern.hpp"
#include "solver/alltoall/instance/routing.hpp"
#include "solver/alltoall/methods.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// Sources times arcs that are held in memory: each takes 30 bytes or so.
constexpr std::size_t kMostFlowsInMemory = 60'000'000;

constexpr int kIterationsBetweenProofs = 50;

// The longest arc: what rounding loses is far below what single precision knows.
constexpr double kLongest = 1 << 20;

// What is added to every length, in terms of their mean, where nodes are put in order of distance:
// nodes that are as near as another would be in no order of which flows know.
constexpr double kLeastLength = 0.2;

ArcLengths rounded(const Instance& instance, const Folded& folded,
                   const std::vector<double>& by_row) {
  std::vector<double> lengths(instance.network.graph.arc_count(), 0);
  for (std::size_t a = 0; a < folded.arcs.size(); ++a) {
    lengths[folded.arcs[a].index()] = by_row[folded.row[a]];
  }
  if (folded.fixed_load > 0) {
    for (std::size_t a = 0; a < lengths.size(); ++a) {
      if (instance.orbits.arcs.of[a] == folded.fixed_orbit) lengths[a] = by_row.back();
    }
  }
  const double longest = *std::ranges::max_element(lengths);
  ArcLengths integral(lengths.size(), 0);
  if (!(longest > 0)) return integral;
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    integral[ArcId(a)] = std::llround(lengths[a] / longest * kLongest);
  }
  return integral;
}

ArcLengths with_least(ArcLengths lengths) {
  const auto sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  const double mean = static_cast<double>(sum) / static_cast<double>(lengths.size());
  const std::int64_t least = 1 + std::llround(kLeastLength * mean);
  for (std::int64_t& length : lengths) length += least;
  return lengths;
}

// By arc of the network: where it is in the folded graph, and where the arc the other way is.
struct Place {
  std::size_t there = Folded::kNone, back = Folded::kNone;
};

std::vector<Place> places(const Instance& instance, const Folded& folded) {
  const Digraph& graph = instance.network.graph;
  std::vector<Place> places(graph.arc_count());
  for (std::size_t a = 0; a < folded.arcs.size(); ++a) {
    const ArcId arc = folded.arcs[a], back = graph.find(graph.head(arc), graph.tail(arc));
    places[arc.index()].there = a;
    if (back.valid()) places[back.index()].back = a;
  }
  return places;
}

}  // namespace

int improve(const Instance& instance, const Folded& folded, const FirstOrderLimits& limits,
            Answer& answer) {
  const std::size_t size = instance.sources.size() * instance.network.graph.arc_count();
  if (folded.source.empty() || size > kMostFlowsInMemory || answer.is_near(limits.gap)) return 0;
  Halpern method(folded, limits.threads);
  const auto place = places(instance, folded);
  const auto proportions = [&](std::size_t source, ArcId a) {
    const std::size_t at = folded.source_of[source];
    const auto& [there, back] = place[a.index()];
    if (at == Folded::kNone || there == Folded::kNone) return 0.0;
    const double flow = method.flow(at, there);
    return back == Folded::kNone ? flow : flow - std::max(method.flow(at, back), 0.0);
  };
  const std::int64_t parts = parts_for_routing(instance);
  int iterations = 0;
  while (iterations < limits.iterations && !limits.stop.stop_requested()) {
    method.iterate(kIterationsBetweenProofs, limits.stop);
    iterations += kIterationsBetweenProofs;
    const ArcLengths lengths = rounded(instance, folded, method.lengths());
    answer.consider(instance, lengths);
    answer.consider(instance, routed(instance, with_least(lengths), proportions, parts), parts);
    if (answer.is_near(limits.gap)) break;
  }
  return iterations;
}

}  // namespace forestcoll::solver::alltoall
