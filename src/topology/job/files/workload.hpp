// Jobs as others write them: their workloads and traces, and what these leave open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/job.hpp"
#include "topology/format/json_value.hpp"

namespace forestcoll::topology {

/// Steps of operations, equal ones once with the number of times that they came, in the order in
/// which they came first.
class StepCounter {
 public:
  /// Nothing where there is no operation.
  void add(JobStep step);
  [[nodiscard]] std::vector<JobStep> take() && { return std::move(steps_); }

 private:
  std::vector<JobStep> steps_;
  std::map<std::string, std::size_t> by_content_;
};

/// All groups of as many ranks as this one, as far apart, where its ranks are evenly apart and such
/// groups divide the fabric's; nothing else. REQUIRES: it has two ranks or more.
[[nodiscard]] std::optional<Groups> groups_like(const std::vector<std::int64_t>& group,
                                                std::size_t ranks);

/// A rank that a group has twice; nothing where there is none.
[[nodiscard]] std::optional<std::int64_t> repeated_rank(std::vector<std::int64_t> group);

[[nodiscard]] Diagnostic no_workload(std::string message, std::string remedy,
                                     const ErrorPlace& place);

/// Whether this is a workload of SimAI's, by its first word.
[[nodiscard]] bool is_simai_workload(std::string_view text);
/// Rows of twelve columns, as AICB writes them: what goes forward is a step, what goes back for the
/// gradients of input and weights together is another one. Ranks are a mesh of tp, ep, edp and pp
/// in Megatron's order, of which dp is ep and edp. Errors: O01 with the line; O03 where the fabric
/// has another number of ranks, or fewer.
[[nodiscard]] Expected<Job> read_simai_workload(std::string_view text, std::string_view file,
                                                std::size_t ranks, MeshFit fit);

/// Whether this is a workload of OptCCL's, by its format.
[[nodiscard]] bool is_optccl_workload(const JsonValue& document);
/// One step of all its collectives at once. Its GPUs, by node and then by name, are the fabric's
/// ranks in order. Errors: O01 with the place, O03 where there are more or fewer of them, O07.
[[nodiscard]] Expected<Job> read_optccl_workload(const JsonValue& document, std::string_view file,
                                                 std::size_t ranks);

/// Whether this is a trace of PyTorch's profiler, by its events.
[[nodiscard]] bool is_kineto_trace(const JsonValue& document);
/// Collectives whose kernels overlap are a step. A trace is of one rank: where the groups that it
/// names divide all ranks evenly, the others do the same at the same time. Errors: O01 with the
/// place, also where there is no collective; O03.
[[nodiscard]] Expected<Job> read_kineto_trace(const JsonValue& document, std::string_view file,
                                              std::size_t ranks);

}  // namespace forestcoll::topology
