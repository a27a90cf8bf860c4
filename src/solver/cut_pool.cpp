#include "solver/cut_pool.hpp"

namespace forestcoll::solver {

CutId CutPool::add(const SinkSide& inside, std::int64_t slack, bool reached) {
  const CutId x = cuts_.push_back({slack, reached, 0, 0, inside});
  for (std::size_t a = 0; a < core_.graph.arc_count(); ++a) {
    const bool tail = inside[core_.graph.tail(ArcId(a)).index()];
    const bool head = inside[core_.graph.head(ArcId(a)).index()];
    if (tail != head) crossings_[ArcId(a)].push_back({x, head});
  }
  return x;
}

void CutPool::add_owed(NodeId root, std::int64_t delta) {
  for (State& cut : cuts_) {
    if (!cut.inside[root.index()]) cut.slack -= delta;
  }
}

void CutPool::begin_tree(NodeId root) {
  for (State& cut : cuts_) cut.reached = cut.inside[root.index()];
}

void CutPool::shrink_tree(NodeId root, std::int64_t delta) {
  for (State& cut : cuts_) {
    if (!cut.inside[root.index()]) cut.slack -= delta;
    if (!cut.reached) cut.slack += delta;
  }
}

void CutPool::count(std::span<const ArcId> route) {
  counted_.clear();
  for (const ArcId arc : route) {
    for (const Crossing& c : crossings_[arc]) {
      State& cut = cuts_[c.cut];
      if (cut.entries == 0 && cut.exits == 0) counted_.push_back(c.cut);
      ++(c.enters ? cut.entries : cut.exits);
    }
  }
}

bool CutPool::admits(std::span<const ArcId> route, std::int64_t multiplicity) {
  count(route);
  bool admitted = true;
  for (const CutId x : counted_) {
    State& cut = cuts_[x];
    const std::int64_t damage = cut.entries - (reaches(cut) ? 1 : 0);
    if (cut.slack < damage * multiplicity) admitted = false;
    cut.entries = cut.exits = 0;
  }
  return admitted;
}

void CutPool::take(std::span<const ArcId> route, std::int64_t multiplicity) {
  count(route);
  for (const CutId x : counted_) {
    State& cut = cuts_[x];
    const bool first = reaches(cut);
    cut.slack -= (cut.entries - (first ? 1 : 0)) * multiplicity;
    if (first) cut.reached = true;
    cut.entries = cut.exits = 0;
  }
}

}  // namespace forestcoll::solver
