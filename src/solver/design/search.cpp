#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/design.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll {
namespace {

// The smaller, the better.
struct Worth {
  Ratio allgather;  ///< 1/x*, per link
  std::size_t steps = 0;
  std::int64_t distances = 0;
  auto tied() const { return std::tie(allgather, steps, distances); }
};

class WiringWalk {
 public:
  WiringWalk(const Wiring& start, std::uint64_t seed)
      : wiring_(start), two_way_(is_two_way(start)), random_(seed) {
    for (const Arc& link : start.links) {
      if (!two_way_ || link.tail < link.head) cables_.push_back(link);
    }
    std::vector<std::int64_t> in(start.nodes, 0);
    for (const Arc& link : start.links) ++in[link.head.index()];
    // What all others have must enter the node of the fewest links.
    const std::int64_t fewest = *std::ranges::min_element(in);
    if (fewest > 0) fastest_ = Ratio(static_cast<std::int64_t>(start.nodes) - 1, fewest);
  }

  [[nodiscard]] std::size_t cables() const { return cables_.size(); }
  [[nodiscard]] const Wiring& wiring() const { return wiring_; }

  // Nothing where not all nodes reach one another.
  bool begin() {
    const auto worth = measure(wiring_, std::nullopt);
    if (worth) worth_ = *worth;
    return worth.has_value();
  }

  // Tries one exchange; true where it stays.
  bool move() {
    const std::size_t first = draw(cables_.size()), second = draw(cables_.size());
    const bool turned = two_way_ && draw(2) == 1;
    Arc a = cables_[first], b = cables_[second];
    if (turned) std::swap(b.tail, b.head);
    std::swap(a.head, b.head);
    if (first == second || a.tail == a.head || b.tail == b.head) return false;
    const auto before = std::pair(cables_[first], cables_[second]);
    cables_[first] = a;
    cables_[second] = b;
    Wiring changed = rewired();
    const auto worth = measure(changed, worth_);
    if (!worth || worth->tied() > worth_.tied()) {
      std::tie(cables_[first], cables_[second]) = before;
      return false;
    }
    worth_ = *worth;
    wiring_ = std::move(changed);
    return true;
  }

 private:
  std::size_t draw(std::size_t below) { return static_cast<std::size_t>(random_() % below); }

  [[nodiscard]] Wiring rewired() const {
    Wiring changed{.name = wiring_.name, .nodes = wiring_.nodes, .ports = wiring_.ports};
    changed.links = cables_;
    for (const Arc& cable : cables_) {
      if (two_way_) changed.links.push_back({cable.head, cable.tail});
    }
    std::ranges::sort(changed.links, {}, [](const Arc& l) { return std::pair(l.tail, l.head); });
    return changed;
  }

  // Distances first: where allgather is as fast as ports allow, they alone can reject.
  [[nodiscard]] std::optional<Worth> measure(const Wiring& wiring,
                                             const std::optional<Worth>& so_far) const {
    const auto distances = distances_of(wiring);
    if (!distances) return std::nullopt;
    Worth worth{fastest_, distances->steps, distances->sum};
    if (so_far && so_far->allgather == fastest_ && worth.tied() > so_far->tied()) {
      return std::nullopt;
    }
    const Network network = network_of(wiring);
    worth.allgather = optimal_rate(network, uniform_weights(network)).inverse / network.unit;
    return worth;
  }

  Wiring wiring_;
  bool two_way_;
  std::mt19937_64 random_;
  std::vector<Arc> cables_;  ///< of those both ways, one of the two links
  Ratio fastest_;
  Worth worth_;
};

}  // namespace

Expected<WiringSearch> search_wiring(const Wiring& start, const WiringSearchOptions& options) {
  WiringWalk walk(start, options.seed);
  const bool fits = start.nodes >= 2 && start.nodes <= kMostStudiedNodes && walk.cables() >= 2;
  if (!fits || !walk.begin()) {
    return make_error(
        Code::K01,
        fmt::format("{}: a search begins from 2 to {} nodes that all reach one another "
                    "over two cables or more",
                    start.name, kMostStudiedNodes),
        "Choose another topology to begin with.");
  }
  WiringSearch result;
  for (; result.tried < options.moves; ++result.tried) {
    if (options.stop.stop_requested()) {
      result.stopped = true;
      break;
    }
    if (walk.move()) ++result.accepted;
    if (options.progress) options.progress(result.tried + 1);
  }
  result.wiring = walk.wiring();
  result.wiring.name =
      fmt::format("{} after {} moves, seed {}", start.name, result.tried, options.seed);
  return result;
}

}  // namespace forestcoll
