// Schedules of several groups that run at once, as one event graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "forestcoll/simulate.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/fabric.hpp"

namespace forestcoll::simulate {

class JointSource {
 public:
  /// A schedule in its group's part of the fabric.
  struct Member {
    std::shared_ptr<const Simulator::Model> model;
    double share = 1;                ///< bytes of its buffer for each byte of the largest one
    std::vector<std::int32_t> link;  ///< which of the whole fabric's links each of the part's is
  };
  explicit JointSource(std::vector<Member> members) : members_(std::move(members)) {}

  /// Bytes of the largest buffer for which no schedule makes more than one pass.
  [[nodiscard]] double full_pass(const SimulationParameters& parameters) const;
  /// All of them begin together. Data takes the routes that it has in the parts, over links that
  /// all share with their whole bandwidth: no group keeps what is its own from others.
  [[nodiscard]] EventGraph make(const Fabric& fabric, const SimulationParameters& parameters,
                                double bytes) const;

 private:
  std::vector<Member> members_;
};

}  // namespace forestcoll::simulate
