#include "solver/joint/pricing.hpp"

#include <algorithm>

#include "base/gcd.hpp"
#include "solver/joint/arborescence.hpp"

namespace forestcoll::solver {
namespace {

// Of a bound that is rounded, so that it can be multiplied by a unit.
constexpr Int128 kMostTerm = Int128{1} << 50;

std::vector<std::int64_t> transposed(const std::vector<std::int64_t>& metric, std::size_t n) {
  std::vector<std::int64_t> other(metric.size());
  for (std::size_t i = 0; i < metric.size(); ++i) other[i % n * n + i / n] = metric[i];
  return other;
}

}  // namespace

Pricing::Pricing(const Network& network, bool relays, const Portions& portions)
    : network_(network), relays_(relays), portions_(portions) {}

Pricing::Crossings Pricing::cheapest(const ArcLengths& lengths) {
  metrics_.clear();
  Crossings crossings;
  for (const Portion& portion : portions_.portions) {
    auto& of_portion = crossings.emplace_back();
    for (const auto& way : portion.ways) {
      auto& of_way = of_portion.emplace_back();
      for (const Piece& piece : way) {
        const Metric& metric = metric_of(*piece.of, lengths);
        of_way.push_back(piece.of->kind == Commodity::Kind::paths ? cheapest_paths(piece, metric)
                                                                  : cheapest_tree(piece, metric));
      }
    }
  }
  return crossings;
}

// From every member to every other, through nodes that pass the commodity's data on.
const Pricing::Metric& Pricing::metric_of(const Commodity& commodity, const ArcLengths& lengths) {
  const auto [at, is_new] = metrics_.emplace(&commodity, Metric());
  if (!is_new) return at->second;
  Metric& metric = at->second;
  const Digraph& graph = network_.graph;
  IdVector<NodeId, bool> open(graph.node_count(), false);
  for (std::size_t v = 0; v < open.size(); ++v) {
    open[NodeId(v)] = passes_on(network_, NodeId(v), false, relays_);
  }
  for (const NodeId v : commodity.members) open[v] = true;
  for (const NodeId from : commodity.members) {
    dijkstra_.run(graph.node_count(), from, [&](NodeId v, std::int64_t distance) {
      for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
        if (open[graph.head(a)]) dijkstra_.reach(graph.head(a), a, distance + lengths[a]);
      }
      return true;
    });
    for (const NodeId to : commodity.members) metric.distance.push_back(dijkstra_.distance(to));
    auto& last = metric.last.emplace_back();
    for (std::size_t v = 0; v < graph.node_count(); ++v) last.push_back(dijkstra_.by(NodeId(v)));
  }
  return metric;
}

void Pricing::add_path(const Piece& piece, const Metric& metric, std::size_t from, std::size_t to,
                       std::int64_t parts, Crossing& crossing) const {
  NodeId v = piece.of->members[to];
  while (v != piece.of->members[from]) {
    const ArcId a = metric.last[from][v.index()];
    crossing.load[portions_.arcs.of[a.index()]] += parts;
    if (portions_.uses.size() > 0) {
      for (const LimitUse& use : portions_.uses[a])
        crossing.load[use.of_class] += parts * use.times;
    }
    crossing.arcs.emplace_back(a, parts);
    v = network_.graph.tail(a);
  }
}

Crossing Pricing::cheapest_tree(const Piece& piece, const Metric& metric) const {
  const std::size_t n = piece.of->members.size();
  const auto parents = cheapest_arborescence(
      piece.turned ? transposed(metric.distance, n) : metric.distance, n, piece.member);
  Crossing crossing;
  for (std::size_t v = 0; v < n; ++v) {
    if (v == piece.member) continue;
    add_path(piece, metric, piece.turned ? v : parents[v], piece.turned ? parents[v] : v, 1,
             crossing);
  }
  return crossing;
}

Crossing Pricing::cheapest_paths(const Piece& piece, const Metric& metric) const {
  const std::size_t n = piece.of->members.size();
  const std::int64_t common = common_part(*piece.of, piece.member);
  Crossing crossing;
  for (std::size_t to = 0; to < n; ++to) {
    const std::int64_t parts = piece.of->amounts[piece.member * n + to] / common;
    if (to != piece.member && parts > 0) {
      add_path(piece, metric, piece.member, to, parts, crossing);
    }
  }
  return crossing;
}

std::optional<Covered> covered_by_lengths(const Network& network, const Portions& portions,
                                          std::size_t operations, Pricing& pricing,
                                          const std::vector<std::int64_t>& by_class) {
  Covered covered;
  covered.by_operation.resize(operations);
  const std::vector<Capacity> capacity = capacity_by_class(network, portions);
  for (std::size_t k = 0; k < by_class.size(); ++k) {
    covered.room += static_cast<Int128>(capacity[k]) * by_class[k];
  }
  const Pricing::Crossings crossings = pricing.cheapest(lengths_with_limits(portions, by_class));
  for (std::size_t p = 0; p < crossings.size(); ++p) {
    std::optional<Int128> least;
    for (const auto& way : crossings[p]) {
      Int128 cost = 0;
      for (const Crossing& crossing : way) {
        for (const auto& [k, times] : crossing.load) {
          Int128 product = 0;
          if (__builtin_mul_overflow(static_cast<Int128>(times), static_cast<Int128>(by_class[k]),
                                     &product) ||
              __builtin_add_overflow(cost, product, &cost)) {
            return std::nullopt;
          }
        }
      }
      least = std::min(least.value_or(cost), cost);
    }
    const Portion& portion = portions.portions[p];
    Int128 all = 0;
    Int128& sum = covered.by_operation[portion.operation];
    if (__builtin_mul_overflow(*least, static_cast<Int128>(portion.amount) * portion.copies,
                               &all) ||
        __builtin_add_overflow(sum, all, &sum)) {
      return std::nullopt;
    }
  }
  return covered;
}

std::optional<Ratio> bound_by_lengths(const Network& network, const Portions& portions,
                                      std::int64_t whole, Pricing& pricing,
                                      const std::vector<std::int64_t>& by_class) {
  std::size_t operations = 0;
  for (const Portion& portion : portions.portions) {
    operations = std::max(operations, portion.operation + 1);
  }
  const auto found = covered_by_lengths(network, portions, operations, pricing, by_class);
  if (!found) return std::nullopt;
  const Int128 room = found->room;
  Int128 covered = 0;
  for (const Int128 of_one : found->by_operation) {
    if (__builtin_add_overflow(covered, of_one, &covered)) return std::nullopt;
  }
  if (covered == 0) return std::nullopt;
  const Int128 common = gcd(covered, whole);
  Int128 num = 0, den = covered / common;
  if (__builtin_mul_overflow(room, whole / common, &num)) return std::nullopt;
  if (const auto exact = Ratio::reduced(num, den)) return exact;
  // A little more than that is proved as well.
  while (num >= kMostTerm || den >= kMostTerm) {
    num = num / 2 + 1;
    den /= 2;
  }
  return Ratio::reduced(num, den);
}

}  // namespace forestcoll::solver
