#include "solver/common/forest_scale.hpp"

#include <algorithm>
#include <cstddef>

#include "base/check.hpp"
#include "forest/arc_counts.hpp"

namespace forestcoll::solver {

Ratio forest_scale(const Network& network, const Forest& forest) {
  const auto counts = count_on_arcs(forest, network);
  FORESTCOLL_CHECK(counts.has_value(), "what was packed into capacities can be counted");
  Ratio scale = 0;
  for (std::size_t a = 0; a < counts->size(); ++a) {
    scale = std::max(scale, Ratio((*counts)[ArcId(a)], network.capacity[ArcId(a)]));
  }
  return scale;
}

}  // namespace forestcoll::solver
