#include "solver/height/whole/passages.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <utility>

namespace forestcoll::solver {

Passages::Passages(const Core& core, const Resources& resources, IdVector<ArcId, Capacity> capacity,
                   Capacity arriving)
    : core_(core), resources_(resources), left_(std::move(capacity)), arriving_(arriving) {
  group_ranks();
  find_gates();
}

void Passages::group_ranks() {
  const std::size_t ranks = core_.compute.size();
  IdVector<NodeId, std::vector<Rank>> at(core_.graph.node_count());
  group_of_.assign(ranks, 0);
  place_.assign(ranks, 0);
  inside_left_.assign(ranks, 0);
  for (std::size_t r = 0; r < ranks; ++r) {
    const NodeId v = core_.compute[r];
    NodeId widest = v;
    Capacity width = 0;
    for (const ArcId in : core_.graph.in(v)) {
      const NodeId w = core_.graph.tail(in);
      const ArcId out = core_.graph.find(v, w);
      if (core_.rank_of[w].valid() || !out.valid() || core_.capacity[in] < width) continue;
      if (core_.capacity[in] > width) {
        inside_left_[Rank(r)] = -arriving_ / resources_.weight[out];
        width = core_.capacity[in];
        widest = w;
      }
      inside_left_[Rank(r)] += left_[resources_.of[out]] / resources_.weight[out];
    }
    at[widest].push_back(Rank(r));
  }
  for (std::size_t v = 0; v < at.size(); ++v) {
    std::vector<Rank>& members = at[NodeId(v)];
    if (members.empty()) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      group_of_[members[i]] = groups_.size();
      place_[members[i]] = i;
    }
    groups_.push_back(std::move(members));
  }
}

void Passages::find_gates() {
  boost::disjoint_sets_with_storage<> parts(core_.graph.node_count());
  const auto is_switch = [&](NodeId v) { return !core_.rank_of[v].valid(); };
  for (const Arc& arc : core_.graph.arcs()) {
    if (is_switch(arc.tail) && is_switch(arc.head)) {
      parts.union_set(arc.tail.index(), arc.head.index());
    }
  }
  out_.assign(core_.compute.size(), {});
  in_.assign(core_.compute.size(), {});
  for (std::size_t a = 0; a < core_.graph.arc_count(); ++a) {
    const Arc& arc = core_.graph.arcs()[a];
    if (!is_switch(arc.tail) && is_switch(arc.head)) {
      out_[core_.rank_of[arc.tail]].push_back({parts.find_set(arc.head.index()), ArcId(a)});
    }
    if (is_switch(arc.tail) && !is_switch(arc.head)) {
      in_[core_.rank_of[arc.head]].push_back({parts.find_set(arc.tail.index()), ArcId(a)});
    }
  }
}

bool Passages::has_room(ArcId arc, std::int64_t trees) const {
  return left_[resources_.of[arc]] >= trees * resources_.weight[arc];
}

// What it takes to serve the whole group.
std::int64_t Passages::passed_on(Rank to, std::int64_t trees) const {
  return (static_cast<std::int64_t>(groups_[group_of_[to]].size()) - 1) * trees;
}

bool Passages::can_pass_on(Rank to, std::int64_t trees) const {
  return inside_left_[to] >= passed_on(to, trees);
}

// Calls `visit` for the first and the last arc of hops from one rank to another, until it says
// true. In between there are switches, whose links have their say later.
template <class Visit>
void Passages::for_each_hop(Rank from, Rank to, Visit&& visit) const {
  const ArcId direct = core_.graph.find(core_.compute[from.index()], core_.compute[to.index()]);
  if (direct.valid() && visit(direct, direct)) return;
  for (const Gate& out : out_[from]) {
    for (const Gate& in : in_[to]) {
      if (out.part == in.part && visit(out.arc, in.arc)) return;
    }
  }
}

bool Passages::is_joined(Rank from, Rank to) const {
  bool any = false;
  for_each_hop(from, to, [&](ArcId, ArcId) { return any = true; });
  return any;
}

// True where a way has room.
bool Passages::take_hop(Rank from, Rank to, std::int64_t trees) {
  bool taken = false;
  for_each_hop(from, to, [&](ArcId out, ArcId in) {
    if (!has_room(out, trees) || !has_room(in, trees)) return false;
    left_[resources_.of[out]] -= trees * resources_.weight[out];
    if (in != out) left_[resources_.of[in]] -= trees * resources_.weight[in];
    return taken = true;
  });
  return taken;
}

Passage Passages::take(std::size_t group, Rank root, std::int64_t trees, Fit fit) {
  const bool own = group == group_of_[root];
  if (fit == Fit::within) return own ? Passage{root, root} : first_passage(group, root);
  const Passage found = own ? Passage{root, root} : find(group, root, trees);
  if (!found.to.valid()) return first_passage(group, root);
  const Rank helper = own ? Rank() : find_helper(found.to, trees);
  inside_left_[helper.valid() ? helper : found.to] -= passed_on(found.to, trees);
  return {found.from, found.to, helper};
}

// The mate that has the most room, where it can pass on what the entry cannot.
Rank Passages::find_helper(Rank entry, std::int64_t trees) const {
  if (arriving_ == 0 || can_pass_on(entry, trees)) return {};
  const std::vector<Rank>& mates = groups_[group_of_[entry]];
  const Rank best = *std::ranges::max_element(mates, {}, [&](Rank r) { return inside_left_[r]; });
  return best != entry && can_pass_on(best, trees) ? best : Rank();
}

// A root whose entry cannot serve its whole group leaves work to others there; a mate's way is a
// hop longer.
Passage Passages::find(std::size_t group, Rank root, std::int64_t trees) {
  for (const bool passes_on : {true, false}) {
    const Rank to = find_entry(group, root, trees, passes_on);
    if (to.valid()) return {root, to};
  }
  const auto& mates = groups_[group_of_[root]];
  for (std::size_t m = 1; m <= mates.size(); ++m) {
    const Rank mate = mates[(place_[root] + group + group_of_[root] + m) % mates.size()];
    if (mate == root) continue;
    const Rank to = find_entry(group, mate, trees, true);
    if (to.valid()) return {mate, to};
  }
  return {};
}

// Takes the way to it; invalid where no member has room.
Rank Passages::find_entry(std::size_t group, Rank from, std::int64_t trees, bool passes_on) {
  const auto& members = groups_[group];
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Rank to = members[(place_[from] + i) % members.size()];
    if ((!passes_on || can_pass_on(to, trees)) && take_hop(from, to, trees)) return to;
  }
  return Rank();
}

Passage Passages::first_passage(std::size_t group, Rank root) const {
  const auto& mates = groups_[group_of_[root]];
  const auto& members = groups_[group];
  for (std::size_t m = 0; m <= mates.size(); ++m) {
    const Rank from =
        m == 0 ? root : mates[(place_[root] + group + group_of_[root] + m) % mates.size()];
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Rank to = members[(place_[from] + i) % members.size()];
      if (is_joined(from, to)) return {from, to};
    }
  }
  return {};
}

}  // namespace forestcoll::solver
