// Ways between ranks of one box and between gates, and routes along them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "solver/common/boxes.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

using ArcRow = std::vector<ArcId>;  ///< arcs of the core, one after the other

/// The shortest ways between nodes that may be passed. Of equals the widest, as the narrowest arc
/// has it.
class BoxWays {
 public:
  BoxWays(const Core& core, const Boxes& boxes) : core_(core), boxes_(boxes) {}

  // Inside of a box, through switches alone; empty where there is none.
  [[nodiscard]] const ArcRow& inside(Rank from, Rank to) {
    const NodeId tail = core_.compute[from.index()], head = core_.compute[to.index()];
    return between(tail, head, false);
  }

  // From gate to gate.
  [[nodiscard]] ArcRow outside(const Gate& out, const Gate& in) {
    const NodeId tail = core_.graph.head(out.arc), head = core_.graph.tail(in.arc);
    ArcRow way{out.arc};
    if (tail != head) {
      const ArcRow& passed = between(tail, head, true);
      if (passed.empty()) return {};
      way.insert(way.end(), passed.begin(), passed.end());
    }
    way.push_back(in.arc);
    return way;
  }

 private:
  const ArcRow& between(NodeId tail, NodeId head, bool is_outside) {
    auto at = known_.find(tail);
    if (at == known_.end()) at = known_.emplace(tail, search(tail, is_outside)).first;
    return at->second[head.index()];
  }

  // To all nodes, breadth first.
  std::vector<ArcRow> search(NodeId from, bool is_outside) {
    std::vector<ArcRow> ways(core_.graph.node_count());
    std::vector<Capacity> width(ways.size(), 0);
    std::vector<NodeId> level{from};
    while (!level.empty()) {
      std::vector<NodeId> next;
      for (const NodeId v : level) {
        if (v != from && core_.rank_of[v].valid()) continue;
        for (ArcId a = core_.graph.first_out(v); a != core_.graph.last_out(v); ++a.value) {
          const NodeId to = core_.graph.head(a);
          if (to == from || (boxes_.is_outside[to.index()] != 0) != is_outside) continue;
          ArcRow& way = ways[to.index()];
          const std::size_t hops = ways[v.index()].size() + 1;
          if (!way.empty() && way.size() < hops) continue;
          const Capacity least =
              v == from ? core_.capacity[a] : std::min(width[v.index()], core_.capacity[a]);
          if (way.empty()) next.push_back(to);
          if (!way.empty() && least <= width[to.index()]) continue;
          way = ways[v.index()];
          way.push_back(a);
          width[to.index()] = least;
        }
      }
      level = std::move(next);
    }
    return ways;
  }

  const Core& core_;
  const Boxes& boxes_;
  std::map<NodeId, std::vector<ArcRow>> known_;
};

/// BoxRoutes along ways of the core, or backwards.
class BoxRoutes {
 public:
  BoxRoutes(const Core& core, bool is_backward) : table_(core.compute), is_backward_(is_backward) {
    for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
      const auto along = core.segment(ArcId(a));
      std::vector<NodeId> nodes(along.begin(), along.end());
      if (is_backward) {
        std::ranges::reverse(nodes);
        nodes.erase(nodes.begin());
        nodes.push_back(core.graph.tail(ArcId(a)));
      }
      segments_.push_back(table_.add_segment(nodes));
    }
  }

  // From the rank at which the way begins; backwards, at which it ends.
  Route along(Rank from, const ArcRow& way) {
    PrefixId prefix(from.value);
    for (std::size_t i = 0; i + 1 < way.size(); ++i) prefix = extended(prefix, segment(way, i));
    return {prefix, segment(way, way.size() - 1)};
  }

  RouteTable take() { return std::move(table_); }

 private:
  [[nodiscard]] SegmentId segment(const ArcRow& way, std::size_t i) const {
    return segments_[way[is_backward_ ? way.size() - 1 - i : i].index()];
  }

  PrefixId extended(PrefixId prefix, SegmentId by) {
    const auto [at, is_new] = known_.try_emplace({prefix, by});
    if (is_new) at->second = table_.extend(prefix, by);
    return at->second;
  }

  RouteTable table_;
  const bool is_backward_;
  std::vector<SegmentId> segments_;  ///< by arc of the core
  std::map<std::pair<PrefixId, SegmentId>, PrefixId> known_;
};

}  // namespace forestcoll::solver
