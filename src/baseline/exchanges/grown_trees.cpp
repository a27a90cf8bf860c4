#include "baseline/exchanges/grown_trees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "baseline/boxes.hpp"
#include "baseline/tree_table.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

class Grower {
 public:
  Grower(const Request& request, const Network& network)
      : with_trees_(request.options.with_trees),
        boxes_(group_boxes(request.topology, network)),
        finder_(network, boxes_.box_of),
        ranks_(network.ranks.size()),
        table_(ranks_) {}

  /// False where a rank is never reached, or by a path that nobody asked for.
  bool grow(Rank root, std::size_t steps, const Handing& hand) {
    const std::size_t tree = table_.begin_tree(root);
    std::vector<Rank> holders = {root};
    std::vector<char> has(ranks_, 0);
    has[root.index()] = 1;
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t before = holders.size();
      for (std::size_t i = 0; i < before; ++i) {
        for (const Rank to : hand(root, holders[i], step)) {
          if (std::exchange(has[to.index()], 1) != 0) continue;
          const std::size_t path = hop(holders[i], to);
          if (is_relayed_) return false;
          table_.add(tree, to, path);
          holders.push_back(to);
        }
      }
    }
    return holders.size() == ranks_;
  }

  /// It is by a path through other ranks, which trees of schedules do not take.
  [[nodiscard]] bool is_relayed() const { return is_relayed_; }

  ImplicitForest take() { return table_.take(); }

 private:
  std::size_t hop(Rank from, Rank to) {
    const auto [at, is_new] = hops_.try_emplace({from, to}, 0);
    if (!is_new) return at->second;
    Path path = finder_.take(from, to, Through::switches);
    is_relayed_ = path.empty() && with_trees_;
    if (is_relayed_) return 0;
    if (path.empty()) path = finder_.take(from, to, Through::ranks);
    FORESTCOLL_CHECK(!path.empty(), "all ranks reach one another");
    return at->second = table_.hop(std::move(path));
  }

  bool with_trees_, is_relayed_ = false;
  Boxes boxes_;
  PathFinder finder_;
  std::size_t ranks_;
  TreeTable table_;
  std::map<std::pair<Rank, Rank>, std::size_t> hops_;
};

}  // namespace

Expected<ImplicitForest> grow_trees(const Request& request, const Network& network,
                                    std::size_t steps, const Handing& hand) {
  Grower grower(request, network);
  for (const Rank root : request.roots()) {
    if (grower.grow(root, steps, hand)) continue;
    if (grower.is_relayed()) return no_trees();
    return make_error(Code::B02,
                      fmt::format("{} steps of this pattern do not reach all of {} ranks", steps,
                                  network.ranks.size()),
                      "compare with pat, which serves any number");
  }
  ImplicitForest grown = grower.take();
  grown.note = fmt::format("{} step{}", steps, steps == 1 ? "" : "s");
  return grown;
}

}  // namespace forestcoll::baseline
