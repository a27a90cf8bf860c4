#include "forestcoll/commodity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/ratio.hpp"
#include "topology/model/reach.hpp"

namespace forestcoll {
namespace {

// Of an amount in common units; a sum over all pairs of ranks stays below 128 bits.
constexpr Int128 kMostAmount = Int128{1} << 60;

Diagnostic amounts_too_large() {
  return make_error(Code::E14,
                    "the amounts of these operations do not fit 64 bits in a unit that divides "
                    "them all",
                    "round the bytes, or have fewer different sizes of groups");
}

// Whether every member has a part of its own of the buffer.
bool is_divided(const JobOperation& operation) {
  switch (operation.collective) {
    case Collective::allreduce:
    case Collective::broadcast:
    case Collective::reduce:
      return false;
    default:
      return true;
  }
}

// All amounts are whole multiples of one part of `parts` of a byte.
class Amounts {
 public:
  explicit Amounts(std::span<const JobOperation> operations) {
    for (const JobOperation& operation : operations) {
      if (!is_divided(operation)) continue;
      for (const auto& group : operation.groups) {
        const auto size = static_cast<std::int64_t>(group.size());
        const Int128 next = static_cast<Int128>(parts_) * (size / std::gcd(parts_, size));
        fits_ = fits_ && next < kMostAmount;
        if (fits_) parts_ = static_cast<std::int64_t>(next);
      }
    }
  }

  // Of the operation that is next.
  void set_weight(std::int64_t weight) { weight_ = weight; }

  std::int64_t of(std::int64_t bytes, std::int64_t divisor = 1) {
    const Int128 amount = static_cast<Int128>(bytes) * weight_ * (parts_ / divisor);
    fits_ = fits_ && amount < kMostAmount;
    return fits_ ? static_cast<std::int64_t>(amount) : 0;
  }

  [[nodiscard]] bool fit() const { return fits_; }

 private:
  std::int64_t parts_ = 1, weight_ = 1;
  bool fits_ = true;
};

// Of a demand, what a member sends on the average.
std::int64_t buffer_of(const JobOperation& operation, Amounts& amounts) {
  if (!operation.demand) return amounts.of(operation.bytes.value_or(1));
  return amounts.of(operation.demand->total(),
                    static_cast<std::int64_t>(operation.demand->ranks()));
}

std::vector<std::int64_t> path_amounts(const JobOperation& operation, std::size_t n,
                                       Amounts& amounts) {
  std::vector<std::int64_t> by_pair(n * n, 0);
  if (operation.demand) {
    for (std::size_t i = 0; i < n * n; ++i) {
      by_pair[i] = amounts.of((*operation.demand)(Rank(i / n), Rank(i % n)));
    }
    return by_pair;
  }
  const std::int64_t each = amounts.of(operation.bytes.value_or(1), static_cast<std::int64_t>(n));
  const Collective collective = operation.collective;
  for (std::size_t i = 0; i < n * n; ++i) {
    const std::size_t from = i / n, to = i % n;
    const bool moved = from != to &&
                       (collective != Collective::scatter || from == operation.root) &&
                       (collective != Collective::gather || to == operation.root);
    if (moved) by_pair[i] = each;
  }
  return by_pair;
}

Commodity commodity_of(const JobOperation& operation, std::vector<NodeId> members,
                       Amounts& amounts) {
  using Kind = Commodity::Kind;
  const std::size_t n = members.size();
  const std::int64_t buffer = operation.bytes.value_or(1);
  const auto rooted = [&](Kind kind) {
    std::vector<std::int64_t> of_root(n, 0);
    of_root[*operation.root] = amounts.of(buffer);
    return Commodity{kind, std::move(members), std::move(of_root)};
  };
  const auto divided = [&](Kind kind) {
    std::vector<std::int64_t> of_all(n, amounts.of(buffer, static_cast<std::int64_t>(n)));
    return Commodity{kind, std::move(members), std::move(of_all)};
  };
  switch (operation.collective) {
    case Collective::allgather:
      return divided(Kind::broadcast);
    case Collective::reduce_scatter:
      return divided(Kind::reduce);
    case Collective::allreduce:
      return {Kind::allreduce, std::move(members), {amounts.of(buffer)}};
    case Collective::broadcast:
      return rooted(Kind::broadcast);
    case Collective::reduce:
      return rooted(Kind::reduce);
    default:
      break;
  }
  auto by_pair = path_amounts(operation, n, amounts);
  return {Kind::paths, std::move(members), std::move(by_pair)};
}

// The nodes that are found from a member along arcs, or against them.
IdVector<NodeId, bool> found_from(const Network& network, const Commodity& commodity,
                                  std::size_t member, bool relays, bool backwards) {
  const Digraph& graph = network.graph;
  IdVector<NodeId, bool> open(graph.node_count(), false);
  for (std::size_t v = 0; v < open.size(); ++v) {
    open[NodeId(v)] = passes_on(network, NodeId(v), false, relays);
  }
  for (const NodeId v : commodity.members) open[v] = true;
  return topology::found_from(graph, commodity.members[member], backwards,
                              [&](ArcId /*arc*/, NodeId to) { return open[to]; });
}

// Whether all data find a way: from roots to all, from all to roots, from members to others.
bool has_ways(const Network& network, const Commodity& commodity, bool relays) {
  using Kind = Commodity::Kind;
  const std::size_t n = commodity.members.size();
  const auto is_among_all = [&](std::size_t member, bool backwards) {
    const auto seen = found_from(network, commodity, member, relays, backwards);
    return std::ranges::all_of(commodity.members, [&](NodeId v) { return seen[v]; });
  };
  if (commodity.kind != Kind::paths) {
    const auto roots = commodity.amounts.size() - std::ranges::count(commodity.amounts, 0);
    if (commodity.kind == Kind::allreduce || roots > 1) {
      return is_among_all(0, false) && is_among_all(0, true);
    }
    const auto root = std::ranges::find_if(commodity.amounts, [](auto a) { return a > 0; });
    const auto member = static_cast<std::size_t>(root - commodity.amounts.begin());
    return root == commodity.amounts.end() || is_among_all(member, commodity.kind == Kind::reduce);
  }
  for (std::size_t from = 0; from < n; ++from) {
    const auto row = std::span(commodity.amounts).subspan(from * n, n);
    if (std::ranges::count(row, 0) == std::ssize(row)) continue;
    const auto seen = found_from(network, commodity, from, relays, false);
    for (std::size_t to = 0; to < n; ++to) {
      if (row[to] > 0 && !seen[commodity.members[to]]) return false;
    }
  }
  return true;
}

// Whether what a member's paths carry fits 64 bits on every link, in parts of what divides it all.
bool fit_on_links(const Network& network, const Commodity& commodity) {
  if (commodity.kind != Commodity::Kind::paths) return true;
  const std::size_t n = commodity.members.size();
  for (std::size_t from = 0; from < n; ++from) {
    std::int64_t common = 0;
    Int128 total = 0;
    for (std::size_t to = 0; to < n; ++to) {
      if (to == from) continue;
      common = std::gcd(common, commodity.amounts[from * n + to]);
      total += commodity.amounts[from * n + to];
    }
    const auto nodes = static_cast<std::int64_t>(network.graph.node_count());
    if (common > 0 && total / common * nodes >= kMostAmount) return false;
  }
  return true;
}

Diagnostic unreachable(const JobOperation& operation, const std::vector<Rank>& group) {
  return make_error(
      Code::O08,
      fmt::format("{}: the {} ranks of the group of rank {} do not all reach one another through "
                  "switches and one another",
                  operation.name, group.size(), group.front().value),
      "let the other GPUs pass data on with `relays`, or choose other groups");
}

// The greatest common divisor is taken out of all amounts.
void shorten(JointDemand& demand) {
  std::int64_t common = 0;
  const auto for_all = [&](const auto& action) {
    std::ranges::for_each(demand.buffers, action);
    for (auto& commodities : demand.operations) {
      for (Commodity& commodity : commodities) std::ranges::for_each(commodity.amounts, action);
    }
  };
  for_all([&](std::int64_t& amount) { common = std::gcd(common, amount); });
  for_all([&](std::int64_t& amount) { amount /= common; });
}

}  // namespace

bool passes_on(const Network& network, NodeId node, bool is_member, bool relays) {
  return relays || is_member || !network.is_compute(node);
}

Expected<JointDemand> joint_demand(const Network& network, std::span<const JobOperation> operations,
                                   bool relays) {
  Amounts amounts(operations);
  JointDemand demand;
  demand.relays = relays;
  for (const JobOperation& operation : operations) {
    amounts.set_weight(operation.weight);
    demand.weights.push_back(operation.weight);
    demand.buffers.push_back(buffer_of(operation, amounts));
    auto& commodities = demand.operations.emplace_back();
    for (const auto& group : operation.groups) {
      if (group.size() < 2) continue;
      std::vector<NodeId> members;
      for (const Rank r : group) members.push_back(network.ranks[r.index()]);
      commodities.push_back(commodity_of(operation, std::move(members), amounts));
      if (!has_ways(network, commodities.back(), relays)) return unreachable(operation, group);
      if (!fit_on_links(network, commodities.back())) return amounts_too_large();
    }
  }
  if (!amounts.fit()) return amounts_too_large();
  shorten(demand);
  return demand;
}

}  // namespace forestcoll
