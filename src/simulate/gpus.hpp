// The figures that are built in, as JSON like a user's.
#pragma once

#include <span>
#include <string_view>

namespace forestcoll::simulate {

struct GpuParameters {
  std::string_view name;
  std::string_view json;
};
[[nodiscard]] std::span<const GpuParameters> gpu_parameters();

}  // namespace forestcoll::simulate
