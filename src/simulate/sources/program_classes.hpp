// Threadblocks of a program that do the same at the same time, whatever the size and the costs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audit/msccl/step_graph.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/images.hpp"

namespace forestcoll::simulate {

/// An equitable partition of the threadblocks of a program and the links that they send over: those
/// of a class have the same steps, wait at the same steps for as many steps of every class, and
/// send over routes of the same length that put the same parts on as many links of every class; the
/// links of a class have the same capacity and carry as much of every class of threadblocks. None
/// of it depends on sizes or costs, so by induction over time the threadblocks of a class do the
/// same at the same time, whatever these are (see `class_graph`).
struct ProgramClasses {
  std::vector<std::int32_t> of_block;         ///< the class of each threadblock
  std::vector<std::int32_t> first;            ///< by class, its first threadblock
  std::vector<std::vector<LinkPart>> routes;  ///< in classes of links, each route once
  /// By class of threadblocks, which of `routes` all its flows together load; −1: it sends nothing.
  std::vector<std::int32_t> route;
  std::vector<std::int32_t> of_link;  ///< the class of each link of the fabric; −1: not loaded
  std::vector<double> capacity;       ///< by class of links, bytes per second
};

/// The coarsest. `routes`: of what each threadblock sends; −1: nothing.
/// Cost: O(n log n) in steps and parts of routes.
[[nodiscard]] ProgramClasses program_classes(const audit::StepGraph& steps,
                                             std::span<const std::int32_t> routes,
                                             const Fabric& fabric);

/// Where the programs of some ranks stand for all: each of their threadblocks with all its images,
/// which send over the images of its route. None where a route's images are not routes of the
/// fabric. `peers`: the rank that each threadblock sends to.
/// Cost: O(n log n) in the parts of the routes of all ranks.
[[nodiscard]] std::optional<ProgramClasses> classes_of_images(const audit::StepGraph& steps,
                                                              std::span<const std::int32_t> peers,
                                                              const Images& images, Fabric& fabric,
                                                              audit::Findings& findings);

/// The finest: each threadblock and each link by itself.
[[nodiscard]] ProgramClasses each_by_itself(const audit::StepGraph& steps,
                                            std::span<const std::int32_t> routes,
                                            const Fabric& fabric);

}  // namespace forestcoll::simulate
