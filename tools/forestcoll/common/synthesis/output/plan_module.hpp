// The Python module that registers plans with MSCCL++.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forestcoll::cli {

struct RegisteredPlan {
  std::string name, file, collective;         ///< as MSCCL++ calls it: "reducescatter"
  std::int64_t min_bytes = 0, max_bytes = 0;  ///< of the whole buffer, both included
  std::int64_t unit_bytes = 1;                ///< a buffer is a multiple of it
  bool in_place = true;
};

/// By the public Python interface of MSCCL++ 0.9 and later. `ranks_per_box`: 0 for any. `target`:
/// the release that the plans are for.
[[nodiscard]] std::string plan_module(const std::vector<RegisteredPlan>& plans, std::int64_t ranks,
                                      std::int64_t ranks_per_box, const std::string& target);

}  // namespace forestcoll::cli
