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

// Each node i has links to `heads(i, degree, n)`; there are `shorter` words of one letter less.
template <class Heads>
TopologyDocument of_degree(Parameters& parameters, const std::string& family,
                           const std::string& words, std::int64_t shorter, const Heads& heads) {
  const std::int64_t degree = parameters.integer("degree", 2, 64);
  const std::int64_t diameter = parameters.integer("diameter", 1, 16);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  const std::int64_t n = power_of(degree, diameter) + shorter * power_of(degree, diameter - 1);
  refuse_size(parameters, n);
  if (!parameters.ok()) return {};
  TopologyDocument document;
  document.name = fmt::format("{}({}, {})", family, degree, diameter);
  document.description =
      fmt::format("The {} digraph of degree {} and diameter {}{}: {} nodes, one-way links of {}.",
                  family, degree, diameter, words, n, bandwidth.text);
  document.top.nodes = {{.ids = fmt::format("n[0-{}]", n - 1)}};
  for (std::int64_t i = 0; i < n; ++i) add_arcs(document, i, heads(i, degree, n), bandwidth);
  return document;
}

// Imase and Itoh's numbering: i leads to −degree·i − 1, …, −degree·i − degree modulo n, which for
// n = degree^diameter + degree^(diameter − 1) is the Kautz digraph.
TopologyDocument kautz(Parameters& parameters) {
  return of_degree(parameters, "Kautz", "", 1,
                   [](std::int64_t i, std::int64_t degree, std::int64_t n) {
                     return cyclic(n - (degree * i) % n + n - degree, degree, n, -1);
                   });
}

// i leads to degree·i, …, degree·i + degree − 1 modulo n; the loops at both ends are left out.
TopologyDocument de_bruijn(Parameters& parameters) {
  return of_degree(parameters, "de Bruijn", " without its loops", 0,
                   [](std::int64_t i, std::int64_t degree, std::int64_t n) {
                     return cyclic(degree * i % n, degree, n, i);
                   });
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
