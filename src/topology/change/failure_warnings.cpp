#include "topology/change/failure_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/topology_text.hpp"
#include "topology/check/validate.hpp"
#include "topology/model/arcs.hpp"
#include "topology/model/pcie_direction.hpp"

namespace forestcoll::topology {
namespace {

// What enters a node and what leaves it, GB/s; nothing where that is too fine for exact arithmetic.
struct Sides {
  std::optional<Ratio> enters = Ratio(0), leaves = Ratio(0);
};

// Of a device that is two nodes, a way out and a way in, those of both together.
IdVector<NodeId, Sides> sides_of(const Topology& topology,
                                 const std::vector<std::pair<NodeId, NodeId>>& devices) {
  IdVector<NodeId, Sides> sides(topology.nodes.size());
  const auto add = [](std::optional<Ratio>& sum, const std::optional<Ratio>& more) {
    sum = sum && more ? checked_add(*sum, *more) : std::nullopt;
  };
  for (const DirectedLink& link : enabled_arcs(topology)) {
    const Ratio& bandwidth = topology.links[link.link].bandwidth;
    add(sides[link.arc.tail].leaves, bandwidth);
    add(sides[link.arc.head].enters, bandwidth);
  }
  for (const auto& [out, in] : devices) {
    add(sides[out].enters, sides[in].enters);
    add(sides[out].leaves, sides[in].leaves);
    sides[in] = sides[out];
  }
  return sides;
}

}  // namespace

void warn_of_switches(const Topology& before, const Topology& after, Findings& findings) {
  const auto devices = device_halves(before);
  const auto sides_before = sides_of(before, devices), sides_after = sides_of(after, devices);
  // Both halves of a device are told of as one, of its name.
  IdVector<NodeId, std::string> device(before.nodes.size());
  for (const auto& [out, in] : devices) {
    device[out] = device[in] = *device_of(before.nodes[out].id);
  }
  std::set<std::string> told;
  for (std::size_t i = 0; i < after.nodes.size(); ++i) {
    const TopologyNode& node = after.nodes[NodeId(i)];
    const Sides &was = sides_before[NodeId(i)], &is = sides_after[NodeId(i)];
    const bool are_known = was.enters && was.leaves && is.enters && is.leaves;
    if (node.type != NodeType::switch_node || !node.enabled || !are_known) continue;
    if (*was.enters != *was.leaves || *is.enters == *is.leaves) continue;
    const std::string& name = device[NodeId(i)].empty() ? node.id : device[NodeId(i)];
    if (!told.insert(name).second) continue;
    findings.warning(Code::W01, "after drop and derate",
                     fmt::format("switch {} takes in {} GB/s and lets out {} GB/s", quote(name),
                                 exact_text(*is.enters), exact_text(*is.leaves)),
                     "The difference cannot be used; drop the other direction too, if that is "
                     "gone as well.");
  }
}

void warn_of_limits(const Topology& before, const Topology& after, Findings& findings) {
  if (after.limits.empty()) return;
  const auto known = ineffective_limits(before);
  auto limits = ineffective_limits(after);
  const auto is_whole = [&](const SharedLimit& limit) {
    return std::ranges::all_of(limit.uses, [&](const SharedLimit::Use& use) {
      return after.nodes[use.src].enabled && after.nodes[use.dst].enabled;
    });
  };
  const auto keep_new = [&](std::vector<SharedLimit>& now, const std::vector<SharedLimit>& then) {
    std::erase_if(now, [&](const SharedLimit& limit) {
      const auto is_it = [&](const SharedLimit& other) {
        return other.name == limit.name && other.uses == limit.uses;
      };
      return !is_whole(limit) || std::ranges::any_of(then, is_it);
    });
  };
  keep_new(limits.never_bind, known.never_bind);
  keep_new(limits.unused, known.unused);
  warn_limits(limits, after, "after drop and derate", findings);
}

}  // namespace forestcoll::topology
