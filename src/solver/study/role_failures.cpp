#include <algorithm>
#include <utility>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/whatif.hpp"
#include "solver/symmetry/alike.hpp"

namespace forestcoll {
namespace {

using Class = std::vector<NodeId>;

// The classes of switches that can do something.
std::vector<Class> able_switches(const Topology& topology, const Network& network,
                                 const SwitchRoles& roles) {
  auto classes = solver::alike_parts(topology, network, shares(network)).nodes;
  std::erase_if(classes, [&](const Class& alike) { return roles[alike.front()] == SwitchRole(); });
  return classes;
}

Expected<Ratio> optimum(const Network& network, const SwitchRoles& roles) {
  const auto best = allreduce_optimum(network, roles, {.classes = 0});
  if (!best) return best.errors();
  return best->upper;
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
  const auto whole = optimum(*network, roles);
  if (!whole) return whole.errors();
  RoleFailures result{*whole};
  for (const Class& alike : able_switches(topology, *network, roles)) {
    for (const auto& [role, is_multicast] :
         {std::pair(&SwitchRole::copies, true), std::pair(&SwitchRole::combines, false)}) {
      SwitchRoles left = roles;
      if (!std::exchange(left[alike.front()].*role, false)) continue;
      const auto algbw = optimum(*network, left);
      if (!algbw) return algbw.errors();
      result.effects.push_back({alike, is_multicast, *algbw});
      if (progress) progress();
    }
  }
  std::ranges::stable_sort(result.effects, {}, &RoleFailureEffect::algbw);
  return result;
}

}  // namespace forestcoll
