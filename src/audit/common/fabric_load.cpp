#include "audit/common/fabric_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace forestcoll::audit {
namespace {

constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();

// Routes to one destination: hops and widths of every node, found backwards from it.
class RoutesTo {
 public:
  RoutesTo(const Network& network, NodeId destination) : network_(network) {
    const std::size_t nodes = network.graph.node_count();
    hops_.assign(nodes, kFar);
    width_.assign(nodes, 0);
    hops_[destination] = 0;
    width_[destination] = std::numeric_limits<Capacity>::max();
    queue_.push_back(destination);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const NodeId v = queue_[at];
      if (v != destination) widen(v);
      if (v != destination && network.is_compute(v)) continue;
      for (const ArcId a : network.graph.in(v)) {
        const NodeId u = network.graph.tail(a);
        if (hops_[u] != kFar) continue;
        hops_[u] = hops_[v] + 1;
        queue_.push_back(u);
      }
    }
  }

  [[nodiscard]] bool reaches(NodeId from) const { return hops_[from] != kFar; }

  // Puts `amount[v]` of data, given for the senders, on the arcs; false on overflow.
  [[nodiscard]] bool spread(IdVector<NodeId, Ratio>& amount, IdVector<ArcId, Ratio>& loads) const {
    for (std::size_t at = queue_.size(); at-- > 1;) {
      const NodeId v = queue_[at];
      if (amount[v] == Ratio(0)) continue;
      if (!share_out(v, amount, loads)) return false;
    }
    return true;
  }

 private:
  // Whether the arc is the next hop of some shortest route.
  [[nodiscard]] bool leads_on(ArcId a) const {
    const NodeId u = network_.graph.tail(a);
    const NodeId v = network_.graph.head(a);
    const bool passes = hops_[v] == 0 || !network_.is_compute(v);
    return passes && hops_[v] != kFar && hops_[u] == hops_[v] + 1;
  }
  [[nodiscard]] Capacity width(ArcId a) const {
    return std::min(network_.capacity[a], width_[network_.graph.head(a)]);
  }

  template <class Visit>
  void for_next_hops(NodeId v, Visit visit) const {
    const ArcId last = network_.graph.last_out(v);
    for (ArcId a = network_.graph.first_out(v); a != last; ++a.value) {
      if (leads_on(a)) visit(a);
    }
  }

  // Nodes come by hops, so all that a node leads on to is known.
  void widen(NodeId v) {
    Capacity total = 0;
    for_next_hops(v, [&](ArcId a) { total += width(a); });
    width_[v] = total;
  }

  bool share_out(NodeId v, IdVector<NodeId, Ratio>& amount, IdVector<ArcId, Ratio>& loads) const {
    const bool sender = network_.is_compute(v);
    Capacity widest = 0, total = 0;
    for_next_hops(v, [&](ArcId a) { widest = std::max(widest, width(a)); });
    const auto used = [&](ArcId a) { return !sender || width(a) == widest; };
    for_next_hops(v, [&](ArcId a) { total += used(a) ? width(a) : 0; });
    bool fits = true;
    for_next_hops(v, [&](ArcId a) {
      if (!used(a)) return;
      const NodeId next = network_.graph.head(a);
      const auto part = checked_mul(amount[v], Ratio(width(a), total));
      const auto load = part ? checked_add(loads[a], *part) : std::nullopt;
      const auto passed_on = part ? checked_add(amount[next], *part) : std::nullopt;
      fits = fits && load && passed_on;
      if (!fits) return;
      loads[a] = *load;
      amount[next] = *passed_on;
    });
    return fits;
  }

  const Network& network_;
  IdVector<NodeId, std::int32_t> hops_;
  IdVector<NodeId, Capacity> width_;
  std::vector<NodeId> queue_;  // by hops
};

// a/b and c/d, all positive, by their continued fractions: nothing is multiplied.
std::strong_ordering compare(Int128 a, Int128 b, Int128 c, Int128 d) {
  for (bool turned = false;; turned = !turned) {
    const auto order = [&](bool first_is_less) {
      return first_is_less != turned ? std::strong_ordering::less : std::strong_ordering::greater;
    };
    if (a / b != c / d) return order(a / b < c / d);
    a %= b;
    c %= d;
    if (a == 0 && c == 0) return std::strong_ordering::equal;
    if (a == 0 || c == 0) return order(a == 0);
    std::swap(a, b);  // the reciprocals are in the opposite order
    std::swap(c, d);
  }
}

// Exactly, also where a time in seconds per GB does not fit.
bool takes_longer(const LinkLoad& link, const LinkLoad& other) {
  const auto time = [](const LinkLoad& of) {
    return std::pair(Int128{of.load.num()} * of.bandwidth.den(),
                     Int128{of.load.den()} * of.bandwidth.num());
  };
  const auto [num, den] = time(link);
  const auto [other_num, other_den] = time(other);
  return compare(num, den, other_num, other_den) > 0;
}

}  // namespace

std::optional<IdVector<ArcId, Ratio>> route_transfers(const Network& network,
                                                      const Transfers& transfers,
                                                      Findings& findings) {
  IdVector<ArcId, Ratio> loads(network.graph.arc_count(), Ratio(0));
  std::vector<std::vector<std::pair<std::int32_t, std::int64_t>>> to(network.ranks.size());
  for (const auto& [ends, chunks] : transfers) {
    to[static_cast<std::size_t>(ends.second)].emplace_back(ends.first, chunks);
  }
  bool fits = true;
  for (std::size_t destination = 0; destination < to.size(); ++destination) {
    if (to[destination].empty()) continue;
    const RoutesTo routes(network, network.ranks[destination]);
    IdVector<NodeId, Ratio> amount(network.graph.node_count(), Ratio(0));
    for (const auto& [source, chunks] : to[destination]) {
      const NodeId node = network.ranks[static_cast<std::size_t>(source)];
      if (!routes.reaches(node)) {
        findings.add(
            Rule::fabric, Place{source, -1, -1, 0, {}},
            fmt::format("sends to rank {}, but no route leads there through switches alone",
                        destination),
            "check the order of ranks in the topology");
        continue;
      }
      amount[node] = Ratio(chunks);
    }
    fits = fits && routes.spread(amount, loads);
  }
  if (!fits) return std::nullopt;
  return loads;
}

namespace {

// Where links that share a capacity are slower together than any of them alone.
void hold_by_limits(const Topology& topology, const Network& network,
                    const IdVector<ArcId, Ratio>& loads, Verdict& verdict) {
  for (const SharedLimit& limit : topology.limits) {
    std::optional<Ratio> all = Ratio(0);
    for (const SharedLimit::Use& use : limit.uses) {
      const ArcId arc = network.graph.find(use.src, use.dst);
      if (!arc.valid()) continue;
      const auto load = checked_mul(loads[arc], use.weight);
      all = all && load ? checked_add(*all, *load) : std::nullopt;
    }
    if (all == Ratio(0)) continue;
    const auto algbw = all ? checked_div(limit.bandwidth, *all) : std::nullopt;
    if (!algbw) {
      verdict.algbw.reset();
      return;
    }
    if (!verdict.algbw || *verdict.algbw <= *algbw) continue;
    verdict.algbw = *algbw;
    verdict.binding_limit = limit.name;
  }
}

}  // namespace

void report_loads(const Topology& topology, const Network& network,
                  const IdVector<ArcId, Ratio>& loads, Verdict& verdict) {
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const ArcId a(i);
    if (loads[a] == Ratio(0)) continue;
    const auto bandwidth = checked_mul(Ratio(network.capacity[a]), network.unit);
    if (!bandwidth) return;
    verdict.loads.push_back({topology.nodes[network.graph.tail(a)].id,
                             topology.nodes[network.graph.head(a)].id, loads[a], *bandwidth});
    const LinkLoad& link = verdict.loads.back();
    if (!verdict.busiest || takes_longer(link, *verdict.busiest)) verdict.busiest = link;
  }
  if (verdict.busiest) {
    verdict.algbw = checked_div(verdict.busiest->bandwidth, verdict.busiest->load);
    hold_by_limits(topology, network, loads, verdict);
  }
  std::sort(verdict.loads.begin(), verdict.loads.end(), [](const LinkLoad& a, const LinkLoad& b) {
    return std::tie(a.src, a.dst) < std::tie(b.src, b.dst);
  });
}

std::string what_holds_up(const Verdict& verdict) {
  if (verdict.binding_limit) {
    return ", held up by what links share: " +
           (verdict.binding_limit->empty() ? "a limit without a name" : *verdict.binding_limit);
  }
  if (!verdict.busiest) return "";
  return fmt::format(", held up by the link from {} to {}", verdict.busiest->src,
                     verdict.busiest->dst);
}

}  // namespace forestcoll::audit
