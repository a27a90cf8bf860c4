// A forest that stands within its height shows what it needs: the largest ratio of load to capacity
// over all links. With a little less of everything some links are overfull, and what mends a
// packing (mend.hpp) moves edges off them, splitting trees where a part of them is enough. As long
// as that works, the step grows no smaller; where it does not, it is halved. What could not be
// mended may need less than before all the same.
//
// Copies help: one tree in ten can go another way where the tree as a whole cannot.
#include "solver/pack/search/squeeze.hpp"

#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "solver/common/core.hpp"
#include "solver/height/edges/mend.hpp"
#include "solver/pack/trees/tree_store.hpp"
#include "solver/rate/scale.hpp"

namespace forestcoll::solver {
namespace {

// Steps are a part of the scale, first and last 1 / 2^so much.
constexpr int kFirstStep = 3;
constexpr int kLastStep = 11;

// Of one attempt at a smaller scale; and trees up to which they are split.
constexpr std::int64_t kStepsOfAttempt = 1 << 19;
constexpr std::size_t kMostEdges = std::size_t{1} << 17;

class Squeeze {
 public:
  Squeeze(const Network& network, const Forest& forest, std::int64_t copies,
          std::int32_t max_height, const std::stop_token& stop)
      : network_(network),
        core_(plain_core(network)),
        store_(core_),
        max_height_(max_height),
        stop_(stop) {
    for (std::size_t t = 0; t < forest.tree_count(); ++t) add(forest, TreeId(t), copies);
    find_loads();
  }

  // Down to `least`.
  void run(const Ratio& least) {
    for (int step = kFirstStep; step <= kLastStep && least < needed_;) {
      const std::int64_t parts = std::int64_t{1} << step;
      const auto less = checked_mul(needed_, Ratio(parts, parts + 1));
      if (!less || stop_.stop_requested()) return;
      if (!try_scale(std::max(*less, least))) ++step;
    }
  }

  // What the forest needs; its scale per tree.
  [[nodiscard]] const Ratio& needed() const { return needed_; }
  [[nodiscard]] Forest take() {
    return {std::move(store_.table()), std::move(part_.trees), std::move(part_.routes)};
  }

 private:
  void add(const Forest& forest, TreeId t, std::int64_t copies) {
    Forest::Tree tree = forest.tree(t);
    tree.multiplicity *= copies;
    part_.trees.push_back(tree);
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      const Rank child(v);
      part_.routes.push_back(
          child == tree.root ? Route{} : route_of(forest.parent(t, child), forest.path(t, child)));
    }
  }

  Route route_of(Rank parent, const std::vector<NodeId>& path) {
    PrefixId prefix(parent.value);
    for (std::size_t i = 0; i + 2 < path.size(); ++i) {
      prefix = store_.extended(prefix, core_.graph.find(path[i], path[i + 1]));
    }
    return {prefix, SegmentId(core_.graph.find(path[path.size() - 2], path.back()).value)};
  }

  void find_loads() {
    const std::size_t ranks = network_.ranks.size();
    load_.assign(core_.graph.arc_count(), 0);
    for (std::size_t i = 0; i < part_.routes.size(); ++i) {
      if (!part_.routes[i].valid()) continue;
      const std::int64_t trees = part_.trees[i / ranks].multiplicity;
      store_.for_each_arc(part_.routes[i], [&](ArcId arc) { load_[arc] += trees; });
    }
    needed_ = 0;
    for (std::size_t a = 0; a < load_.size(); ++a) {
      needed_ = std::max(needed_, Ratio(load_[ArcId(a)], network_.capacity[ArcId(a)]));
    }
  }

  // True where all that was overfull could be mended. It never needs more than before.
  bool try_scale(const Ratio& scale) {
    Resources resources = plain_resources(floor_capacities(network_, scale));
    for (std::size_t a = 0; a < load_.size(); ++a) resources.residual[ArcId(a)] -= load_[ArcId(a)];
    const TreePart before = part_;
    const IdVector<ArcId, std::int64_t> load_before = load_;
    const Ratio needed_before = needed_;
    Budget budget(kStepsOfAttempt, stop_);
    const bool is_mended =
        mend_overfull({core_, store_.table(), part_.trees, part_.routes}, resources, max_height_,
                      kMostEdges / network_.ranks.size(), 2, budget);
    find_loads();
    if (needed_ < needed_before) return is_mended;
    part_ = before;
    load_ = load_before;
    needed_ = needed_before;
    return false;
  }

  const Network& network_;
  const Core core_;
  TreeStore store_;
  const std::int32_t max_height_;
  const std::stop_token& stop_;
  TreePart part_;
  IdVector<ArcId, std::int64_t> load_;
  Ratio needed_;
};

}  // namespace

Packing squeeze(const Network& network, const Packing& packing, std::int64_t copies,
                const Ratio& least, std::int32_t max_height, const std::stop_token& stop) {
  Squeeze squeezed(network, packing.forest, copies, max_height, stop);
  squeezed.run(least);
  const Ratio scale = squeezed.needed();
  return {squeezed.take(),
          {packing.scaling.k * copies, scale, floor_capacities(network, scale)},
          packing.statistics,
          {}};
}

}  // namespace forestcoll::solver
