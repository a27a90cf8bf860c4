// Taking edges off resources that are overfull.
#include <algorithm>

#include "solver/height/moves.hpp"

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
  for (amount_ = std::min(multiplicity, amount); amount_ > 0; amount_ /= 2) {
    if (multiplicity > amount_ && !may_split()) return false;
    if (reroute_amount(edge, limit)) return true;
  }
  return false;
}

bool HeightMoves::reroute_amount(TreeEdge edge, std::int32_t limit) {
  for (int chain = 0; chain <= limits_.chain && steps_ < attempt_end_; ++chain) {
    begin_step(edge);
    if (place(edge, limit, chain)) {
      commit();
      return true;
    }
    undo_step();
    if (chain == 0 && rows_.below(edge) > 0 && follow_child(edge, limit)) return true;
  }
  return false;
}

// Two edges of one tree move, so that it is split before rather than afterwards.
bool HeightMoves::follow_child(TreeEdge edge, std::int32_t limit) {
  const std::int64_t rest = rows_.tree(edge.tree).multiplicity - amount_;
  std::optional<std::size_t> copy;
  if (rest > 0) copy = rows_.split(edge.tree, rest);
  int tried = 0;
  for (std::size_t v = 0; v < rows_.ranks() && tried < kChildrenTried; ++v) {
    const TreeEdge child{edge.tree, v};
    ++steps_;
    if (!rows_.route(child).valid() || rows_.parent(child) != edge.node) continue;
    ++tried;
    if (!follow(edge, child, limit)) continue;
    commit();
    for (std::size_t u = 0; copy && u < rows_.ranks(); ++u) add_user({*copy, u});
    return true;
  }
  if (copy) rows_.unsplit(edge.tree, *copy);
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
