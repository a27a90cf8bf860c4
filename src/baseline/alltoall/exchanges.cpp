// All-to-alls without boxes.
#include <bit>
#include <utility>

#include "baseline/alltoall/relays.hpp"

namespace forestcoll::baseline {

Expected<RelaysOf> bruck_index(const Places& places) {
  return RelaysOf([n = places.ranks](Rank src, Rank dst) {
    Relays relays{{src}, {}};
    std::size_t left = (dst.index() + n - src.index()) % n;
    std::size_t at = src.index();
    while (left > 0) {
      const int bit = std::countr_zero(left);
      at = (at + (std::size_t{1} << bit)) % n;
      left &= left - 1;
      relays.stops.emplace_back(at);
      relays.rounds.push_back(bit);
    }
    return relays;
  });
}

Expected<RelaysOf> direct(const Places& /*places*/) {
  return RelaysOf([](Rank src, Rank dst) { return Relays{{src, dst}, {}}; });
}

}  // namespace forestcoll::baseline
