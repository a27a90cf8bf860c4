#include "solver/symmetry/alike.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "solver/symmetry/network_orbits.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver {
namespace {

using Classes = boost::disjoint_sets_with_storage<>;

struct Box {
  std::string name;
  std::vector<NodeId> nodes;  // those that are enabled
};

class Finder {
 public:
  Finder(const Topology& topology, const Network& network, const JointParts& joint)
      : topology_(topology),
        network_(network),
        arcs_(network.graph.arc_count()),
        nodes_(topology.nodes.size()),
        boxes_(list_boxes()),
        box_classes_(boxes_.size()),
        joint_(joint),
        pair_classes_(joint.nodes.size()),
        arc_pair_classes_(joint.links.size()) {
    for (std::size_t p = 0; p < joint.nodes.size(); ++p) pair_index_.emplace(joint.nodes[p], p);
    for (std::size_t p = 0; p < joint.links.size(); ++p) {
      arc_pair_index_.emplace(arcs_of(joint.links[p]), p);
    }
  }

  void add(const IdVector<NodeId, NodeId>& image) {
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
      arcs_.union_set(a, image_of(a, image));
    }
    for (std::size_t v = 0; v < topology_.nodes.size(); ++v) {
      nodes_.union_set(v, image[NodeId(v)].index());
    }
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      if (const auto other = whole_image(boxes_[b], image)) box_classes_.union_set(b, *other);
    }
    const auto& pairs = joint_.nodes;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const auto other = pair_index_.find({image[pairs[p].first], image[pairs[p].second]});
      if (other != pair_index_.end()) pair_classes_.union_set(p, other->second);
    }
    for (const auto& [arcs, p] : arc_pair_index_) {
      const auto other =
          arc_pair_index_.find({image_of(arcs.first, image), image_of(arcs.second, image)});
      if (other != arc_pair_index_.end()) arc_pair_classes_.union_set(p, other->second);
    }
  }

  AlikeParts parts() {
    AlikeParts parts{
        .links = links(), .nodes = {}, .boxes = {}, .pairs = {}, .joint_links = joint_links()};
    std::map<std::size_t, std::size_t> index;
    for (std::size_t v = 0; v < topology_.nodes.size(); ++v) {
      if (!topology_.nodes[NodeId(v)].enabled) continue;
      const auto [at, is_new] = index.emplace(nodes_.find_set(v), parts.nodes.size());
      if (is_new) parts.nodes.emplace_back();
      parts.nodes[at->second].push_back(NodeId(v));
    }
    index.clear();
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      const auto [at, is_new] = index.emplace(box_classes_.find_set(b), parts.boxes.size());
      if (is_new) parts.boxes.emplace_back();
      parts.boxes[at->second].push_back(boxes_[b].name);
    }
    index.clear();
    for (std::size_t p = 0; p < joint_.nodes.size(); ++p) {
      const auto [at, is_new] = index.emplace(pair_classes_.find_set(p), parts.pairs.size());
      if (is_new) parts.pairs.emplace_back();
      parts.pairs[at->second].push_back(p);
    }
    return parts;
  }

 private:
  std::vector<Box> list_boxes() {
    std::vector<Box> boxes;
    std::map<std::string, std::size_t> index;
    box_of_.resize(topology_.nodes.size());
    for (std::size_t v = 0; v < topology_.nodes.size(); ++v) {
      const TopologyNode& node = topology_.nodes[NodeId(v)];
      if (!node.enabled || node.box.empty()) continue;
      const auto [at, is_new] = index.emplace(node.box, boxes.size());
      if (is_new) boxes.push_back({.name = node.box, .nodes = {}});
      boxes[at->second].nodes.push_back(NodeId(v));
      box_of_[v] = at->second;
    }
    return boxes;
  }

  [[nodiscard]] std::size_t arc(NodeId tail, NodeId head) const {
    const ArcId found = network_.graph.find(tail, head);
    FORESTCOLL_CHECK(found.valid(), "an automorphism maps arcs to arcs");
    return found.index();
  }

  [[nodiscard]] std::size_t image_of(std::size_t a, const IdVector<NodeId, NodeId>& image) const {
    const Arc& from = network_.graph.arcs()[a];
    return arc(image[from.tail], image[from.head]);
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> arcs_of(
      const std::pair<LinkId, LinkId>& links) const {
    const TopologyLink &there = topology_.links[links.first], &back = topology_.links[links.second];
    return {arc(there.src, there.dst), arc(back.src, back.dst)};
  }

  // The box that is the image of all of this one; nothing where the image is no box.
  [[nodiscard]] std::optional<std::size_t> whole_image(
      const Box& box, const IdVector<NodeId, NodeId>& image) const {
    const auto other = box_of_[image[box.nodes.front()].index()];
    if (!other || boxes_[*other].nodes.size() != box.nodes.size()) return std::nullopt;
    const bool whole = std::ranges::all_of(
        box.nodes, [&](NodeId v) { return box_of_[image[v].index()] == other; });
    return whole ? other : std::nullopt;
  }

  std::vector<std::vector<LinkId>> links() {
    using Key = std::tuple<std::size_t, bool, Ratio, std::int64_t, std::string>;
    std::map<Key, std::size_t> index;
    std::vector<std::vector<LinkId>> classes;
    for (std::size_t i = 0; i < topology_.links.size(); ++i) {
      const TopologyLink& link = topology_.links[LinkId(i)];
      if (!link.enabled || !topology_.nodes[link.src].enabled ||
          !topology_.nodes[link.dst].enabled) {
        continue;
      }
      std::size_t orbit = arcs_.find_set(arc(link.src, link.dst));
      if (link.full_duplex) orbit = std::min(orbit, arcs_.find_set(arc(link.dst, link.src)));
      const auto [at, is_new] = index.emplace(
          Key{orbit, link.full_duplex, link.bandwidth, link.count, link.kind}, classes.size());
      if (is_new) classes.emplace_back();
      classes[at->second].push_back(LinkId(i));
    }
    return classes;
  }

  std::vector<std::vector<std::size_t>> joint_links() {
    using Key = std::tuple<std::size_t, Ratio, Ratio, std::int64_t, std::string>;
    std::map<Key, std::size_t> index;
    std::vector<std::vector<std::size_t>> classes;
    for (std::size_t p = 0; p < joint_.links.size(); ++p) {
      const TopologyLink &there = topology_.links[joint_.links[p].first],
                         &back = topology_.links[joint_.links[p].second];
      const std::size_t orbit =
          arc_pair_classes_.find_set(arc_pair_index_.at(arcs_of(joint_.links[p])));
      const auto [at, is_new] = index.emplace(
          Key{orbit, there.bandwidth, back.bandwidth, there.count, there.kind}, classes.size());
      if (is_new) classes.emplace_back();
      classes[at->second].push_back(p);
    }
    return classes;
  }

  const Topology& topology_;
  const Network& network_;
  Classes arcs_, nodes_;
  std::vector<std::optional<std::size_t>> box_of_;
  std::vector<Box> boxes_;
  Classes box_classes_;
  const JointParts& joint_;
  Classes pair_classes_;
  Classes arc_pair_classes_;  // parallel links share the arcs, and so the first one's class
  std::map<std::pair<NodeId, NodeId>, std::size_t> pair_index_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> arc_pair_index_;
};

// Symmetries know nothing of roles, nor of what links share.
bool keeps_roles(const IdVector<NodeId, NodeId>& image, const SwitchRoles& roles) {
  for (std::size_t v = 0; v < roles.size(); ++v) {
    if (roles[NodeId(v)] != roles[image[NodeId(v)]]) return false;
  }
  return true;
}

}  // namespace

AlikeParts alike_parts(const Topology& topology, const Network& network, const Weights& weights,
                       const JointParts& joint) {
  Finder finder(topology, network, joint);
  const SwitchRoles roles = switch_roles(topology);
  for (const Symmetry& symmetry : find_symmetries(network, weights)) {
    for (const Symmetry::Generator& generator : symmetry.generators()) {
      if (keeps_roles(generator.nodes, roles) && keeps_limits(generator.nodes, network)) {
        finder.add(generator.nodes);
      }
    }
  }
  return finder.parts();
}

}  // namespace forestcoll::solver
