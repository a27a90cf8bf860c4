// The known cuts that guard the growth of trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/symmetry.hpp"
#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/core.hpp"
#include "solver/common/demand_check.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

using CutId = Id<struct CutTag>;

/// Sets X of nodes, each with its slack:
///   (residual capacity into X) − (trees still owed by roots outside X)
///                              − (trees in progress that have not reached X yet).
/// INVARIANT kept by the growth: every slack is ≥ 0.
///
/// A route that enters X takes capacity from it; the first entry of a tree from outside is what
/// the demand was for, every further one is *damage* and costs slack.
///
/// A tree grows together with its images under the group, so all images of a cut have the same
/// slack: what the images of the tree do to X is what the tree itself does to the images of X.
class CutPool {
 public:
  CutPool(const Core& core, const Orbits& orbits)
      : core_(core), orbits_(orbits), crossings_(core.graph.arc_count()) {}

  [[nodiscard]] std::size_t size() const { return cuts_.size(); }
  [[nodiscard]] const SinkSide& inside(CutId x) const { return cuts_[x].inside; }
  [[nodiscard]] std::int64_t slack(CutId x) const { return cuts_[x].slack; }

  /// `slack` leaves the tree in progress out, which has `multiplicity` (0: there is none) and has
  /// reached `nodes`. Cost: O(m + nodes), times the number of images.
  CutId add(const SinkSide& inside, std::int64_t slack, std::int64_t multiplicity,
            std::span<const NodeId> nodes);

  /// Capacity came back to, or was taken from, `arc` and its images, by a tree and its images.
  void add_capacity(ArcId arc, std::int64_t delta) {
    for (const Crossing& c : crossings_[arc]) {
      if (c.enters) cut_of(c.image).slack += delta * cut_of(c.image).weight;
    }
  }
  /// A finished tree of `root` is taken back, or owed trees are (negative).
  void add_owed(NodeId root, std::int64_t delta);

  /// A tree begins at `root`: owed trees become the tree in progress, so only what it has reached
  /// changes.
  void begin_tree(NodeId root);
  /// The tree in progress gives up `delta` of its multiplicity; its root owes them again.
  void shrink_tree(NodeId root, std::int64_t delta);
  /// The tree in progress, of the given multiplicity, lost nodes and kept `nodes`.
  void recount_reached(std::int64_t multiplicity, std::span<const NodeId> nodes);

  /// Looks at the tree in progress once more, from its root and then by every route in the order
  /// of attachment: by how much each damages the cut.
  void begin_replay(CutId x, NodeId root);
  [[nodiscard]] std::int64_t replay(CutId x, std::span<const ArcId> route);

  /// May a route of `multiplicity` use `arc`, as far as one arc can tell?
  [[nodiscard]] bool is_open(ArcId arc, std::int64_t multiplicity) const {
    for (const Crossing& c : crossings_[arc]) {
      const Image& image = images_[c.image];
      // A tight cut can only take the first entry: once reached it must not be entered, and a
      // route that is to end inside must not leave again.
      if (image.reached != c.enters) continue;
      const Cut& cut = cuts_[image.cut];
      if (cut.slack < multiplicity * cut.weight) return false;
    }
    return true;
  }

  /// May the tree in progress take this whole route? Exact with respect to the pool.
  [[nodiscard]] bool admits(std::span<const ArcId> route, std::int64_t multiplicity);
  /// The tree in progress takes the route. REQUIRES: admits(route, multiplicity).
  void take(std::span<const ArcId> route, std::int64_t multiplicity);

 private:
  using ImageId = Id<struct ImageTag>;
  struct Crossing {
    ImageId image;
    bool enters;  ///< else it leaves
  };
  struct Cut {
    std::int64_t slack = 0;
    std::int64_t weight = 1;  ///< elements of the group that leave the cut as it is
    std::int64_t damage = 0;  ///< by the route at hand; 0 between calls
    std::vector<bool> inside;
  };
  struct Image {
    CutId cut;
    Element back;  ///< maps this image to the cut
    bool reached = false;
    std::int32_t entries = 0, exits = 0;  ///< of the route at hand; 0 between calls
  };

  [[nodiscard]] Cut& cut_of(ImageId image) { return cuts_[images_[image].cut]; }
  [[nodiscard]] bool is_inside(const Image& image, NodeId v) const {
    return cuts_[image.cut].inside[orbits_.group.apply(image.back, v).index()];
  }
  [[nodiscard]] bool reaches(const Image& image, std::span<const NodeId> nodes) const;
  [[nodiscard]] std::vector<Element> distinct_images(const SinkSide& inside) const;
  void count(std::span<const ArcId> route);
  // A route starts at a reached node, so of a cut that is not reached yet it starts outside, and
  // ends inside exactly if it enters once more than it leaves.
  [[nodiscard]] static bool ends_inside(const Image& image) {
    return !image.reached && image.entries > image.exits;
  }

  const Core& core_;
  const Orbits& orbits_;
  IdVector<CutId, Cut> cuts_;
  IdVector<ImageId, Image> images_;
  IdVector<ArcId, std::vector<Crossing>> crossings_;
  std::vector<ImageId> counted_;
};

}  // namespace forestcoll::solver
