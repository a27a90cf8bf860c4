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

/// For MSCCL++ 0.9 and later, by its public Python interface. `ranks_per_box`: 0 for any.
[[nodiscard]] std::string plan_module(const std::vector<RegisteredPlan>& plans, std::int64_t ranks,
                                      std::int64_t ranks_per_box);

}  // namespace forestcoll::cli
