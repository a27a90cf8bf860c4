// What a fabric shows about which of its GPUs share a box.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/topology.hpp"
#include "topology/model/division.hpp"

namespace forestcoll::topology {

/// What speaks against the boxes that were taken, or does not confirm them.
struct BoxDoubt {
  NodeId at;  ///< a GPU that it concerns
  std::string message;
};

/// Boxes as one kind of evidence has them.
struct BoxProposal {
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);

  Division gpus;
  std::vector<std::size_t> part_of;  ///< of each node; kOutside: the evidence puts it in none
  std::string evidence;              ///< in words
  std::optional<BoxDoubt> doubt = std::nullopt;
};

/// The boxes that the fabric shows; nothing where it shows none. With one part, all GPUs are joined
/// as within one box. Cost: O(n + m log m).
[[nodiscard]] std::optional<BoxProposal> propose_boxes(const Topology& topology);

/// Prefixes of ids that name several boxes, where the links show none. Cost: O(n).
[[nodiscard]] std::optional<BoxDoubt> unconfirmed_prefixes(const Topology& topology);

}  // namespace forestcoll::topology
