// Where the ranks of a mesh are.
#include <cstddef>

#include "forestcoll/job.hpp"

namespace forestcoll {

std::vector<Rank> placement_of(const Mesh& mesh, std::span<const std::size_t> order) {
  std::vector<std::size_t> stride(mesh.axes.size(), 1);  // by axis, over the fabric's ranks
  std::size_t ranks = 1;
  for (const std::size_t axis : order) {
    stride[axis] = ranks;
    ranks *= static_cast<std::size_t>(mesh.axes[axis].size);
  }
  std::vector<Rank> placement;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::size_t rest = r, place = 0;
    for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      const auto size = static_cast<std::size_t>(mesh.axes[axis].size);
      place += rest % size * stride[axis];
      rest /= size;
    }
    placement.emplace_back(place);
  }
  return placement;
}

Job placed(Job job, std::span<const Rank> placement) {
  for (JobStep& step : job.steps) {
    for (JobOperation& operation : step.operations) {
      for (auto& group : operation.groups) {
        for (Rank& rank : group) rank = placement[rank.index()];
      }
    }
  }
  return job;
}

}  // namespace forestcoll
