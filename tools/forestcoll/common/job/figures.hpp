// A step of a job with its answer, in numbers that people and programs are told.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// REQUIRES: both outlive it.
class StepFigures {
 public:
  StepFigures(const JobStep& step, const StepBound& bound) : step_(step), bound_(bound) {}

  [[nodiscard]] bool has_bytes() const { return buffer(0) > Ratio(0); }
  /// Bytes of an operation's buffer; of a demand, what a member sends on the average; 0: not given.
  [[nodiscard]] Ratio buffer(std::size_t operation) const;
  [[nodiscard]] double seconds_at_once() const;
  [[nodiscard]] double seconds_in_turn() const;
  [[nodiscard]] double seconds_alone(std::size_t operation) const;
  /// What an operation takes at its rate beside the others.
  [[nodiscard]] double seconds_of(std::size_t operation) const;
  /// Whether weights have some done before others.
  [[nodiscard]] bool has_weights() const;
  /// How many times as long the last operation takes as the one whose rate is that of the step.
  [[nodiscard]] double time_of_last() const;

  /// GB/s of an operation where the largest has `rate`; as near as 40 bits where that does not fit.
  [[nodiscard]] Ratio part_of(const Ratio& rate, std::size_t operation) const;
  [[nodiscard]] bool is_exact(std::size_t operation) const;

 private:
  const JobStep& step_;
  const StepBound& bound_;
};

/// Of all steps with their repetitions.
[[nodiscard]] bool all_have_bytes(const Job& job, const std::vector<StepBound>& bounds);
[[nodiscard]] double seconds_of(const Job& job, const std::vector<StepBound>& bounds);

/// What part an operation takes of all links of a kind.
[[nodiscard]] std::map<std::string, double> shares_by_kind(const StepBound& bound,
                                                           std::size_t operation,
                                                           const Fabric& fabric);
/// Whether a switch of the fabric copies or combines, which joint rates do not use.
[[nodiscard]] bool has_able_switches(const Fabric& fabric);

}  // namespace forestcoll::cli
