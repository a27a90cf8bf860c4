#include <algorithm>
#include <utility>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/whatif.hpp"
#include "solver/symmetry/alike.hpp"

namespace forestcoll {
namespace {

using Class = std::vector<NodeId>;

bool has_one_role(const Class& alike, const SwitchRoles& roles) {
  return std::ranges::all_of(alike,
                             [&](NodeId node) { return roles[node] == roles[alike.front()]; });
}

// The classes of switches that can do something. Symmetries know nothing of roles: where they
// exchange switches of different roles, every switch stands by itself.
std::vector<Class> able_switches(const Topology& topology, const Network& network,
                                 const SwitchRoles& roles) {
  const auto alike = solver::alike_parts(topology, network, shares(network)).nodes;
  const bool keeps_roles =
      std::ranges::all_of(alike, [&](const Class& nodes) { return has_one_role(nodes, roles); });
  std::vector<Class> classes;
  for (const Class& nodes : alike) {
    if (keeps_roles && roles[nodes.front()] != SwitchRole()) classes.push_back(nodes);
    if (keeps_roles) continue;
    for (const NodeId node : nodes) {
      if (roles[node] != SwitchRole()) classes.push_back({node});
    }
  }
  return classes;
}

// Two phases in a row are trees, too, where the best is not known.
Expected<Ratio> reached(const Network& network, const SwitchRoles& roles) {
  const auto two_phases = bound(network, Collective::allreduce, {});
  if (!two_phases) return two_phases.errors();
  const auto best = allreduce_optimum(network, roles);
  if (!best) return best.errors();
  return best->split ? std::max(best->split->algbw, two_phases->algbw) : two_phases->algbw;
}

}  // namespace

std::string RoleFailureEffect::drop_text(const Topology& topology) const {
  return topology.nodes[switches.front()].id + (multicast ? ":multicast" : ":reduce");
}

Expected<RoleFailures> role_failures(const Topology& topology,
                                     const std::function<void()>& progress) {
  const SwitchRoles roles = switch_roles(topology);
  if (roles.empty()) return RoleFailures{};
  const auto network = to_digraph(topology);
  if (!network) return network.errors();
  const auto whole = reached(*network, roles);
  if (!whole) return whole.errors();
  RoleFailures result{*whole};
  for (const Class& alike : able_switches(topology, *network, roles)) {
    for (const auto& [role, is_multicast] :
         {std::pair(&SwitchRole::copies, true), std::pair(&SwitchRole::combines, false)}) {
      SwitchRoles left = roles;
      if (!std::exchange(left[alike.front()].*role, false)) continue;
      const auto algbw = reached(*network, left);
      if (!algbw) return algbw.errors();
      result.effects.push_back({alike, is_multicast, *algbw});
      if (progress) progress();
    }
  }
  std::ranges::stable_sort(result.effects, {}, &RoleFailureEffect::algbw);
  return result;
}

}  // namespace forestcoll
