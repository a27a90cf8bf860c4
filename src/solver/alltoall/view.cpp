#include "solver/alltoall/view.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/mix.hpp"

namespace forestcoll::solver::alltoall {
namespace {

using base::mix;
using Colours = IdVector<NodeId, std::uint64_t>;

Colours recoloured(const Network& network, const Colours& colours) {
  Colours next(colours.size());
  for (std::size_t v = 0; v < colours.size(); ++v) next[NodeId(v)] = mix(colours[NodeId(v)]);
  const auto& arcs = network.graph.arcs();
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    const auto capacity = static_cast<std::uint64_t>(network.capacity[ArcId(a)]);
    next[arcs[a].tail] += mix(colours[arcs[a].head] + 3 * capacity);
    next[arcs[a].head] += mix(~colours[arcs[a].tail] - 5 * capacity);
  }
  for (std::uint64_t& colour : next) colour = mix(colour);
  return next;
}

// Numbers equal keys alike, in the order in which they first appear.
template <class Key>
Partition classes_of(const std::vector<Key>& keys) {
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> first(keys.size(), none);  // of each item's class
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && keys[order[i]] == keys[order[i - 1]];
    first[order[i]] = same ? first[order[i - 1]] : order[i];
  }
  Partition classes{std::vector<std::size_t>(keys.size()), 0};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    classes.of[i] = first[i] == i ? classes.count++ : classes.of[first[i]];
  }
  return classes;
}

}  // namespace

View view_from(const Network& network, NodeId source,
               const IdVector<NodeId, std::int64_t>& needs) {
  Colours colours(needs.size());
  for (std::size_t v = 0; v < needs.size(); ++v) {
    const std::uint64_t kind = network.is_compute(NodeId(v)) ? 1 : 0;
    colours[NodeId(v)] = mix(2 * static_cast<std::uint64_t>(needs[NodeId(v)]) + kind);
  }
  colours[source] = mix(~std::uint64_t{0});
  View view;
  for (std::size_t known = 0;; known = view.nodes.count) {
    view.nodes = classes_of(std::vector(colours.begin(), colours.end()));
    if (view.nodes.count == known) break;
    colours = recoloured(network, colours);
  }
  std::vector<std::tuple<std::size_t, std::size_t, Capacity>> arcs;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    arcs.emplace_back(view.nodes.of[arc.tail.index()], view.nodes.of[arc.head.index()],
                      network.capacity[ArcId(a)]);
  }
  view.arcs = classes_of(arcs);
  return view;
}

}  // namespace forestcoll::solver::alltoall
