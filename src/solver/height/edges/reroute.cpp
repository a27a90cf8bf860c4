// Taking edges off resources that are overfull.
#include <algorithm>
#include <limits>

#include "solver/height/edges/moves.hpp"

namespace forestcoll::solver {
namespace {

// Children that a node may follow are tried one by one.
constexpr int kChildrenTried = 8;

}  // namespace

bool HeightMoves::reroute(TreeEdge edge, std::int64_t amount, std::int32_t limit,
                          const MoveLimits& limits) {
  refresh_index();
  limits_ = limits;
  attempt_end_ = steps_ + limits.attempt;
  const std::int64_t multiplicity = rows_.tree(edge.tree).multiplicity;
  weight_base_ = std::max(0, limit - 40);
  const auto move_part = [&](std::int64_t part) {
    amount_ = part;
    if (!find_places(edge, limit)) return false;
    commit();
    return true;
  };
  const std::int64_t most = std::min(multiplicity, amount);
  if ((most == multiplicity || may_split()) && move_part(most)) return true;
  if (most == 1 || !may_split()) return false;
  // Where there is no place for one tree there is none for more, and where there is one, it has
  // room for so many.
  amount_ = 1;
  attempt_end_ = steps_ + limits.attempt;
  if (!find_places(edge, limit)) return false;
  std::int64_t part = std::min(room_in_places(), most - 1);
  undo_all();
  while (part > 0 && !move_part(part)) part /= 2;
  return part > 0;
}

// How many trees could take the steps of one.
std::int64_t HeightMoves::room_in_places() const {
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  for (const Step& step : steps_taken_) {
    rows_.for_each_arc(step.after, [&](ArcId arc) {
      const ArcId resource = resources_.of[arc];
      bool had_it = false;
      rows_.for_each_arc(step.before, [&](ArcId old) { had_it |= resources_.of[old] == resource; });
      if (had_it) return;
      room = std::min(room, resources_.residual[resource] / resources_.weight[arc] + 1);
    });
  }
  return room;
}

void HeightMoves::undo_all() {
  while (!steps_taken_.empty()) undo_step();
  if (split_off_) rows_.unsplit(split_off_->tree, split_off_->copy);
  split_off_.reset();
}

// Leaves the steps taken.
bool HeightMoves::find_places(TreeEdge edge, std::int32_t limit) {
  for (int chain = 0; chain <= limits_.chain && steps_ < attempt_end_; ++chain) {
    begin_step(edge);
    if (place(edge, limit, chain)) return true;
    undo_step();
    if (chain == 0 && rows_.below(edge) > 0 && follow_child(edge, limit)) return true;
  }
  return false;
}

// Two edges of one tree move, so that it is split before rather than afterwards.
bool HeightMoves::follow_child(TreeEdge edge, std::int32_t limit) {
  const std::int64_t rest = rows_.tree(edge.tree).multiplicity - amount_;
  if (rest > 0) split_off_ = SplitOff{edge.tree, rows_.split(edge.tree, rest)};
  int tried = 0;
  for (std::size_t v = 0; v < rows_.ranks() && tried < kChildrenTried; ++v) {
    const TreeEdge child{edge.tree, v};
    ++steps_;
    if (!rows_.route(child).valid() || rows_.parent(child) != edge.node) continue;
    ++tried;
    if (follow(edge, child, limit)) return true;
  }
  undo_all();
  return false;
}

// The child leaves for a rank that is not below the node, and then the node finds a place.
bool HeightMoves::follow(TreeEdge edge, TreeEdge child, std::int32_t limit) {
  begin_step(child);
  above_ = edge;
  const std::vector<Candidate> candidates = find_routes(child, limit, false);
  above_.reset();
  for (const Candidate& candidate : candidates) {
    if (!fits(candidate.arcs)) continue;
    end_step(rows_.route_along(candidate.arcs));
    begin_step(edge);
    if (place(edge, limit, 0)) return true;
    undo_step();
    take_step_back();
  }
  undo_step();
  return false;
}

}  // namespace forestcoll::solver
