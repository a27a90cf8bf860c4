// Threadblocks of a program that do the same at the same time, whatever the size and the costs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audit/msccl/step_graph.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/flow_classes.hpp"
#include "simulate/sources/images.hpp"

namespace forestcoll::simulate {

/// The classes of the coarsest equitable partition of the threadblocks of a program and the links
/// that they send over (see `FlowClasses`): those of a class also have the same steps, and wait at
/// the same steps for as many steps of every class. None of it depends on sizes or costs, so by
/// induction over time the threadblocks of a class do the same at the same time, whatever these are
/// (see `class_graph`). `routes`: of what each threadblock sends; −1: nothing.
/// Cost: O(n log n) in steps and parts of routes.
[[nodiscard]] FlowClasses program_classes(const audit::StepGraph& steps,
                                          std::span<const std::int32_t> routes,
                                          const Fabric& fabric);

/// Where the programs of some ranks stand for all: each of their threadblocks with all its images,
/// which send over the images of its route. None where a route's images are not routes of the
/// fabric. `peers`: the rank that each threadblock sends to.
/// Cost: O(n log n) in the parts of the routes of all ranks.
[[nodiscard]] std::optional<FlowClasses> classes_of_images(const audit::StepGraph& steps,
                                                           std::span<const std::int32_t> peers,
                                                           const Images& images, Fabric& fabric,
                                                           audit::Findings& findings);

}  // namespace forestcoll::simulate
