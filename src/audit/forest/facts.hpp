// What the head of a forest file says, matched to the topology that it was made for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/forest/file.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Numbers of trees up to here can be added and compared exactly.
constexpr std::int64_t kMaxTrees = std::int64_t{1} << 60;

/// A list of trees, and which way their edges go.
struct ForestPhase {
  const char* name;  ///< the list's key
  const TreeList* list;
  bool inward;  ///< edges go from child to parent
};

struct ForestFacts {
  Ratio claimed;                 ///< GB/s, the rate that the file gives
  std::optional<Ratio> optimum;  ///< GB/s, the bound that it gives
  std::vector<ForestPhase> phases;
  std::vector<std::int64_t> weight;        ///< what each rank owns
  std::vector<std::int32_t> rank_by_name;  ///< −1: not a rank
  std::optional<Network> network;          ///< of the topology, if there is one
  std::vector<NodeId> node_by_name;        ///< invalid: not a node of the topology

  [[nodiscard]] std::int32_t rank_of(Name n) const {
    return n < 0 ? -1 : rank_by_name[static_cast<std::size_t>(n)];
  }
  [[nodiscard]] NodeId node_of(Name n) const { return node_by_name[static_cast<std::size_t>(n)]; }
};

/// Nothing, and findings, where the head contradicts itself or the topology (which may be null).
/// Writes the verdict's collective, ranks and chunks. Cost: O(names + size of the topology).
std::optional<ForestFacts> read_facts(const ForestFile& forest, const Topology* topology,
                                      Findings& findings, Verdict& verdict);

}  // namespace forestcoll::audit
