// Whether a fabric is a grid, a torus or a hypercube, by its links.
//
// A grid is laid out place by place, in the order of the sums of their coordinates, so that each
// place but the first few has two placed neighbours and hardly a choice. What is placed must be
// linked exactly as the grid says; a few links of the grid may be missing, as in a damaged fabric.
// Places by name, where a generator or a person wrote them so, are tried first: they are found
// whatever is damaged, and proved by the same links.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "base/words.hpp"
#include "topology/draw/grid.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kMostNodes = 4096;  // for the search
constexpr std::size_t kLargestDimension = 512;

using Adjacency = std::vector<std::vector<std::size_t>>;  // sorted

Adjacency adjacency_of(const Topology& topology) {
  Adjacency adjacency(topology.nodes.size());
  for (const TopologyLink& link : topology.links) {
    if (link.src == link.dst) continue;
    adjacency[link.src.index()].push_back(link.dst.index());
    adjacency[link.dst.index()].push_back(link.src.index());
  }
  for (auto& list : adjacency) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return adjacency;
}

std::size_t count_links(const Adjacency& adjacency) {
  std::size_t ends = 0;
  for (const auto& list : adjacency) ends += list.size();
  return ends / 2;
}

std::size_t cells_of(const Grid& grid) {
  return std::accumulate(grid.dims.begin(), grid.dims.end(), std::size_t{1}, std::multiplies<>());
}

std::size_t links_of(const Grid& grid) {
  const std::size_t cells = cells_of(grid);
  std::size_t links = 0;
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    links += cells - (grid.wraps[d] ? 0 : cells / grid.dims[d]);
  }
  return links;
}

std::size_t may_miss(std::size_t links) {
  constexpr std::size_t kOneIn = 8;
  return std::max<std::size_t>(1, links / kOneIn);
}

// Neighbours of a cell, each once.
std::vector<std::vector<std::size_t>> neighbours_of(const Grid& grid) {
  std::vector<std::vector<std::size_t>> neighbours(cells_of(grid));
  for (std::size_t cell = 0; cell < neighbours.size(); ++cell) {
    for (std::size_t d = 0; d < grid.dims.size(); ++d) {
      const auto next = grid.next(cell, d);
      if (!next || *next == cell) continue;
      neighbours[cell].push_back(*next);
      neighbours[*next].push_back(cell);
    }
  }
  return neighbours;
}

/// Lays the links out on one shape.
class Layout {
 public:
  Layout(const Grid& shape, const Adjacency& adjacency, std::size_t missing)
      : grid_(shape),
        adjacency_(adjacency),
        neighbours_(neighbours_of(shape)),
        missing_left_(missing),
        steps_left_(kStepsPerNode * adjacency.size() + kSteps),
        node_at_(adjacency.size(), kNone),
        cell_of_(adjacency.size(), kNone) {
    order_.resize(adjacency.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::size_t cell) {
      const auto place = shape.place(cell);
      return std::accumulate(place.begin(), place.end(), std::size_t{0});
    });
  }

  std::optional<Grid> find() {
    // A corner of a grid has the fewest links.
    std::vector<std::size_t> first(adjacency_.size());
    std::iota(first.begin(), first.end(), std::size_t{0});
    std::ranges::stable_sort(first, {}, [&](std::size_t node) { return adjacency_[node].size(); });
    constexpr std::size_t kFirsts = 8;
    for (std::size_t i = 0; i < std::min(first.size(), kFirsts); ++i) {
      if (!put(first[i], order_[0])) continue;
      if (place_rest()) {
        Grid found = grid_;
        found.node_at.resize(node_at_.size());
        for (std::size_t cell = 0; cell < node_at_.size(); ++cell) {
          found.node_at[cell] = NodeId(node_at_[cell]);
        }
        return found;
      }
      take_back(order_[0]);
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::size_t kStepsPerNode = 60, kSteps = 20'000;

  struct Try {
    std::vector<std::size_t> nodes;
    std::size_t next = 0;
  };

  // Depth first, on a stack of its own: grids may have thousands of places.
  bool place_rest() {
    std::vector<Try> tries;
    tries.push_back({candidates(order_[1]), 0});
    while (!tries.empty()) {
      if (steps_left_ == 0) return undo(tries.size() - 1);
      --steps_left_;
      const std::size_t cell = order_[tries.size()];
      Try& current = tries.back();
      if (current.next == current.nodes.size()) {
        tries.pop_back();
        if (!tries.empty()) take_back(order_[tries.size()]);
        continue;
      }
      if (!put(current.nodes[current.next++], cell)) continue;
      if (tries.size() + 1 == order_.size()) return true;
      tries.push_back({candidates(order_[tries.size() + 1]), 0});
    }
    return false;
  }

  bool undo(std::size_t placed) {
    for (std::size_t i = 1; i <= placed; ++i) take_back(order_[i]);
    return false;
  }

  // Free nodes that are linked to a placed neighbour, those with most such links first.
  [[nodiscard]] std::vector<std::size_t> candidates(std::size_t cell) const {
    std::map<std::size_t, std::size_t> links;
    for (const std::size_t other : neighbours_[cell]) {
      if (node_at_[other] == kNone) continue;
      for (const std::size_t node : adjacency_[node_at_[other]]) {
        if (cell_of_[node] == kNone) ++links[node];
      }
    }
    std::vector<std::size_t> nodes;
    for (const auto& [node, count] : links) nodes.push_back(node);
    std::ranges::stable_sort(
        nodes, [&](std::size_t a, std::size_t b) { return links.at(a) > links.at(b); });
    return nodes;
  }

  // False, and nothing changed, where a link would lead elsewhere or too many are missing.
  bool put(std::size_t node, std::size_t cell) {
    std::size_t expected = 0, found = 0;
    for (const std::size_t other : neighbours_[cell]) expected += node_at_[other] != kNone ? 1 : 0;
    for (const std::size_t other : adjacency_[node]) {
      if (cell_of_[other] == kNone) continue;
      if (std::ranges::count(neighbours_[cell], cell_of_[other]) == 0) return false;
      ++found;
    }
    if (expected - found > missing_left_) return false;
    missing_left_ -= expected - found;
    missed_.push_back(expected - found);
    node_at_[cell] = node;
    cell_of_[node] = cell;
    return true;
  }

  void take_back(std::size_t cell) {
    cell_of_[node_at_[cell]] = kNone;
    node_at_[cell] = kNone;
    missing_left_ += missed_.back();
    missed_.pop_back();
  }

  const Grid& grid_;
  const Adjacency& adjacency_;
  std::vector<std::vector<std::size_t>> neighbours_;
  std::size_t missing_left_, steps_left_;
  std::vector<std::size_t> order_, node_at_, cell_of_, missed_;
};

// All shapes of `nodes` places with about as many links: first those without ends that meet, of
// few dimensions, and square ones.
std::vector<Grid> shapes_of(std::size_t nodes, std::size_t links) {
  std::vector<std::vector<std::size_t>> sizes = {{nodes}};
  for (std::size_t a = 2; a * a <= nodes; ++a) {
    if (nodes % a != 0) continue;
    sizes.push_back({a, nodes / a});
    for (std::size_t b = a; a * b * b <= nodes; ++b) {
      if (nodes / a % b == 0) sizes.push_back({a, b, nodes / a / b});
    }
  }
  std::vector<Grid> shapes;
  for (const auto& dims : sizes) {
    if (dims.back() > kLargestDimension) continue;
    for (std::size_t wraps = 0; wraps < std::size_t{1} << dims.size(); ++wraps) {
      Grid grid{dims, {}, {}};
      bool is_valid = true;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        grid.wraps.push_back((wraps >> d & 1) != 0);
        is_valid = is_valid && (!grid.wraps[d] || dims[d] > 2);
      }
      const std::size_t expected = links_of(grid);
      if (is_valid && links <= expected && expected <= links + may_miss(expected)) {
        shapes.push_back(std::move(grid));
      }
    }
  }
  std::ranges::stable_sort(shapes, {}, [links](const Grid& grid) {
    const auto wraps = std::ranges::count(grid.wraps, true);
    const bool cube = grid.dims.size() == 3 && wraps == 0;
    return std::tuple(links_of(grid) - links, cube ? 0 : grid.dims.size(), grid.dims.back(), wraps);
  });
  return shapes;
}

// The numbers in a name, as "2" and "3" in "n2x3"; those that are too long for a place are left
// out.
std::vector<std::size_t> numbers_in(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kMostDigits = 4;
  std::vector<std::size_t> numbers;
  for (std::size_t at = name.find_first_of(kDigits); at != std::string_view::npos;) {
    const std::size_t end = std::min(name.find_first_not_of(kDigits, at), name.size());
    if (end - at > kMostDigits) return {};
    numbers.push_back(*number_in<std::size_t>(name.substr(at, end - at)));
    at = name.find_first_of(kDigits, end);
  }
  return numbers;
}

// The dimension in which two places are next to each other, and whether around an end.
std::optional<std::pair<std::size_t, bool>> step_between(const std::vector<std::size_t>& a,
                                                         const std::vector<std::size_t>& b,
                                                         const std::vector<std::size_t>& dims) {
  std::optional<std::pair<std::size_t, bool>> step;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (a[d] == b[d]) continue;
    const std::size_t low = std::min(a[d], b[d]), high = std::max(a[d], b[d]);
    const bool around = low == 0 && high + 1 == dims[d] && dims[d] > 2;
    if (step || (high - low != 1 && !around)) return std::nullopt;
    step = std::pair(d, around);
  }
  return step;
}

// By names alone, proved by the links.
std::optional<Grid> grid_by_names(const Topology& topology, const Adjacency& adjacency) {
  std::vector<std::vector<std::size_t>> places;
  for (const TopologyNode& node : topology.nodes) places.push_back(numbers_in(node.id));
  const std::size_t count = places.front().size();
  if (count < 2 || count > 3) return std::nullopt;
  Grid grid{std::vector<std::size_t>(count, 1), std::vector<bool>(count, false), {}};
  for (const auto& place : places) {
    if (place.size() != count) return std::nullopt;
    for (std::size_t d = 0; d < count; ++d) grid.dims[d] = std::max(grid.dims[d], place[d] + 1);
  }
  for (const std::size_t size : grid.dims) {
    if (size < 2 || size > kLargestDimension) return std::nullopt;
  }
  const std::size_t cells = cells_of(grid);
  if (cells > places.size() + places.size() / 4) return std::nullopt;
  grid.node_at.resize(cells);
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto& node = grid.node_at[grid.cell(places[i])];
    if (node) return std::nullopt;
    node = NodeId(i);
  }
  std::size_t links = 0;
  for (std::size_t a = 0; a < adjacency.size(); ++a) {
    for (const std::size_t b : adjacency[a]) {
      const auto step = step_between(places[a], places[b], grid.dims);
      if (!step) return std::nullopt;
      if (step->second) grid.wraps[step->first] = true;
      links += a < b ? 1 : 0;
    }
  }
  const std::size_t expected = links_of(grid);
  const std::size_t holes = cells - places.size();
  const std::size_t of_holes = holes * 2 * grid.dims.size();
  if (links + may_miss(expected) + of_holes < expected) return std::nullopt;
  return grid;
}

}  // namespace

std::vector<std::size_t> Grid::place(std::size_t cell) const {
  std::vector<std::size_t> place(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; cell /= dims[d]) place[d] = cell % dims[d];
  return place;
}

std::size_t Grid::cell(const std::vector<std::size_t>& place) const {
  std::size_t cell = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) cell = cell * dims[d] + place[d];
  return cell;
}

std::optional<std::size_t> Grid::next(std::size_t at, std::size_t dim) const {
  auto there = place(at);
  if (there[dim] + 1 == dims[dim] && !wraps[dim]) return std::nullopt;
  there[dim] = (there[dim] + 1) % dims[dim];
  return cell(there);
}

std::optional<Grid> find_grid(const Topology& topology) {
  const std::size_t nodes = topology.nodes.size();
  if (nodes < 4 || topology.links.empty()) return std::nullopt;
  std::set<std::string> boxes;
  for (const TopologyNode& node : topology.nodes) {
    if (node.type == NodeType::switch_node) return std::nullopt;
    boxes.insert(node.box);
  }
  if (boxes.size() > 1) return std::nullopt;
  const Adjacency adjacency = adjacency_of(topology);
  if (auto grid = grid_by_names(topology, adjacency)) return grid;
  if (nodes > kMostNodes) return std::nullopt;
  const std::size_t links = count_links(adjacency);
  for (const Grid& shape : shapes_of(nodes, links)) {
    const std::size_t missing = links_of(shape) - links;
    if (auto grid = Layout(shape, adjacency, missing).find()) return grid;
  }
  return std::nullopt;
}

}  // namespace forestcoll::topology
