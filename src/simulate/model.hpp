// What a Simulator holds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "forestcoll/simulate.hpp"
#include "forestcoll/verify.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/joint_source.hpp"
#include "simulate/sources/flows_source.hpp"
#include "simulate/sources/forest_source.hpp"
#include "simulate/sources/plan_source.hpp"
#include "simulate/sources/program_source.hpp"

namespace forestcoll {

class Simulator::Model {
 public:
  using Source = std::variant<simulate::ProgramSource, simulate::ForestSource, simulate::PlanSource,
                              simulate::FlowsSource, simulate::JointSource>;
  struct Description {
    std::string format, collective, protocol;
    std::int64_t ranks = 0;
    double busbw_factor = 1;
    std::int64_t bytes = 0;  ///< of the buffer that the schedule itself is for; 0: any
  };

  Model(Description description, const Topology& topology, simulate::Fabric fabric, Source source)
      : description_(std::move(description)),
        fabric_(std::move(fabric)),
        source_(std::move(source)) {
    for (const TopologyNode& node : topology.nodes) names_.push_back(node.id);
  }

  [[nodiscard]] const Description& description() const { return description_; }
  [[nodiscard]] const simulate::Fabric& fabric() const { return fabric_; }
  [[nodiscard]] const std::string& name(NodeId node) const { return names_[node.index()]; }

  /// Bytes of the whole buffer that go through in one pass.
  [[nodiscard]] double full_pass(const SimulationParameters& parameters) const;
  /// That no simulation of every pass is below, with the tolerance that it has by default.
  [[nodiscard]] double least_seconds(const SimulationParameters& parameters, double bytes) const;
  /// Activities of what `make` would make, each counted in every pass; 0 where only making it says
  /// so.
  [[nodiscard]] double activities(const SimulationParameters& parameters, double bytes) const;
  /// That the busiest link or worker needs for each byte of the buffer.
  [[nodiscard]] double link_seconds() const;
  /// Without looking for classes that its source does not know of.
  [[nodiscard]] simulate::ClassGraph make(const SimulationParameters& parameters,
                                          double bytes) const;
  /// Without any classes.
  [[nodiscard]] simulate::ClassGraph make_each(const SimulationParameters& parameters,
                                               double bytes) const;

 private:
  Description description_;
  simulate::Fabric fabric_;
  Source source_;
  std::vector<std::string> names_;
};

}  // namespace forestcoll
