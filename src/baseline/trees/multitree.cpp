#include <utility>
#include <vector>

#include "baseline/makers.hpp"
#include "baseline/tree_table.hpp"
#include "baseline/trees/free_links.hpp"
#include "baseline/trees/time_steps.hpp"

namespace forestcoll::baseline {
namespace {

/// A tree that grows.
struct Sapling {
  std::vector<Rank> ranks;    ///< in the order in which they joined
  std::vector<bool> reached;  ///< by rank
  std::size_t parents = 1;    ///< so many of `ranks` were there when the time step began
  std::size_t next = 0;       ///< those before it have no free link in this time step
};

class MultiTree {
 public:
  explicit MultiTree(const Network& network)
      : links_(network), table_(network.ranks.size()), trees_(network.ranks.size()) {
    for (std::size_t r = 0; r < trees_.size(); ++r) {
      table_.begin_tree(Rank(r));
      trees_[r].ranks = {Rank(r)};
      trees_[r].reached.assign(trees_.size(), false);
      trees_[r].reached[r] = true;
    }
  }

  ImplicitForest build() {
    return built_in_steps(table_, trees_.size(), [&](std::size_t) { return grow_all(); });
  }

 private:
  // One time step: an edge for each tree in turn, until no tree finds one.
  std::size_t grow_all() {
    links_.next_step();
    for (Sapling& tree : trees_) {
      tree.parents = tree.ranks.size();
      tree.next = 0;
    }
    std::size_t grown = 0;
    for (bool any = true; any;) {
      any = false;
      for (std::size_t t = 0; t < trees_.size(); ++t) {
        if (!grow(t)) continue;
        any = true;
        ++grown;
      }
    }
    return grown;
  }

  bool grow(std::size_t t) {
    Sapling& tree = trees_[t];
    if (tree.ranks.size() == trees_.size()) return false;
    for (; tree.next < tree.parents; ++tree.next) {
      Rank child;
      Path path = links_.take_nearest(tree.ranks[tree.next], false, [&](Rank r) {
        if (tree.reached[r.index()]) return false;
        child = r;
        return true;
      });
      if (path.empty()) continue;
      tree.reached[child.index()] = true;
      tree.ranks.push_back(child);
      table_.add(t, child, table_.hop(std::move(path)));
      return true;
    }
    return false;
  }

  FreeLinks links_;
  TreeTable table_;
  std::vector<Sapling> trees_;
};

}  // namespace

Expected<BaselineResult> multitree(const Request& request) {
  const auto few = refuse_many_ranks(request, "MultiTree");
  if (!few) return few.errors();
  return carry_out(request, [](const Network& network) -> Expected<ImplicitForest> {
    return MultiTree(network).build();
  });
}

}  // namespace forestcoll::baseline
