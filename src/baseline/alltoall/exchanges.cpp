// Algorithms without boxes.
#include <algorithm>
#include <bit>

#include "baseline/alltoall/itinerary.hpp"

namespace forestcoll::baseline {

Expected<ItineraryOf> bruck_index(const Places& places) {
  return ItineraryOf([n = places.demand.ranks()](Rank src, Rank dst) {
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

Expected<ItineraryOf> binomial(const Places& places) {
  const std::size_t n = places.demand.ranks();
  const std::size_t root = places.demand.root()->index();
  const int levels = static_cast<int>(std::bit_width(n - 1));
  const bool gathers = places.demand.collective() == Collective::gather;
  return ItineraryOf([n, root, levels, gathers](Rank src, Rank dst) {
    const std::size_t place = ((gathers ? src : dst).index() + n - root) % n;
    Itinerary itinerary{{Rank(root)}, {}};
    std::size_t at = 0;
    for (int bit = levels - 1; bit >= 0; --bit) {
      if ((place >> bit & 1U) == 0) continue;
      at += std::size_t{1} << bit;
      itinerary.stops.emplace_back((root + at) % n);
      itinerary.rounds.push_back(gathers ? bit : levels - 1 - bit);
    }
    if (gathers) {
      std::ranges::reverse(itinerary.stops);
      std::ranges::reverse(itinerary.rounds);
    }
    return itinerary;
  });
}

Expected<ItineraryOf> direct(const Places& /*places*/) {
  return ItineraryOf([](Rank src, Rank dst) { return Itinerary{{src, dst}, {}}; });
}

}  // namespace forestcoll::baseline
