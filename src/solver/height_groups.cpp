#include "solver/height_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace forestcoll::solver {
namespace {

constexpr int kMaxLevels = 16;

// Disjoint sets with path halving (Tarjan, van Leeuwen 1984).
class Components {
 public:
  explicit Components(std::size_t n) : parent_(n) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t v) {
    for (; parent_[v] != v; v = parent_[v]) parent_[v] = parent_[parent_[v]];
    return v;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(b)] = find(a); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

std::vector<std::vector<Rank>> wide_groups(const Core& core) {
  std::vector<ArcId> arcs;
  for (std::size_t a = 0; a < core.graph.arc_count(); ++a) arcs.push_back(ArcId(a));
  std::stable_sort(arcs.begin(), arcs.end(),
                   [&](ArcId a, ArcId b) { return core.capacity[a] > core.capacity[b]; });
  Components components(core.graph.node_count());
  std::set<std::vector<Rank>> groups;
  int levels = 0;
  for (std::size_t i = 0; i < arcs.size() && levels < kMaxLevels; ++levels) {
    const Capacity width = core.capacity[arcs[i]];
    for (; i < arcs.size() && core.capacity[arcs[i]] == width; ++i) {
      components.join(core.graph.tail(arcs[i]).index(), core.graph.head(arcs[i]).index());
    }
    std::map<std::size_t, std::vector<Rank>> members;
    for (std::size_t r = 0; r < core.compute.size(); ++r) {
      members[components.find(core.compute[r].index())].push_back(Rank(r));
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
