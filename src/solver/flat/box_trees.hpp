// The trees of one phase, from box to box and inside of boxes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "forestcoll/forest.hpp"
#include "solver/common/boxes.hpp"
#include "solver/common/core.hpp"
#include "solver/common/join_trees.hpp"
#include "solver/flat/box_routes.hpp"
#include "solver/flat/inside_trees.hpp"
#include "solver/flat/lane_parts.hpp"
#include "solver/flat/lanes.hpp"
#include "solver/flat/transport.hpp"

namespace forestcoll::solver {

/// The trees of one phase.
class BoxTrees {
 public:
  BoxTrees(const Core& core, const Boxes& boxes, const Lanes& lanes, const LaneParts& parts,
           const Weights& trees, BoxWays& ways, bool is_reduce)
      : core_(core),
        boxes_(boxes),
        lanes_(lanes),
        parts_(parts),
        owed_(trees),
        ways_(ways),
        is_reduce_(is_reduce),
        routes_(core, is_reduce) {
    place_.assign(core.compute.size(), 0);
    for (const auto& members : boxes.members) {
      for (std::size_t i = 0; i < members.size(); ++i) place_[members[i].index()] = i;
    }
  }

  // With stars inside of boxes.
  std::optional<Forest> with_stars() { return find_stars() ? run() : std::nullopt; }

  // With trees that low programs find.
  std::optional<Forest> with_trees(const InsideNeeds& needs, InsideKnown& known,
                                   const std::stop_token& stop) {
    auto found = inside_trees(core_, boxes_, needs, known, stop);
    if (!found) return std::nullopt;
    take_inside(*found);
    return run();
  }

  // By rank: how many trees reach its box there, or are rooted there.
  std::optional<std::vector<std::int64_t>> count_entering() {
    std::vector<std::int64_t> entering(owed_.begin(), owed_.end());
    for (std::size_t box = 0; box < boxes_.members.size(); ++box) {
      std::vector<Branches> all;
      if (lanes_.shares.trees[box] == 0) continue;
      if (!find_branches(box, all)) return std::nullopt;
      for (const Branches& branches : all) {
        for (const Branch& branch : branches) {
          entering[branch.entry.index()] += branch.end - branch.begin;
        }
      }
    }
    return entering;
  }

 private:
  std::optional<Forest> run() {
    next_.assign(core_.compute.size(), {});
    next_own_.assign(core_.compute.size(), {});
    for (std::size_t box = 0; box < boxes_.members.size(); ++box) {
      if (lanes_.shares.trees[box] > 0 && !add_trees(box)) return std::nullopt;
    }
    join_equal_trees(trees_, rows_, core_.compute.size());
    return Forest(routes_.take(), std::move(trees_), std::move(rows_));
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// To another box, for some of the trees of a box.
  struct Branch {
    std::int64_t begin = 0, end = 0;
    Rank exit, entry;
    Route route;
    std::size_t via = kNone;  ///< the box that passes data on
  };
  using Branches = std::vector<Branch>;  ///< in the order of the trees

  /// Inside of a box, by members in their order.
  struct Inside {
    std::vector<Route> routes;
    std::vector<std::int32_t> depths;
    std::int32_t height = 0;
    std::int64_t trees = 0;
  };
  /// How far the trees of a rank are used up.
  struct Next {
    std::size_t at = 0;
    std::int64_t used = 0;
  };

  // Of every rank to its mates, for any number of trees.
  bool find_stars() {
    inside_.assign(core_.compute.size(), {});
    own_.assign(core_.compute.size(), {});
    for (const auto& members : boxes_.members) {
      for (const Rank center : members) {
        Inside star{{}, {}, members.size() > 1 ? 1 : 0, std::numeric_limits<std::int64_t>::max()};
        for (const Rank mate : members) {
          Route route;
          if (mate != center) {
            const ArcRow& way =
                is_reduce_ ? ways_.inside(mate, center) : ways_.inside(center, mate);
            if (way.empty()) return false;
            route = routes_.along(center, way);
          }
          star.routes.push_back(route);
          star.depths.push_back(mate == center ? 0 : 1);
        }
        inside_[center.index()].push_back(std::move(star));
        own_[center.index()] = inside_[center.index()];
      }
    }
    return true;
  }

  // A root's own trees are those in which mates are nearest.
  void take_inside(const InsideTrees& trees) {
    inside_.assign(core_.compute.size(), {});
    own_.assign(core_.compute.size(), {});
    for (const auto& members : boxes_.members) {
      for (const Rank root : members) {
        std::vector<Inside> all;
        for (const InsideTree& tree : trees[root.index()]) all.push_back(inside_of(tree, members));
        std::ranges::stable_sort(all, {}, [](const Inside& inside) {
          return std::accumulate(inside.depths.begin(), inside.depths.end(), 0);
        });
        std::int64_t left = owed_[root];
        for (Inside& inside : all) {
          const std::int64_t own = std::min(left, inside.trees);
          left -= own;
          if (own > 0) own_[root.index()].push_back(inside);
          if (own > 0) own_[root.index()].back().trees = own;
          inside.trees -= own;
          if (inside.trees > 0) inside_[root.index()].push_back(std::move(inside));
        }
      }
    }
  }

  Inside inside_of(const InsideTree& tree, const std::vector<Rank>& members) {
    Inside inside{{}, {}, 0, tree.trees};
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Rank parent = tree.parent[i];
      inside.routes.push_back(parent.valid() ? routes_.along(parent, tree.ways[i]) : Route());
      std::int32_t depth = 0;
      for (std::size_t at = i; tree.parent[at].valid(); ++depth) {
        at = place_[tree.parent[at].index()];
      }
      inside.depths.push_back(depth);
      inside.height = std::max(inside.height, depth);
    }
    return inside;
  }

  // Over a lane; empty where there is no way between its gates.
  std::optional<Branch> branch_over(const Lane& lane, std::size_t from, std::size_t to) {
    const Gate &out = boxes_.out[from][lane.out], &in = boxes_.in[to][lane.in];
    const ArcRow way = ways_.outside(out, in);
    if (way.empty()) return std::nullopt;
    const Rank exit = is_reduce_ ? in.rank : out.rank, entry = is_reduce_ ? out.rank : in.rank;
    return Branch{0, 0, exit, entry, routes_.along(exit, way)};
  }

  // Straight from the root's box where nothing passes data on: trees of which roots go over which
  // lanes is what makes the highest of them the lowest.
  bool add_straight(std::size_t box, std::size_t other, Branches& branches) {
    const std::size_t from = is_reduce_ ? other : box, to = is_reduce_ ? box : other;
    Branches lanes;
    Transport transport;
    for (std::size_t i = 0; i < lanes_.lanes[from][to].size(); ++i) {
      const std::int64_t amount = parts_.straight(is_reduce_, from, to)[i];
      if (amount == 0) continue;
      auto branch = branch_over(lanes_.lanes[from][to][i], from, to);
      if (!branch) return false;
      lanes.push_back(*branch);
      transport.wanted.push_back(amount);
    }
    const std::vector<Offer> offers = offers_of(box);
    for (const Offer& offer : offers) transport.offered.push_back(open_in(offer.trees, branches));
    transport.cost = [&](std::size_t offer, std::size_t lane) {
      return depth_in(offers[offer], lanes[lane].exit) + height_of(lanes[lane].entry);
    };
    const auto amounts = lowest_transport(transport);
    if (!amounts) return false;
    for (std::size_t r = 0; r < offers.size(); ++r) {
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        if ((*amounts)[r][i] > 0) fill(offers[r].trees, (*amounts)[r][i], lanes[i], branches);
      }
    }
    return true;
  }

  // Trees of a root that are the same in its box, among those of the box.
  struct Offer {
    Rank root;
    Branch trees;
    const Inside* own = nullptr;  // where it is known yet
  };

  [[nodiscard]] std::vector<Offer> offers_of(std::size_t box) const {
    std::vector<Offer> offers;
    std::int64_t begin = 0;
    for (const Rank root : boxes_.members[box]) {
      const std::int64_t end = begin + owed_[root];
      const bool is_known = !own_.empty();
      for (std::size_t i = 0; begin < end; ++i) {
        Offer offer{root, {}, is_known ? &own_[root.index()][i] : nullptr};
        offer.trees.begin = begin;
        begin = is_known ? begin + std::min(end - begin, offer.own->trees) : end;
        offer.trees.end = begin;
        offers.push_back(offer);
      }
    }
    return offers;
  }

  // Trees that no branch is for yet.
  [[nodiscard]] static std::int64_t open_in(const Branch& trees, const Branches& branches) {
    std::int64_t open = trees.end - trees.begin;
    for (const Branch& branch : branches) {
      open -= std::max<std::int64_t>(
          0, std::min(trees.end, branch.end) - std::max(trees.begin, branch.begin));
    }
    return open;
  }

  [[nodiscard]] std::int32_t depth_in(const Offer& offer, Rank mate) const {
    if (offer.own == nullptr) return offer.root == mate ? 0 : 1;
    return offer.own->depths[place_[mate.index()]];
  }
  [[nodiscard]] std::int32_t height_of(Rank root) const {
    std::int32_t most = 0;
    if (inside_.empty()) return most;
    for (const Inside& inside : inside_[root.index()]) most = std::max(most, inside.height);
    return most;
  }

  // Where data enters the box that passes it on by the rank at which the lane begins.
  bool add_relayed(const Relay& relay, const LaneParts::Amounts& amounts, const Branches& to_via,
                   Branches& branches) {
    const std::size_t from = is_reduce_ ? relay.to : relay.via;
    const std::size_t to = is_reduce_ ? relay.via : relay.to;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (amounts[i] == 0) continue;
      auto branch = branch_over(lanes_.lanes[from][to][i], from, to);
      if (!branch) return false;
      branch->via = relay.via;
      std::int64_t left = amounts[i];
      for (const Branch& before : to_via) {
        if (before.entry == branch->exit && left > 0) left -= fill(before, left, *branch, branches);
      }
      if (left > 0) return false;
    }
    return true;
  }

  // What is open of `range`, up to `most` trees. How many there are.
  static std::int64_t fill(const Branch& range, std::int64_t most, Branch branch,
                           Branches& branches) {
    std::int64_t filled = 0;
    std::int64_t at = range.begin;
    for (std::size_t i = 0; at < range.end && filled < most; ++i) {
      while (i < branches.size() && branches[i].end <= at) ++i;
      if (i < branches.size() && branches[i].begin <= at) {
        at = branches[i].end;
        continue;
      }
      const std::int64_t room = i < branches.size() ? branches[i].begin : range.end;
      branch.begin = at;
      branch.end = at + std::min(std::min(room, range.end) - at, most - filled);
      filled += branch.end - branch.begin;
      at = branch.end;
      branches.insert(branches.begin() + static_cast<std::ptrdiff_t>(i), branch);
    }
    return filled;
  }

  // By box: those that pass data on come first, which get it straight.
  bool find_branches(std::size_t box, std::vector<Branches>& all) {
    all.assign(boxes_.members.size(), {});
    std::set<std::size_t> relayed;
    for (const Relay& relay : lanes_.shares.relays) {
      if (relay.is_reduce == is_reduce_ && relay.root == box) relayed.insert(relay.to);
    }
    const auto add = [&](bool is_relayed) {
      for (std::size_t other = 0; other < all.size(); ++other) {
        if (other == box || relayed.contains(other) != is_relayed) continue;
        if (!add_straight(box, other, all[other])) return false;
      }
      return true;
    };
    if (!add(false)) return false;
    for (std::size_t i = 0; i < lanes_.shares.relays.size(); ++i) {
      const Relay& relay = lanes_.shares.relays[i];
      if (relay.is_reduce != is_reduce_ || relay.root != box) continue;
      if (!add_relayed(relay, parts_.of_relay(i), all[relay.via], all[relay.to])) return false;
    }
    return add(true);
  }

  bool add_trees(std::size_t box) {
    std::vector<Branches> all;
    if (!find_branches(box, all)) return false;
    std::set<std::int64_t> ends;
    for (const Branches& branches : all) {
      for (const Branch& branch : branches) ends.insert(branch.end);
    }
    std::int64_t end_of_root = 0;
    std::vector<std::int64_t> ends_of_roots;
    for (const Rank root : boxes_.members[box]) {
      end_of_root += owed_[root];
      ends_of_roots.push_back(end_of_root);
      if (owed_[root] > 0) ends.insert(end_of_root);
    }
    std::vector<std::size_t> at(all.size(), 0);
    std::size_t root = 0;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
      while (ends_of_roots[root] <= begin) ++root;
      for (std::size_t other = 0; other < all.size(); ++other) {
        while (other != box && all[other][at[other]].end <= begin) ++at[other];
      }
      while (begin < end) {
        const std::int64_t trees = std::min(end - begin, left(box, root, all, at));
        add_tree(box, boxes_.members[box][root], trees, all, at);
        begin += trees;
      }
    }
    return true;
  }

  // How many more trees have the same inside of all boxes.
  [[nodiscard]] std::int64_t left(std::size_t box, std::size_t root,
                                  const std::vector<Branches>& all,
                                  const std::vector<std::size_t>& at) const {
    const auto of = [](const Next& next, const std::vector<Inside>& trees) {
      return trees[next.at].trees - next.used;
    };
    const std::size_t r = boxes_.members[box][root].index();
    std::int64_t least = of(next_own_[r], own_[r]);
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (other == box) continue;
      const std::size_t entry = all[other][at[other]].entry.index();
      least = std::min(least, of(next_[entry], inside_[entry]));
    }
    return least;
  }

  [[nodiscard]] const Inside& inside(Rank r) const {
    return inside_[r.index()][next_[r.index()].at];
  }

  static void use(Next& next, const std::vector<Inside>& all, std::int64_t trees) {
    if (all[next.at].trees == std::numeric_limits<std::int64_t>::max()) return;
    next.used += trees;
    if (next.used < all[next.at].trees) return;
    ++next.at;
    next.used = 0;
  }

  void add_tree(std::size_t box, Rank root, std::int64_t multiplicity,
                const std::vector<Branches>& all, const std::vector<std::size_t>& at) {
    std::vector<Route> row(core_.compute.size());
    const Inside& own = own_[root.index()][next_own_[root.index()].at];
    std::int32_t height = own.height;
    put_inside(box, root, own, row);
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (other == box) continue;
      const Branch& branch = all[other][at[other]];
      put_inside(other, branch.entry, inside(branch.entry), row);
      row[branch.entry.index()] = branch.route;
      const Rank exit = branch.via == kNone ? branch.exit : all[branch.via][at[branch.via]].exit;
      const std::int32_t hops = own.depths[place_[exit.index()]] + (branch.via == kNone ? 1 : 2);
      height = std::max(height, hops + inside(branch.entry).height);
    }
    trees_.push_back({root, multiplicity, height});
    rows_.insert(rows_.end(), row.begin(), row.end());
    use(next_own_[root.index()], own_[root.index()], multiplicity);
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (other == box) continue;
      const std::size_t entry = all[other][at[other]].entry.index();
      use(next_[entry], inside_[entry], multiplicity);
    }
  }

  void put_inside(std::size_t box, Rank center, const Inside& inside,
                  std::vector<Route>& row) const {
    const auto& members = boxes_.members[box];
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] != center) row[members[i].index()] = inside.routes[i];
    }
  }

  const Core& core_;
  const Boxes& boxes_;
  const Lanes& lanes_;
  const LaneParts& parts_;
  const Weights& owed_;
  BoxWays& ways_;
  const bool is_reduce_;
  BoxRoutes routes_;
  std::vector<std::size_t> place_;           ///< by rank: among the members of its box
  std::vector<std::vector<Inside>> own_;     ///< by root, of its own trees
  std::vector<std::vector<Inside>> inside_;  ///< by rank
  std::vector<Next> next_, next_own_;        ///< by rank
  std::vector<Forest::Tree> trees_;
  std::vector<Route> rows_;
};

}  // namespace forestcoll::solver
