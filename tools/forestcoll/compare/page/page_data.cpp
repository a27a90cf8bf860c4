#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "common/report/lengths_report.hpp"
#include "compare/page/page.hpp"
#include "compare/tables/write.hpp"
#include "compare/words.hpp"
#include "forestcoll/convert.hpp"

namespace forestcoll::cli {
namespace {

// Of one phase; a page with ten algorithms then has a few megabytes at most.
constexpr std::size_t kMostEdges = 6'000;
constexpr std::size_t kMostTrees = 128;

// Links that a reader takes for alike.
using GroupKey = std::tuple<std::string, NodeType, NodeType, Ratio>;

std::string title_of(const GroupKey& key, std::size_t count) {
  const auto& [kind, from, to, bandwidth] = key;
  const auto name = [](NodeType type) { return type == NodeType::switch_node ? "switch" : "GPU"; };
  return fmt::format("{}{} → {}, {} GB/s each, {}", kind.empty() ? "" : kind + ", ", name(from),
                     name(to), number(bandwidth.to_double()), counted(count, "link"));
}

// The arcs group by group; groups in the order of their first arcs.
struct Arranged {
  std::vector<std::pair<GroupKey, std::vector<ArcId>>> groups;
};

Arranged arrange(const Fabric& fabric) {
  const Network& network = fabric.links();
  const auto kinds = kinds_of_arcs(fabric.topology, network);
  Arranged arranged;
  std::map<GroupKey, std::size_t> position;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const NodeId tail = network.graph.tail(ArcId(a));
    const NodeId head = network.graph.head(ArcId(a));
    const GroupKey key{kinds[ArcId(a)], fabric.topology.nodes[tail].type,
                       fabric.topology.nodes[head].type,
                       Ratio(network.capacity[ArcId(a)]) * network.unit};
    const auto [at, is_new] = position.emplace(key, arranged.groups.size());
    if (is_new) arranged.groups.push_back({key, {}});
    arranged.groups[at->second].second.emplace_back(a);
  }
  return arranged;
}

Json links_json(const Arranged& arranged, const Network& network) {
  Json groups = Json::array();
  Json ends = Json::array();
  Json bandwidth = Json::array();
  for (const auto& [key, arcs] : arranged.groups) {
    groups.push_back(
        {{"title", title_of(key, arcs.size())}, {"first", ends.size()}, {"count", arcs.size()}});
    for (const ArcId arc : arcs) {
      ends.push_back({network.graph.tail(arc).value, network.graph.head(arc).value});
      bandwidth.push_back(std::get<Ratio>(key).to_double());
    }
  }
  return {{"groups", std::move(groups)},
          {"ends", std::move(ends)},
          {"bandwidth", std::move(bandwidth)}};
}

Json busy_json(const ComparedRow& row, const Arranged& arranged) {
  Json list = Json::array();
  for (const auto& [key, arcs] : arranged.groups) {
    for (const ArcId arc : arcs) list.push_back(std::lround(row.busy[arc] * 1000));
  }
  return list;
}

Json tree_json(const Forest& forest, TreeId id) {
  const Forest::Tree& tree = forest.tree(id);
  Json parents = Json::array();
  Json via = Json::array();
  for (std::size_t r = 0; r < forest.rank_count(); ++r) {
    Json between = Json::array();
    if (Rank(r) == tree.root) {
      parents.push_back(-1);
    } else {
      parents.push_back(forest.parent(id, Rank(r)).value);
      const std::vector<NodeId> path = forest.path(id, Rank(r));
      for (std::size_t i = 1; i + 1 < path.size(); ++i) between.push_back(path[i].value);
    }
    via.push_back(std::move(between));
  }
  return {{"root", tree.root.value},
          {"multiplicity", tree.multiplicity},
          {"height", tree.height},
          {"parent", std::move(parents)},
          {"via", std::move(via)}};
}

// So many trees of a phase are on the page.
std::size_t shown_trees(const Forest& forest) {
  const std::size_t edges = std::max<std::size_t>(1, forest.rank_count() - 1);
  return std::min({forest.tree_count(), kMostTrees, std::max<std::size_t>(1, kMostEdges / edges)});
}

Json phase_json(const Forest& forest, std::int64_t k, const char* name) {
  Json list = Json::array();
  for (std::size_t t = 0; t < shown_trees(forest); ++t) {
    list.push_back(tree_json(forest, TreeId(t)));
  }
  return {{"phase", name}, {"total", forest.tree_count()}, {"k", k}, {"list", std::move(list)}};
}

// What trees that branch at switches span is said of each: the ranks, then the switches.
Json phase_json(const std::vector<BranchingTrees>& phase, std::int64_t chunks, const char* name) {
  Json list = Json::array();
  std::size_t total = 0;
  for (const BranchingTrees& trees : phase) {
    const Forest& forest = trees.forest;
    const std::size_t most = shown_trees(forest);
    for (std::size_t t = 0; t < forest.tree_count() && list.size() < most; ++t) {
      Json tree = tree_json(forest, TreeId(t));
      for (const NodeId v : forest.ranks()) tree["ranks"].push_back(v.value);
      list.push_back(std::move(tree));
    }
    total += forest.tree_count();
  }
  return {{"phase", name}, {"total", total}, {"k", chunks}, {"list", std::move(list)}};
}

Json trees_json(const CollectiveForest& forest) {
  Json phases = Json::array();
  if (forest.reduce) phases.push_back(phase_json(*forest.reduce, forest.k, "reduce"));
  if (forest.broadcast) phases.push_back(phase_json(*forest.broadcast, forest.k, "broadcast"));
  return phases;
}

Json trees_json(const BranchingForest& forest) {
  Json phases = Json::array();
  for (const auto& [phase, name] :
       {std::pair(&forest.reduce, "reduce"), std::pair(&forest.broadcast, "broadcast")}) {
    if (!phase->empty()) phases.push_back(phase_json(*phase, forest.chunks, name));
  }
  return phases;
}

std::string facts(const Comparison& comparison) {
  const TopologySummary summary = summarize(comparison.fabric->topology);
  std::size_t boxes = 0;
  for (const BoxSummary& group : summary.boxes) boxes += group.names.size();
  std::string text = counted(summary.gpus, "GPU");
  if (boxes > 0)
    text += fmt::format(" in {}", boxes == 1 ? "1 box" : fmt::format("{} boxes", boxes));
  text += fmt::format(
      ", {}", summary.switches == 1 ? "1 switch" : fmt::format("{} switches", summary.switches));
  for (const std::string& change : comparison.fabric->changes) text += "; " + change;
  if (has_times(comparison))
    text += fmt::format("; GPU parameters: {} ({})", comparison.gpu, comparison.gpu_chosen);
  return text + ".";
}

}  // namespace

Json page_data(const Comparison& comparison) {
  const Fabric& fabric = *comparison.fabric;
  const Arranged arranged = arrange(fabric);
  Json nodes = Json::array();
  Json ranks = Json::array();
  for (const TopologyNode& node : fabric.topology.nodes) nodes.push_back(node.id);
  for (const NodeId rank : fabric.topology.ranks) ranks.push_back(rank.value);
  Json busy = Json::object();
  Json trees = Json::object();
  for (const ComparedRow& row : comparison.rows) {
    if (!row.busy.empty()) busy[row.algorithm] = busy_json(row, arranged);
    if (row.forest) trees[row.algorithm] = trees_json(*row.forest);
    if (row.branching) trees[row.algorithm] = trees_json(*row.branching);
  }
  return {{"report", to_json(comparison, false)},
          {"facts", facts(comparison)},
          {"bottleneck", bottleneck_in_words(comparison) + "."},
          {"fractionTitle", fraction_title(comparison)},
          {"optimumBusbw", comparison.optimum_busbw.to_double()},
          {"nodes", std::move(nodes)},
          {"ranks", std::move(ranks)},
          {"links", links_json(arranged, fabric.links())},
          {"busy", std::move(busy)},
          {"trees", std::move(trees)}};
}

}  // namespace forestcoll::cli
