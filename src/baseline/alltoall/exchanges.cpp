// All-to-alls without boxes.
#include <bit>
#include <utility>

#include "baseline/alltoall/itinerary.hpp"

namespace forestcoll::baseline {

Expected<ItineraryOf> bruck_index(const Places& places) {
  return ItineraryOf([n = places.ranks](Rank src, Rank dst) {
    Itinerary itinerary{{src}, {}};
    std::size_t left = (dst.index() + n - src.index()) % n;
    std::size_t at = src.index();
    while (left > 0) {
      const int bit = std::countr_zero(left);
      at = (at + (std::size_t{1} << bit)) % n;
      left &= left - 1;
      itinerary.stops.emplace_back(at);
      itinerary.rounds.push_back(bit);
    }
    return itinerary;
  });
}

Expected<ItineraryOf> direct(const Places& /*places*/) {
  return ItineraryOf([](Rank src, Rank dst) { return Itinerary{{src, dst}, {}}; });
}

}  // namespace forestcoll::baseline
