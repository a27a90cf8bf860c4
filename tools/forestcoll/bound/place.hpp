// On which GPUs of a fabric, and in which order of its axes, a mesh is best laid.
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

/// An order of the axes over some GPUs, and what the job takes then.
struct Placement {
  std::vector<std::size_t> order;  ///< axes of the mesh, the fastest first
  std::vector<Rank> gpus;          ///< in ascending order
  std::vector<Rank> ranks;         ///< where each rank of the mesh is
  /// Seconds; without bytes, s per GB of the largest buffer. Infinite where the ranks of a group do
  /// not reach one another then, as on rails when a group has GPUs of several.
  double cost = 0;
  /// Whether it takes so much at least, which is more than the best: the rest was not computed.
  bool is_bound = false;

  [[nodiscard]] bool is_possible() const { return std::isfinite(cost); }
};

struct Placements {
  std::vector<Placement> list;  ///< the best first
  std::size_t choices = 1;      ///< sets of GPUs that were compared
  bool all = true;              ///< whether these are all sets of so many GPUs
};

/// All orders, on all GPUs, or where the mesh has fewer ranks on each choice of as many; of those
/// that give the same groups the one that comes first by the order of the mesh. Axes of size 1 stay
/// last. All choices are compared where they are few, else those by boxes (`gpu_choices.hpp`).
/// Errors: S04 without a mesh, or where steps without bytes cannot be compared; O06 more than 6
/// axes of two and more; those of the joint bound.
[[nodiscard]] Expected<Placements> find_placements(const Job& job, const Fabric& fabric,
                                                   bool relays, const Console& console);

/// A table of the best, and what the first is.
[[nodiscard]] std::string in_words(const Placements& placements, const Job& job,
                                   const Fabric& fabric);
/// Where the ranks of the first are, for launchers: what `--deploy` writes as hosts.
[[nodiscard]] std::string hosts_of(const Placements& placements, const Fabric& fabric);
/// "placements", "ranks": the GPU of each rank in the first of them; and where the fabric has more
/// GPUs than the mesh, "gpu_choices".
void put_placements(Json& report, const Placements& placements, const Job& job,
                    const Fabric& fabric);

}  // namespace forestcoll::cli
