// All-to-alls that know of boxes: NCCL's, and those in two levels.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "baseline/alltoall/itinerary.hpp"
#include "baseline/implicit_forest.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

constexpr std::size_t kLargestGroup = 8;  // of NCCL's, in ranks

// Where a rank stands: in which list, and there.
struct Standing {
  std::size_t list = 0, place = 0;
};

IdVector<Rank, Standing> standings(const std::vector<std::vector<Rank>>& lists, std::size_t ranks) {
  IdVector<Rank, Standing> all(ranks);
  for (std::size_t l = 0; l < lists.size(); ++l) {
    for (std::size_t i = 0; i < lists[l].size(); ++i) all[lists[l][i]] = {l, i};
  }
  return all;
}

bool is_of_one_size(const std::vector<std::vector<Rank>>& lists) {
  return std::ranges::all_of(lists,
                             [&](const auto& list) { return list.size() == lists.front().size(); });
}

// Equal groups of at most eight, each of one box; or one with everybody.
std::vector<std::vector<Rank>> groups_of(const Places& places) {
  std::vector<std::vector<Rank>> groups;
  for (const std::vector<Rank>& box : places.boxes.members) {
    for (std::size_t i = 0; i < box.size(); ++i) {
      if (i % kLargestGroup == 0) groups.emplace_back();
      groups.back().push_back(box[i]);
    }
  }
  if (is_of_one_size(groups)) return groups;
  groups.assign(1, {});
  for (std::size_t r = 0; r < places.demand.ranks(); ++r) groups.front().emplace_back(r);
  return groups;
}

// By delta: when it is a group's turn. The sums 0, 1, 3, 6, … visit all residues of a power of two.
std::vector<std::int32_t> turns_of(std::size_t count) {
  std::vector<std::int32_t> turns(count, 0);
  const std::size_t all = std::bit_ceil(count);
  std::int32_t turn = 0;
  for (std::size_t round = 0, delta = 0; round < all; delta = (delta + ++round) % all) {
    if (delta < count) turns[delta] = turn++;
  }
  return turns;
}

// By groups: the turn of the receiver's in the sender's order. One group alone goes rank by rank,
// as many at a time as a batch of work holds.
class NcclOrder {
 public:
  explicit NcclOrder(const Places& places)
      : groups_(groups_of(places)),
        standing_(standings(groups_, places.demand.ranks())),
        turns_(turns_of(groups_.size() > 1 ? groups_.size() : places.demand.ranks())) {}

  [[nodiscard]] std::int32_t turn(Rank src, Rank dst) const {
    const Standing from = standing_[src], to = standing_[dst];
    if (groups_.size() == 1) {
      const std::size_t n = turns_.size();
      const auto turn = turns_[(to.place + n - from.place) % n];
      return turn / static_cast<std::int32_t>(kLargestGroup);
    }
    return turns_[(to.list + groups_.size() - from.list) % groups_.size()];
  }

 private:
  std::vector<std::vector<Rank>> groups_;
  IdVector<Rank, Standing> standing_;
  std::vector<std::int32_t> turns_;
};

// The GPU of the sender's box that stands where the receiver does in its own.
class RailMates {
 public:
  explicit RailMates(const Places& places)
      : boxes_(places.boxes.members), standing_(standings(boxes_, places.demand.ranks())) {}

  [[nodiscard]] std::size_t box_of(Rank r) const { return standing_[r].list; }
  [[nodiscard]] std::size_t place_of(Rank r) const { return standing_[r].place; }
  [[nodiscard]] Rank relay(Rank src, Rank dst) const {
    const std::vector<Rank>& own = boxes_[box_of(src)];
    return own[place_of(dst) % own.size()];
  }

 private:
  std::vector<std::vector<Rank>> boxes_;
  IdVector<Rank, Standing> standing_;
};

}  // namespace

Expected<ItineraryOf> nccl_pairwise(const Places& places) {
  return ItineraryOf([order = NcclOrder(places)](Rank src, Rank dst) {
    return Itinerary{{src, dst}, {order.turn(src, dst)}};
  });
}

Expected<ItineraryOf> nccl_pxn(const Places& places) {
  return ItineraryOf([order = NcclOrder(places), mates = RailMates(places)](Rank src, Rank dst) {
    const std::int32_t turn = order.turn(src, dst);
    const Rank relay = mates.relay(src, dst);
    if (mates.box_of(src) == mates.box_of(dst) || relay == src) {
      return Itinerary{{src, dst}, {turn + 1}};
    }
    return Itinerary{{src, relay, dst}, {turn, turn + 1}};
  });
}

Expected<ItineraryOf> two_levels(const Places& places) {
  const auto& boxes = places.boxes.members;
  for (const std::vector<Rank>& box : boxes) {
    if (box.size() == boxes.front().size()) continue;
    return make_error(
        Code::B02,
        fmt::format("the boxes of {} and {} have {} and {} GPUs",
                    name_of(places.topology, boxes.front().front()),
                    name_of(places.topology, box.front()), boxes.front().size(), box.size()),
        "two levels need boxes of one size: choose the GPUs with `ranks`, or compare "
        "with another algorithm");
  }
  return ItineraryOf([mates = RailMates(places), size = boxes.front().size(), count = boxes.size()](
                         Rank src, Rank dst) {
    const auto ahead = [](std::size_t from, std::size_t to, std::size_t n) {
      return static_cast<std::int32_t>((to + n - from) % n) - 1;
    };
    const Rank relay = mates.relay(src, dst);
    Itinerary itinerary{{src}, {}};
    if (relay != src) {
      itinerary.stops.push_back(relay);
      itinerary.rounds.push_back(ahead(mates.place_of(src), mates.place_of(relay), size));
    }
    if (relay != dst) {
      itinerary.stops.push_back(dst);
      itinerary.rounds.push_back(static_cast<std::int32_t>(size) - 1 +
                                 ahead(mates.box_of(src), mates.box_of(dst), count));
    }
    return itinerary;
  });
}

}  // namespace forestcoll::baseline
