// From trees to one sequence of messages.
//
// Chunks. The buffer of the whole collective is cut into N·k chunks, k for every root (k in all for
// broadcast and reduce), or w·k for a root of weight w.
// The trees of a root share its chunks out among them in forest order, each as many as its
// multiplicity. Instances cut a tree's chunks into equal parts that travel beside each other.
//
// Order. A message's level is the length of the longest chain of messages that must come before it:
//   reduce     the height of the sender's subtree, so that it follows the messages of all its
//              children;
//   broadcast  the depth of the sender, plus, in allreduce, the number of levels that the reduction
//              of these chunks to the root takes.
// Messages are sorted by (level, phase, tree, child), tree and child as the sender sees them.
// Levels strictly increase along every chain of data, so this is a topological order; and as levels
// count from the same zero for all trees, the trees proceed side by side and the two phases of
// different roots overlap.
#include "schedule/msccl/messages.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <compare>
#include <utility>

#include "schedule/root_chunks.hpp"

namespace forestcoll::schedule {
namespace {

class Builder {
 public:
  Builder(const CollectiveForest& whole, const Cutting& cutting, const Rails& rails,
          const Views& views, bool of_firsts)
      : whole_(whole), cutting_(cutting), rails_(rails), views_(views), of_firsts_(of_firsts) {}

  void add_reduce(const Forest& forest) {
    const auto ranges = tree_chunks(forest, whole_);
    reduced_.resize(forest.tree_count());
    add_trees(forest, [&](TreeId t, std::vector<Placed>& made) {
      const auto heights = subtree_heights(forest, t);
      const auto depths = parent_depths(forest, t);
      for (std::size_t v = 0; v < forest.rank_count(); ++v) {
        const Rank parent = forest.parent(t, Rank(v));
        if (!parent.valid()) continue;
        add({Rank(v), parent, true, rails_.of(forest, t, Rank(v))}, t, ranges[t.index()],
            {heights[Rank(v)], -depths[Rank(v)]}, made);
      }
      reduced_[t.index()] = {ranges[t.index()], heights[forest.tree(t).root]};
    });
    trees_before_ = forest.tree_count();
    std::erase_if(reduced_, [](const Reduced& each) { return each.range.size() == 0; });
    std::sort(reduced_.begin(), reduced_.end(),
              [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  }

  void add_broadcast(const Forest& forest) {
    const auto ranges = tree_chunks(forest, whole_);
    add_trees(forest, [&](TreeId t, std::vector<Placed>& made) {
      const std::int32_t start = level_when_reduced(ranges[t.index()]);
      const auto depths = parent_depths(forest, t);
      const auto heights = subtree_heights(forest, t);
      for (std::size_t v = 0; v < forest.rank_count(); ++v) {
        const Rank parent = forest.parent(t, Rank(v));
        if (!parent.valid()) continue;
        add({parent, Rank(v), false, rails_.of(forest, t, Rank(v))}, t, ranges[t.index()],
            {start + depths[Rank(v)], -heights[Rank(v)]}, made);
      }
    });
  }

  IdVector<MessageId, Message> sorted() {
    std::vector<std::pair<Place, std::uint32_t>> order;
    order.reserve(placed_.size());
    for (const Placed& each : placed_) {
      order.emplace_back(each.place, static_cast<std::uint32_t>(order.size()));
    }
    tbb::parallel_sort(order.begin(), order.end());
    IdVector<MessageId, Message> result;
    result.reserve(placed_.size());
    std::int32_t orbits = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && order[i - 1].first != order[i].first) ++orbits;
      result.push_back(placed_[order[i].second].message);
      result[MessageId(i)].orbit = orbits;
    }
    return result;
  }

 private:
  struct Reduced {
    ChunkRange range;
    std::int32_t level;  // the first level at which the root may send these chunks
  };
  // Where a message comes in the order; images of one another come at the same place.
  struct Place {
    std::int32_t level;
    std::int32_t after;  // minus the messages that must come after it in its phase
    bool is_down;
    TreeId tree;
    Rank child;             // as the sender sees them, or the receiver where nothing moves it
    std::int32_t part = 0;  // of the tree's chunks
    auto operator<=>(const Place&) const = default;
  };
  struct Placed {
    Message message;
    Place place;
  };

  // Calls add_tree(tree, its messages) for each tree, several at once.
  template <class AddTree>
  void add_trees(const Forest& forest, AddTree add_tree) {
    std::vector<std::vector<Placed>> made(forest.tree_count());
    tbb::parallel_for(std::size_t{0}, made.size(), [&](std::size_t t) {
      const bool is_left_out = of_firsts_ && !views_.is_first(forest.tree(TreeId(t)).root);
      if (!is_left_out) add_tree(TreeId(t), made[t]);
    });
    for (const auto& of_tree : made) placed_.insert(placed_.end(), of_tree.begin(), of_tree.end());
  }

  static IdVector<Rank, std::int32_t> subtree_heights(const Forest& forest, TreeId t) {
    IdVector<Rank, std::int32_t> height(forest.rank_count(), 0);
    const auto order = forest.by_depth(t);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Rank parent = forest.parent(t, *it);
      if (parent.valid()) height[parent] = std::max(height[parent], height[*it] + 1);
    }
    return height;
  }

  // For each rank the depth of its parent.
  static IdVector<Rank, std::int32_t> parent_depths(const Forest& forest, TreeId t) {
    IdVector<Rank, std::int32_t> depth(forest.rank_count(), -1);
    for (const Rank v : forest.by_depth(t)) {
      const Rank parent = forest.parent(t, v);
      if (parent.valid()) depth[v] = depth[parent] + 1;
    }
    return depth;
  }

  [[nodiscard]] std::int32_t level_when_reduced(const ChunkRange& range) const {
    std::int32_t level = 0;
    auto it = std::lower_bound(
        reduced_.begin(), reduced_.end(), range.begin,
        [](const Reduced& each, std::int64_t chunk) { return each.range.end <= chunk; });
    for (; it != reduced_.end() && it->range.begin < range.end; ++it) {
      level = std::max(level, it->level);
    }
    return level;
  }

  struct Edge {
    Rank src, dst;
    bool reduces;
    Rails::Rail rail;
  };
  struct When {
    std::int32_t level, after;
  };

  [[nodiscard]] Place place_of(const Edge& edge, TreeId t, const When& when) const {
    const Rank from = views_.is_moved(edge.src) ? edge.src : edge.dst;
    const Rank child = edge.reduces ? edge.src : edge.dst;
    return {when.level, when.after, !edge.reduces, views_.seen(from, t, edge.reduces),
            views_.seen(from, child)};
  }

  void add(const Edge& edge, TreeId t, const ChunkRange& range, const When& when,
           std::vector<Placed>& made) const {
    const std::int64_t part = (range.end - range.begin) / cutting_.instances;
    const std::size_t number = cutting_.per_tree ? trees_before_ + t.index() : 0;
    Place place = place_of(edge, t, when);
    for (std::int32_t i = 0; i < cutting_.instances; ++i) {
      const auto stream = static_cast<std::int32_t>(number) * cutting_.instances + i;
      const std::int64_t begin = range.begin + i * part;
      add_part(edge, {begin, begin + part}, stream, place, made);
    }
  }

  void add_part(const Edge& edge, const ChunkRange& range, std::int32_t stream, Place& place,
                std::vector<Placed>& made) const {
    const std::int64_t chunks = range.end - range.begin;
    const std::int64_t parts = chunks >= cutting_.parts ? cutting_.parts : 1;
    const std::int64_t most = std::min<std::int64_t>(cutting_.max_count, (chunks - 1) / parts + 1);
    for (std::int64_t begin = range.begin; begin < range.end; begin += most) {
      const auto count = std::min(most, range.end - begin);
      made.push_back(
          {{edge.src, edge.dst, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(count),
            edge.reduces, stream, edge.rail, place.level},
           place});
      ++place.part;
    }
  }

  const CollectiveForest& whole_;
  const Cutting& cutting_;
  const Rails& rails_;
  const Views& views_;
  bool of_firsts_;
  std::size_t trees_before_ = 0;  // of the phase before
  std::vector<Reduced> reduced_;
  std::vector<Placed> placed_;
};

}  // namespace

IdVector<MessageId, Message> order_messages(const CollectiveForest& forest, const Cutting& cutting,
                                            const Rails& rails, const Views& views,
                                            bool of_firsts) {
  Builder builder(forest, cutting, rails, views, of_firsts);
  if (forest.reduce) builder.add_reduce(*forest.reduce);
  if (forest.broadcast) builder.add_broadcast(*forest.broadcast);
  return builder.sorted();
}

IdVector<MessageId, Message> with_roots_in_order(IdVector<MessageId, Message> messages,
                                                 const CollectiveForest& forest,
                                                 const std::vector<Rank>& roots) {
  const auto before = root_chunks(forest, roots.size());
  const auto after = root_chunks(forest, roots.size(), roots);
  for (std::size_t m = 0; m < messages.size(); ++m) {
    Message& message = messages[MessageId(m)];
    const auto next = std::upper_bound(
        before.begin(), before.end(), message.first_chunk,
        [](std::int64_t chunk, const ChunkRange& range) { return chunk < range.begin; });
    const Rank root(static_cast<std::size_t>(next - before.begin()) - 1);
    message.first_chunk += static_cast<std::int32_t>(after[root].begin - before[root].begin);
  }
  return messages;
}

}  // namespace forestcoll::schedule
