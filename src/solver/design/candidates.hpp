// Candidates for a wiring: what may be asked for, the base graphs, and which of all are not beaten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "forestcoll/design.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll::solver {

using Expressions = std::vector<topology::WiringExpression>;

/// base^power where that is `target`, or 0.
[[nodiscard]] std::int64_t root_of(std::int64_t target, std::int64_t power);

/// Every base graph with exactly so many nodes and ports, and so many random regular ones, of seeds
/// 1, 2, …. Of circulants those of fewest steps among offsets 1 and b, of consecutive offsets, and
/// of powers of a number. Cost: linear in the graphs, and O(nodes²) with four ports.
[[nodiscard]] Expressions base_candidates(std::int64_t nodes, std::int64_t ports,
                                          std::size_t randoms);

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

/// Errors: K01 where no wiring has such numbers, in words that say why.
[[nodiscard]] Expected<void> check_request(const DirectRequest& request);

/// What counts, each the smaller, the better.
using Objectives = std::vector<Ratio>;

/// By position: is there no other that is as good in all and better in one? Those that are alike
/// are on the front together. REQUIRES: all have as many objectives. Cost: O(count²).
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<Objectives>& all);

}  // namespace forestcoll::solver
