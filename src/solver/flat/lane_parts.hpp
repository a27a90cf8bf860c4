// What goes over each lane, by phases and relays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/common/boxes.hpp"
#include "solver/flat/lanes.hpp"

namespace forestcoll::solver {

// `total` in proportion to `parts`, no part of it above its own: rounded down, and the rest goes to
// the first that have room. Nothing where they have not so much, or less than nothing is asked for.
inline std::optional<std::vector<std::int64_t>> portions(std::span<const std::int64_t> parts,
                                                         std::int64_t total) {
  Int128 sum = 0;
  for (const std::int64_t part : parts) sum += part;
  if (total < 0 || sum < total) return std::nullopt;
  std::vector<std::int64_t> result;
  std::int64_t left = total;
  for (const std::int64_t part : parts) {
    result.push_back(sum == 0 ? 0 : static_cast<std::int64_t>(Int128{part} * total / sum));
    left -= result.back();
  }
  for (std::size_t i = 0; left > 0; i = (i + 1) % parts.size()) {
    if (result[i] == parts[i]) continue;
    ++result[i];
    --left;
  }
  return result;
}

// The same in proportion to parts times keys, which are positive: what no part holds goes to others
// in that proportion, and the rest to the parts that lack the most.
inline std::optional<std::vector<std::int64_t>> weighted_portions(
    std::span<const std::int64_t> parts, std::span<const std::int64_t> keys, std::int64_t total) {
  Int128 sum = 0;
  for (const std::int64_t part : parts) sum += part;
  if (total < 0 || sum < total) return std::nullopt;
  std::vector<std::int64_t> result(parts.size(), 0);
  std::vector<std::pair<Int128, std::size_t>> lacking;
  for (std::int64_t left = total; left > 0;) {
    Int128 weights = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (result[i] < parts[i]) weights += Int128{parts[i]} * keys[i];
    }
    lacking.clear();
    std::int64_t given = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (result[i] == parts[i]) continue;
      const Int128 exact = Int128{parts[i]} * keys[i] * left;
      const Int128 whole = std::min<Int128>(exact / weights, parts[i] - result[i]);
      result[i] += static_cast<std::int64_t>(whole);
      given += static_cast<std::int64_t>(whole);
      if (result[i] < parts[i]) lacking.emplace_back(-(exact - whole * weights), i);
    }
    left -= given;
    if (given > 0) continue;
    std::ranges::sort(lacking);
    for (const auto& [rest, i] : lacking) {
      if (left == 0) break;
      ++result[i];
      --left;
    }
  }
  return result;
}

/// By rank: how many trees of a broadcast shall enter its box there, and as many of a reduce leave;
/// less than nothing in boxes where that is all the same.
using WantedEntries = std::vector<std::int64_t>;

/// What goes over each lane, by phases and relays.
class LaneParts {
 public:
  // With `wanted`, as near to it as lanes are; else of each lane as much as of others.
  LaneParts(const Boxes& boxes, const Lanes& lanes, const WantedEntries& wanted = {})
      : boxes_(boxes), lanes_(lanes), entering_{wanted, {}}, leaving_{wanted, {}} {}

  // By lane of a pair of boxes.
  using Amounts = std::vector<std::int64_t>;

  // False where relays find no lanes.
  bool divide() {
    const std::size_t boxes = boxes_.members.size();
    left_.assign(boxes, std::vector<Amounts>(boxes));
    for (std::size_t g = 0; g < boxes; ++g) {
      for (std::size_t h = 0; h < boxes; ++h) {
        for (const Lane& lane : lanes_.lanes[g][h]) left_[g][h].push_back(lane.trees);
      }
    }
    straight_[0] = straight_[1] = left_;
    find_room();
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> less[2];
    for (const Relay& relay : lanes_.shares.relays) {
      if (!divide(relay)) return false;
      less[relay.is_reduce ? 1 : 0][{relay.root, relay.to}] += relay.trees;
    }
    for (std::size_t g = 0; g < boxes; ++g) {
      for (std::size_t h = 0; h < boxes; ++h) {
        if (g == h) continue;
        if (!divide(g, h, lanes_.shares.trees[g] - less[0][{g, h}])) return false;
      }
    }
    return true;
  }

  // Of trees straight from or to their root's box, in the broadcast or the reduce.
  [[nodiscard]] const Amounts& straight(bool is_reduce, std::size_t from, std::size_t to) const {
    return straight_[is_reduce ? 1 : 0][from][to];
  }
  // By relay.
  [[nodiscard]] const Amounts& of_relay(std::size_t relay) const { return of_relays_[relay]; }

 private:
  /// What is wanted of ranks, and what lanes that are not divided yet have there.
  struct Entries {
    WantedEntries wanted;
    std::vector<std::int64_t> room;
  };

  void find_room() {
    if (entering_.wanted.empty()) return;
    entering_.room.assign(entering_.wanted.size(), 0);
    leaving_.room = entering_.room;
    for_each_lane([&](Rank out, Rank in, std::int64_t trees) {
      leaving_.room[out.index()] += trees;
      entering_.room[in.index()] += trees;
    });
  }

  template <class Visit>
  void for_each_lane(Visit&& visit) const {
    for (std::size_t g = 0; g < left_.size(); ++g) {
      for (std::size_t h = 0; h < left_.size(); ++h) {
        for (std::size_t i = 0; i < left_[g][h].size(); ++i) {
          visit(rank_of(g, h, i, true), rank_of(g, h, i, false), left_[g][h][i]);
        }
      }
    }
  }

  [[nodiscard]] Rank rank_of(std::size_t g, std::size_t h, std::size_t i, bool is_out) const {
    const Lane& lane = lanes_.lanes[g][h][i];
    return is_out ? boxes_.out[g][lane.out].rank : boxes_.in[h][lane.in].rank;
  }

  [[nodiscard]] bool is_wanted(std::size_t box) const {
    return !entering_.wanted.empty() && entering_.wanted[boxes_.members[box].front().index()] >= 0;
  }

  // Between the broadcast, which has so many trees straight from box to box, and the reduce.
  bool divide(std::size_t g, std::size_t h, std::int64_t of_broadcast) {
    const Amounts& all = left_[g][h];
    const std::int64_t sum = std::accumulate(all.begin(), all.end(), std::int64_t{0});
    const bool enters = is_wanted(h), leaves = !enters && is_wanted(g);
    auto own = enters   ? towards(g, h, of_broadcast, entering_)
               : leaves ? towards(g, h, sum - of_broadcast, leaving_)
                        : portions(all, of_broadcast);
    if (!own) return false;
    Amounts& first = straight_[leaves ? 1 : 0][g][h];
    Amounts& second = straight_[leaves ? 0 : 1][g][h];
    first = *std::move(own);
    for (std::size_t i = 0; i < all.size(); ++i) second[i] = all[i] - first[i];
    return true;
  }

  // `total` over the lanes of a pair of boxes: by what is wanted of what is left at their ranks.
  std::optional<Amounts> towards(std::size_t g, std::size_t h, std::int64_t total,
                                 Entries& entries) const {
    constexpr std::int64_t kFine = std::int64_t{1} << 20;
    const Amounts& all = left_[g][h];
    const bool is_out = &entries == &leaving_;
    Amounts keys;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t r = rank_of(g, h, i, is_out).index();
      const std::int64_t room = std::max<std::int64_t>(entries.room[r], 1);
      const std::int64_t left = std::clamp<std::int64_t>(entries.wanted[r], 0, room);
      keys.push_back(static_cast<std::int64_t>(Int128{left} * kFine / room) + 1);
    }
    auto own = weighted_portions(all, keys, total);
    for (std::size_t i = 0; own && i < all.size(); ++i) {
      const std::size_t r = rank_of(g, h, i, is_out).index();
      entries.wanted[r] = std::max<std::int64_t>(entries.wanted[r] - (*own)[i], 0);
      entries.room[r] -= all[i];
    }
    return own;
  }

  // Over lanes that begin or end where data of the root's comes from or goes to.
  bool divide(const Relay& relay) {
    const std::size_t from = relay.is_reduce ? relay.to : relay.via;
    const std::size_t to = relay.is_reduce ? relay.via : relay.to;
    std::set<Rank> ends;
    const auto& other =
        relay.is_reduce ? lanes_.lanes[relay.via][relay.root] : lanes_.lanes[relay.root][relay.via];
    for (const Lane& lane : other) {
      ends.insert(relay.is_reduce ? boxes_.out[relay.via][lane.out].rank
                                  : boxes_.in[relay.via][lane.in].rank);
    }
    Amounts open = left_[from][to];
    for (std::size_t i = 0; i < open.size(); ++i) {
      const Lane& lane = lanes_.lanes[from][to][i];
      const Rank rank =
          relay.is_reduce ? boxes_.in[to][lane.in].rank : boxes_.out[from][lane.out].rank;
      if (!ends.contains(rank)) open[i] = 0;
    }
    auto own = portions(open, relay.trees);
    if (!own) return false;
    for (std::size_t i = 0; i < open.size(); ++i) left_[from][to][i] -= (*own)[i];
    of_relays_.push_back(*std::move(own));
    return true;
  }

  const Boxes& boxes_;
  const Lanes& lanes_;
  Entries entering_, leaving_;
  std::vector<std::vector<Amounts>> left_, straight_[2];
  std::vector<Amounts> of_relays_;
};

}  // namespace forestcoll::solver
