#include "solver/common/boxes.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "graph/joined_items.hpp"

namespace forestcoll::solver {
namespace {

// Widths of links that are tried.
constexpr std::size_t kMostBoxWidths = 16;

class BoxDivision {
 public:
  BoxDivision(const Core& core, Capacity width)
      : core_(core), joined_(core.graph.node_count()), outside_(core.graph.node_count()) {
    for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
      if (core.capacity[ArcId(a)] >= width) join(joined_, ArcId(a));
    }
    has_ranks_.assign(core.graph.node_count(), 0);
    for (const NodeId v : core.compute) has_ranks_[joined_.first(v.index())] = 1;
    for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
      const Arc& arc = core.graph.arcs()[a];
      if (is_outside(arc.tail) && is_outside(arc.head)) join(outside_, ArcId(a));
    }
  }

  std::optional<Boxes> run() {
    Boxes boxes;
    std::vector<std::size_t> box_of(core_.graph.node_count(), kNone);
    for (std::size_t r = 0; r < core_.compute.size(); ++r) {
      std::size_t& box = box_of[joined_.first(core_.compute[r].index())];
      if (box == kNone) {
        box = boxes.members.size();
        boxes.members.emplace_back();
      }
      boxes.members[box].emplace_back(r);
    }
    if (boxes.members.size() < 3) return std::nullopt;
    boxes.out.resize(boxes.members.size());
    boxes.in.resize(boxes.members.size());
    for (std::size_t a = 0; a < core_.graph.arc_count(); ++a) {
      const auto [tail, head] = core_.graph.arcs()[a];
      const std::size_t from = joined_.first(tail.index()), to = joined_.first(head.index());
      if (from == to || (is_outside(tail) && is_outside(head))) continue;
      const bool is_out = is_outside(head);
      const Rank rank = core_.rank_of[is_out ? tail : head];
      if (!rank.valid() || is_outside(tail) == is_out) return std::nullopt;
      const std::size_t part = outside_.first((is_out ? head : tail).index());
      (is_out ? boxes.out[box_of[from]] : boxes.in[box_of[to]])
          .push_back({rank, ArcId(a), part, core_.capacity[ArcId(a)]});
    }
    const auto place = [](const Gate& gate) { return std::tuple(gate.part, gate.rank, gate.arc); };
    for (auto* gates : {&boxes.out, &boxes.in}) {
      for (auto& own : *gates) std::ranges::sort(own, {}, place);
    }
    for (std::size_t v = 0; v < core_.graph.node_count(); ++v) {
      boxes.is_outside.push_back(is_outside(NodeId(v)) ? 1 : 0);
    }
    return boxes;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void join(graph::JoinedItems& items, ArcId a) const {
    items.join(core_.graph.tail(a).index(), core_.graph.head(a).index());
  }
  [[nodiscard]] bool is_outside(NodeId v) { return has_ranks_[joined_.first(v.index())] == 0; }

  const Core& core_;
  graph::JoinedItems joined_, outside_;
  std::vector<char> has_ranks_;  ///< by the first node of what is joined
};

}  // namespace

std::vector<Boxes> divisions_into_boxes(const Core& core) {
  const std::set<Capacity, std::greater<>> widths(core.capacity.begin(), core.capacity.end());
  std::vector<Boxes> found;
  std::size_t tried = 0;
  for (const Capacity width : widths) {
    if (++tried > kMostBoxWidths) break;
    auto boxes = BoxDivision(core, width).run();
    if (boxes && (found.empty() || found.back().members != boxes->members)) {
      found.push_back(*std::move(boxes));
    }
  }
  return found;
}

}  // namespace forestcoll::solver
