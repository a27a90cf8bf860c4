#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "solver/allreduce/split.hpp"

namespace forestcoll::solver {
namespace {

// Of the largest value.
constexpr double kParts = 0x1p26;

// Less than this is no path.
constexpr double kLeast = 1;

constexpr std::int64_t kMostMembers = std::int64_t{1} << 40;

/// The flow of a commodity through orbits of nodes; each variable is an orbit of arcs, with what
/// all of its members carry together.
class OrbitFlow {
 public:
  OrbitFlow(const AllreduceFabric& fabric, const AllreduceCommodity& commodity,
            const TreeCommodity& trees, std::size_t variables, std::span<const double> values,
            double parts)
      : arcs_(variables), is_rank_(commodity.trees.orbits.nodes.count, false) {
    const std::vector<std::size_t>& orbit = commodity.trees.orbits.nodes.of;
    for (const NodeId v : fabric.network.ranks) is_rank_[orbit[v.index()]] = true;
    leaving_.resize(is_rank_.size());
    for (std::size_t a = 0; a < trees.variable.size(); ++a) {
      const Arc& arc = commodity.twins.graph.arcs()[a];
      OrbitArc& all = arcs_[trees.variable[a]];
      if (all.members++ == 0) {
        all.head = orbit[arc.head.index()];
        leaving_[orbit[arc.tail.index()]].push_back(trees.variable[a]);
      }
      all.left += values[trees.variable[a]] * parts;  // of this member
    }
  }

  // Adds up, by variable, what each member carries of all paths, and what goes round in switches,
  // which is balanced, too: a path that turns at once leaves such a circle.
  void add_paths(std::vector<std::int64_t>& numerators) {
    for (const bool is_rank : {true, false}) {
      for (std::size_t v = 0; v < leaving_.size(); ++v) {
        if (is_rank_[v] != is_rank) continue;
        for (const std::size_t first : leaving_[v]) {
          for (auto path = find_path(v, first); !path.empty(); path = find_path(v, first)) {
            take(path, numerators);
          }
        }
      }
    }
  }

 private:
  struct OrbitArc {
    std::size_t head = 0;
    std::int64_t members = 0;
    double left = 0;
  };

  [[nodiscard]] bool has_room(std::size_t j) const { return arcs_[j].left >= kLeast; }

  // The shortest by this arc to a rank, or from a switch back to it; what leads to none is no more
  // than rounding.
  std::vector<std::size_t> find_path(std::size_t from, std::size_t first) {
    if (!has_room(first)) return {};
    std::vector<std::size_t> open{first};
    std::vector<std::size_t> before(arcs_.size(), first);
    std::vector<bool> seen(is_rank_.size(), false);
    for (std::size_t next = 0; next < open.size(); ++next) {
      const std::size_t at = arcs_[open[next]].head;
      if (is_rank_[from] ? is_rank_[at] : at == from) return path_to(open[next], first, before);
      if (seen[at] || is_rank_[at]) continue;
      seen[at] = true;
      for (const std::size_t j : leaving_[at]) {
        if (!has_room(j) || seen[arcs_[j].head]) continue;
        before[j] = open[next];
        open.push_back(j);
      }
    }
    arcs_[first].left = 0;
    return {};
  }

  static std::vector<std::size_t> path_to(std::size_t last, std::size_t first,
                                          const std::vector<std::size_t>& before) {
    std::vector<std::size_t> path{last};
    while (path.back() != first) path.push_back(before[path.back()]);
    return path;
  }

  // A multiple of how many members there are of every orbit on the way: so each carries as much.
  void take(const std::vector<std::size_t>& path, std::vector<std::int64_t>& numerators) {
    double least = arcs_[path.front()].left;
    std::int64_t members = 1;
    for (const std::size_t j : path) {
      least = std::min(least, arcs_[j].left);
      if (members < kMostMembers) members = std::lcm(members, arcs_[j].members);
    }
    const std::int64_t whole =
        members < kMostMembers
            ? static_cast<std::int64_t>(least / static_cast<double>(members)) * members
            : 0;
    for (const std::size_t j : path) {
      numerators[j] += whole / arcs_[j].members;
      arcs_[j].left -= least;
      if (!has_room(j)) arcs_[j].left = 0;
    }
  }

  std::vector<OrbitArc> arcs_;                     // by variable
  std::vector<bool> is_rank_;                      // by orbit of nodes
  std::vector<std::vector<std::size_t>> leaving_;  // by orbit of nodes, variables
};

}  // namespace

std::optional<ExactSolution> whole_paths(const AllreduceFabric& fabric,
                                         const AllreduceProgram& program,
                                         std::span<const double> values) {
  const CutProgram& solved = program.program();
  double largest = 0;
  for (const TreeCommodity& trees : solved.commodities) {
    for (const std::size_t j : trees.variable) largest = std::max(largest, values[j]);
  }
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  const double parts = kParts / largest;
  ExactSolution solution{std::vector<std::int64_t>(solved.variables, 0), 1};
  for (std::size_t p = 0; p < solved.commodities.size(); ++p) {
    OrbitFlow flow(fabric, program.commodities()[p], solved.commodities[p], solved.variables,
                   values, parts);
    flow.add_paths(solution.numerators);
  }
  for (const CapacityRow& row : solved.capacity) {
    Int128 sum = 0;
    for (const Term& term : row.terms) {
      sum += Int128{term.coefficient} * solution.numerators[term.variable];
    }
    const Int128 needed = (sum + row.bound - 1) / row.bound;
    if (needed > Int128{1} << 40) return std::nullopt;
    solution.denominator = std::max(solution.denominator, static_cast<std::int64_t>(needed));
  }
  return solution;
}

}  // namespace forestcoll::solver
