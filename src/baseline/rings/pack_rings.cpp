// Rings of equal speed s that share the links of a box: a link of capacity c carries floor(c / s)
// of them. NCCL's own search walks depth first and stops at the first set that is good enough. Here
// one ring after the other is the cheapest Hamiltonian cycle that is left, found exactly by dynamic
// programming over sets of GPUs (Held and Karp, 1962; Bellman, 1962), where a link costs the more
// the fewer rings it still carries for its ends; then its reverse, where that fits, so that what is
// left stays as even as it was. Costs are varied from try to try, and the best set of all tries and
// speeds is taken. No more rings than floor(c / s) summed over the links of a GPU can exist, in
// either direction, so a speed ends once it has so many, and is left out where that is too few.
#include "baseline/rings/pack_rings.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace forestcoll::baseline {
namespace {

using RingOrder = std::vector<std::int32_t>;

constexpr std::int64_t kMostParts = 8;  // of a link's capacity
constexpr std::int64_t kPackSteps = 1'000'000'000;
constexpr Capacity kMostCapacity = Capacity{1} << 50;  // eight parts of it fit 64 bits
constexpr int kTries = 24;
constexpr float kNoRing = std::numeric_limits<float>::infinity();

// Numbers that differ from try to try, and not from run to run (Park and Miller, 1988).
class Variation {
 public:
  explicit Variation(std::uint64_t seed) : state_(seed * 7919 + 1) {}
  float next() {
    state_ = state_ * 48271 % 2147483647;
    return static_cast<float>(state_) / 2147483647.0F;
  }

 private:
  std::uint64_t state_;
};

class RingPacker {
 public:
  RingPacker(const BoxLinks& links, std::size_t most)
      : links_(links), n_(links.gpus), most_(most) {}

  RingOrders pack() {
    for (const auto& [bound, speed] : speeds()) {
      if (bound <= best_sum()) break;  // the others are below that, too
      for (int t = 0; t < kTries && steps_ < kPackSteps; ++t) {
        std::vector<RingOrder> rings = pack_at(speed, static_cast<std::uint64_t>(t) + 1);
        const Ratio sum = speed * Ratio(static_cast<std::int64_t>(rings.size()));
        if (sum > best_sum()) best_ = {std::move(rings), speed};
        if (sum == bound) break;
      }
    }
    return std::move(best_);
  }

 private:
  [[nodiscard]] Ratio best_sum() const {
    return best_.speed * Ratio(static_cast<std::int64_t>(best_.orders.size()));
  }

  [[nodiscard]] std::int64_t rings_over(std::size_t from, std::size_t to,
                                        const Ratio& speed) const {
    const Ratio rings = Ratio(links_(from, to)) / speed;
    return std::min<std::int64_t>(rings.num() / rings.den(), static_cast<std::int64_t>(most_));
  }

  // Rings at most: what enters and leaves each GPU.
  [[nodiscard]] std::int64_t most_rings(const Ratio& speed) const {
    auto most = static_cast<std::int64_t>(most_);
    for (std::size_t v = 0; v < n_; ++v) {
      std::int64_t out = 0, in = 0;
      for (std::size_t w = 0; w < n_; ++w) {
        out += rings_over(v, w, speed);
        in += rings_over(w, v, speed);
      }
      most = std::min({most, out, in});
    }
    return most;
  }

  // The sum that each allows at most, and the speed; the largest sum first, of these the fastest.
  [[nodiscard]] std::vector<std::pair<Ratio, Ratio>> speeds() const {
    std::set<Ratio> distinct;
    for (const Capacity capacity : links_.capacity) {
      for (std::int64_t j = 1; capacity > 0 && j <= kMostParts; ++j) {
        distinct.insert(Ratio(capacity, j));
      }
    }
    std::vector<std::pair<Ratio, Ratio>> all;
    for (const Ratio& speed : distinct) all.emplace_back(speed * Ratio(most_rings(speed)), speed);
    std::ranges::sort(all, [](const auto& a, const auto& b) { return b < a; });
    return all;
  }

  std::vector<RingOrder> pack_at(const Ratio& speed, std::uint64_t seed) {
    left_.assign(n_ * n_, 0);
    for (std::size_t v = 0; v < n_; ++v) {
      for (std::size_t w = 0; w < n_; ++w) left_[v * n_ + w] = rings_over(v, w, speed);
    }
    Variation variation(seed);
    std::vector<RingOrder> rings;
    while (rings.size() < most_ && steps_ < kPackSteps) {
      auto ring = cheapest(variation);
      if (!ring) break;
      take(*ring);
      rings.push_back(*ring);
      std::ranges::reverse(*ring);
      if (rings.size() == most_ || !fits(*ring)) continue;
      take(*ring);
      rings.push_back(*std::move(ring));
    }
    return rings;
  }

  [[nodiscard]] bool fits(const RingOrder& ring) const {
    for (std::size_t i = 0; i < n_; ++i) {
      if (left_[arc(ring[i], ring[(i + 1) % n_])] == 0) return false;
    }
    return true;
  }
  void take(const RingOrder& ring) {
    for (std::size_t i = 0; i < n_; ++i) --left_[arc(ring[i], ring[(i + 1) % n_])];
  }
  [[nodiscard]] std::size_t arc(std::int32_t from, std::int32_t to) const {
    return static_cast<std::size_t>(from) * n_ + static_cast<std::size_t>(to);
  }

  // A link that carries most of what its ends have left is the one to use.
  void set_costs(Variation& variation) {
    std::vector<std::int64_t> out(n_, 0), in(n_, 0);
    for (std::size_t v = 0; v < n_; ++v) {
      for (std::size_t w = 0; w < n_; ++w) {
        out[v] += left_[v * n_ + w];
        in[w] += left_[v * n_ + w];
      }
    }
    cost_.assign(n_ * n_, kNoRing);
    for (std::size_t v = 0; v < n_; ++v) {
      for (std::size_t w = 0; w < n_; ++w) {
        const std::int64_t left = left_[v * n_ + w];
        if (left == 0) continue;
        const auto part = static_cast<float>(left) / static_cast<float>(std::min(out[v], in[w]));
        cost_[v * n_ + w] = 2 - part + variation.next() / 2;
      }
    }
  }

  // From GPU 0 over every set of the others: least[set][last].
  std::optional<RingOrder> cheapest(Variation& variation) {
    set_costs(variation);
    const std::size_t others = n_ - 1;
    const std::size_t sets = std::size_t{1} << others;
    steps_ += static_cast<std::int64_t>(sets * others * others / 2);
    least_.assign(sets * others, kNoRing);
    before_.assign(sets * others, 0);
    for (std::size_t v = 0; v < others; ++v)
      least_[(std::size_t{1} << v) * others + v] = cost_[v + 1];
    for (std::size_t set = 1; set < sets; ++set) {
      for (std::size_t last = 0; last < others; ++last) {
        const float here = least_[set * others + last];
        if (here == kNoRing) continue;
        extend(set, last, here);
      }
    }
    return ring_back(sets - 1);
  }

  void extend(std::size_t set, std::size_t last, float here) {
    const std::size_t others = n_ - 1;
    for (std::size_t next = 0; next < others; ++next) {
      if ((set >> next & 1U) != 0) continue;
      const std::size_t at = (set | std::size_t{1} << next) * others + next;
      const float there = here + cost_[(last + 1) * n_ + next + 1];
      if (there >= least_[at]) continue;
      least_[at] = there;
      before_[at] = static_cast<std::int8_t>(last);
    }
  }

  // The cheapest way to close it, walked backwards.
  [[nodiscard]] std::optional<RingOrder> ring_back(std::size_t all) const {
    const std::size_t others = n_ - 1;
    std::size_t last = others;
    float least = kNoRing;
    for (std::size_t v = 0; v < others; ++v) {
      const float whole = least_[all * others + v] + cost_[(v + 1) * n_];
      if (whole >= least) continue;
      least = whole;
      last = v;
    }
    if (last == others) return std::nullopt;
    RingOrder ring;
    for (std::size_t set = all; set != 0;) {
      ring.push_back(static_cast<std::int32_t>(last) + 1);
      const auto before = static_cast<std::size_t>(before_[set * others + last]);
      set &= ~(std::size_t{1} << last);
      last = before;
    }
    ring.push_back(0);
    std::ranges::reverse(ring);
    return ring;
  }

  const BoxLinks& links_;
  const std::size_t n_, most_;
  RingOrders best_;
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> left_;  // rings that an arc still carries
  std::vector<float> cost_, least_;
  std::vector<std::int8_t> before_;
};

}  // namespace

RingOrders pack_rings(const BoxLinks& links, std::size_t most) {
  if (links.gpus < 3 || links.gpus > kMostPackedGpus || most == 0) return {};
  if (std::ranges::max(links.capacity) > kMostCapacity) return {};
  return RingPacker(links, most).pack();
}

}  // namespace forestcoll::baseline
