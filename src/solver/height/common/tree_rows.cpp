#include "solver/height/common/tree_rows.hpp"

#include <cstddef>

namespace forestcoll::solver {

Resources plain_resources(const IdVector<ArcId, Capacity>& residual) {
  Resources resources;
  resources.residual = residual;
  resources.weight.assign(residual.size(), 1);
  for (std::size_t a = 0; a < residual.size(); ++a) resources.of.push_back(ArcId(a));
  return resources;
}

}  // namespace forestcoll::solver
