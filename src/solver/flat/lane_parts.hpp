// What goes over each lane, by phases and relays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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

/// What goes over each lane, by phases and relays.
class LaneParts {
 public:
  LaneParts(const Boxes& boxes, const Lanes& lanes) : boxes_(boxes), lanes_(lanes) {}

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
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> less[2];
    for (const Relay& relay : lanes_.shares.relays) {
      if (!divide(relay)) return false;
      less[relay.is_reduce ? 1 : 0][{relay.root, relay.to}] += relay.trees;
    }
    for (std::size_t g = 0; g < boxes; ++g) {
      for (std::size_t h = 0; h < boxes; ++h) {
        if (g == h) continue;
        auto own = portions(left_[g][h], lanes_.shares.trees[g] - less[0][{g, h}]);
        if (!own) return false;
        straight_[0][g][h] = *std::move(own);
        for (std::size_t i = 0; i < left_[g][h].size(); ++i) {
          straight_[1][g][h][i] = left_[g][h][i] - straight_[0][g][h][i];
        }
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
  std::vector<std::vector<Amounts>> left_, straight_[2];
  std::vector<Amounts> of_relays_;
};

}  // namespace forestcoll::solver
