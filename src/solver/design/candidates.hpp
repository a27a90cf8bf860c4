// Everything that reaches a number of nodes and ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "forestcoll/design.hpp"
#include "solver/design/base_candidates.hpp"

namespace forestcoll::solver {

/// Which wirings of smaller sizes are expanded.
enum class Expanded {
  best,             ///< those that no other beats by steps, BFB's time and mean distance
  base_graphs_too,  ///< these, and all base graphs
};

/// Base graphs and expansions, by size. The best ones of smaller sizes are found once, however many
/// larger sizes are asked for.
class Candidates {
 public:
  /// With so many random regular graphs of every size, which are not expanded.
  Candidates(std::size_t randoms, Expanded expanded) : randoms_(randoms), expanded_(expanded) {}

  /// Base graphs first. The same wiring may be there under several names.
  /// Cost: that of BFB on all smaller candidates that were not met before.
  [[nodiscard]] Expressions all(std::int64_t nodes, std::int64_t ports);

 private:
  const Expressions& to_expand(std::int64_t nodes, std::int64_t ports);
  void lines(std::int64_t nodes, std::int64_t ports, Expressions& found);
  void degrees(std::int64_t nodes, std::int64_t ports, Expressions& found);
  void powers(std::int64_t nodes, std::int64_t ports, Expressions& found);
  void products(std::int64_t nodes, std::int64_t ports, Expressions& found);

  std::size_t randoms_;
  Expanded expanded_;
  std::map<std::pair<std::int64_t, std::int64_t>, Expressions> best_;
};

/// Links in order: two expressions with the same make the same wiring, node by node.
[[nodiscard]] std::vector<std::pair<NodeId, NodeId>> links_of(const Wiring& wiring);

}  // namespace forestcoll::solver
