#include "solver/height/edges/moves.hpp"

#include <algorithm>

namespace forestcoll::solver {
HeightMoves::HeightMoves(HeightRows& rows, Resources& resources, std::size_t most_trees)
    : rows_(rows),
      resources_(resources),
      seen_free_(rows.core().graph.node_count(), 0),
      seen_full_(rows.core().graph.node_count(), 0),
      users_(rows.core().graph.arc_count()),
      next_user_(rows.core().graph.arc_count(), 0),
      most_trees_(most_trees) {
  index_users();
}

void HeightMoves::index_users() {
  for (auto& users : users_) users.clear();
  added_ = 0;
  for (std::size_t t = 0; t < rows_.tree_count(); ++t) {
    for (std::size_t v = 0; v < rows_.ranks(); ++v) add_user({t, v});
  }
  added_at_most_ = 2 * added_ + 1024;
}

// What has moved to and fro stands in a list more than once: they are made anew in time.
void HeightMoves::refresh_index() {
  if (added_ > added_at_most_) index_users();
}

void HeightMoves::add_user(TreeEdge edge) {
  const Route route = rows_.route(edge);
  if (!route.valid()) return;
  const User user{static_cast<std::uint32_t>(edge.tree), static_cast<std::uint32_t>(edge.node)};
  rows_.for_each_arc(route, [&](ArcId arc) {
    users_[resources_.of[arc]].push_back(user);
    ++added_;
  });
}

// Takes the route's resources `times` times; gives them back where that is negative.
void HeightMoves::take(Route route, std::int64_t times) {
  rows_.for_each_arc(route, [&](ArcId arc) {
    resources_.residual[resources_.of[arc]] -= times * resources_.weight[arc];
  });
}

bool HeightMoves::fits(std::span<const ArcId> arcs) const {
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const ArcId resource = resources_.of[arcs[i]];
    std::int64_t needed = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      if (resources_.of[arcs[j]] == resource) needed += resources_.weight[arcs[j]];
    }
    if (resources_.residual[resource] < amount_ * needed) return false;
  }
  return true;
}

bool HeightMoves::in_chain(std::size_t tree) const {
  return std::any_of(steps_taken_.begin(), steps_taken_.end(),
                     [&](const Step& step) { return step.edge.tree == tree; });
}

void HeightMoves::begin_step(TreeEdge edge) {
  const Route before = rows_.route(edge);
  take(before, -amount_);
  steps_taken_.push_back({edge, before, before});
}

void HeightMoves::end_step(Route after) {
  Step& step = steps_taken_.back();
  take(after, amount_);
  rows_.set_route(step.edge, after);
  step.after = after;
}

void HeightMoves::undo_step() {
  const Step& step = steps_taken_.back();
  if (step.after != step.before) {
    take(step.after, -amount_);
    rows_.set_route(step.edge, step.before);
  }
  take(step.before, amount_);
  steps_taken_.pop_back();
}

// Trees of which a part has moved are split; the index learns of the new places.
void HeightMoves::commit() {
  for (const Step& step : steps_taken_) {
    const std::size_t t = step.edge.tree;
    if (rows_.tree(t).multiplicity > amount_) {
      // The copy keeps the old route. In one chain such a tree moves once.
      const std::size_t copy = rows_.split(t, rows_.tree(t).multiplicity - amount_);
      rows_.set_route({copy, step.edge.node}, step.before);
      for (std::size_t v = 0; v < rows_.ranks(); ++v) add_user({copy, v});
    }
    add_user(step.edge);
  }
  steps_taken_.clear();
  for (std::size_t v = 0; split_off_ && v < rows_.ranks(); ++v) add_user({split_off_->copy, v});
  split_off_.reset();
}

bool HeightMoves::move(TreeEdge edge, std::int32_t limit, const MoveLimits& limits) {
  refresh_index();
  limits_ = limits;
  attempt_end_ = steps_ + limits.attempt;
  amount_ = rows_.tree(edge.tree).multiplicity;
  weight_base_ = std::max(0, limit - 40);
  while (true) {
    begin_step(edge);
    for (int chain = 0; chain <= limits.chain; ++chain) {
      if (place(edge, limit, chain)) {
        commit();
        return true;
      }
    }
    undo_step();
    if (amount_ == 1 || steps_ >= attempt_end_ || !may_split()) return false;
    amount_ /= 2;
  }
}

// At each node on the edge's route.
bool HeightMoves::exchange(TreeEdge edge, std::int32_t limit) {
  refresh_index();
  limits_ = MoveLimits{};
  amount_ = rows_.tree(edge.tree).multiplicity;
  weight_base_ = std::max(0, limit - 40);
  const Core& core = rows_.core();
  arcs_of(rows_.route(edge), ours_);
  best_.gain = 0;
  for (std::size_t i = ours_.size(); i-- > 0;) {
    const auto passed = std::span<const ArcId>(ours_).first(i + 1);
    const auto rest = std::span<const ArcId>(ours_).subspan(i + 1);
    for (const ArcId into : core.graph.in(core.graph.head(ours_[i]))) {
      judge_users(edge, into, passed, rest, limit);
    }
  }
  if (best_.gain == 0) return false;
  const TreeEdge user = best_.user;
  begin_step(edge);
  end_step(rows_.route_along(best_.arcs));
  begin_step(user);
  end_step(rows_.route_along(best_.their_arcs));
  commit();
  return true;
}

bool HeightMoves::exchange_group(std::size_t tree, std::span<const Rank> group,
                                 std::int32_t limit) {
  refresh_index();
  const std::size_t trees = rows_.tree_count();
  for (std::size_t i = 0; i < trees; ++i) {
    next_tree_ = next_tree_ + 1 < trees ? next_tree_ + 1 : 0;
    ++steps_;
    const Rank root = rows_.tree(tree).root;
    const Rank other_root = rows_.tree(next_tree_).root;
    // Where a root is inside, its own row is empty: both must be the same.
    const auto has = [&](Rank r) {
      return std::find(group.begin(), group.end(), r) != group.end();
    };
    if (next_tree_ == tree || (root != other_root && (has(root) || has(other_root)))) continue;
    if (exchange_parts(tree, next_tree_, group, limit)) return true;
  }
  return false;
}

// Of the tree with the larger multiplicity only a part takes part.
bool HeightMoves::exchange_parts(std::size_t tree, std::size_t other, std::span<const Rank> group,
                                 std::int32_t limit) {
  const std::int64_t ours = rows_.tree(tree).multiplicity;
  const std::int64_t theirs = rows_.tree(other).multiplicity;
  if (ours == theirs) return exchange_with(tree, other, group, limit);
  if (!may_split()) return false;
  const std::size_t larger = ours > theirs ? tree : other;
  const std::size_t copy = rows_.split(larger, std::min(ours, theirs));
  steps_ += static_cast<std::int64_t>(rows_.ranks());
  if (!exchange_with(ours > theirs ? copy : tree, ours > theirs ? other : copy, group, limit)) {
    rows_.unsplit(larger, copy);
    return false;
  }
  for (std::size_t v = 0; v < rows_.ranks(); ++v) add_user({copy, v});
  return true;
}

bool HeightMoves::exchange_with(std::size_t tree, std::size_t other, std::span<const Rank> group,
                                std::int32_t limit) {
  steps_ += static_cast<std::int64_t>(4 * rows_.ranks());
  const auto too_deep = [&] {
    return rows_.count_from(tree, limit + 1) + rows_.count_from(other, limit + 1);
  };
  const std::size_t before = too_deep();
  const bool valid = rows_.exchange(tree, other, group);
  const bool deeper = valid && (rows_.height(tree) > limit + 1 || rows_.height(other) > limit + 1);
  if (!valid || deeper || too_deep() >= before) {
    rows_.exchange(tree, other, group);
    return false;
  }
  for (const Rank r : group) {
    add_user({tree, r.index()});
    add_user({other, r.index()});
  }
  return true;
}

// Finds the last edge of the chain a route, at the cost of at most `chain` others that move.
bool HeightMoves::place(TreeEdge edge, std::int32_t limit, int chain) {
  if (steps_ >= attempt_end_) return false;
  const std::vector<Candidate> candidates = find_routes(edge, limit, chain > 0);
  for (const Candidate& candidate : candidates) {
    if (candidate.full.valid()) {
      if (push_out(candidate, limit, chain)) return true;
    } else if (chain == 0 && fits(candidate.arcs)) {
      end_step(rows_.route_along(candidate.arcs));
      return true;
    }
    if (steps_ >= attempt_end_) return false;
  }
  return false;
}

// The resource's users in turn; edges that have moved elsewhere leave its list.
std::optional<TreeEdge> HeightMoves::next_user(ArcId resource) {
  std::vector<User>& users = users_[resource];
  std::size_t& next = next_user_[resource];
  while (!users.empty()) {
    ++steps_;
    if (next >= users.size()) next = 0;
    const TreeEdge user{users[next].tree, users[next].node};
    bool uses = false;
    rows_.for_each_arc(rows_.route(user),
                       [&](ArcId arc) { uses |= resources_.of[arc] == resource; });
    if (uses) {
      ++next;
      return user;
    }
    users[next] = users.back();
    users.pop_back();
  }
  return std::nullopt;
}

// A tree of which a part moves has one place only in a chain.
bool HeightMoves::can_move(TreeEdge user) const {
  const std::int64_t multiplicity = rows_.tree(user.tree).multiplicity;
  if (multiplicity < amount_ || (multiplicity > amount_ && !may_split())) return false;
  return std::none_of(steps_taken_.begin(), steps_taken_.end(), [&](const Step& step) {
    return step.edge == user || (step.edge.tree == user.tree && multiplicity > amount_);
  });
}

bool HeightMoves::push_out(const Candidate& candidate, std::int32_t limit, int chain) {
  const std::size_t count = std::min(limits_.users, users_[candidate.full].size());
  for (std::size_t i = 0; i < count && steps_ < attempt_end_; ++i) {
    const auto user = next_user(candidate.full);
    if (!user) return false;
    if (can_move(*user) && replace(candidate.arcs, *user, limit, chain)) return true;
  }
  return false;
}

void HeightMoves::judge_users(TreeEdge edge, ArcId into, std::span<const ArcId> passed,
                              std::span<const ArcId> rest, std::int32_t limit) {
  const Core& core = rows_.core();
  const std::int32_t below = rows_.below(edge);
  const std::int32_t old_length = rows_.depth(edge) + below;
  const std::size_t old_parent = rows_.parent(edge);
  const auto is_good_origin = [&](std::size_t rank) {
    return rank != edge.node && rows_.depth({edge.tree, rank}) + 1 + below <= limit &&
           !rows_.is_below(edge, rank);
  };
  if (const Rank tail = core.rank_of[core.graph.tail(into)];
      tail.valid() && !is_good_origin(tail.index())) {
    return;
  }
  const ArcId resource = resources_.of[into];
  const std::size_t count = std::min(limits_.users, users_[resource].size());
  for (std::size_t n = 0; n < count; ++n) {
    const auto user = next_user(resource);
    if (!user) return;
    const std::int64_t multiplicity = rows_.tree(user->tree).multiplicity;
    if (*user == edge || multiplicity < amount_) continue;
    if (multiplicity > amount_ && (user->tree == edge.tree || !may_split())) continue;
    const std::size_t origin = rows_.parent(*user);
    if (!is_good_origin(origin)) continue;
    const std::int32_t length = rows_.depth({edge.tree, origin}) + 1 + below;
    const std::int32_t their_below = rows_.below(*user);
    const std::int32_t their_old = rows_.depth(*user) + their_below;
    const std::int32_t their_length = rows_.depth({user->tree, old_parent}) + 1 + their_below;
    const std::int64_t gain =
        (weight(old_length) - weight(length)) - (weight(their_length) - weight(their_old));
    if (their_length > limit || gain <= best_.gain || old_parent == user->node ||
        rows_.is_below(*user, old_parent)) {
      continue;
    }
    arcs_of(rows_.route(*user), theirs_);
    const auto joint = std::find(theirs_.begin(), theirs_.end(), into);
    if (joint == theirs_.end()) continue;  // another arc of the same resource
    joined_.assign(theirs_.begin(), joint + 1);
    joined_.insert(joined_.end(), rest.begin(), rest.end());
    their_joined_.assign(passed.begin(), passed.end());
    their_joined_.insert(their_joined_.end(), joint + 1, theirs_.end());
    if (!is_simple(core.graph, joined_) || !is_simple(core.graph, their_joined_)) continue;
    best_ = {gain, *user, joined_, their_joined_};
  }
}

// Longer paths count for more than many shorter ones.
std::int64_t HeightMoves::weight(std::int32_t length) const {
  return std::int64_t{1} << std::clamp(length - weight_base_, 0, 50);
}

// The edge moves to the new route and its user looks for another place.
bool HeightMoves::replace(std::span<const ArcId> arcs, TreeEdge user, std::int32_t limit,
                          int chain) {
  const Route theirs = rows_.route(user);
  take(theirs, -amount_);
  const bool room = fits(arcs);
  take(theirs, amount_);
  if (!room) return false;
  const bool shares_tree = in_chain(user.tree);
  end_step(rows_.route_along(arcs));
  if (!shares_tree || !rows_.is_below(user, rows_.parent(user))) {
    begin_step(user);
    if (place(user, limit, chain - 1)) return true;
    undo_step();
  }
  take_step_back();
  return false;
}

// To where the last edge of the chain had no route.
void HeightMoves::take_step_back() {
  Step& step = steps_taken_.back();
  take(step.after, -amount_);
  rows_.set_route(step.edge, step.before);
  step.after = step.before;
}

void HeightMoves::arcs_of(Route route, std::vector<ArcId>& arcs) const {
  arcs.clear();
  rows_.for_each_arc(route, [&](ArcId arc) { arcs.push_back(arc); });
  std::reverse(arcs.begin(), arcs.end());
}

// Searches backwards from the edge's rank through switches for ranks that are high enough up in
// its tree. With `through_full` one used-up resource may be on the way, and is.
std::vector<HeightMoves::Candidate> HeightMoves::find_routes(TreeEdge edge, std::int32_t limit,
                                                             bool through_full) {
  const Core& core = rows_.core();
  const std::int32_t deepest = limit - 1 - rows_.below(edge);
  const Route old = rows_.route(edge);
  ++search_;
  states_.clear();
  std::vector<Candidate> found;
  const std::int64_t end = steps_ + limits_.arcs;
  const auto expand = [&](NodeId node, int toward, ArcId full) {
    for (const ArcId arc : core.graph.in(node)) {
      if (++steps_ >= end) return;
      const ArcId resource = resources_.of[arc];
      const bool is_free =
          resources_.residual[resource] >= amount_ * resources_.weight[arc] || resource == full;
      if (!is_free && (!through_full || full.valid())) continue;
      const ArcId now_full = is_free ? full : resource;
      const NodeId from = core.graph.tail(arc);
      if (const Rank rank = core.rank_of[from]; rank.valid()) {
        const std::int32_t depth = rows_.depth({edge.tree, rank.index()});
        if (now_full.valid() != through_full || depth > deepest || rank.index() == edge.node ||
            rows_.is_below(edge, rank.index()) ||
            (above_ && rows_.is_below(*above_, rank.index()))) {
          continue;
        }
        Candidate candidate{{arc}, depth, now_full};
        for (int s = toward; s >= 0; s = states_[static_cast<std::size_t>(s)].toward) {
          candidate.arcs.push_back(states_[static_cast<std::size_t>(s)].arc);
        }
        found.push_back(std::move(candidate));
      } else {
        auto& seen = now_full.valid() ? seen_full_ : seen_free_;
        if (seen[from] == search_) continue;
        seen[from] = search_;
        states_.push_back({from, arc, toward, now_full});
      }
    }
  };
  expand(core.compute[edge.node], -1, ArcId());
  for (std::size_t s = 0; s < states_.size() && steps_ < end && found.size() < 8 * limits_.routes;
       ++s) {
    const State state = states_[s];
    expand(state.node, static_cast<int>(s), state.full);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.depth < b.depth; });
  if (found.size() > limits_.routes) found.resize(limits_.routes);
  if (through_full) {
    std::erase_if(found, [&](const Candidate& c) { return rows_.route_along(c.arcs) == old; });
  }
  return found;
}

}  // namespace forestcoll::solver
