// An MSCCL++ execution plan as an event graph.
#pragma once

#include <cstdint>
#include <optional>

#include "audit/plan/file.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/plan_classes.hpp"
#include "simulate/sources/read_plan.hpp"

namespace forestcoll::simulate {

class PlanSource {
 public:
  /// Finds the routes of all accesses and signals; findings where there is none.
  /// `chunks` are those of the whole buffer. `images`: of ranks that stand for all. REQUIRES:
  /// verify finds the plan to be right, which is in slices.
  PlanSource(const audit::PlanFile& plan, const audit::MemoryMap& memory, std::int64_t chunks,
             Fabric& fabric, audit::Findings& findings, const PlanImages& images = {});
  /// False where the routes of images are not as alike as these: nothing can be made then.
  [[nodiscard]] bool knows_classes() const { return classes_.has_value(); }

  /// Bytes of the whole buffer for which the pipelines go once round; infinite without any.
  /// Whatever the parameters: the plan itself says how much.
  [[nodiscard]] double full_pass(const SimulationParameters& parameters) const;
  /// For a buffer of so many bytes, each class of operations once.
  ///
  /// A threadblock moves data for one operation at a time, and for one remote buffer after the
  /// other, at most at its own rate; a port channel's puts go on beside it. Signals and waits cost
  /// the message alone. Packets are as long again as their data; what makes them or waits for them
  /// costs what LL does. A pipeline goes round once for every `unit_size` bytes of its `num_chunks`
  /// chunks together, as the executor of MSCCL++ does.
  [[nodiscard]] ClassGraph make(const Fabric& fabric, const SimulationParameters& parameters,
                                double bytes) const;
  /// The same of every operation and every link, as others run beside it that are not alike.
  [[nodiscard]] ClassGraph make_each(const Fabric& fabric, const SimulationParameters& parameters,
                                     double bytes) const;

 private:
  PlanOperations all_;
  std::optional<PlanClasses> classes_;
  double chunks_ = 1;
};

}  // namespace forestcoll::simulate
