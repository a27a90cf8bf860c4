#include "forestcoll/pack_branching.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/route_builder.hpp"

namespace forestcoll {
namespace {

// Of sums of capacities times the data, as `Network` promises.
constexpr Int128 kMost = Int128{1} << 62;

Diagnostic does_not_fit() {
  return {.code = "E14",
          .kind = ErrorKind::limit,
          .message =
              "the shares of the trees that branch at switches have no common denominator "
              "that fits 64 bits",
          .remedy = "round the bandwidths to a coarser grid with --quantize"};
}

// What all amounts of a split are multiples of, in the network's units: one chunk's part of the
// rate.
std::optional<Ratio> common_measure(const AllreduceSplit& split) {
  std::int64_t num = 0, den = 1;
  const auto add = [&](const Ratio& amount) {
    if (amount == Ratio(0)) return true;
    num = std::gcd(num, amount.num());
    const Int128 common = Int128{den} / std::gcd(den, amount.den()) * amount.den();
    if (common >= kMost) return false;
    den = static_cast<std::int64_t>(common);
    return true;
  };
  for (const auto* phase : {&split.broadcast, &split.reduce}) {
    for (const AllreduceTrees& trees : *phase) {
      if (!std::ranges::all_of(trees.root, add)) return std::nullopt;
      for (const AllreduceArc& arc : trees.taken) {
        if (!add(arc.amount)) return std::nullopt;
      }
    }
  }
  return Ratio(num, den);
}

// In chunks. REQUIRES: it is a multiple.
std::optional<std::int64_t> count_of(const Ratio& amount, const Ratio& measure) {
  const auto count = checked_div(amount, measure);
  if (!count) return std::nullopt;
  FORESTCOLL_CHECK(count->den() == 1, "the measure divides every amount");
  return count->num();
}

/// What the trees of one class and phase are packed into: the fabric with a twin beside each of
/// their switches, in chunks. In-trees are out-trees on it, as it is turned round.
class TwinFabric {
 public:
  TwinFabric(const Network& fabric, const AllreduceTrees& trees, bool inward)
      : fabric_(fabric), trees_(trees), inward_(inward) {
    const std::size_t nodes = fabric.graph.node_count();
    for (std::size_t i = 0; i < trees.switches.size(); ++i) {
      twin_of_.emplace(trees.switches[i], NodeId(nodes + i));
    }
  }

  // False where that does not fit exact arithmetic.
  bool make(const Ratio& measure) {
    std::map<std::pair<NodeId, NodeId>, Capacity> taken;
    Int128 all = 0;
    for (const AllreduceArc& arc : trees_.taken) {
      const auto count = count_of(arc.amount, measure);
      if (!count) return false;
      const Arc& along = fabric_.graph.arcs()[arc.arc.index()];
      NodeId tail = end(along.tail, arc.branches_at_tail);
      NodeId head = end(along.head, arc.branches_at_head);
      if (inward_) std::swap(tail, head);
      taken[{tail, head}] += *count;
      all += *count;
    }
    add_ranks();
    Int128 data = static_cast<Int128>(network_.ranks.size());
    for (const NodeId v : network_.ranks) {
      const auto count = count_of(trees_.root[original(v)], measure);
      if (!count) return false;
      network_.weight.push_back(*count);
      data += *count;
    }
    if (all >= kMost / data) return false;
    std::vector<Arc> arcs;
    for (const auto& [ends, capacity] : taken) {
      arcs.push_back({ends.first, ends.second});
      network_.capacity.push_back(capacity);
    }
    network_.graph = Digraph(fabric_.graph.node_count() + trees_.switches.size(), arcs);
    return true;
  }

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] NodeId original(NodeId v) const {
    const std::size_t nodes = fabric_.graph.node_count();
    return v.index() < nodes ? v : trees_.switches[v.index() - nodes];
  }

 private:
  [[nodiscard]] NodeId end(NodeId v, bool branches) const { return branches ? twin_of_.at(v) : v; }

  void add_ranks() {
    network_.rank_of.assign(fabric_.graph.node_count() + trees_.switches.size(), Rank());
    const auto add = [&](NodeId v) {
      network_.rank_of[v] = Rank(network_.ranks.size());
      network_.ranks.push_back(v);
    };
    for (const NodeId v : fabric_.ranks) add(v);
    for (const NodeId w : trees_.switches) add(twin_of_.at(w));
  }

  const Network& fabric_;
  const AllreduceTrees& trees_;
  const bool inward_;
  std::map<NodeId, NodeId> twin_of_;
  Network network_;
};

// The same trees on the fabric's own nodes: a twin is its switch.
Forest without_twins(const Forest& packed, const TwinFabric& twins) {
  std::vector<NodeId> ranks;
  for (const NodeId v : packed.ranks()) ranks.push_back(twins.original(v));
  RouteBuilder builder(ranks);
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  for (std::size_t t = 0; t < packed.tree_count(); ++t) {
    trees.push_back(packed.tree(TreeId(t)));
    for (std::size_t v = 0; v < ranks.size(); ++v) {
      if (Rank(v) == trees.back().root) {
        routes.emplace_back();
        continue;
      }
      auto path = packed.path(TreeId(t), Rank(v));
      for (NodeId& node : path) node = twins.original(node);
      routes.push_back(builder.add(packed.parent(TreeId(t), Rank(v)), path));
    }
  }
  return {builder.take(), std::move(trees), std::move(routes)};
}

Expected<BranchingTrees> pack_class(const Network& fabric, const AllreduceTrees& trees, bool inward,
                                    const Ratio& measure, const PackOptions& options) {
  TwinFabric twins(fabric, trees, inward);
  if (!twins.make(measure)) return does_not_fit();
  const Network& network = twins.network();
  const Scaling scaling{1, Ratio(1), network.capacity};
  auto packed = pack(network, network.weight, scaling, options);
  if (!packed) return packed.errors();
  FORESTCOLL_CHECK(packed->scaling.k == 1, "a tree is asked for per chunk");
  const Forest forest = without_twins(packed->forest, twins);
  return BranchingTrees{trees.switches, inward ? forest.reversed() : forest};
}

}  // namespace

Expected<BranchingForest> pack_branching(const Network& network, const SwitchRoles& roles,
                                         const AllreduceOptimum& optimum,
                                         const PackOptions& options) {
  FORESTCOLL_CHECK(optimum.split.has_value(), "a split says what is to be packed");
  const AllreduceSplit& split = *optimum.split;
  const auto measure = common_measure(split);
  if (!measure) return does_not_fit();
  BranchingForest result{.optimum = optimum.upper, .ranks = network.ranks};
  for (const bool inward : {true, false}) {
    auto& packed = inward ? result.reduce : result.broadcast;
    for (const AllreduceTrees& trees : inward ? split.reduce : split.broadcast) {
      auto each = pack_class(network, trees, inward, *measure, options);
      if (!each) return each.errors();
      packed.push_back(*std::move(each));
    }
  }
  result.chunks = 0;
  for (const BranchingTrees& trees : result.broadcast) {
    for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
      result.chunks += trees.forest.tree(TreeId(t)).multiplicity;
    }
  }
  const auto algbw = congestion_algbw(result, network, roles);
  if (!algbw) return does_not_fit();
  result.algbw = *algbw;
  return result;
}

}  // namespace forestcoll
