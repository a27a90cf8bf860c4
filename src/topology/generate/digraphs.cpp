// One-way digraphs of small diameter, by arithmetic on node numbers.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "topology/generate/makers.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::int64_t kMostDigraphNodes = 100'000;

// degree^power, or one above the most nodes where that is less.
std::int64_t power_of(std::int64_t degree, std::int64_t power) {
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < power && result <= kMostDigraphNodes; ++i) result *= degree;
  return result;
}

void refuse_size(Parameters& parameters, std::int64_t nodes) {
  if (nodes <= kMostDigraphNodes) return;
  parameters.refuse("diameter", fmt::format("more than {} nodes", kMostDigraphNodes),
                    "Give a smaller degree or diameter.");
}

// first, first + 1, … modulo n, `count` of them, without `except`.
std::string cyclic(std::int64_t first, std::int64_t count, std::int64_t n, std::int64_t except) {
  std::string list;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t value = (first + i) % n;
    if (value != except) list += fmt::format("{}{}", list.empty() ? "" : ",", value);
  }
  return "n[" + list + "]";
}

void add_arcs(TopologyDocument& document, std::int64_t from, std::string to,
              const NamedBandwidth& bandwidth) {
  document.top.links.push_back({.src = fmt::format("n{}", from),
                                .dst = std::move(to),
                                .bandwidth = bandwidth.text,
                                .full_duplex = false});
}

// Imase and Itoh's numbering: i leads to −degree·i − 1, …, −degree·i − degree modulo n, which for
// n = degree^diameter + degree^(diameter − 1) is the Kautz digraph.
TopologyDocument kautz(Parameters& parameters) {
  const std::int64_t degree = parameters.integer("degree", 2, 64);
  const std::int64_t diameter = parameters.integer("diameter", 1, 16);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  const std::int64_t n = power_of(degree, diameter) + power_of(degree, diameter - 1);
  refuse_size(parameters, n);
  if (!parameters.ok()) return {};
  TopologyDocument document;
  document.name = fmt::format("Kautz({}, {})", degree, diameter);
  document.description =
      fmt::format("The Kautz digraph of degree {} and diameter {}: {} nodes, one-way links of {}.",
                  degree, diameter, n, bandwidth.text);
  document.top.nodes = {{.ids = fmt::format("n[0-{}]", n - 1)}};
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t first = n - (degree * i) % n + n - degree;
    add_arcs(document, i, cyclic(first, degree, n, -1), bandwidth);
  }
  return document;
}

// i leads to degree·i, …, degree·i + degree − 1 modulo n; the loops at both ends are left out.
TopologyDocument de_bruijn(Parameters& parameters) {
  const std::int64_t degree = parameters.integer("degree", 2, 64);
  const std::int64_t diameter = parameters.integer("diameter", 1, 16);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  const std::int64_t n = power_of(degree, diameter);
  refuse_size(parameters, n);
  if (!parameters.ok()) return {};
  TopologyDocument document;
  document.name = fmt::format("de Bruijn({}, {})", degree, diameter);
  document.description = fmt::format(
      "The de Bruijn digraph of degree {} and diameter {} without its loops: {} nodes, one-way "
      "links of {}.",
      degree, diameter, n, bandwidth.text);
  document.top.nodes = {{.ids = fmt::format("n[0-{}]", n - 1)}};
  for (std::int64_t i = 0; i < n; ++i) {
    add_arcs(document, i, cyclic(degree * i % n, degree, n, i), bandwidth);
  }
  return document;
}

}  // namespace

std::vector<Maker> digraph_makers() {
  const GeneratorParameter degree = {"degree", "links that leave a node", "2"};
  const GeneratorParameter diameter = {"diameter", "the most hops between two nodes", "3"};
  const GeneratorParameter bandwidth = {"bandwidth", "of each link", "1"};
  return {{{"kautz", "A Kautz digraph", {degree, diameter, bandwidth}}, kautz},
          {{"de-bruijn", "A de Bruijn digraph", {degree, diameter, bandwidth}}, de_bruijn}};
}

}  // namespace forestcoll::topology
