#include "topology/model/alike_limits.hpp"

#include <map>
#include <tuple>

#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {

std::string name_within_box(const SharedLimit& limit, const Topology& topology) {
  std::string name = name_of(limit, topology);
  const std::string& box = topology.nodes[limit.uses.front().src].box;
  if (box.empty()) return name;
  const std::string prefix = box + "/";
  for (std::size_t at = 0; (at = name.find(prefix, at)) != std::string::npos;) {
    name.erase(at, prefix.size());
  }
  return name;
}

std::vector<std::vector<std::size_t>> alike_limits(const Topology& topology) {
  std::map<std::tuple<std::string, Ratio, std::size_t>, std::size_t> known;
  std::vector<std::vector<std::size_t>> classes;
  for (std::size_t l = 0; l < topology.limits.size(); ++l) {
    const SharedLimit& limit = topology.limits[l];
    if (limit.uses.empty()) continue;
    const auto [at, is_new] = known.try_emplace(
        {name_within_box(limit, topology), limit.bandwidth, limit.uses.size()}, classes.size());
    if (is_new) classes.emplace_back();
    classes[at->second].push_back(l);
  }
  return classes;
}

}  // namespace forestcoll::topology
