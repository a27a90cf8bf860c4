// Of n boxes each tree enters n − 1, and each tree of a reduce leaves n − 1, so an allreduce of
// rate M crosses from box to box 2 · (n − 1) · M times at least. Let all that can cross be S = 2 ·
// (n − 1) · M + s, by parts of the fabric between boxes: the lesser of what leads into a part and
// out of it. Of S no more than s is unused or crosses more often than it has to, so that at most 2
// · s crosses for trees that enter (or leave) some box more than once, or their root's.
//
// All others are clean. A tree of a broadcast that enters at rank u reaches all of the box from
// there inside of it: its height is 1 and the hops from u to the farthest rank of the box. A tree
// of a reduce that leaves at rank v has gathered all of the box there: 1 and the hops from the
// farthest rank to v. So a clean crossing from v to u is one of a tree of height 1 + e, if both are
// e hops from the farthest. There is one if other gates cannot take all that crosses:
//   Σ by part of (what crosses it − gates in nearer than e − gates out nearer than e) > 2 · s.
// That holds for the data of roots with any shares, with both phases at once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "solver/common/box_network.hpp"
#include "solver/common/boxes.hpp"
#include "solver/common/core.hpp"
#include "solver/height/bound/bound.hpp"
#include "solver/height/bound/cuts.hpp"

namespace forestcoll::solver {
namespace {

class FullGates {
 public:
  FullGates(const Core& core, const Boxes& boxes, const Ratio& rate)
      : core_(core), boxes_(boxes), rate_(rate) {
    for (std::size_t b = 0; b < boxes.members.size(); ++b) {
      for (const Gate& gate : boxes.out[b]) part(gate).out += gate.capacity;
      for (const Gate& gate : boxes.in[b]) part(gate).in += gate.capacity;
    }
  }

  std::int32_t height() {
    const std::optional<Int128> spare = twice_to_spare();
    if (!spare || !measure()) return 1;
    const std::int32_t most = std::max(*std::ranges::max_element(from_), 1);
    for (std::int32_t hops = most; hops > 0; --hops) {
      if (crossing_at(hops) * rate_.den() > *spare) return hops + 1;
    }
    return 1;
  }

 private:
  struct Part {
    Int128 out = 0, in = 0;
  };
  Part& part(const Gate& gate) { return parts_[gate.part]; }

  // 2 · s, times the denominator of the rate. Nothing where the rate is above what can cross.
  [[nodiscard]] std::optional<Int128> twice_to_spare() const {
    Int128 all = 0;
    for (const auto& [number, part] : parts_) all += std::min(part.out, part.in);
    const auto others = static_cast<Int128>(boxes_.members.size() - 1);
    const Int128 spare = all * rate_.den() - 2 * others * rate_.num();
    return spare < 0 ? std::nullopt : std::optional(2 * spare);
  }

  // Hops inside of boxes. False where some rank is out of another one's reach there.
  bool measure() {
    from_.assign(core_.compute.size(), 0);
    to_.assign(core_.compute.size(), 0);
    std::map<std::vector<std::int64_t>, std::array<IdVector<Rank, std::int32_t>, 2>> known;
    for (std::size_t b = 0; b < boxes_.members.size(); ++b) {
      const BoxNetwork box(core_, boxes_, b, false);
      auto [at, is_new] = known.try_emplace(box.key());
      const Network& network = box.network();
      if (is_new) {
        const Weights all(network.ranks.size(), 1);
        at->second = {farthest(network, all), farthest(reversed(network), all)};
      }
      const auto& members = boxes_.members[b];
      for (std::size_t i = 0; i < members.size(); ++i) {
        from_[members[i].index()] = at->second[0][Rank(i)];
        to_[members[i].index()] = at->second[1][Rank(i)];
        if (members.size() > 1 &&
            from_[members[i].index()] >= static_cast<std::int32_t>(members.size())) {
          return false;
        }
      }
    }
    return true;
  }

  // What crosses at least between gates that are both so many hops from the farthest, were all
  // links full.
  [[nodiscard]] Int128 crossing_at(std::int32_t hops) const {
    std::map<std::size_t, Int128> near;
    for (std::size_t b = 0; b < boxes_.members.size(); ++b) {
      for (const Gate& gate : boxes_.out[b]) {
        if (to_[gate.rank.index()] < hops) near[gate.part] += gate.capacity;
      }
      for (const Gate& gate : boxes_.in[b]) {
        if (from_[gate.rank.index()] < hops) near[gate.part] += gate.capacity;
      }
    }
    Int128 sum = 0;
    for (const auto& [number, part] : parts_) {
      const auto taken = near.find(number);
      const Int128 left = std::min(part.out, part.in) - (taken == near.end() ? 0 : taken->second);
      sum += std::max(left, Int128{0});
    }
    return sum;
  }

  const Core& core_;
  const Boxes& boxes_;
  const Ratio rate_;
  std::map<std::size_t, Part> parts_;
  std::vector<std::int32_t> from_, to_;  ///< by rank: hops to and from the farthest of its box
};

}  // namespace

std::int32_t allreduce_height_forced_by_gates(const Network& network, const Ratio& rate) {
  const Core core = make_core(network, network.capacity);
  std::int32_t height = 1;
  for (const Boxes& boxes : divisions_into_boxes(core)) {
    height = std::max(height, FullGates(core, boxes, rate).height());
  }
  return height;
}

}  // namespace forestcoll::solver
