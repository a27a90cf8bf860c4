#include "solver/flat/transport.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace forestcoll::solver {
namespace {

class TransportFlow {
 public:
  explicit TransportFlow(const Transport& transport)
      : offered_(transport.offered),
        wanted_(transport.wanted),
        cost_(offered_.size(), std::vector<std::int32_t>(wanted_.size())),
        flow_(offered_.size(), std::vector<std::int64_t>(wanted_.size(), 0)) {
    for (std::size_t i = 0; i < offered_.size(); ++i) {
      for (std::size_t j = 0; j < wanted_.size(); ++j) {
        cost_[i][j] = transport.cost(i, j);
        costs_.insert(cost_[i][j]);
      }
    }
  }

  std::optional<std::vector<std::vector<std::int64_t>>> run() {
    const auto sum = [](const std::vector<std::int64_t>& parts) {
      return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    };
    if (sum(offered_) != sum(wanted_)) return std::nullopt;
    for (const std::int32_t cost : costs_) {
      send_straight(cost);
      for (std::size_t i = 0; i < offered_.size(); ++i) {
        while (offered_[i] > 0 && augment(i, cost)) {
        }
      }
      if (sum(offered_) == 0) break;
    }
    return std::move(flow_);
  }

 private:
  static constexpr std::size_t kNoPlace = static_cast<std::size_t>(-1);

  void send(std::size_t i, std::size_t j, std::int64_t amount) {
    flow_[i][j] += amount;
    offered_[i] -= amount;
    wanted_[j] -= amount;
  }

  // What needs nothing to give way.
  void send_straight(std::int32_t cost) {
    for (std::size_t i = 0; i < offered_.size(); ++i) {
      for (std::size_t j = 0; j < wanted_.size(); ++j) {
        if (cost_[i][j] == cost) send(i, j, std::min(offered_[i], wanted_[j]));
      }
    }
  }

  // Along a shortest path from an offer to something that is wanted still. False where there is
  // none.
  bool augment(std::size_t from, std::int32_t most) {
    std::vector<std::size_t> by_offer(wanted_.size(), kNoPlace), by_want(offered_.size(), kNoPlace);
    std::vector<std::size_t> offers{from};
    for (std::size_t at = 0; at < offers.size(); ++at) {
      const std::size_t i = offers[at];
      for (std::size_t j = 0; j < wanted_.size(); ++j) {
        if (cost_[i][j] > most || by_offer[j] != kNoPlace) continue;
        by_offer[j] = i;
        if (wanted_[j] > 0) {
          push(from, j, by_offer, by_want);
          return true;
        }
        for (std::size_t other = 0; other < offered_.size(); ++other) {
          if (flow_[other][j] == 0 || other == from || by_want[other] != kNoPlace) continue;
          by_want[other] = j;
          offers.push_back(other);
        }
      }
    }
    return false;
  }

  void push(std::size_t from, std::size_t to, const std::vector<std::size_t>& by_offer,
            const std::vector<std::size_t>& by_want) {
    std::int64_t amount = std::min(offered_[from], wanted_[to]);
    for (std::size_t i = by_offer[to]; i != from; i = by_offer[by_want[i]]) {
      amount = std::min(amount, flow_[i][by_want[i]]);
    }
    offered_[from] -= amount;
    wanted_[to] -= amount;
    std::size_t j = to;
    for (std::size_t i = by_offer[to];; i = by_offer[j]) {
      flow_[i][j] += amount;
      if (i == from) return;
      j = by_want[i];
      flow_[i][j] -= amount;
    }
  }

  std::vector<std::int64_t> offered_, wanted_;
  std::vector<std::vector<std::int32_t>> cost_;
  std::vector<std::vector<std::int64_t>> flow_;
  std::set<std::int32_t> costs_;
};

}  // namespace

std::optional<std::vector<std::vector<std::int64_t>>> lowest_transport(const Transport& transport) {
  return TransportFlow(transport).run();
}

}  // namespace forestcoll::solver
