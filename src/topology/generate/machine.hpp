// A machine as a file describes it: a box for clusters, or a slice of a torus.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/generate/boxes.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// Chips that are wired as a torus: a slice of any size.
struct TorusModel {
  std::string name, summary;
  std::string dims;       ///< the standard ones: "4x4x4"
  std::string bandwidth;  ///< of each link, per direction
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

/// One of the two.
struct Machine {
  std::optional<BoxModel> box;
  std::optional<TorusModel> torus;
};

/// Reads a machine's description, format "forestcoll-machine", version 1. Nothing, and errors in
/// `findings` (E01, E02, E05, E10, E11, E12, E15), where it is none. Cost: O(text).
[[nodiscard]] std::optional<Machine> read_machine(std::string_view text, Findings& findings);

/// Those that the program carries, by name. Read once.
[[nodiscard]] const std::vector<Machine>& bundled_machines();

}  // namespace forestcoll::topology
