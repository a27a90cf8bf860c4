// The optimal rate by bisection: λ is feasible if no cut S has weight(S) / B⁺(S) > λ, and the
// least feasible λ is the answer. For λ = p/q, every arc gets capacity p·b and a source sends
// q·weight(u) to every compute node u; then λ is feasible exactly if every compute node can receive
// all q·weight(V) of it. An infeasible λ comes with a cut whose own ratio is larger; the search
// goes on above that ratio, and ends when the ratio itself is feasible: it is then both reached by
// a cut and exceeded by none. Mid-points are the simplest fractions in the middle half of the
// interval (by descent in the Stern–Brocot tree), so numbers stay small; everything is exact.
//
// A compute node that has been found to receive everything is tied to the source for the rest of
// the probe: a cut that violates must have it on the source's side.
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/verify.hpp"

// LEMON keeps values of types that it does not know in a map that C++20 no longer compiles; this
// chooses the one that it uses for its own integers.
template <class Graph, class Item>
struct lemon::DefaultMapSelector<Graph, Item, forestcoll::Int128> {
  using Map = lemon::VectorMap<Graph, Item, forestcoll::Int128>;
};

namespace forestcoll {
namespace {

struct Fraction {
  Int128 num, den;
};

bool less(const Fraction& a, const Fraction& b) {
  return a.num * b.den < b.num * a.den;
}

// The fraction of least denominator between `low` and `high`, both included; 0 < low < high.
// It is the common beginning of their continued fractions.
Fraction simplest_between(Fraction low, Fraction high) {
  const Int128 whole = low.num / low.den;
  if (whole * low.den == low.num) return {whole, 1};
  if ((whole + 1) * high.den <= high.num) return {whole + 1, 1};
  const Fraction rest = simplest_between({high.den, high.num - whole * high.den},
                                         {low.den, low.num - whole * low.den});
  return {whole * rest.num + rest.den, rest.num};
}

Fraction lowest_terms(Fraction f) {
  Int128 a = f.num;
  Int128 b = f.den;
  while (b != 0) a = std::exchange(b, a % b);
  return {f.num / a, f.den / a};
}

Fraction middle(const Fraction& low, const Fraction& high) {
  // low + (high − low) · {1, 3}/4
  const Int128 a = low.num * high.den;
  const Int128 b = high.num * low.den;
  const Int128 den = low.den * high.den * 4;
  return simplest_between({3 * a + b, den}, {a + 3 * b, den});
}

class Bisection {
 public:
  using Graph = lemon::SmartDigraph;
  using Flow = lemon::Preflow<Graph, Graph::ArcMap<Int128>>;

  Bisection(const Network& network, const IdVector<Rank, std::int64_t>& weights)
      : network_(network), weights_(weights), capacity_(graph_) {
    for (std::size_t v = 0; v < network.graph.node_count(); ++v) nodes_.push_back(graph_.addNode());
    source_ = graph_.addNode();
    for (const Arc& arc : network.graph.arcs()) {
      arcs_.push_back(graph_.addArc(nodes_[arc.tail.index()], nodes_[arc.head.index()]));
    }
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      supply_.push_back(graph_.addArc(source_, nodes_[network.ranks[r].index()]));
      order_.push_back(r);
      total_ += weights[Rank(r)];
    }
  }

  Ratio run() {
    // No cut weighs more than everything, nor lets less than one unit out.
    Fraction high{total_, 1};
    // The cut of a single compute node, or of all but one, is a beginning; 0 would do as well, but
    // for a search over fractions it is infinitely far away.
    Fraction low = weakest_single_cut();
    while (auto cut = violated(low)) {
      low = *cut;
      const Fraction mid = middle(low, high);
      cut = violated(mid);
      if (cut) {
        low = *cut;
      } else {
        high = mid;
      }
    }
    const auto rate = Ratio::reduced(low.num, low.den);
    FORESTCOLL_CHECK(rate.has_value(), "a cut's ratio does not fit");
    return *rate;
  }

 private:
  // max over compute nodes v of weight(all but v) / capacity into v: the cuts S = V − {v}.
  Fraction weakest_single_cut() const {
    Fraction best{0, 1};
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      Int128 in = 0;
      for (const ArcId a : network_.graph.in(network_.ranks[r])) in += network_.capacity[a];
      const Int128 weight = total_ - weights_[Rank(r)];
      FORESTCOLL_CHECK(in > 0 || weight == 0, "a compute node that nothing reaches");
      if (weight > 0 && less(best, {weight, in})) best = {weight, in};
    }
    return lowest_terms(best);
  }

  // The ratio of some cut above λ, if there is one.
  std::optional<Fraction> violated(const Fraction& lambda) {
    for (std::size_t a = 0; a < arcs_.size(); ++a) {
      capacity_[arcs_[a]] = lambda.num * network_.capacity[ArcId(a)];
    }
    for (std::size_t r = 0; r < supply_.size(); ++r) {
      capacity_[supply_[r]] = lambda.den * weights_[Rank(r)];
    }
    const Int128 demand = lambda.den * total_;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::size_t sink = order_[i];
      Flow flow(graph_, capacity_, source_, nodes_[network_.ranks[sink].index()]);
      flow.runMinCut();
      if (flow.flowValue() < demand) {
        std::swap(order_[0], order_[i]);  // the sink that failed is likely to fail again
        return ratio_of(flow);
      }
      capacity_[supply_[sink]] = demand;
    }
    return std::nullopt;
  }

  Fraction ratio_of(const Flow& flow) const {
    Int128 weight = 0;
    Int128 exit = 0;
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      if (flow.minCut(nodes_[network_.ranks[r].index()])) weight += weights_[Rank(r)];
    }
    for (std::size_t a = 0; a < arcs_.size(); ++a) {
      const bool leaves =
          flow.minCut(graph_.source(arcs_[a])) && !flow.minCut(graph_.target(arcs_[a]));
      if (leaves) exit += network_.capacity[ArcId(a)];
    }
    FORESTCOLL_CHECK(exit > 0, "compute nodes that cannot reach one another");
    return lowest_terms({weight, exit});
  }

  const Network& network_;
  const IdVector<Rank, std::int64_t>& weights_;
  Graph graph_;
  Graph::ArcMap<Int128> capacity_;
  Graph::Node source_;
  std::vector<Graph::Node> nodes_;
  std::vector<Graph::Arc> arcs_, supply_;
  std::vector<std::size_t> order_;  // of probing the sinks
  Int128 total_ = 0;
};

}  // namespace

Ratio rate_by_bisection(const Network& network, const IdVector<Rank, std::int64_t>& weights) {
  return Bisection(network, weights).run();
}

}  // namespace forestcoll
