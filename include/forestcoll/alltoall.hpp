// All-to-all: what every rank has for every other, what proves how fast it can be moved, and routes
// for all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// Of all amounts of a demand together: rates per unit keep some seven digits in 64 bits.
inline constexpr std::int64_t kMaxDemand = (std::int64_t{1} << 40) - 1;

/// How much every rank has for every other: bytes, or any other unit. What a rank has for itself
/// crosses no link and counts as nothing.
class Demand {
 public:
  /// 1 for every pair: an all-to-all.
  [[nodiscard]] static Demand uniform(std::size_t ranks) { return {ranks, Kind::uniform, {}, {}}; }
  /// 1 from the root to every other rank: a scatter.
  [[nodiscard]] static Demand from(std::size_t ranks, Rank root) {
    return {ranks, Kind::from_root, root, {}};
  }
  /// 1 from every other rank to the root: a gather.
  [[nodiscard]] static Demand to(std::size_t ranks, Rank root) {
    return {ranks, Kind::to_root, root, {}};
  }
  /// Row by row, `amounts[s · ranks + t]` from s to t: an all-to-all-v. REQUIRES: ranks² amounts,
  /// none negative, whose sum is `kMaxDemand` at most.
  [[nodiscard]] static Demand matrix(std::size_t ranks, std::vector<std::int64_t> amounts) {
    return {ranks, Kind::matrix, {}, std::move(amounts)};
  }

  [[nodiscard]] std::int64_t operator()(Rank s, Rank t) const {
    if (s == t) return 0;
    switch (kind_) {
      case Kind::from_root:
        return s == root_ ? 1 : 0;
      case Kind::to_root:
        return t == root_ ? 1 : 0;
      case Kind::matrix:
        return amounts_[s.index() * ranks_ + t.index()];
      case Kind::uniform:
        break;
    }
    return 1;
  }
  /// Of all pairs of different ranks.
  [[nodiscard]] std::int64_t total() const {
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < ranks_; ++s) {
      for (std::size_t t = 0; t < ranks_; ++t) sum += (*this)(Rank(s), Rank(t));
    }
    return sum;
  }
  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  [[nodiscard]] bool is_uniform() const { return kind_ == Kind::uniform; }
  /// Blocks, one for each pair that has something, in place of bytes.
  [[nodiscard]] bool is_of_blocks() const { return kind_ != Kind::matrix; }
  /// Whose demand it is. Of a matrix an alltoall.
  [[nodiscard]] Collective collective() const {
    if (kind_ == Kind::from_root) return Collective::scatter;
    return kind_ == Kind::to_root ? Collective::gather : Collective::alltoall;
  }
  /// Of a scatter or a gather.
  [[nodiscard]] std::optional<Rank> root() const {
    return is_rooted(collective()) ? std::optional(root_) : std::nullopt;
  }
  /// Of so many buffers is all that is moved: of one at every rank, or of the root's alone.
  [[nodiscard]] std::int64_t buffers() const {
    return is_rooted(collective()) ? 1 : static_cast<std::int64_t>(ranks_);
  }

 private:
  enum class Kind { uniform, from_root, to_root, matrix };
  Demand(std::size_t ranks, Kind kind, Rank root, std::vector<std::int64_t> amounts)
      : ranks_(ranks), kind_(kind), root_(root), amounts_(std::move(amounts)) {}

  std::size_t ranks_ = 0;
  Kind kind_ = Kind::uniform;
  Rank root_;
  std::vector<std::int64_t> amounts_;  ///< of a matrix
};

/// A flow for all that one rank sends.
struct SourceFlow {
  Rank source;
  /// What passes each arc, in parts of the unit of demand: what enters a node less what leaves it
  /// is what the node is to receive.
  IdVector<ArcId, std::int64_t> flow;
};

/// Flows for all of a demand: one flow per source, or one per orbit of sources under symmetries of
/// the fabric and the demand. What is meant by an orbit's flow is the average of its images under
/// the group that the symmetries generate, which is a flow for each source of the orbit.
struct AlltoallFlows {
  std::int64_t unit = 1;   ///< every demand is a multiple of it
  std::int64_t parts = 1;  ///< in which every such unit is counted
  std::vector<SourceFlow> sources;
  std::vector<IdVector<NodeId, NodeId>> symmetries;  ///< images of all nodes
};

/// Lengths of arcs, 0 or more: the counterpart of a cut. All data together covers at least
/// Σ demand · distance, and the fabric at most Σ capacity · length per second.
using ArcLengths = IdVector<ArcId, std::int64_t>;

/// How fast a demand can be moved, proved from both sides. Rates are in GB/s per unit of demand:
/// with demands of 1, what every pair gets; with demands in bytes, thousand millions of the whole
/// demand per second.
struct AlltoallProof {
  Ratio reached;        ///< what `flows` reach
  Ratio at_most;        ///< what `lengths` prove: no schedule is faster
  AlltoallFlows flows;  ///< the proof of `reached`
  ArcLengths lengths;   ///< the proof of `at_most`; as long on all arcs that symmetries exchange
  /// Where this is not empty, the proof of `at_most` is that what these nodes have for the others
  /// must leave them, and `lengths` are 1 on the arcs that leave them, 0 on the others.
  std::vector<NodeId> cut = {};

  [[nodiscard]] bool is_exact() const { return reached == at_most; }
};

// All-to-all as a schedule before any format: which path every part of the data takes, and when.

/// A path for some of the parts that a rank's data for another is cut into. Between two compute
/// nodes that follow one another on it is a leg: the first sends, the second receives, and keeps
/// the data until the next leg.
struct AlltoallPath {
  Rank src, dst;
  std::int64_t parts = 1;                 ///< of the pair's k
  std::vector<NodeId> nodes = {};         ///< in order, both ends included
  std::vector<std::int32_t> rounds = {};  ///< by leg, ascending; empty where none were made
};

/// Paths for all of a demand. INVARIANT: the paths of a pair follow one another, and have k parts
/// together; pairs are in the order of (src, dst), without those that have nothing to send.
struct AlltoallRoutes {
  std::int64_t k = 1;
  std::vector<AlltoallPath> paths;
  /// Rounds, numbered from 0: what all legs of one take together is what its busiest link takes.
  std::int32_t rounds = 0;
  Ratio rate;            ///< GB/s per unit of demand: all links at once, held up by the busiest
  Ratio rate_in_rounds;  ///< the same where every round waits for the one before; 0: no rounds
};

}  // namespace forestcoll
