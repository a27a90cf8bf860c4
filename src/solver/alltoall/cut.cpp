#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "solver/alltoall/methods.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// Orbits of arcs whose cuts are looked at, the longest arcs first.
constexpr std::size_t kMaxArcs = 64;

// One arc per orbit that has a length.
std::vector<ArcId> long_arcs(const Instance& instance, const ArcLengths& lengths) {
  std::vector<bool> seen(instance.orbits.arcs.count, false);
  std::vector<ArcId> arcs;
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    const std::size_t orbit = instance.orbits.arcs.of[a];
    if (lengths[ArcId(a)] == 0 || seen[orbit]) continue;
    seen[orbit] = true;
    arcs.emplace_back(a);
  }
  std::ranges::stable_sort(arcs, [&](ArcId a, ArcId b) { return lengths[a] > lengths[b]; });
  if (arcs.size() > kMaxArcs) arcs.resize(kMaxArcs);
  return arcs;
}

class CutFinder {
 public:
  CutFinder(const Instance& instance, const ArcLengths& lengths)
      : instance_(instance), lengths_(lengths), turned_(turned_around()) {}

  // Sets of nodes that could send over `a`: those from which it is on a shortest path to its head;
  // those to which it is on no shortest path from its tail; those that are at one place with its
  // tail; and those that are not with its head.
  [[nodiscard]] std::array<std::vector<bool>, 4> sides(ArcId a) const {
    const Digraph& graph = instance_.network.graph;
    const NodeId u = graph.tail(a), v = graph.head(a);
    const auto to_u = distances_from(turned_.graph, turned_.lengths, u).to;
    const auto to_v = distances_from(turned_.graph, turned_.lengths, v).to;
    const auto from_u = distances_from(graph, lengths_, u).to;
    const auto from_v = distances_from(graph, lengths_, v).to;
    std::array<std::vector<bool>, 4> sides;
    for (std::size_t i = 0; i < graph.node_count(); ++i) {
      const NodeId x(i);
      sides[0].push_back(is_sum(to_v[x], to_u[x], lengths_[a]));
      sides[1].push_back(!is_sum(from_u[x], from_v[x], lengths_[a]));
      sides[2].push_back(to_u[x] == 0 && from_u[x] == 0);
      sides[3].push_back(to_v[x] != 0 || from_v[x] != 0);
    }
    return sides;
  }

 private:
  struct Turned {
    Digraph graph;
    ArcLengths lengths;
  };

  // Nodes without a path are infinitely far from both ends.
  static bool is_sum(std::int64_t all, std::int64_t first, std::int64_t second) {
    return all >= second && all - second == first;
  }

  [[nodiscard]] Turned turned_around() const {
    std::vector<Arc> arcs;
    for (const Arc& arc : instance_.network.graph.arcs()) arcs.push_back({arc.head, arc.tail});
    std::vector<std::size_t> order;
    Turned turned{Digraph(instance_.network.graph.node_count(), arcs, &order), {}};
    for (const std::size_t a : order) turned.lengths.push_back(lengths_[ArcId(a)]);
    return turned;
  }

  const Instance& instance_;
  const ArcLengths& lengths_;
  Turned turned_;
};

}  // namespace

void take_cut(const Instance& instance, const std::vector<bool>& sends, Answer& answer) {
  answer.cut.clear();
  for (std::size_t v = 0; v < sends.size(); ++v) {
    if (sends[v]) answer.cut.emplace_back(v);
  }
  answer.lengths = {};
  for (const Arc& arc : instance.network.graph.arcs()) {
    answer.lengths.push_back(sends[arc.tail.index()] && !sends[arc.head.index()] ? 1 : 0);
  }
}

void prefer_cut(const Instance& instance, Answer& answer) {
  if (!answer.at_most) return;
  const ArcLengths lengths = answer.lengths;
  const CutFinder finder(instance, lengths);
  for (const ArcId a : long_arcs(instance, lengths)) {
    // Of what is reached no cut is narrower.
    if (answer.is_exact() && !answer.cut.empty()) return;
    for (const auto& sends : finder.sides(a)) {
      const auto rate = prove_by_cut(instance, sends);
      if (!rate || *rate > *answer.at_most || (!answer.cut.empty() && rate == answer.at_most)) {
        continue;
      }
      answer.at_most = rate;
      take_cut(instance, sends, answer);
    }
  }
}

}  // namespace forestcoll::solver::alltoall
