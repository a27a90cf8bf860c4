// A switch at which an edge ends is a node of the tree, behind the ranks; trees with the same such
// switches make one forest, whose ranks these switches are, too.
#include "forest/parse_branching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forest/document_nodes.hpp"
#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"

namespace forestcoll::forest {
namespace {

/// A tree's edges as nodes of the topology, out-tree: from above to below.
struct ReadTree {
  NodeId root;
  std::int64_t multiplicity = 1;
  std::map<NodeId, std::vector<NodeId>> path_to;  ///< by the lower end
};

class BranchingParser {
 public:
  BranchingParser(const ForestDocument& document, std::string_view file, const Topology& topology)
      : document_(document), file_(file), topology_(topology) {}

  Expected<BranchingForest> parse() {
    BranchingForest forest;
    if (const auto done = parse_header(forest); !done) return done.errors();
    auto nodes = find_nodes(document_, file_, topology_);
    if (!nodes) return nodes.errors();
    nodes_ = *std::move(nodes);
    forest.ranks = nodes_.ranks;
    if (const auto done = parse_root(forest); !done) return done.errors();
    const bool two = forest.collective == Collective::allreduce;
    const std::array<bool, kListNames.size()> wanted = {!two, two, two};
    for (std::size_t list = 0; list < kListNames.size(); ++list) {
      place_ = fmt::format("/{}", kListNames[list]);
      if (document_.lists[list].has_value() != wanted[list]) {
        return flaw(
            Code::F01,
            fmt::format("a forest of a {} has {} of trees", to_string(forest.collective),
                        two ? "the lists \"reduce\" and \"broadcast\"" : "the list \"trees\""));
      }
      if (!wanted[list]) continue;
      const bool inward = two ? list == 1 : forest.collective == Collective::reduce;
      auto phase = parse_list(list, inward);
      if (!phase) return phase.errors();
      (inward ? forest.reduce : forest.broadcast) = *std::move(phase);
    }
    return forest;
  }

 private:
  Expected<void> parse_header(BranchingForest& forest) {
    place_ = "/collective";
    const auto collective = parse_collective(document_.collective);
    if (!collective || (*collective != Collective::allreduce && !is_rooted(*collective))) {
      return flaw(Code::F01, "expected an allreduce, a broadcast or a reduce");
    }
    place_ = "/algbw";
    const auto algbw = parse_ratio(document_.algbw), optimum = parse_ratio(document_.optimum);
    if (!algbw || !optimum) return flaw(Code::F01, "expected exact rates");
    place_ = "/chunks";
    if (document_.chunks < 1) return flaw(Code::F01, "expected a positive integer");
    forest.collective = *collective;
    forest.algbw = *algbw;
    forest.optimum = *optimum;
    forest.chunks = document_.chunks;
    return {};
  }

  Expected<void> parse_root(BranchingForest& forest) {
    place_ = "/root";
    if (document_.root.has_value() != is_rooted(forest.collective)) {
      return flaw(Code::F01, "a broadcast and a reduce have a root, and no others");
    }
    if (!document_.root) return {};
    forest.root = nodes_.rank_of[static_cast<std::size_t>(*document_.root)];
    if (!forest.root->valid()) return flaw(Code::F02, "the root is not a rank");
    return {};
  }

  // By branching points, in the order in which these first appear.
  Expected<std::vector<BranchingTrees>> parse_list(std::size_t list, bool inward) {
    std::vector<std::pair<std::vector<NodeId>, std::vector<ReadTree>>> classes;
    const std::vector<DocumentTree>& written = *document_.lists[list];
    std::int64_t left = document_.chunks;
    for (std::size_t t = 0; t < written.size(); ++t) {
      place_ = fmt::format("/{}/{}", kListNames[list], t);
      auto tree = parse_tree(written[t], inward);
      if (!tree) return tree.errors();
      if (tree->multiplicity < 1 || tree->multiplicity > left) {
        return flaw(Code::F02, "expected a multiplicity of 1 to what is left of the chunks");
      }
      left -= tree->multiplicity;
      const std::vector<NodeId> switches = switches_of(*tree);
      auto same = std::ranges::find(classes, switches, [](const auto& each) { return each.first; });
      if (same == classes.end()) same = classes.insert(same, {switches, {}});
      same->second.push_back(*std::move(tree));
    }
    std::vector<BranchingTrees> phase;
    for (auto& [switches, trees] : classes) {
      auto forest = forest_of(switches, trees);
      if (!forest) return forest.errors();
      phase.push_back({switches, inward ? forest->reversed() : *std::move(forest)});
    }
    return phase;
  }

  Expected<ReadTree> parse_tree(const DocumentTree& written, bool inward) {
    if (written.root < 0) return flaw(Code::F02, "no root is named");
    ReadTree tree{node(written.root), written.multiplicity, {}};
    for (std::size_t e = written.edges_begin; e < written.edges_end; ++e) {
      std::vector<NodeId> path;
      for (std::uint32_t i = document_.edge_begin[e]; i < document_.edge_begin[e + 1]; ++i) {
        path.push_back(node(document_.path_nodes[i]));
      }
      if (inward) std::ranges::reverse(path);
      if (path.size() < 2 ||
          std::any_of(path.begin() + 1, path.end() - 1, [&](NodeId v) { return is_compute(v); })) {
        return flaw(Code::F02, "a path does not lead through switches alone, from node to node");
      }
      const NodeId below = path.back();
      if (below == tree.root || !tree.path_to.emplace(below, std::move(path)).second) {
        return flaw(Code::F02, fmt::format("{} is reached twice", topology_.nodes[below].id));
      }
    }
    return tree;
  }

  [[nodiscard]] std::vector<NodeId> switches_of(const ReadTree& tree) const {
    std::set<NodeId> ends = {tree.root};
    for (const auto& [below, path] : tree.path_to) {
      ends.insert(below);
      ends.insert(path.front());
    }
    std::vector<NodeId> switches;
    std::ranges::copy_if(ends, std::back_inserter(switches),
                         [&](NodeId v) { return !is_compute(v); });
    return switches;
  }

  Expected<Forest> forest_of(const std::vector<NodeId>& switches,
                             const std::vector<ReadTree>& read) {
    std::vector<NodeId> spanned = nodes_.ranks;
    spanned.insert(spanned.end(), switches.begin(), switches.end());
    std::map<NodeId, Rank> place;
    for (std::size_t r = 0; r < spanned.size(); ++r) place.emplace(spanned[r], Rank(r));
    std::vector<const ReadTree*> order;
    for (const ReadTree& tree : read) order.push_back(&tree);
    std::ranges::stable_sort(order, {},
                             [&](const ReadTree* tree) { return rank_in(place, *tree); });
    RouteBuilder builder(spanned);
    std::vector<Forest::Tree> trees;
    std::vector<Route> routes(read.size() * spanned.size());
    for (std::size_t t = 0; t < order.size(); ++t) {
      const ReadTree& tree = *order[t];
      const auto height = height_of(tree, spanned);
      if (!height || !place.contains(tree.root)) {
        return flaw(Code::F02,
                    fmt::format("a tree with the root {} does not span the ranks once each",
                                topology_.nodes[tree.root].id));
      }
      for (const auto& [below, path] : tree.path_to) {
        routes[t * spanned.size() + place.at(below).index()] =
            builder.add(place.at(path.front()), path);
      }
      trees.push_back({place.at(tree.root), tree.multiplicity, *height});
    }
    return Forest(builder.take(), std::move(trees), std::move(routes));
  }

  static Rank rank_in(const std::map<NodeId, Rank>& place, const ReadTree& tree) {
    const auto at = place.find(tree.root);
    return at == place.end() ? Rank() : at->second;
  }

  // Nothing where not all that is to be spanned hangs on the root.
  [[nodiscard]] static std::optional<std::int32_t> height_of(const ReadTree& tree,
                                                             const std::vector<NodeId>& spanned) {
    std::int32_t highest = 0;
    for (const NodeId v : spanned) {
      NodeId at = v;
      std::int32_t depth = 0;
      while (at != tree.root) {
        const auto up = tree.path_to.find(at);
        if (up == tree.path_to.end() || ++depth > std::ssize(spanned)) return std::nullopt;
        at = up->second.front();
      }
      highest = std::max(highest, depth);
    }
    if (tree.path_to.size() + 1 != spanned.size()) return std::nullopt;
    return highest;
  }

  [[nodiscard]] NodeId node(Name name) const { return nodes_.node[static_cast<std::size_t>(name)]; }
  [[nodiscard]] bool is_compute(NodeId v) const {
    return topology_.nodes[v].type == NodeType::compute;
  }

  [[nodiscard]] Diagnostic flaw(Code code, std::string message) const {
    return flaw_of_forest(code, file_, place_, std::move(message));
  }

  const ForestDocument& document_;
  std::string_view file_;
  const Topology& topology_;
  DocumentNodes nodes_;
  std::string place_;
};

}  // namespace

Expected<BranchingForest> parse_branching(const ForestDocument& document, std::string_view file,
                                          const Topology& topology) {
  return BranchingParser(document, file, topology).parse();
}

}  // namespace forestcoll::forest
