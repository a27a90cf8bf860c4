// A threadblock program (MSCCL XML) as an event graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "audit/common/program.hpp"
#include "audit/msccl/step_graph.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/images.hpp"
#include "simulate/sources/program_classes.hpp"

namespace forestcoll::simulate {

class ProgramSource {
 public:
  /// Finds the routes of all connections; findings where there is none. `images`: what the program
  /// of some ranks stands for; empty: it is of all. `knows_classes()` says whether the fabric's
  /// routes are as alike.
  /// REQUIRES: verify finds the program to be right.
  ProgramSource(audit::Program program, Fabric& fabric, audit::Findings& findings,
                const Images& images = {});
  ProgramSource(const ProgramSource&) = delete;  // its graph leads into its program
  ProgramSource(ProgramSource&&) = default;

  [[nodiscard]] const audit::Program& program() const { return program_; }
  [[nodiscard]] bool knows_classes() const { return !classes_.first.empty(); }
  /// Bytes of the whole buffer for which one pass over the program is full.
  [[nodiscard]] double full_pass(const SimulationParameters& parameters) const;
  /// Of one of each class of threadblocks. REQUIRES: there are routes for all connections.
  [[nodiscard]] std::int64_t simulated_steps() const;
  /// Of what `make` would make, each counted in every pass. Cost: linear in the simulated steps.
  [[nodiscard]] double activities(const SimulationParameters& parameters, double bytes) const;
  /// For a buffer of so many bytes, each class of threadblocks once.
  ///
  /// An operation is an activity of its threadblock: a step of `cnt` chunks is split as the runtime
  /// splits it. Passes are all of the same size; the runtime's last one is smaller instead.
  [[nodiscard]] ClassGraph make(const Fabric& fabric, const SimulationParameters& parameters,
                                double bytes) const;
  /// The same of every threadblock and every link, as others run beside it that are not alike.
  [[nodiscard]] ClassGraph make_each(const Fabric& fabric, const SimulationParameters& parameters,
                                     double bytes) const;

 private:
  [[nodiscard]] ClassGraph make(const FlowClasses& classes, const Fabric& fabric,
                                const SimulationParameters& parameters, double bytes) const;

  audit::Program program_;
  audit::StepGraph steps_;
  std::vector<std::int32_t> route_;  ///< of what each threadblock sends; −1: nothing
  FlowClasses classes_;
};

}  // namespace forestcoll::simulate
