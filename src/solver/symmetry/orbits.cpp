#include "solver/symmetry/orbits.hpp"

#include <algorithm>

namespace forestcoll::solver {
namespace {

// The arc with the given ends and inner nodes; invalid unless there is exactly one.
ArcId find_arc(const Core& core, NodeId tail, std::span<const NodeId> segment) {
  const NodeId head = segment.back();
  ArcId found, a = core.graph.find(tail, head);
  if (!a.valid()) return found;
  for (; a != core.graph.last_out(tail) && core.graph.head(a) == head; ++a.value) {
    const auto other = core.segment(a);
    if (!std::equal(segment.begin(), segment.end(), other.begin(), other.end())) continue;
    if (found.valid()) return {};
    found = a;
  }
  return found;
}

std::optional<Action<ArcId>::Image> image_of_arcs(const Core& core,
                                                  const Action<NodeId>::Image& nodes) {
  Action<ArcId>::Image image(core.graph.arc_count());
  std::vector<NodeId> segment;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const ArcId a(i);
    segment.clear();
    for (const NodeId v : core.segment(a)) segment.push_back(nodes[v]);
    image[a] = find_arc(core, nodes[core.graph.tail(a)], segment);
    if (!image[a].valid() || core.capacity[image[a]] != core.capacity[a]) return std::nullopt;
  }
  return image;
}

// The least member of everyone's orbit.
template <class I>
IdVector<I, I> least_of_orbits(std::size_t size,
                               const std::vector<typename Action<I>::Image>& images) {
  IdVector<I, I> least(size);
  std::vector<I> pending;
  for (std::size_t i = 0; i < size; ++i) {
    if (least[I(i)].valid()) continue;
    least[I(i)] = I(i);
    pending.push_back(I(i));
    while (!pending.empty()) {
      const I at = pending.back();
      pending.pop_back();
      for (const auto& image : images) {
        const I next = image[at];
        if (least[next].valid()) continue;
        least[next] = I(i);
        pending.push_back(next);
      }
    }
  }
  return least;
}

Orbits assemble(const Core& core, const Symmetry& group,
                const std::vector<Action<ArcId>::Image>& arc_images) {
  std::vector<Action<Rank>::Image> rank_images;
  Orbits orbits;
  orbits.group = group;
  for (std::size_t i = 0; i < arc_images.size(); ++i) {
    orbits.arcs.add_generator(arc_images[i], Symmetry::width(group.generators()[i]));
    rank_images.push_back(group.generators()[i].ranks);
  }
  const std::size_t arcs = core.graph.arc_count();
  orbits.arc_orbit = least_of_orbits<ArcId>(arcs, arc_images);
  orbits.rank_orbit = least_of_orbits<Rank>(core.compute.size(), rank_images);
  std::vector<std::int64_t> members(arcs, 0);
  for (const ArcId least : orbits.arc_orbit) ++members[least.index()];
  for (const ArcId least : orbits.arc_orbit) {
    orbits.weight.push_back(static_cast<std::int64_t>(group.size()) / members[least.index()]);
  }
  for (std::size_t r = 0; r < core.compute.size(); ++r) {
    if (orbits.rank_orbit[Rank(r)] == Rank(r)) orbits.roots.push_back(Rank(r));
  }
  return orbits;
}

}  // namespace

Orbits trivial_orbits(const Core& core) {
  return assemble(core, Symmetry(), {});
}

std::optional<Orbits> make_orbits(const Core& core, const Symmetry& group) {
  std::vector<Action<ArcId>::Image> arc_images;
  for (const Symmetry::Generator& generator : group.generators()) {
    auto image = image_of_arcs(core, generator.nodes);
    if (!image) return std::nullopt;
    arc_images.push_back(*std::move(image));
  }
  return assemble(core, group, arc_images);
}

}  // namespace forestcoll::solver
