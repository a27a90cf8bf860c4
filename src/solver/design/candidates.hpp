// Everything that reaches a number of nodes and ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "forestcoll/wiring_figures.hpp"
#include "solver/design/base_candidates.hpp"

namespace forestcoll::solver {

/// Base graphs and expansions, by size. The best ones of smaller sizes are found once, however many
/// larger sizes are asked for.
class Candidates {
 public:
  /// `randoms` random regular graphs of every size; `smaller` wirings of each smaller size are
  /// expanded.
  Candidates(std::size_t randoms, std::size_t smaller) : randoms_(randoms), smaller_(smaller) {}

  /// Base graphs first. The same wiring may be there under several names.
  /// Cost: that of BFB on all smaller candidates that were not met before.
  [[nodiscard]] Expressions all(std::int64_t nodes, std::int64_t ports);

 private:
  const Expressions& best(std::int64_t nodes, std::int64_t ports);
  [[nodiscard]] Expressions chosen(Expressions from, std::vector<WiringFigures> figures) const;
  void lines(std::int64_t nodes, std::int64_t ports, Expressions& found);
  void degrees(std::int64_t nodes, std::int64_t ports, Expressions& found);
  void powers(std::int64_t nodes, std::int64_t ports, Expressions& found);
  void products(std::int64_t nodes, std::int64_t ports, Expressions& found);

  std::size_t randoms_, smaller_;
  std::map<std::pair<std::int64_t, std::int64_t>, Expressions> best_;
};

/// Links in order: two expressions with the same make the same wiring, node by node.
[[nodiscard]] std::vector<std::pair<NodeId, NodeId>> links_of(const Wiring& wiring);

}  // namespace forestcoll::solver
