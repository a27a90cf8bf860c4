#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "forestcoll/generate.hpp"
#include "topology/wiring/base_graphs.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll {
namespace {

// The heads of one node's links by how many links lead to each.
using HeadsByCount = std::map<std::int64_t, std::vector<std::int32_t>>;

std::string node_list(const std::vector<std::int32_t>& nodes) {
  return nodes.size() == 1 ? fmt::format("n{}", nodes.front())
                           : fmt::format("n[{}]", fmt::join(nodes, ","));
}

}  // namespace

bool is_regular(const Wiring& wiring) {
  std::vector<std::size_t> out(wiring.nodes), in(wiring.nodes);
  for (const Arc& link : wiring.links) {
    ++out[link.tail.index()];
    ++in[link.head.index()];
  }
  const auto full = [&](std::size_t ports) { return ports == wiring.ports; };
  return std::ranges::all_of(out, full) && std::ranges::all_of(in, full);
}

bool is_two_way(const Wiring& wiring) {
  std::vector<Arc> back;
  for (const Arc& link : wiring.links) back.push_back({link.head, link.tail});
  std::ranges::sort(back, {}, [](const Arc& a) { return std::pair(a.tail, a.head); });
  return back == wiring.links;
}

std::span<const Construction> constructions() {
  static const std::vector<Construction> all = [] {
    std::vector<Construction> infos;
    for (const topology::BaseGraph& graph : topology::base_graphs()) infos.push_back(graph.info);
    return infos;
  }();
  return all;
}

bool looks_like_wiring(std::string_view text) {
  const bool opens = text.find('(') != std::string_view::npos;
  std::size_t letters = 0;
  while (letters < text.size() &&
         (std::isalpha(static_cast<unsigned char>(text[letters])) != 0 || text[letters] == '-')) {
    ++letters;
  }
  // A fabric's name has neither parentheses nor operators.
  return opens || text.substr(0, letters) == "diamond";
}

Expected<Wiring> make_wiring(std::string_view expression) {
  const auto parsed = topology::parse_expression(expression);
  if (!parsed) return parsed.errors();
  return topology::build(*parsed);
}

TopologyDocument to_document(const Wiring& wiring, const std::string& bandwidth) {
  const bool both_ways = is_two_way(wiring);
  TopologyDocument document;
  document.name = wiring.name;
  document.description = fmt::format(
      "The direct-connect topology {}: {} nodes of {} ports, links of {}{}.", wiring.name,
      wiring.nodes, wiring.ports, bandwidth, both_ways ? " both ways" : ", one-way");
  document.top.nodes = {{.ids = id_range("n", wiring.nodes)}};
  for (std::size_t at = 0; at < wiring.links.size();) {
    const NodeId tail = wiring.links[at].tail;
    HeadsByCount heads;
    while (at < wiring.links.size() && wiring.links[at].tail == tail) {
      const Arc link = wiring.links[at];
      const std::size_t first = at;
      while (at < wiring.links.size() && wiring.links[at] == link) ++at;
      // A cable both ways is written at its lower end.
      if (both_ways && link.head < tail) continue;
      heads[static_cast<std::int64_t>(at - first)].push_back(link.head.value);
    }
    for (const auto& [count, nodes] : heads) {
      document.top.links.push_back({.src = fmt::format("n{}", tail.value),
                                    .dst = node_list(nodes),
                                    .bandwidth = bandwidth,
                                    .count = count,
                                    .full_duplex = both_ways});
    }
  }
  return document;
}

}  // namespace forestcoll
