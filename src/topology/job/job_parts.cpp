#include "forestcoll/job_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/model/reach.hpp"

namespace forestcoll {
namespace {

constexpr std::int64_t kMostExactParts = std::int64_t{1} << 32;
constexpr std::int64_t kRoundedParts = std::int64_t{1} << 24;
constexpr std::int64_t kWayBackParts = std::int64_t{1} << 20;

using Parts = IdVector<ArcId, Ratio>;  // of arcs, that one group has

// The members of a group, by node.
IdVector<NodeId, bool> members_of(const Network& network, const std::vector<Rank>& group) {
  IdVector<NodeId, bool> members(network.graph.node_count(), false);
  for (const Rank r : group) members[network.ranks[r.index()]] = true;
  return members;
}

struct Group {
  std::size_t operation = 0, group = 0;
  IdVector<NodeId, bool> is_member;
  Parts parts;
};

// The arcs that share a limit: there is no telling what is left of one.
IdVector<ArcId, bool> limited_arcs(const Network& network) {
  IdVector<ArcId, bool> limited(network.graph.arc_count(), false);
  for (const ArcLimit& limit : network.limits) {
    for (const auto& use : limit.uses) limited[use.first] = true;
  }
  return limited;
}

// Gives what is left of an arc that some use to these, evenly.
void fill_up(std::vector<Group>& groups, ArcId arc) {
  std::optional<Ratio> left = Ratio(1);
  std::vector<Group*> users;
  for (Group& group : groups) {
    if (group.parts[arc] == Ratio(0)) continue;
    users.push_back(&group);
    if (left) left = checked_add(*left, group.parts[arc] * Ratio(-1));
  }
  if (!left || users.empty()) return;  // the shares themselves will do
  const auto more = checked_mul(*left, Ratio(1, static_cast<std::int64_t>(users.size())));
  for (Group* group : users) {
    const auto part = more ? checked_add(group->parts[arc], *more) : std::nullopt;
    if (part) group->parts[arc] = *part;
  }
}

// Gives an arc that nobody uses to the groups with a member at its end that can.
void hand_out(std::vector<Group>& groups, const Network& network, ArcId arc, bool relays) {
  const NodeId tail = network.graph.tail(arc), head = network.graph.head(arc);
  std::vector<Group*> takers;
  for (Group& group : groups) {
    if (group.parts[arc] > Ratio(0)) return;
    const bool from = group.is_member[tail], to = group.is_member[head];
    if ((from || to) && passes_on(network, tail, from, relays) &&
        passes_on(network, head, to, relays)) {
      takers.push_back(&group);
    }
  }
  for (Group* group : takers) {
    group->parts[arc] = Ratio(1, static_cast<std::int64_t>(takers.size()));
  }
}

// The largest multiple of `grid` that is no more than `part` of `value`.
std::optional<Ratio> on_grid(const Ratio& value, const Ratio& part, const Ratio& grid) {
  using Whole = boost::multiprecision::cpp_int;
  const Whole steps =
      Whole(value.num()) * part.num() * grid.den() / (Whole(value.den()) * part.den() * grid.num());
  if (steps > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return checked_mul(grid, Ratio(static_cast<std::int64_t>(steps)));
}

Ratio rounded_down(const Ratio& value) {
  const Int128 scaled = static_cast<Int128>(value.num()) * kRoundedParts / value.den();
  return {static_cast<std::int64_t>(scaled), kRoundedParts};
}

void round_down(Parts& parts) {
  for (Ratio& part : parts) part = rounded_down(part);
}

// Whether a member reaches the others over what the group has of the arcs, or they reach it.
bool reaches_all(const Group& group, const Network& network, const std::vector<Rank>& members,
                 Rank one, bool backwards) {
  const auto seen =
      topology::found_from(network.graph, network.ranks[one.index()], backwards,
                           [&](ArcId arc, NodeId /*to*/) { return group.parts[arc] > Ratio(0); });
  return std::ranges::all_of(members, [&](Rank r) { return seen[network.ranks[r.index()]]; });
}

// Whether the members reach one another.
bool is_joined(const Group& group, const Network& network, const std::vector<Rank>& members) {
  return reaches_all(group, network, members, members.front(), false) &&
         reaches_all(group, network, members, members.front(), true);
}

// The members whose data an allgather brings to the others, or a reduce_scatter from them.
std::vector<Rank> owners_of(const Network& network, const JobOperation& operation) {
  std::vector<Rank> owners = operation.groups.front();
  if (has_unequal_shares(network, operation.collective)) {
    std::erase_if(owners, [&](Rank r) { return network.weight[r] == 0; });
  }
  return owners;
}

// Whether all members reach those that they have data for.
bool carries(const Group& group, const Network& network, const std::vector<Rank>& members,
             const Demand& demand) {
  for (std::size_t from = 0; from < members.size(); ++from) {
    std::vector<Rank> receivers;
    for (std::size_t to = 0; to < members.size(); ++to) {
      if (demand(Rank(from), Rank(to)) > 0) receivers.push_back(members[to]);
    }
    if (!reaches_all(group, network, receivers, members[from], false)) return false;
  }
  return true;
}

// Whether all is joined that the operation's data passes between.
bool can_carry(const Group& group, const Network& network, const JobOperation& operation) {
  const std::vector<Rank>& members = operation.groups.front();
  const bool is_to_roots = operation.collective == Collective::reduce ||
                           operation.collective == Collective::gather ||
                           operation.collective == Collective::reduce_scatter;
  if (operation.root) {
    return reaches_all(group, network, members, members[*operation.root], is_to_roots);
  }
  if (operation.demand) return carries(group, network, members, *operation.demand);
  // Where all owners reach one of them, all of them reach what that one does.
  const std::vector<Rank> owners = owners_of(network, operation);
  return reaches_all(group, network, members, owners.front(), is_to_roots) &&
         reaches_all(group, network, owners, owners.front(), !is_to_roots);
}

// Takes a sliver of an arc from those that have it.
void take_sliver(std::vector<Group>& groups, Group& group, ArcId arc) {
  const Ratio sliver(1, kWayBackParts);
  for (Group& other : groups) {
    if (!checked_mul(other.parts[arc], Ratio(1) - sliver)) round_down(other.parts);
    other.parts[arc] = other.parts[arc] * (Ratio(1) - sliver);
  }
  group.parts[arc] = sliver;
}

// Data of a broadcast goes one way, and others may have all that leads back; but a topology's GPUs
// reach one another. A group that has no way back gets a sliver of what leads back along its arcs,
// or else of all arcs that it may use. False: there is no way back.
bool add_ways_back(std::vector<Group>& groups, Group& group, const Network& network, bool relays,
                   const std::vector<Rank>& members) {
  const Digraph& graph = network.graph;
  const auto leads_back = [&](ArcId arc) {
    const ArcId there = graph.find(graph.head(arc), graph.tail(arc));
    return there.valid() && group.parts[there] > Ratio(0);
  };
  const auto may_use = [&](ArcId arc) {
    const NodeId tail = graph.tail(arc), head = graph.head(arc);
    return passes_on(network, tail, group.is_member[tail], relays) &&
           passes_on(network, head, group.is_member[head], relays);
  };
  const auto add = [&](const auto& is_wanted) {
    for (std::size_t a = 0; a < graph.arc_count(); ++a) {
      if (group.parts[ArcId(a)] == Ratio(0) && is_wanted(ArcId(a))) {
        take_sliver(groups, group, ArcId(a));
      }
    }
    return is_joined(group, network, members);
  };
  return add(leads_back) || add(may_use);
}

// Where slivers were taken, what they take more of a limit goes off all that its arcs carry.
void fit_limits(std::vector<Group>& groups, const Network& network) {
  constexpr double kAbove = 1 + 1e-12;  // what rounding may have taken off a sum
  for (const ArcLimit& limit : network.limits) {
    double load = 0;
    for (const auto& [arc, times] : limit.uses) {
      const double whole = static_cast<double>(times) * static_cast<double>(network.capacity[arc]);
      for (const Group& group : groups) load += whole * group.parts[arc].to_double();
    }
    const double fits = static_cast<double>(limit.capacity) / (load * kAbove);
    if (fits * kAbove * kAbove >= 1) continue;
    const Ratio factor(static_cast<std::int64_t>(fits * kRoundedParts), kRoundedParts);
    for (Group& group : groups) {
      for (const auto& use : limit.uses) {
        Ratio& part = group.parts[use.first];
        part = checked_mul(part, factor).value_or(rounded_down(part) * factor);
      }
    }
  }
}

// Whether a fabric of such parts is sure to be solved in exact arithmetic.
bool has_common_denominator(const Parts& parts) {
  std::int64_t common = 1;
  for (const Ratio& part : parts) {
    const std::int64_t factor = part.den() / std::gcd(part.den(), common);
    if (factor > kMostExactParts / common) return false;
    common *= factor;
  }
  return true;
}

// Builds the topology of one group: its members first, then the nodes that its links join.
class PartBuilder {
 public:
  /// Bandwidths are rounded down to multiples of `grid`, in GB/s, unless that is 0.
  PartBuilder(const Topology& whole, const Network& network, const Group& group, const Ratio& grid)
      : whole_(whole), network_(network), group_(group), grid_(grid), id_of_(whole.nodes.size()) {
    part_.name = whole.name;
    part_.description = whole.description;
  }

  // Nodes are as in the whole, whether links join them or not.
  void keep_whole() {
    is_whole_ = true;
    for (std::size_t v = 0; v < whole_.nodes.size(); ++v) node(NodeId(v));
  }

  Expected<Topology> run(const std::vector<Rank>& members) {
    for (const Rank r : members) part_.ranks.push_back(node(network_.ranks[r.index()]));
    for (const TopologyLink& link : whole_.links) {
      if (!link.enabled || !add(link)) continue;
      return inexact("the part of a link that a group has is too fine for exact arithmetic");
    }
    std::ranges::stable_sort(
        part_.links, {}, [](const TopologyLink& link) { return std::pair(link.src, link.dst); });
    return std::move(part_);
  }

 private:
  NodeId node(NodeId whole) {
    NodeId& id = id_of_[whole];
    if (id.valid()) return id;
    id = NodeId(part_.nodes.size());
    TopologyNode copy = whole_.nodes[whole];
    if (!is_whole_) copy.weight = 1;
    if (copy.type == NodeType::compute && !group_.is_member[whole]) copy.type = NodeType::relay;
    part_.nodes.push_back(std::move(copy));
    return id;
  }

  [[nodiscard]] Ratio part_of(NodeId src, NodeId dst) const {
    const ArcId arc = network_.graph.find(src, dst);
    return arc.valid() ? group_.parts[arc] : Ratio(0);
  }

  // True where a bandwidth does not fit.
  bool add(const TopologyLink& link) {
    const Ratio there = part_of(link.src, link.dst);
    const Ratio back = link.full_duplex ? part_of(link.dst, link.src) : Ratio(0);
    if (there == back) return there > Ratio(0) && add_one(link, link.src, link.dst, there, true);
    return (there > Ratio(0) && add_one(link, link.src, link.dst, there, false)) ||
           (back > Ratio(0) && add_one(link, link.dst, link.src, back, false));
  }

  bool add_one(const TopologyLink& of, NodeId src, NodeId dst, const Ratio& part,
               bool full_duplex) {
    const auto bandwidth =
        grid_ == Ratio(0) ? checked_mul(of.bandwidth, part) : on_grid(of.bandwidth, part, grid_);
    if (!bandwidth) return true;
    if (*bandwidth == Ratio(0)) return false;
    TopologyLink link = of;
    link.src = node(src);
    link.dst = node(dst);
    link.bandwidth = *bandwidth;
    link.full_duplex = full_duplex;
    part_.links.push_back(std::move(link));
    return false;
  }

  const Topology& whole_;
  const Network& network_;
  const Group& group_;
  Ratio grid_;
  bool is_whole_ = false;
  IdVector<NodeId, NodeId> id_of_;
  Topology part_;
};

Diagnostic too_little_left() {
  return inexact("what limits leave of the links is too little for exact arithmetic");
}

// Exactly, where that is a fabric that can be solved.
Expected<Topology> part_of(const Topology& whole, const Network& network, Group& group,
                           const std::vector<Rank>& members) {
  if (has_common_denominator(group.parts)) {
    auto exact = PartBuilder(whole, network, group, Ratio(0)).run(members);
    if (exact && to_digraph(*exact)) return exact;
  }
  round_down(group.parts);  // so that products fit
  return PartBuilder(whole, network, group, Ratio(1, kRoundedParts)).run(members);
}

// A step of the grid that parts within limits are rounded down to: a whole number of the network's
// units, or a whole part of one, so that what is on the grid has no finer fractions than the
// fabric. All that is rounded away of a cut is next to nothing of the least that one has to carry.
std::optional<Ratio> grid_of(const Network& network, const Ratio& least) {
  constexpr double kRoundedAway = 0x1p-23;
  const double steps = static_cast<double>(network.graph.arc_count()) / kRoundedAway;
  const double units = least.to_double() / network.unit.to_double() / steps;
  const double times = units < 1 ? std::ceil(1 / units) : std::floor(units);
  if (!(times < 0x1p62)) return std::nullopt;
  const Ratio whole(static_cast<std::int64_t>(times));
  return units < 1 ? checked_div(network.unit, whole) : checked_mul(network.unit, whole);
}

// Sums that are larger make exact rates that do not fit.
constexpr Capacity kMostExactCapacity = Capacity{1} << 40;

bool is_simple(const Topology& part) {
  const auto network = to_digraph(part);
  return network && std::accumulate(network->capacity.begin(), network->capacity.end(),
                                    Capacity{0}) < kMostExactCapacity;
}

// With what each has of the arcs. `ways_back`: so that its members reach one another.
Expected<std::vector<Group>> groups_of(const Network& network,
                                       std::span<const JobOperation> operations,
                                       const LinkShares& shares, bool relays, bool ways_back) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    std::size_t commodity = 0;
    for (std::size_t g = 0; g < operations[i].groups.size(); ++g) {
      if (operations[i].groups[g].size() < 2) continue;
      Group group{i, g, members_of(network, operations[i].groups[g]),
                  Parts(network.graph.arc_count(), Ratio(0))};
      for (const auto& [arc, part] : shares[i][commodity++]) group.parts[arc] = part;
      groups.push_back(std::move(group));
    }
  }
  const auto limited = limited_arcs(network);
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    if (limited[ArcId(a)]) continue;
    fill_up(groups, ArcId(a));
    hand_out(groups, network, ArcId(a), relays);
  }
  const auto members_of_group = [&](const Group& group) -> const std::vector<Rank>& {
    return operations[group.operation].groups[group.group];
  };
  for (Group& group : groups) {
    const auto& members = members_of_group(group);
    if (!ways_back || is_joined(group, network, members) ||
        add_ways_back(groups, group, network, relays, members)) {
      continue;
    }
    return make_error(Code::O08,
                      fmt::format("{}: the ranks of the group of rank {} reach one another one way "
                                  "only, which no topology can say",
                                  operations[group.operation].name, members.front().value),
                      "let the other GPUs pass data on with `relays`, or choose other groups");
  }
  fit_limits(groups, network);
  return groups;
}

}  // namespace

Expected<std::vector<JobPart>> job_parts(const Topology& topology, const Network& network,
                                         std::span<const JobOperation> operations,
                                         const LinkShares& shares, bool relays) {
  auto groups = groups_of(network, operations, shares, relays, true);
  if (!groups) return groups.errors();
  std::vector<JobPart> parts;
  for (Group& group : *groups) {
    const auto& members = operations[group.operation].groups[group.group];
    auto part = part_of(topology, network, group, members);
    if (!part) return part.errors();
    parts.push_back({group.operation, group.group, *std::move(part)});
  }
  return parts;
}

Expected<Topology> within_limits(const Topology& topology, const Network& network,
                                 const JobOperation& operation, const LinkShares& shares,
                                 const Ratio& least) {
  // A network needs no ways back, as a topology does.
  auto groups = groups_of(network, std::span(&operation, 1), shares, false, false);
  if (!groups) return groups.errors();
  // Shares that are finer than all fractions are none.
  if (!can_carry(groups->front(), network, operation)) return too_little_left();
  const auto build = [&](const Ratio& grid) {
    PartBuilder builder(topology, network, groups->front(), grid);
    builder.keep_whole();
    return builder.run(operation.groups.front());
  };
  if (has_common_denominator(groups->front().parts)) {
    auto exact = build(Ratio(0));
    if (exact && is_simple(*exact)) return exact;
  }
  const auto grid = grid_of(network, least);
  if (!grid) return too_little_left();
  return build(*grid);
}

std::string shape_of(const Topology& part) {
  Topology nameless = part;
  nameless.name.clear();
  nameless.description.clear();
  std::vector<std::string> boxes;
  for (std::size_t v = 0; v < nameless.nodes.size(); ++v) {
    TopologyNode& node = nameless.nodes[NodeId(v)];
    node.id = "n" + std::to_string(v);
    if (node.box.empty()) continue;
    const auto at = std::ranges::find(boxes, node.box);
    const auto number = at - boxes.begin();
    if (at == boxes.end()) boxes.push_back(node.box);
    node.box = "b" + std::to_string(number);
  }
  return to_topology_json(flat_document(nameless));
}

}  // namespace forestcoll
