#include "topology/draw/fold.hpp"

#include <algorithm>
#include <compare>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "topology/draw/limit_marks.hpp"
#include "topology/draw/picture.hpp"

namespace forestcoll::topology {
namespace {

/// What is seen of an edge from one of its ends.
struct Link {
  std::string kind;
  Ratio away, back;
  bool crosses = false;
  std::size_t links = 0;
  std::vector<std::size_t> limits;
  std::optional<std::size_t> round_away, round_back;
  auto operator<=>(const Link&) const = default;
};

struct Neighbour {
  std::size_t item = 0;
  Link link;
  auto operator<=>(const Neighbour&) const = default;
};

using Neighbours = std::vector<std::vector<Neighbour>>;

Neighbours neighbours_of(const Picture& picture) {
  Neighbours neighbours(picture.items.size());
  for (const Edge& edge : picture.edges) {
    neighbours[edge.a].push_back({edge.b,
                                  {edge.kind, edge.there, edge.back, edge.crosses, edge.links,
                                   edge.limits, edge.round_there, edge.round_back}});
    neighbours[edge.b].push_back({edge.a,
                                  {edge.kind, edge.back, edge.there, edge.crosses, edge.links,
                                   edge.limits, edge.round_back, edge.round_there}});
  }
  for (auto& list : neighbours) std::ranges::sort(list);
  return neighbours;
}

/// What items must have in common, whatever they are linked to.
auto nature(const Item& item) {
  return std::tuple(item.kind, item.is_nic, item.is_root, item.cluster, item.side, item.gpus,
                    item.names.size(), item.sets);
}

bool may_merge(const Item& item, Inside boxes) {
  return boxes == Inside::folded || item.cluster.empty();
}

/// What each item becomes part of: itself where it stays.
struct Merging {
  explicit Merging(std::size_t items) : into(items), as_set(items, false) {
    for (std::size_t i = 0; i < items; ++i) into[i] = i;
  }
  std::vector<std::size_t> into;
  std::vector<bool> as_set;  ///< it was a part of several items, with links of their own
};

void move_edges(Picture& picture, const std::vector<std::size_t>& becomes) {
  std::map<std::pair<std::size_t, std::size_t>, Edge> edges;
  for (Edge& edge : picture.edges) {
    std::size_t a = becomes[edge.a], b = becomes[edge.b];
    if (a > b) {
      std::swap(a, b);
      std::swap(edge.there, edge.back);
      std::swap(edge.round_there, edge.round_back);
    }
    const auto [at, is_new] = edges.try_emplace({a, b}, edge);
    Edge& moved = at->second;
    moved.a = a, moved.b = b;
    if (is_new) continue;
    moved.there = summed(moved.there, edge.there);
    moved.back = summed(moved.back, edge.back);
    moved.links += edge.links;
    moved.crosses = moved.crosses || edge.crosses;
    add_marks(moved.limits, edge.limits);
  }
  picture.edges.clear();
  for (auto& [key, edge] : edges) picture.edges.push_back(std::move(edge));
}

bool merge(Picture& picture, const Merging& merging) {
  std::vector<std::size_t> becomes(picture.items.size());
  std::vector<Item> items;
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    if (merging.into[i] != i) continue;
    becomes[i] = items.size();
    items.push_back(std::move(picture.items[i]));
  }
  if (items.size() == picture.items.size()) {
    picture.items = std::move(items);
    return false;
  }
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    if (merging.into[i] == i) continue;
    becomes[i] = becomes[merging.into[i]];
    Item& whole = items[becomes[i]];
    const Item& part = picture.items[i];
    whole.names.insert(whole.names.end(), part.names.begin(), part.names.end());
    if (merging.as_set[i] || part.sets > 1) whole.sets += part.sets;
  }
  picture.items = std::move(items);
  move_edges(picture, becomes);
  return true;
}

/// Which items could be alike: equal numbers for equal surroundings, some links far.
std::vector<std::size_t> surroundings(const Picture& picture, const Neighbours& neighbours) {
  constexpr int kRounds = 3;
  std::vector<std::size_t> number(picture.items.size());
  std::map<decltype(nature(picture.items[0])), std::size_t> natures;
  for (std::size_t i = 0; i < number.size(); ++i) {
    number[i] = natures.emplace(nature(picture.items[i]), natures.size()).first->second;
  }
  for (int round = 0; round < kRounds; ++round) {
    std::map<std::pair<std::size_t, std::vector<Neighbour>>, std::size_t> seen;
    std::vector<std::size_t> refined(number.size());
    for (std::size_t i = 0; i < number.size(); ++i) {
      std::vector<Neighbour> around = neighbours[i];
      for (Neighbour& neighbour : around) neighbour.item = number[neighbour.item];
      std::ranges::sort(around);
      refined[i] = seen.emplace(std::pair(number[i], std::move(around)), seen.size()).first->second;
    }
    number = std::move(refined);
  }
  return number;
}

/// Two parts, item by item.
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Finds what has to change places with an item when that changes places with another one.
class Exchange {
 public:
  Exchange(const Picture& picture, const Neighbours& neighbours,
           const std::vector<std::size_t>& alike, std::size_t largest)
      : picture_(picture), neighbours_(neighbours), alike_(alike), largest_(largest) {}

  /// The smallest exchange of `a` and `b` that was found, proved right.
  [[nodiscard]] std::optional<Pairs> of(std::size_t a, std::size_t b) {
    partner_.clear();
    pairs_.clear();
    add(a, b);
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      if (pairs_.size() > largest_ || !follow(pairs_[at].first, pairs_[at].second)) {
        return std::nullopt;
      }
    }
    for (const auto& [from, to] : pairs_) {
      if (!is_kept(from, to)) return std::nullopt;
    }
    return pairs_;
  }

 private:
  void add(std::size_t a, std::size_t b) {
    partner_.emplace(a, b);
    partner_.emplace(b, a);
    pairs_.emplace_back(a, b);
  }

  [[nodiscard]] bool is_moved(std::size_t item) const { return partner_.contains(item); }

  // Neighbours that only one of the two has must change places as well: the first of one kind with
  // the first of the same.
  bool follow(std::size_t a, std::size_t b) {
    std::vector<Neighbour> only_a, only_b;
    std::ranges::set_difference(neighbours_[a], neighbours_[b], std::back_inserter(only_a));
    std::ranges::set_difference(neighbours_[b], neighbours_[a], std::back_inserter(only_b));
    const auto known = [this](const Neighbour& n) { return is_moved(n.item); };
    std::erase_if(only_a, known);
    std::erase_if(only_b, known);
    if (only_a.size() != only_b.size()) return false;
    for (const Neighbour& one : only_a) {
      if (is_moved(one.item)) return false;  // by two ways at once
      // A direct network is its wiring: the halves of a ring are alike, but no two of a kind.
      if (is_gpu(a) && is_gpu(one.item)) return false;
      const auto other = std::ranges::find_if(only_b, [&](const Neighbour& n) {
        return !is_moved(n.item) && n.item != one.item && n.link == one.link &&
               alike_[n.item] == alike_[one.item];
      });
      if (other == only_b.end()) return false;
      add(one.item, other->item);
    }
    return true;
  }

  // Whether all links of one are links of the other after the exchange, and none joins the two
  // parts.
  [[nodiscard]] bool is_kept(std::size_t a, std::size_t b) const {
    std::vector<Neighbour> moved = neighbours_[a];
    for (Neighbour& neighbour : moved) {
      const auto at = partner_.find(neighbour.item);
      if (at == partner_.end()) continue;
      if (is_second(neighbour.item)) return false;
      neighbour.item = at->second;
    }
    std::ranges::sort(moved);
    return moved == neighbours_[b];
  }

  [[nodiscard]] bool is_gpu(std::size_t item) const {
    return picture_.items[item].kind == ItemKind::gpu;
  }

  [[nodiscard]] bool is_second(std::size_t item) const {
    return std::ranges::find(pairs_, item, &Pairs::value_type::second) != pairs_.end();
  }

  const Picture& picture_;
  const Neighbours& neighbours_;
  const std::vector<std::size_t>& alike_;
  std::size_t largest_;
  std::map<std::size_t, std::size_t> partner_;
  Pairs pairs_;
};

/// Exchanges of one round that do not get into each other's way.
class Folds {
 public:
  explicit Folds(std::size_t items) : merging_(items), part_(items, kNone) {}

  /// Whether the first part is free, or is a first part already, and the second is free.
  bool take(const Pairs& pairs) {
    const std::size_t part = part_[pairs.front().first];
    for (const auto& [first, second] : pairs) {
      if (part_[first] != part || part_[second] != kNone) return false;
    }
    if (part != kNone && (part == kGone || size_[part] != pairs.size())) return false;
    if (part == kNone) size_.push_back(pairs.size());
    for (const auto& [first, second] : pairs) {
      if (part == kNone) part_[first] = size_.size() - 1;
      part_[second] = kGone;
      merging_.into[second] = first;
      merging_.as_set[second] = pairs.size() > 1;
    }
    return true;
  }

  [[nodiscard]] bool is_free(std::size_t item) const { return part_[item] == kNone; }
  [[nodiscard]] const Merging& merging() const { return merging_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1), kGone = kNone - 1;
  Merging merging_;
  std::vector<std::size_t> part_;  ///< by item: which first part it belongs to
  std::vector<std::size_t> size_;  ///< by first part
};

}  // namespace

bool merge_twins(Picture& picture, Inside boxes) {
  const Neighbours neighbours = neighbours_of(picture);
  using Alike = std::tuple<ItemKind, bool, bool, std::string, Side, std::size_t, std::size_t,
                           std::vector<Neighbour>>;
  std::map<Alike, std::size_t> first;
  Merging merging(picture.items.size());
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    const Item& item = picture.items[i];
    if (!may_merge(item, boxes)) continue;
    merging.into[i] = first
                          .emplace(Alike{item.kind, item.is_nic, item.is_root, item.cluster,
                                         item.side, item.gpus, item.sets, neighbours[i]},
                                   i)
                          .first->second;
  }
  return merge(picture, merging);
}

bool merge_parts(Picture& picture, Inside boxes, std::size_t largest) {
  constexpr std::size_t kMostTries = 8;
  const Neighbours neighbours = neighbours_of(picture);
  const std::vector<std::size_t> alike = surroundings(picture, neighbours);
  Exchange exchange(picture, neighbours, alike, largest);
  Folds folds(picture.items.size());
  std::map<std::size_t, std::deque<std::size_t>>
      others;  // by surroundings: the last ones that stay
  const auto may_fold = [&](const Pairs& pairs) {
    return std::ranges::all_of(
        pairs, [&](const auto& pair) { return may_merge(picture.items[pair.first], boxes); });
  };
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    if (!may_merge(picture.items[i], boxes) || !folds.is_free(i)) continue;
    auto& candidates = others[alike[i]];
    const bool folded = std::ranges::any_of(candidates, [&](std::size_t other) {
      const auto pairs = exchange.of(other, i);
      return pairs && may_fold(*pairs) && folds.take(*pairs);
    });
    if (folded) continue;
    candidates.push_back(i);
    if (candidates.size() > kMostTries) candidates.pop_front();
  }
  return merge(picture, folds.merging());
}

}  // namespace forestcoll::topology
