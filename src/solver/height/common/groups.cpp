#include "solver/height/common/groups.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <set>

namespace forestcoll::solver {
namespace {

constexpr int kMaxLevels = 16;

}  // namespace

std::vector<std::vector<Rank>> wide_groups(const Core& core) {
  std::vector<ArcId> arcs;
  for (std::size_t a = 0; a < core.graph.arc_count(); ++a) arcs.push_back(ArcId(a));
  std::stable_sort(arcs.begin(), arcs.end(),
                   [&](ArcId a, ArcId b) { return core.capacity[a] > core.capacity[b]; });
  boost::disjoint_sets_with_storage<> components(core.graph.node_count());
  std::set<std::vector<Rank>> groups;
  int levels = 0;
  for (std::size_t i = 0; i < arcs.size() && levels < kMaxLevels; ++levels) {
    const Capacity width = core.capacity[arcs[i]];
    for (; i < arcs.size() && core.capacity[arcs[i]] == width; ++i) {
      components.union_set(core.graph.tail(arcs[i]).index(), core.graph.head(arcs[i]).index());
    }
    std::map<std::size_t, std::vector<Rank>> members;
    for (std::size_t r = 0; r < core.compute.size(); ++r) {
      members[components.find_set(core.compute[r].index())].push_back(Rank(r));
    }
    for (auto& [root, ranks] : members) {
      if (ranks.size() > 1 && ranks.size() <= core.compute.size() / 2) {
        groups.insert(std::move(ranks));
      }
    }
  }
  return {groups.begin(), groups.end()};
}

}  // namespace forestcoll::solver
