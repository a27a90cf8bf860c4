// One program for all ranks that a symmetry makes alike.
#pragma once

#include <optional>

#include "forestcoll/forest.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/views.hpp"

namespace forestcoll::schedule {

/// The programs of the first ranks of all orbits, as `lower` would write them; those of the others
/// are empty. An image of a first rank does what that does, with images of its peers.
struct ClassSchedule {
  Schedule schedule;
  Views views;
};

/// What `lower` makes of a forest, in parts that cost what one rank of each orbit does. None where
/// the symmetry that the forest was made with leaves a rank where it is, where messages would have
/// to be merged to fit, and where the order of steps depends on the numbers of ranks. Errors: those
/// of `lower`. Cost: O(N + M log M), where M counts the messages of the trees of first roots.
[[nodiscard]] Expected<std::optional<ClassSchedule>> lower_classes(const CollectiveForest& forest,
                                                                   const LowerOptions& options);

}  // namespace forestcoll::schedule
