#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "solver/alltoall/routes/rounds.hpp"

namespace forestcoll::solver::alltoall {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 2;
constexpr std::int64_t kTies = 1024;  // of places that are as good, which one is left to chance

class Fitter {
 public:
  Fitter(std::span<const Traveller> travellers, std::span<const Int128> room, std::int32_t count,
         LegRounds rounds, std::int64_t& looks)
      : travellers_(travellers),
        room_(room),
        count_(static_cast<std::size_t>(count)),
        rounds_(std::move(rounds)),
        looks_(looks),
        slots_(room.size() * count_),
        pushed_out_(travellers.size(), 0) {
    for (std::size_t i = 0; i < travellers_.size(); ++i) {
      if (rounds_[i].back() < count) {
        put(i);
      } else {
        waiting_.push_back(i);
      }
    }
  }

  bool run() {
    while (!waiting_.empty() && looks_ > 0) {
      std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
      const std::size_t i = waiting_.back();
      waiting_.pop_back();
      choose_rounds(i);
      put(i);
      push_others_out(i);
    }
    return waiting_.empty();
  }

  LegRounds& rounds() { return rounds_; }

 private:
  // A link in a round.
  struct Slot {
    Int128 used = 0;
    std::vector<std::size_t> riders;
  };

  Slot& slot(ArcId link, std::size_t round) { return slots_[link.index() * count_ + round]; }

  template <class Visit>
  void visit_slots(std::size_t i, const Visit& visit) {
    for (std::size_t leg = 0; leg < travellers_[i].legs.size(); ++leg) {
      for (const ArcId link : travellers_[i].legs[leg].links) {
        visit(link, slot(link, static_cast<std::size_t>(rounds_[i][leg])));
      }
    }
  }

  void put(std::size_t i) {
    visit_slots(i, [&](ArcId, Slot& at) {
      at.used += travellers_[i].amount;
      at.riders.push_back(i);
    });
  }

  void take_out(std::size_t i) {
    visit_slots(i, [&](ArcId, Slot& at) {
      at.used -= travellers_[i].amount;
      *std::ranges::find(at.riders, i) = at.riders.back();
      at.riders.pop_back();
    });
  }

  void push_others_out(std::size_t i) {
    visit_slots(i, [&](ArcId link, Slot& at) {
      while (at.used > room_[link.index()]) {
        const std::size_t other = least_pushed(at, i);
        ++pushed_out_[other];
        take_out(other);
        waiting_.push_back(other);
      }
    });
  }

  [[nodiscard]] std::size_t least_pushed(const Slot& at, std::size_t but) const {
    std::size_t least = but;
    for (const std::size_t rider : at.riders) {
      if (rider == but) continue;
      if (least == but || pushed_out_[rider] < pushed_out_[least]) least = rider;
    }
    return least;
  }

  // Of those who have to leave so that so much fits, those who leave most easily first.
  std::int64_t cost_of(ArcId link, std::size_t round, Int128 amount) {
    --looks_;
    const Slot& at = slot(link, round);
    Int128 over = at.used + amount - room_[link.index()];
    if (over <= 0) return 0;
    looks_ -= std::ssize(at.riders);
    leaving_.clear();
    for (const std::size_t rider : at.riders) {
      leaving_.emplace_back(1 + pushed_out_[rider], travellers_[rider].amount);
    }
    std::int64_t cost = 0;
    for (std::size_t next = 0; over > 0; ++next) {
      looks_ -= std::ssize(leaving_) - static_cast<std::ptrdiff_t>(next);
      for (std::size_t other = next + 1; other < leaving_.size(); ++other) {
        if (leaving_[other].first < leaving_[next].first) {
          std::swap(leaving_[other], leaving_[next]);
        }
      }
      cost += leaving_[next].first;
      over -= leaving_[next].second;
    }
    return cost * kTies;
  }

  // The cheapest ascending rounds for its legs, leg by leg: what the legs up to one cost at least
  // where it is in a round.
  void choose_rounds(std::size_t i) {
    const auto& legs = travellers_[i].legs;
    least_.assign(legs.size() * count_, kNever);
    before_.resize(least_.size());
    for (std::size_t leg = 0; leg < legs.size(); ++leg) {
      std::int64_t so_far = leg == 0 ? 0 : kNever;
      std::size_t from = 0;
      for (std::size_t round = leg; round + legs.size() <= count_ + leg; ++round) {
        if (leg > 0 && least_[(leg - 1) * count_ + round - 1] < so_far) {
          so_far = least_[(leg - 1) * count_ + round - 1];
          from = round - 1;
        }
        std::int64_t cost = so_far + static_cast<std::int64_t>(random_() % kTies);
        for (const ArcId link : legs[leg].links) {
          cost += cost_of(link, round, travellers_[i].amount);
        }
        least_[leg * count_ + round] = cost;
        before_[leg * count_ + round] = from;
      }
    }
    const auto last = least_.end() - static_cast<std::ptrdiff_t>(count_);
    auto round = static_cast<std::size_t>(std::min_element(last, least_.end()) - last);
    rounds_[i].resize(legs.size());
    for (std::size_t leg = legs.size(); leg-- > 0;) {
      rounds_[i][leg] = static_cast<std::int32_t>(round);
      round = before_[leg * count_ + round];
    }
  }

  std::span<const Traveller> travellers_;
  std::span<const Int128> room_;  // by link
  std::size_t count_;
  LegRounds rounds_;
  std::int64_t& looks_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> pushed_out_;  // by traveller
  std::vector<std::size_t> waiting_;
  std::mt19937 random_{1};  // the same for the same input
  // Of one choice of rounds.
  std::vector<std::int64_t> least_;
  std::vector<std::size_t> before_;
  std::vector<std::pair<std::int64_t, Int128>> leaving_;
};

}  // namespace

bool fit_into_rounds(std::span<const Traveller> travellers, std::span<const Int128> room,
                     std::int32_t count, LegRounds& rounds, std::int64_t& looks) {
  const auto has_legs_for = [&](const Traveller& traveller) {
    return std::ssize(traveller.legs) <= count;
  };
  if (!std::ranges::all_of(travellers, has_legs_for)) return false;
  Fitter fitter(travellers, room, count, rounds, looks);
  if (!fitter.run()) return false;
  rounds = std::move(fitter.rounds());
  return true;
}

}  // namespace forestcoll::solver::alltoall
