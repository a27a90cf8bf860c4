#include "schedule/exchange/partners.hpp"

#include <bit>

namespace forestcoll::schedule {

IdVector<Rank, std::vector<Meeting>> doubling_meetings(std::size_t ranks) {
  const std::size_t core = std::bit_floor(ranks), folded = ranks - core;
  // Of the first 2 · folded ranks, only the even ones take part in the doubling.
  const auto rank_of = [folded](std::size_t place) {
    return Rank(place < folded ? 2 * place : place + folded);
  };
  IdVector<Rank, std::vector<Meeting>> meetings(ranks);
  for (std::size_t i = 0; i < folded; ++i) {
    meetings[Rank(2 * i + 1)].push_back({.partner = Rank(2 * i), .sends = true});
    meetings[Rank(2 * i)].push_back({.partner = Rank(2 * i + 1), .receives = true, .adds = true});
  }
  for (std::size_t distance = 1; distance < core; distance *= 2) {
    for (std::size_t place = 0; place < core; ++place) {
      meetings[rank_of(place)].push_back({rank_of(place ^ distance), true, true, true});
    }
  }
  for (std::size_t i = 0; i < folded; ++i) {
    meetings[Rank(2 * i)].push_back({.partner = Rank(2 * i + 1), .sends = true});
    meetings[Rank(2 * i + 1)].push_back({.partner = Rank(2 * i), .receives = true});
  }
  return meetings;
}

std::optional<IdVector<Rank, std::vector<Meeting>>> swing_meetings(std::size_t ranks) {
  if (!std::has_single_bit(ranks)) return std::nullopt;
  const auto n = static_cast<std::int64_t>(ranks);
  IdVector<Rank, std::vector<Meeting>> meetings(ranks);
  std::int64_t power = -2;  // (−2)^(i+1)
  for (std::size_t steps = 1; steps < ranks; steps *= 2, power *= -2) {
    const std::int64_t distance = (1 - power) / 3;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::int64_t there = r % 2 == 0 ? distance : -distance;
      const std::int64_t partner = ((static_cast<std::int64_t>(r) + there) % n + n) % n;
      meetings[Rank(r)].push_back({Rank(static_cast<std::size_t>(partner)), true, true, true});
    }
  }
  return meetings;
}

}  // namespace forestcoll::schedule
