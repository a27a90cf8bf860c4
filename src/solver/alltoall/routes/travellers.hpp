// Paths as what travels in rounds.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver::alltoall {

/// Part of a path: its links carry the path's amount (parts · demand) at a time.
struct Leg {
  std::vector<ArcId> links;
};

struct Traveller {
  std::vector<Leg> legs;
  Int128 amount = 0;
};

/// By traveller and leg, ascending along a traveller's legs.
using LegRounds = std::vector<std::vector<std::int32_t>>;

}  // namespace forestcoll::solver::alltoall
