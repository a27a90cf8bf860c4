// Trees checked one by one, and what they put on the arcs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::bench {

/// The arc from `tail` to `head`; invalid where there is none.
[[nodiscard]] ArcId find_arc(const Digraph& graph, NodeId tail, NodeId head);

/// What some trees take and root, multiplicities counted.
struct Loads {
  explicit Loads(const Network& network)
      : arc(network.graph.arc_count(), 0), rooted(network.ranks.size(), 0) {}
  IdVector<ArcId, std::int64_t> arc;
  IdVector<Rank, std::int64_t> rooted;
};

/// Empty where the loads stay within scale·b and every rank roots k·weight trees.
[[nodiscard]] std::string find_excess(const Network& network, const Weights& weights,
                                      const Scaling& scaling, const Loads& loads);

/// Checks trees of one forest.
class TreeCheck {
 public:
  TreeCheck(const Network& network, const Forest& forest);
  /// Adds tree `t` to the loads. Empty where it spans along paths of the network, through switches
  /// alone, and has the height that it says.
  [[nodiscard]] std::string add(TreeId t, Loads& loads);

 private:
  const char* add_edges(TreeId t, Loads& loads);
  bool find_depth(Rank from);
  const char* add_path(const std::vector<NodeId>& path, Rank child, std::int64_t multiplicity,
                       Loads& loads) const;

  const Network& network_;
  const Forest& forest_;
  IdVector<Rank, Rank> parent_;
  IdVector<Rank, std::int32_t> depth_;
  std::vector<Rank> chain_;
};

}  // namespace forestcoll::bench
