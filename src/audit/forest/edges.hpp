// What the checks of forests say of edges and the paths that they take.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "audit/forest/facts.hpp"
#include "audit/forest/file.hpp"

namespace forestcoll::audit {

/// Base of these checks. Flaws are words, empty where there is none.
class EdgeChecks {
 protected:
  EdgeChecks(const ForestFile& forest, const ForestFacts& facts) : forest_(forest), facts_(facts) {}

  [[nodiscard]] const std::string& name(Name n) const {
    return forest_.names[static_cast<std::size_t>(n)];
  }

  [[nodiscard]] std::string edge_place(const std::string& where, const ForestTree& tree,
                                       std::size_t e) const {
    const ForestEdge& edge = forest_.edges[e];
    const auto text = [&](Name n) { return n < 0 ? std::string("?") : name(n); };
    return fmt::format("{}, edge {} ({} to {})", where, e - tree.edges_begin, text(edge.src),
                       text(edge.dst));
  }

  [[nodiscard]] std::span<const Name> path_of(const ForestEdge& edge) const {
    return std::span(forest_.path_nodes).subspan(edge.path_begin, edge.path_end - edge.path_begin);
  }

  [[nodiscard]] static std::string flaw_of_ends(std::span<const Name> path,
                                                const ForestEdge& edge) {
    const bool is_good = path.size() >= 2 && path.front() == edge.src && path.back() == edge.dst;
    return is_good ? "" : "the path must begin at src and end at dst";
  }

  [[nodiscard]] std::string flaw_between(std::span<const Name> path) const {
    for (const Name n : path.subspan(1, path.size() - 2)) {
      if (facts_.rank_of(n) < 0) continue;
      return fmt::format("the path passes through {}, a compute node", name(n));
    }
    return {};
  }

  // Adds to the loads by arc. REQUIRES: there is a network.
  [[nodiscard]] std::string add_load(Name src, Name dst, std::int64_t chunks,
                                     std::vector<std::int64_t>& loads) const {
    const NodeId from = facts_.node_of(src), to = facts_.node_of(dst);
    if (!from.valid() || !to.valid()) {
      return fmt::format("{} is not a node of the topology", name(from.valid() ? dst : src));
    }
    const ArcId arc = facts_.network->graph.find(from, to);
    if (!arc.valid()) return fmt::format("no link leads from {} to {}", name(src), name(dst));
    std::int64_t& load = loads[arc.index()];
    if (load > kMaxTrees - chunks) return "the load is more than exact arithmetic holds";
    load += chunks;
    return {};
  }

  const ForestFile& forest_;
  const ForestFacts& facts_;
};

}  // namespace forestcoll::audit
