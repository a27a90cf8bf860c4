#include "audit/common/fabric_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <compare>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "forestcoll/failures.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();

// Routes to one destination: hops and widths of every node, found backwards from it.
class RoutesTo {
 public:
  // With `only`, those from there alone, and of no node that is farther.
  RoutesTo(const Network& network, NodeId destination, std::optional<NodeId> only = {})
      : network_(network) {
    const std::size_t nodes = network.graph.node_count();
    hops_.assign(nodes, kFar);
    width_.assign(nodes, 0);
    hops_[destination] = 0;
    width_[destination] = std::numeric_limits<Capacity>::max();
    queue_.push_back(destination);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const NodeId v = queue_[at];
      if (v != destination) widen(v);
      if (v == only) break;
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

  // Puts `amount[v]` of data, given for the senders, on the arcs, of which it tells `put(arc,
  // load)`; false on overflow, and where `put` is.
  template <class Put>
  [[nodiscard]] bool spread(IdVector<NodeId, Ratio>& amount, const Put& put) const {
    for (std::size_t at = queue_.size(); at-- > 1;) {
      const NodeId v = queue_[at];
      if (amount[v] == Ratio(0)) continue;
      if (!share_out(v, amount, put)) return false;
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

  template <class Put>
  bool share_out(NodeId v, IdVector<NodeId, Ratio>& amount, const Put& put) const {
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
      const auto passed_on = part ? checked_add(amount[next], *part) : std::nullopt;
      fits = fits && passed_on && put(a, *part);
      if (fits) amount[next] = *passed_on;
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

// Adds what goes through switch channels; false on overflow.
bool add_group_loads(const Network& network, const Topology& topology,
                     const GroupAccesses& accesses, IdVector<ArcId, Ratio>& loads,
                     Findings& findings) {
  const SwitchRoles roles = switch_roles(topology);
  for (const auto& [access, chunks] : accesses) {
    const auto links = links_of_access(network, roles, access);
    if (links.empty()) {
      findings.add(Rule::fabric, Place{access.rank, -1, -1, 0, {}},
                   fmt::format("{} through a switch, and none of the topology that is linked to "
                               "them can",
                               to_string(access)),
                   "say what switches can do: \"multicast\" and \"reduce\"");
      return false;
    }
    for (const auto& [link, part] : links) {
      const auto more = checked_mul(part, Ratio(chunks));
      const auto load = more ? checked_add(loads[link], *more) : std::nullopt;
      if (!load) return false;
      loads[link] = *load;
    }
  }
  return true;
}

// What the topology says that the ranks own has to be what the file gives them.
bool own_what_they_should(const Program& program, const Network& network, const Topology& topology,
                          Findings& findings) {
  if (!declares_parts(program.pattern) || !program.groups.empty()) return true;
  const OwnParts parts(program);
  const auto weight_of = [&](std::int32_t r) {
    return network.weight.empty() ? 1 : network.weight[Rank(static_cast<std::size_t>(r))];
  };
  Int128 whole = 0;
  for (std::int32_t r = 0; r < program.ranks; ++r) whole += weight_of(r);
  for (std::int32_t r = 0; r < program.ranks; ++r) {
    if (parts.size(r) * whole == Int128{weight_of(r)} * program.chunks) continue;
    findings.add(
        Rule::fabric, Place{r, -1, -1, 0, {}},
        fmt::format("{} owns {} of {} chunks in the file, and {} of {} units of the data "
                    "in the topology",
                    topology.nodes[network.ranks[static_cast<std::size_t>(r)]].id, parts.size(r),
                    program.chunks, weight_of(r), static_cast<std::int64_t>(whole)),
        "give the topology that the schedule was made for");
    return false;
  }
  return true;
}

void add_no_route(std::int32_t source, std::size_t destination, Findings& findings) {
  findings.add(
      Rule::fabric, Place{source, -1, -1, 0, {}},
      fmt::format("sends to rank {}, but no route leads there through switches alone", destination),
      "check the order of ranks in the topology");
}

}  // namespace

std::optional<IdVector<ArcId, Ratio>> route_transfers(const Network& network,
                                                      const Transfers& transfers,
                                                      Findings& findings) {
  IdVector<ArcId, Ratio> loads(network.graph.arc_count(), Ratio(0));
  const auto put = [&loads](ArcId a, const Ratio& more) {
    const auto load = checked_add(loads[a], more);
    if (load) loads[a] = *load;
    return load.has_value();
  };
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
        add_no_route(source, destination, findings);
        continue;
      }
      amount[node] = Ratio(chunks);
    }
    fits = fits && routes.spread(amount, put);
  }
  if (!fits) return std::nullopt;
  return loads;
}

std::optional<std::vector<std::pair<ArcId, Ratio>>> route_transfer(const Network& network,
                                                                   Rank from, Rank to,
                                                                   Findings& findings) {
  std::vector<std::pair<ArcId, Ratio>> loads;
  const NodeId source = network.ranks[from.index()];
  const RoutesTo routes(network, network.ranks[to.index()], source);
  if (!routes.reaches(source)) {
    add_no_route(from.value, to.index(), findings);
    return loads;
  }
  IdVector<NodeId, Ratio> amount(network.graph.node_count(), Ratio(0));
  amount[source] = Ratio(1);
  const auto put = [&loads](ArcId a, const Ratio& load) {
    loads.emplace_back(a, load);
    return true;
  };
  if (!routes.spread(amount, put)) return std::nullopt;
  std::ranges::sort(loads, {}, [](const auto& each) { return each.first; });
  return loads;
}

namespace {

using Wide = boost::multiprecision::cpp_rational;

Wide widened(const Ratio& ratio) {
  return Wide(ratio.num(), ratio.den());
}

// The value, or a little less where that does not fit 64 bits.
std::optional<Ratio> no_more_than(const Wide& value) {
  using Whole = boost::multiprecision::cpp_int;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Whole num = numerator(value), den = denominator(value);
  if (num > kMost || den > kMost) {
    const unsigned whole_bits = num < den ? 0 : msb(num / den) + 1;
    if (whole_bits > 62) return std::nullopt;
    num = (num << (62 - whole_bits)) / den;
    den = Whole(1) << (62 - whole_bits);
  }
  return Ratio(static_cast<std::int64_t>(num), static_cast<std::int64_t>(den));
}

// Where links that share a capacity are slower together than any of them alone. The
// parts that are made within limits have little in common with them: exact rates need not fit.
void hold_by_limits(const Topology& topology, const Network& network,
                    const IdVector<ArcId, Ratio>& loads, Verdict& verdict) {
  const LinkLoad& busiest = *verdict.busiest;
  Wide least = widened(busiest.bandwidth) / widened(busiest.load);
  for (const SharedLimit& limit : topology.limits) {
    Wide all = 0;
    for (const SharedLimit::Use& use : limit.uses) {
      const ArcId arc = network.graph.find(use.src, use.dst);
      if (arc.valid()) all += widened(loads[arc]) * widened(use.weight);
    }
    if (all == 0) continue;
    const Wide algbw = widened(limit.bandwidth) / all;
    if (algbw >= least) continue;
    least = algbw;
    verdict.binding_limit = name_of(limit, topology);
  }
  verdict.algbw = no_more_than(least);
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
    if (!topology.limits.empty()) hold_by_limits(topology, network, loads, verdict);
  }
  std::sort(verdict.loads.begin(), verdict.loads.end(), [](const LinkLoad& a, const LinkLoad& b) {
    return std::tie(a.src, a.dst) < std::tie(b.src, b.dst);
  });
}

std::string what_holds_up(const Verdict& verdict) {
  if (verdict.binding_limit) {
    return ", held up by what links share: limit " + *verdict.binding_limit;
  }
  if (!verdict.busiest) return "";
  return fmt::format(", held up by the link from {} to {}", verdict.busiest->src,
                     verdict.busiest->dst);
}

void check_fabric(const Program& program, const Transfers& transfers, const GroupAccesses& accesses,
                  const Topology& topology, Findings& findings, Verdict& verdict) {
  const auto network = to_digraph(without_relays(topology));
  if (!network) {
    findings.add(Rule::fabric, std::string(),
                 "the topology has no exact digraph: " + network.errors().front().message);
    return;
  }
  if (program.ranks != static_cast<std::int64_t>(network->ranks.size())) {
    findings.add(Rule::fabric, std::string(),
                 fmt::format("the schedule is for {} GPUs, the topology has {}", program.ranks,
                             network->ranks.size()),
                 "give the topology that the schedule was made for, with the same `members` and "
                 "`drop`");
    return;
  }
  if (!own_what_they_should(program, *network, topology, findings)) return;
  auto loads = route_transfers(*network, transfers, findings);
  if (!loads || !add_group_loads(*network, topology, accesses, *loads, findings)) return;
  for (Ratio& load : *loads) {
    const auto share = checked_div(load, Ratio(program.chunks));
    if (!share) return;
    load = *share;
  }
  report_loads(topology, *network, *loads, verdict);
}

}  // namespace forestcoll::audit
