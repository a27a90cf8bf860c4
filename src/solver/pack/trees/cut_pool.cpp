#include "solver/pack/trees/cut_pool.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/mix.hpp"

namespace forestcoll::solver {
// Elements that take the cut to all its images, each image once. Sets are told apart by the sum of
// their nodes' 64-bit names, taken over the smaller side.
std::vector<Element> CutPool::distinct_images(const SinkSide& inside) const {
  const Symmetry& group = orbits_.group;
  if (group.size() == 1) return {Element{}};
  const auto count = static_cast<std::size_t>(std::count(inside.begin(), inside.end(), true));
  const bool named = count * 2 <= inside.size();
  std::vector<NodeId> side;
  for (std::size_t v = 0; v < inside.size(); ++v) {
    if (inside[v] == named) side.push_back(NodeId(v));
  }
  std::vector<Element> images;
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Element g = group.element(i);
    std::uint64_t sum = 0;
    for (const NodeId v : side)
      sum += base::mix(static_cast<std::uint64_t>(group.apply(g, v).value));
    if (seen.insert(sum).second) images.push_back(g);
  }
  return images;
}

bool CutPool::reaches(const Image& image, std::span<const NodeId> nodes) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](NodeId v) { return is_inside(image, v); });
}

CutId CutPool::add(const SinkSide& inside, std::int64_t slack, std::int64_t multiplicity,
                   std::span<const NodeId> nodes) {
  const std::vector<Element> elements = distinct_images(inside);
  const auto weight = static_cast<std::int64_t>(orbits_.group.size() / elements.size());
  const CutId x = cuts_.push_back({slack, weight, 0, inside});
  std::vector<std::pair<ArcId, bool>> boundary;
  for (std::size_t a = 0; a < core_.graph.arc_count(); ++a) {
    const bool tail = inside[core_.graph.tail(ArcId(a)).index()];
    const bool head = inside[core_.graph.head(ArcId(a)).index()];
    if (tail != head) boundary.emplace_back(ArcId(a), head);
  }
  for (const Element g : elements) {
    const ImageId image = images_.push_back({x, orbits_.group.inverse(g), false, 0, 0});
    images_[image].reached = reaches(images_[image], nodes);
    if (!images_[image].reached) cuts_[x].slack -= multiplicity * weight;
    for (const auto& [arc, enters] : boundary) {
      crossings_[orbits_.arcs.apply(g, arc)].push_back({image, enters});
    }
  }
  return x;
}

void CutPool::add_owed(NodeId root, std::int64_t delta) {
  for (const Image& image : images_) {
    if (is_inside(image, root)) continue;
    Cut& cut = cuts_[image.cut];
    cut.slack -= delta * cut.weight;
  }
}

void CutPool::begin_tree(NodeId root) {
  for (Image& image : images_) image.reached = is_inside(image, root);
}

void CutPool::shrink_tree(NodeId root, std::int64_t delta) {
  for (const Image& image : images_) {
    Cut& cut = cuts_[image.cut];
    if (!is_inside(image, root)) cut.slack -= delta * cut.weight;
    if (!image.reached) cut.slack += delta * cut.weight;
  }
}

void CutPool::recount_reached(std::int64_t multiplicity, std::span<const NodeId> nodes) {
  for (Image& image : images_) {
    if (!image.reached || reaches(image, nodes)) continue;
    image.reached = false;
    cuts_[image.cut].slack -= multiplicity * cuts_[image.cut].weight;
  }
}

void CutPool::begin_replay(CutId x, NodeId root) {
  for (Image& image : images_) {
    if (image.cut == x) image.reached = is_inside(image, root);
  }
}

std::int64_t CutPool::replay(CutId x, std::span<const ArcId> route) {
  count(route);
  std::int64_t damage = 0;
  for (const ImageId i : counted_) {
    Image& image = images_[i];
    if (image.cut == x) {
      const bool first = ends_inside(image);
      damage += image.entries - (first ? 1 : 0);
      if (first) image.reached = true;
    }
    image.entries = image.exits = 0;
  }
  return damage;
}

void CutPool::count(std::span<const ArcId> route) {
  counted_.clear();
  for (const ArcId arc : route) {
    for (const Crossing& c : crossings_[arc]) {
      Image& image = images_[c.image];
      if (image.entries == 0 && image.exits == 0) counted_.push_back(c.image);
      ++(c.enters ? image.entries : image.exits);
    }
  }
}

bool CutPool::admits(std::span<const ArcId> route, std::int64_t multiplicity) {
  count(route);
  for (const ImageId i : counted_) {
    cut_of(i).damage += images_[i].entries - (ends_inside(images_[i]) ? 1 : 0);
  }
  bool admitted = true;
  for (const ImageId i : counted_) {
    Cut& cut = cut_of(i);
    if (cut.slack < cut.damage * cut.weight * multiplicity) admitted = false;
  }
  for (const ImageId i : counted_) {
    cut_of(i).damage = 0;
    images_[i].entries = images_[i].exits = 0;
  }
  return admitted;
}

void CutPool::take(std::span<const ArcId> route, std::int64_t multiplicity) {
  count(route);
  for (const ImageId i : counted_) {
    Image& image = images_[i];
    Cut& cut = cuts_[image.cut];
    const bool first = ends_inside(image);
    cut.slack -= (image.entries - (first ? 1 : 0)) * cut.weight * multiplicity;
    if (first) image.reached = true;
    image.entries = image.exits = 0;
  }
}

}  // namespace forestcoll::solver
