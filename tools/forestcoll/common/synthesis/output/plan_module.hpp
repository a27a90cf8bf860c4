// The Python module that registers plans with MSCCL++.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/id.hpp"

namespace forestcoll::cli {

struct RegisteredPlan {
  std::string name, file;                     ///< the name that stands in the file
  std::string collective;                     ///< as MSCCL++ calls it: "reducescatter"
  std::int64_t min_bytes = 0, max_bytes = 0;  ///< of the whole buffer, both included
  std::int64_t unit_bytes = 1;                ///< a buffer is a multiple of it
  bool in_place = true;
  std::optional<Rank> root;         ///< of a broadcast
  bool begins_allocations = false;  ///< right only where input and output do
  std::vector<Rank> ranks;          ///< of the job, in the order of the plan's
  std::int64_t per_box = 0;         ///< of these ranks; 0: any
};

/// By the public Python interface of MSCCL++ 0.9 and later. `boxes_may_be_hosts`: of several hosts,
/// joined by NVLink. `target`: the release that the plans are for.
[[nodiscard]] std::string plan_module(const std::vector<RegisteredPlan>& plans,
                                      bool boxes_may_be_hosts, const std::string& target);

}  // namespace forestcoll::cli
