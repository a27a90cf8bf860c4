// The cheapest trees and paths under lengths of links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/dijkstra.hpp"
#include "solver/joint/portions.hpp"

namespace forestcoll::solver {

/// How often a piece's cheapest tree, or the parts that its paths carry, cross the arcs of a class,
/// and how much they take of the limits of one.
using ClassLoad = std::map<std::size_t, std::int64_t>;

/// What a piece's cheapest tree or paths cross.
struct Crossing {
  ClassLoad load;
  std::vector<std::pair<ArcId, std::int64_t>> arcs;  ///< one after the other, some more than once
};

class Pricing {
 public:
  /// REQUIRES: all of them outlive this.
  Pricing(const Network& network, bool relays, const Portions& portions);

  /// By portion, way and piece. REQUIRES: lengths are 0 or more. Cost: Dijkstra per member of the
  /// portions' commodities, an arborescence per piece.
  using Crossings = std::vector<std::vector<std::vector<Crossing>>>;
  [[nodiscard]] Crossings cheapest(const ArcLengths& lengths);

 private:
  struct Metric {
    std::vector<std::int64_t> distance;    ///< by member and member
    std::vector<std::vector<ArcId>> last;  ///< by member, and node that is reached: the last arc
  };
  const Metric& metric_of(const Commodity& commodity, const ArcLengths& lengths);
  Crossing cheapest_tree(const Piece& piece, const Metric& metric) const;
  Crossing cheapest_paths(const Piece& piece, const Metric& metric) const;
  void add_path(const Piece& piece, const Metric& metric, std::size_t from, std::size_t to,
                std::int64_t parts, Crossing& crossing) const;

  const Network& network_;
  bool relays_;
  const Portions& portions_;
  Dijkstra dijkstra_;
  std::map<const Commodity*, Metric> metrics_;
};

/// What lengths give the links, Σ capacity · length, and what each operation has to cover at least.
struct Covered {
  Int128 room = 0;
  std::vector<Int128> by_operation;
};
/// Nothing where 128 bits overflow. REQUIRES: lengths, by class, are 0 or more.
[[nodiscard]] std::optional<Covered> covered_by_lengths(const Network& network,
                                                        const Portions& portions,
                                                        std::size_t operations, Pricing& pricing,
                                                        const std::vector<std::int64_t>& by_class);

/// What these lengths prove, in units of capacity, for `whole`: no trees and paths move it at a
/// higher rate, by the theorem of `joint_optimum`; a little more where that does not fit 64 bits.
/// Nothing where they prove nothing or 128 bits overflow. REQUIRES: lengths, by class, are 0 or
/// more.
[[nodiscard]] std::optional<Ratio> bound_by_lengths(const Network& network,
                                                    const Portions& portions, std::int64_t whole,
                                                    Pricing& pricing,
                                                    const std::vector<std::int64_t>& by_class);

}  // namespace forestcoll::solver
