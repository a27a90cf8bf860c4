// The operations of one GPU of an execution plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// Checks operations against what the executor does with them, in the order of the program.
class PlanOperations {
 public:
  PlanOperations(const PlanFile& plan, std::size_t rank, Findings& findings)
      : plan_(plan), rank_(rank), findings_(findings) {}

  /// Operation `i` of threadblock `t`. Cost: O(operands and channels · log).
  void check(std::size_t t, std::size_t i);

 private:
  void check_barrier(const PlanOp& op, const Place& place);
  void check_semaphores(const PlanOp& op, const Place& place);
  void check_control(std::size_t t, std::size_t i, const Place& place);
  void check_channels(std::size_t t, const PlanOp& op, const Place& place, std::string_view use);
  void check_pipeline(std::size_t t, std::size_t i);
  void check_put_channels(std::size_t t, const PlanOp& op, const Place& place);
  void check_ends(std::size_t t, const PlanOp& op, const Place& place);
  bool check_channel(const std::vector<std::int64_t>& list, std::int64_t id, const PlanOp& op,
                     const Place& place);
  void limit(const Place& place, std::size_t number, std::size_t most, std::string_view what);
  [[nodiscard]] const PlanGpu& gpu() const { return plan_.gpus[rank_]; }
  void add(Rule rule, const Place& place, std::string message, std::string remedy = {}) {
    findings_.add(rule, place, std::move(message), std::move(remedy));
  }

  const PlanFile& plan_;
  std::size_t rank_;
  Findings& findings_;
  // The threadblock that signals, or waits, on each channel.
  std::map<std::tuple<ChannelKind, bool, std::int64_t>, std::size_t> users_;
};

}  // namespace forestcoll::audit
