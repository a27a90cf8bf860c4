// Fabrics without switches whose nodes are points of a grid or a ring. A whole dimension is one
// entry of the file: "n[0-3]" zipped with the same list rotated, "n[1-3,0]".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "topology/generate/makers.hpp"

namespace forestcoll::topology {
namespace {

using Sides = std::vector<std::int64_t>;

constexpr std::int64_t kMostLatticeNodes = 1'000'000;
constexpr std::int64_t kMostLinks = 2'000'000;

// "[0-3]"
std::string range(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("[{}]", first) : fmt::format("[{}-{}]", first, last);
}

// "[1-3,0]": 0 … size − 1 moved on by `step`.
std::string rotated(std::int64_t size, std::int64_t step) {
  const std::string low = range(step, size - 1);
  const std::string high = range(0, step - 1);
  return low.substr(0, low.size() - 1) + "," + high.substr(1);
}

// The ids of all points whose coordinate in `dimension` is in `list`.
std::string points(const Sides& sides, std::size_t dimension, const std::string& list) {
  std::string ids = "n";
  for (std::size_t d = 0; d < sides.size(); ++d) {
    if (d > 0) ids += "x";
    ids += d == dimension ? list : range(0, sides[d] - 1);
  }
  return ids;
}

std::string all_points(const Sides& sides) {
  return points(sides, sides.size(), "");
}

LinkText zipped(std::string src, std::string dst, const NamedBandwidth& bandwidth,
                std::string kind) {
  return {.src = std::move(src),
          .dst = std::move(dst),
          .bandwidth = bandwidth.text,
          .kind = std::move(kind),
          .zip = true};
}

std::string sides_text(const Sides& sides) {
  std::string text;
  for (const std::int64_t side : sides) {
    text += fmt::format("{}{}", text.empty() ? "" : "x", side);
  }
  return text;
}

Sides read_sides(Parameters& parameters) {
  Sides sides = parameters.list("dims", 'x', 1, 16);
  std::int64_t nodes = 1;
  for (const std::int64_t side : sides) {
    nodes = side > kMostLatticeNodes / nodes ? kMostLatticeNodes + 1 : nodes * side;
    if (nodes > kMostLatticeNodes) break;
  }
  if (nodes < 2 || nodes > kMostLatticeNodes) {
    parameters.refuse("dims",
                      fmt::format("{} has {}", sides_text(sides),
                                  nodes < 2 ? "one node only" : "more than a million nodes"),
                      "Give the number of nodes in each dimension, such as 4x4x4.");
  }
  return sides;
}

enum class Ends { open, joined };

TopologyDocument grid(Parameters& parameters, Ends ends) {
  const Sides sides = read_sides(parameters);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  TopologyDocument document;
  if (!parameters.ok()) return document;
  document.name = fmt::format("{} {}", ends == Ends::joined ? "torus" : "mesh", sides_text(sides));
  document.description = fmt::format(
      "A {} of {} with links of {} in every dimension{}.", ends == Ends::joined ? "torus" : "mesh",
      sides_text(sides), bandwidth.text,
      ends == Ends::joined ? "; a dimension of two has one link, not two" : ", its ends open");
  document.top.nodes = {{.ids = all_points(sides)}};
  for (std::size_t d = 0; d < sides.size(); ++d) {
    if (sides[d] == 1) continue;
    const bool wraps = ends == Ends::joined && sides[d] > 2;
    const std::int64_t last = sides[d] - 1;
    document.top.links.push_back(
        zipped(points(sides, d, range(0, wraps ? last : last - 1)),
               points(sides, d, wraps ? rotated(sides[d], 1) : range(1, last)), bandwidth,
               fmt::format("dim{}", d)));
  }
  return document;
}

TopologyDocument slice(Parameters& parameters, const TorusModel& model) {
  TopologyDocument document = grid(parameters, Ends::joined);
  document.name = model.name + " " + document.name;
  document.metadata = model.metadata;
  return document;
}

// Nodes on a ring, each linked to those `offset` further on.
TopologyDocument offsets_on_ring(std::int64_t n, const Sides& offsets,
                                 const NamedBandwidth& bandwidth) {
  TopologyDocument document;
  document.top.nodes = {{.ids = "n" + range(0, n - 1)}};
  for (const std::int64_t offset : offsets) {
    const bool half = 2 * offset == n;  // there and back is the same link
    document.top.links.push_back(zipped("n" + range(0, half ? offset - 1 : n - 1),
                                        "n" + (half ? range(offset, n - 1) : rotated(n, offset)),
                                        bandwidth, ""));
  }
  return document;
}

TopologyDocument ring(Parameters& parameters) {
  const std::int64_t n = parameters.integer("nodes", 2, kMostLatticeNodes);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  TopologyDocument document = offsets_on_ring(n, {1}, bandwidth);
  document.name = fmt::format("ring of {}", n);
  document.description = fmt::format("A ring with links of {}, both ways.", bandwidth.text);
  return document;
}

Sides read_offsets(Parameters& parameters, std::int64_t n) {
  Sides offsets = parameters.list("offsets", ',', 1, 4096);
  std::ranges::sort(offsets);
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  if (offsets.back() > n / 2) {
    parameters.refuse("offsets",
                      fmt::format("{} is more than half of the {} nodes", offsets.back(), n),
                      "Count the shorter way round.");
  }
  std::int64_t divisor = n;
  for (const std::int64_t offset : offsets) divisor = std::gcd(divisor, offset);
  if (divisor != 1) {
    parameters.refuse("offsets",
                      fmt::format("they share the divisor {} with the {} nodes, so that the nodes "
                                  "do not all reach one another",
                                  divisor, n),
                      "Add the offset 1.");
  }
  return offsets;
}

TopologyDocument circulant(Parameters& parameters) {
  const std::int64_t n = parameters.integer("nodes", 2, kMostLatticeNodes);
  const Sides offsets = read_offsets(parameters, n);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  if (!parameters.ok()) return {};
  if (static_cast<std::int64_t>(offsets.size()) > kMostLinks / n) {
    parameters.refuse("offsets", "more than two million links", "Give fewer nodes or offsets.");
    return {};
  }
  TopologyDocument document = offsets_on_ring(n, offsets, bandwidth);
  const std::string list = fmt::format("{}", fmt::join(offsets, ","));
  document.name = fmt::format("circulant {} ({})", n, list);
  document.description = fmt::format(
      "{} nodes on a ring, each linked to those {} further on and back, with links of {}.", n, list,
      bandwidth.text);
  return document;
}

TopologyDocument full_mesh(Parameters& parameters) {
  const std::int64_t n = parameters.integer("nodes", 2, 2000);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  TopologyDocument document;
  document.name = fmt::format("full mesh of {}", n);
  document.description = fmt::format("Each node linked to each, at {}.", bandwidth.text);
  document.top.nodes = {{.ids = "n" + range(0, n - 1)}};
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    document.top.links.push_back({.src = fmt::format("n{}", i),
                                  .dst = "n" + range(i + 1, n - 1),
                                  .bandwidth = bandwidth.text});
  }
  return document;
}

TopologyDocument hypercube(Parameters& parameters) {
  const auto dimensions = static_cast<std::size_t>(parameters.integer("dimensions", 1, 19));
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  const auto corners = [&](std::size_t dimension, const char* digit) {
    std::string ids = "h";
    for (std::size_t d = 0; d < dimensions; ++d) ids += d == dimension ? digit : "[0-1]";
    return ids;
  };
  TopologyDocument document;
  document.name = fmt::format("hypercube of {}", std::int64_t{1} << dimensions);
  document.description = fmt::format(
      "A hypercube in {} dimensions: nodes whose binary names differ in one digit are linked, at "
      "{}.",
      dimensions, bandwidth.text);
  document.top.nodes = {{.ids = corners(dimensions, "")}};
  for (std::size_t d = 0; d < dimensions; ++d) {
    document.top.links.push_back(
        zipped(corners(d, "0"), corners(d, "1"), bandwidth, fmt::format("dim{}", d)));
  }
  return document;
}

const char* const kBandwidthMeaning = "of each link, per direction";

GeneratorParameter bandwidth_parameter(const std::string& standard = "1") {
  return {"bandwidth", kBandwidthMeaning, standard};
}

}  // namespace

Maker maker_of(const TorusModel& model) {
  return {{model.name,
           model.summary,
           {{"dims", "chips in each dimension", model.dims}, bandwidth_parameter(model.bandwidth)}},
          [model](Parameters& parameters) { return slice(parameters, model); }};
}

std::vector<Maker> lattice_makers() {
  const GeneratorParameter dims = {"dims", "nodes in each dimension", "4x4"};
  std::vector<Maker> makers;
  for (const Machine& machine : bundled_machines()) {
    if (machine.torus) makers.push_back(maker_of(*machine.torus));
  }
  makers.push_back({{"torus", "A torus of any dimensions", {dims, bandwidth_parameter()}},
                    [](Parameters& p) { return grid(p, Ends::joined); }});
  makers.push_back({{"mesh", "A grid of any dimensions", {dims, bandwidth_parameter()}},
                    [](Parameters& p) { return grid(p, Ends::open); }});
  makers.push_back({{"hypercube",
                     "A hypercube",
                     {{"dimensions", "2 to so many nodes", "4"}, bandwidth_parameter()}},
                    hypercube});
  makers.push_back({{"ring", "A ring", {{"nodes", "how many", "8"}, bandwidth_parameter()}}, ring});
  makers.push_back({{"circulant",
                     "Nodes on a ring, linked over several distances",
                     {{"nodes", "how many", "8"},
                      {"offsets", "the distances, with commas between them", "1,3"},
                      bandwidth_parameter()}},
                    circulant});
  makers.push_back({{"full-mesh",
                     "Each node linked to each",
                     {{"nodes", "how many", "8"}, bandwidth_parameter()}},
                    full_mesh});
  return makers;
}

}  // namespace forestcoll::topology
