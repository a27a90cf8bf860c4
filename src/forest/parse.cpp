// From the file to a forest: names become nodes and ranks, paths become routes. A switch at which
// an edge ends is a node of the tree, behind the ranks; trees with the same such switches make one
// forest, whose ranks these switches are, too. Those of versions 1 and 2 have none.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "forest/depths.hpp"
#include "forest/document.hpp"
#include "forest/read_symmetry.hpp"
#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll {
namespace {

using audit::ForestEdge;
using audit::ForestFile;
using audit::ForestTree;
using audit::Name;
using audit::TreeList;

constexpr std::size_t kMaxEdges = 50'000'000;
constexpr std::int64_t kBranchingVersion = 3;

// Trees that branch at the same switches, as they are read.
struct TreeClass {
  std::vector<NodeId> switches;
  RouteBuilder builder;
  std::vector<Forest::Tree> trees = {};
  std::vector<Route> routes = {};
};

class ForestParser {
 public:
  ForestParser(const ForestFile& document, std::string_view file, const Topology& topology)
      : document_(document), file_(file), topology_(topology) {}

  [[nodiscard]] bool branches() const {
    return document_.format == "forestcoll-forest" && document_.version == kBranchingVersion;
  }

  Expected<CollectiveForest> parse() {
    CollectiveForest forest;
    place_ = "/format";
    if (document_.format != "forestcoll-forest" || document_.version < 1 || document_.version > 2) {
      return flaw(Code::F01, fmt::format("expected format \"forestcoll-forest\", version 1 or 2, "
                                         "found \"{}\", {}",
                                         document_.format.substr(0, 40), document_.version));
    }
    place_ = "/k";
    if (document_.k < 1) return flaw(Code::F01, "expected a positive integer");
    forest.k = document_.k;
    if (const auto done = parse_head(forest); !done) return done.errors();
    if (const auto done = parse_weights(forest); !done) return done.errors();
    return parse_lists(std::move(forest), std::numeric_limits<std::int64_t>::max() / 2,
                       [](std::vector<BranchingTrees> trees) { return trees.front().forest; });
  }

  Expected<BranchingForest> parse_branching() {
    BranchingForest forest;
    place_ = "/chunks";
    if (document_.chunks < 1) return flaw(Code::F01, "expected a positive integer");
    forest.chunks = document_.chunks;
    if (const auto done = parse_head(forest); !done) return done.errors();
    if (forest.collective != Collective::allreduce && !is_rooted(forest.collective)) {
      place_ = "/collective";
      return flaw(Code::F01, "expected an allreduce, a broadcast or a reduce");
    }
    forest.ranks = nodes_.ranks;
    return parse_lists(std::move(forest), document_.chunks,
                       [](std::vector<BranchingTrees> trees) { return trees; });
  }

 private:
  // What all versions have.
  template <class AForest>
  Expected<void> parse_head(AForest& forest) {
    place_ = "/collective";
    const auto collective = parse_collective(document_.collective);
    if (!collective || is_personalized(*collective)) {
      return flaw(Code::F01, "no collective of that name");
    }
    forest.collective = *collective;
    place_ = "/algbw";
    const auto algbw = parse_ratio(document_.algbw.value_or(""));
    const auto optimum = parse_ratio(document_.optimum.value_or(""));
    if (!algbw || !optimum) return flaw(Code::F01, "expected exact rates");
    forest.algbw = *algbw;
    forest.optimum = *optimum;
    if (const auto done = find_ranks(); !done) return done;
    place_ = "/root";
    if (document_.root.has_value() != is_rooted(*collective)) {
      return flaw(Code::F01, "a broadcast and a reduce have a root, and no others");
    }
    if (!document_.root) return {};
    forest.root = nodes_.rank_of[static_cast<std::size_t>(*document_.root)];
    if (!forest.root->valid()) return flaw(Code::F02, "the root is not a rank");
    return {};
  }

  Expected<void> find_ranks() {
    auto found = forest::find_nodes(document_, file_, topology_);
    if (!found) return found.errors();
    nodes_ = *std::move(found);
    place_in_tree_.assign(topology_.nodes.size(), Rank());
    for (std::size_t r = 0; r < nodes_.ranks.size(); ++r) place_in_tree_[nodes_.ranks[r]] = Rank(r);
    return {};
  }

  Expected<void> parse_weights(CollectiveForest& forest) {
    if (document_.weights.empty()) return {};
    place_ = "/weights";
    if (document_.weights.size() != nodes_.ranks.size()) {
      return flaw(Code::F02, "expected one weight per rank");
    }
    for (const std::int64_t weight : document_.weights) {
      if (weight < 0) return flaw(Code::F02, "expected integers from 0 on");
      forest.weight.push_back(weight);
    }
    return {};
  }

  // The lists that the collective has, and no others. Multiplicities of one sum to `most` at most.
  template <class AForest, class AsPhase>
  Expected<AForest> parse_lists(AForest forest, std::int64_t most, AsPhase&& as_phase) {
    const Collective collective = forest.collective;
    const bool two = collective == Collective::allreduce;
    for (const auto& [name, list, is_wanted, inward] :
         {std::tuple("trees", &document_.trees, !two, !has_broadcast(collective)),
          std::tuple("reduce", &document_.reduce, two, true),
          std::tuple("broadcast", &document_.broadcast, two, false)}) {
      place_ = fmt::format("/{}", name);
      if (list->present != is_wanted) {
        return flaw(
            Code::F01,
            fmt::format("a forest of a {} has {} of trees", to_string(collective),
                        two ? "the lists \"reduce\" and \"broadcast\"" : "the list \"trees\""));
      }
      if (!is_wanted) continue;
      auto trees = parse_list(*list, name, inward, most);
      if (!trees) return trees.errors();
      (inward ? forest.reduce : forest.broadcast) = as_phase(*std::move(trees));
    }
    return forest;
  }

  // By branching points, in the order in which these first appear.
  Expected<std::vector<BranchingTrees>> parse_list(const TreeList& list, const char* name,
                                                   bool inward, std::int64_t left) {
    const auto symmetry = parse_symmetry(list, name);
    if (!symmetry) return symmetry.errors();
    const auto [order, moved] = those_with_images_first(list.trees);
    const std::size_t images = moved * symmetry->size() + (order.size() - moved);
    if (const auto done = check_size(images); !done) return done.errors();
    std::vector<TreeClass> classes;
    if (!branches()) classes.push_back({{}, RouteBuilder(nodes_.ranks)});
    for (std::size_t row = 0; row < order.size(); ++row) {
      const ForestTree& tree = list.trees[order[row]];
      place_ = fmt::format("/{}/{}", name, order[row]);
      const auto alike = static_cast<std::int64_t>(row < moved ? symmetry->size() : 1);
      if (tree.multiplicity < 1 || tree.multiplicity > left / alike) {
        return flaw(Code::F02, "expected a positive multiplicity, no more than is left of all");
      }
      left -= tree.multiplicity * alike;
      if (const auto done = add_tree(tree, inward, classes); !done) return done.errors();
    }
    std::vector<BranchingTrees> phase;
    for (TreeClass& each : classes) {
      const Forest forest(each.builder.take(), std::move(each.trees), std::move(each.routes),
                          *symmetry, moved);
      phase.push_back({std::move(each.switches), inward ? forest.reversed() : forest});
    }
    return phase;
  }

  // The trivial one but in version 2.
  Expected<Symmetry> parse_symmetry(const TreeList& list, const char* name) {
    if (document_.version != 2) return Symmetry();
    return forest::make_symmetry(list.symmetry, nodes_, topology_, file_,
                                 fmt::format("/symmetry/{}", name));
  }

  // The trees in the order in which a Forest wants them, and how many stand for images too.
  [[nodiscard]] std::pair<std::vector<std::size_t>, std::size_t> those_with_images_first(
      const std::vector<ForestTree>& written) const {
    std::vector<std::size_t> order(written.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rest = std::stable_partition(order.begin(), order.end(), [&](std::size_t t) {
      return document_.version == 2 && written[t].images;
    });
    return {order, static_cast<std::size_t>(rest - order.begin())};
  }

  // Whoever goes on from a forest looks at every edge of every image.
  [[nodiscard]] Expected<void> check_size(std::size_t trees) const {
    if (trees <= kMaxEdges / (nodes_.ranks.size() - 1)) return {};
    return make_error(Code::T10,
                      fmt::format("{} trees with all images over {} ranks: more than {} edges",
                                  trees, nodes_.ranks.size(), kMaxEdges),
                      "pack the fabric that is left from scratch",
                      {.file = std::string(file_), .where = place_});
  }

  Expected<void> add_tree(const ForestTree& tree, bool inward, std::vector<TreeClass>& classes) {
    const auto switches = switches_of(tree);
    if (!switches) return switches.errors();
    auto own = std::ranges::find(classes, *switches, &TreeClass::switches);
    if (own == classes.end()) {
      std::vector<NodeId> spanned = nodes_.ranks;
      spanned.insert(spanned.end(), switches->begin(), switches->end());
      own = classes.insert(own, {*switches, RouteBuilder(std::move(spanned))});
    }
    for (std::size_t i = 0; i < switches->size(); ++i) {
      place_in_tree_[(*switches)[i]] = Rank(nodes_.ranks.size() + i);
    }
    auto done = add_routes(tree, inward, *own);
    for (const NodeId v : *switches) place_in_tree_[v] = Rank();
    return done;
  }

  // At which edges end, in the order of nodes.
  Expected<std::vector<NodeId>> switches_of(const ForestTree& tree) const {
    if (tree.root < 0) return flaw(Code::F02, "no root is named");
    std::set<NodeId> switches;
    const auto is_end = [&](Name end) {
      if (nodes_.rank_of[static_cast<std::size_t>(end)].valid()) return true;
      if (!branches() || topology_.nodes[node(end)].type == NodeType::compute) return false;
      switches.insert(node(end));
      return true;
    };
    if (!is_end(tree.root)) return flaw(Code::F02, "the root is not a rank");
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      const auto path = path_of(document_.edges[e]);
      if (path.size() < 2 || !is_end(path.front()) || !is_end(path.back())) {
        return flaw(Code::F02, "a path does not lead from rank to rank");
      }
    }
    return std::vector<NodeId>(switches.begin(), switches.end());
  }

  // All but the root get a route.
  Expected<void> add_routes(const ForestTree& tree, bool inward, TreeClass& own) {
    const std::size_t spanned = nodes_.ranks.size() + own.switches.size();
    const Rank root = place_in_tree_[node(tree.root)];
    parent_.assign(spanned, Rank());
    own.routes.resize(own.routes.size() + spanned);
    const auto row = std::span(own.routes).last(spanned);
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      path_.clear();
      for (const Name name : path_of(document_.edges[e])) path_.push_back(node(name));
      if (inward) std::ranges::reverse(path_);
      const Rank to = place_in_tree_[path_.back()];
      if (to == root || parent_[to.index()].valid()) {
        return flaw(Code::F02, fmt::format("{} is reached twice", id(path_.back())));
      }
      for (std::size_t i = 1; i + 1 < path_.size(); ++i) {
        if (topology_.nodes[path_[i]].type == NodeType::compute) {
          return flaw(Code::F02, fmt::format("a path goes through {}", id(path_[i])));
        }
      }
      parent_[to.index()] = place_in_tree_[path_.front()];
      row[to.index()] = own.builder.add(parent_[to.index()], path_);
    }
    depth_.resize(spanned);
    const auto height = fill_depths(std::span(depth_), root.index(), [&](std::size_t r) {
      return parent_[r].valid() ? parent_[r].index() : r;
    });
    if (!height) return flaw(Code::F02, fmt::format("{} does not hang on the root", loose(own)));
    own.trees.push_back({root, tree.multiplicity, *height});
    return {};
  }

  // The first that has no depth.
  [[nodiscard]] const std::string& loose(const TreeClass& own) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(depth_, -1) - depth_.begin());
    const std::size_t ranks = nodes_.ranks.size();
    return id(at < ranks ? nodes_.ranks[at] : own.switches[at - ranks]);
  }

  [[nodiscard]] std::span<const Name> path_of(const ForestEdge& edge) const {
    return std::span(document_.path_nodes)
        .subspan(edge.path_begin, edge.path_end - edge.path_begin);
  }
  [[nodiscard]] NodeId node(Name name) const { return nodes_.node[static_cast<std::size_t>(name)]; }
  [[nodiscard]] const std::string& id(NodeId v) const { return topology_.nodes[v].id; }
  [[nodiscard]] Diagnostic flaw(Code code, std::string message) const {
    return forest::flaw_of_forest(code, file_, place_, std::move(message));
  }

  const ForestFile& document_;
  std::string_view file_;
  const Topology& topology_;
  forest::DocumentNodes nodes_;
  std::string place_;

  // Of the tree at hand: of a node, its number among what the tree spans.
  IdVector<NodeId, Rank> place_in_tree_;
  std::vector<Rank> parent_;
  std::vector<std::int32_t> depth_;
  std::vector<NodeId> path_;
};

}  // namespace

Expected<CollectiveForest> parse_forest(std::string_view text, std::string_view file,
                                        const Topology& topology) {
  const auto document = forest::read_document(text, file);
  if (!document) return document.errors();
  return ForestParser(*document, file, topology).parse();
}

Expected<AnyForest> parse_any_forest(std::string_view text, std::string_view file,
                                     const Topology& topology) {
  const auto document = forest::read_document(text, file);
  if (!document) return document.errors();
  ForestParser parser(*document, file, topology);
  if (parser.branches()) {
    auto forest = parser.parse_branching();
    if (!forest) return forest.errors();
    return AnyForest(*std::move(forest));
  }
  auto forest = parser.parse();
  if (!forest) return forest.errors();
  return AnyForest(*std::move(forest));
}

}  // namespace forestcoll
