// In which order the axes of a mesh are best laid over a fabric.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/job.hpp"

namespace forestcoll::cli {

/// An order of the axes, and what the job takes then.
struct Placement {
  std::vector<std::size_t> order;  ///< axes of the mesh, the fastest first
  /// Seconds; without bytes, s per GB of the largest buffer. Infinite where the ranks of a group do
  /// not reach one another then, as on rails when a group has GPUs of several.
  double cost = 0;

  [[nodiscard]] bool is_possible() const { return std::isfinite(cost); }
};

/// All orders, the best first; of those that give the same groups the one that comes first by the
/// order of the mesh. Axes of size 1 stay last. Errors: S04 without a mesh, or where steps without
/// bytes cannot be compared; O06 more than 6 axes of two and more; those of the joint bound.
[[nodiscard]] Expected<std::vector<Placement>> find_placements(const Job& job, const Fabric& fabric,
                                                               bool relays, const Console& console);

/// A table of all orders, and what the first is.
[[nodiscard]] std::string in_words(const std::vector<Placement>& placements, const Job& job);
/// "placements", and "ranks": the GPU of each rank in the first of them.
void put_placements(Json& report, const std::vector<Placement>& placements, const Job& job,
                    const Fabric& fabric);

}  // namespace forestcoll::cli
