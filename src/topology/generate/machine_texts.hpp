// The machines that the program carries: topologies/machines/*.json, put in by the build.
#pragma once

#include <span>
#include <string_view>

namespace forestcoll::topology {

struct MachineText {
  std::string_view name;  ///< of the file, without ".json"
  std::string_view json;
};

/// All of them, by name. They are valid, which tests see to.
[[nodiscard]] std::span<const MachineText> machine_texts();

}  // namespace forestcoll::topology
