// From the document to a forest: names become nodes and ranks, paths become routes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "forest/depths.hpp"
#include "forest/document.hpp"
#include "forest/document_nodes.hpp"
#include "forest/parse_branching.hpp"
#include "forest/read_symmetry.hpp"
#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll {
namespace {

using forest::DocumentTree;
using forest::ForestDocument;
using forest::Name;

constexpr std::size_t kMaxEdges = 50'000'000;

class ForestParser {
 public:
  ForestParser(const ForestDocument& document, std::string_view file, const Topology& topology)
      : document_(document), file_(file), topology_(topology) {}

  Expected<CollectiveForest> parse() {
    CollectiveForest forest;
    if (const auto done = parse_header(forest); !done) return done.errors();
    if (const auto done = parse_ranks(forest); !done) return done.errors();
    const bool two = forest.collective == Collective::allreduce;
    const bool reduces = !has_broadcast(forest.collective);
    for (std::size_t list = 0; list < document_.lists.size(); ++list) {
      if (document_.lists[list].has_value() != (two ? list > 0 : list == 0)) {
        return flaw(
            Code::F01, fmt::format("/{}", forest::kListNames[list]),
            fmt::format("a forest of a {} has {} of trees", to_string(forest.collective),
                        two ? "the lists \"reduce\" and \"broadcast\"" : "the list \"trees\""));
      }
      if (!document_.lists[list]) continue;
      const bool inward = two ? list == 1 : reduces;
      auto trees = parse_list(list, inward);
      if (!trees) return trees.errors();
      (inward ? forest.reduce : forest.broadcast) = inward ? trees->reversed() : *trees;
    }
    return forest;
  }

 private:
  Expected<void> parse_header(CollectiveForest& forest) {
    if (document_.format != "forestcoll-forest" || document_.version < 1 || document_.version > 2) {
      return flaw(
          Code::F01, "/format",
          fmt::format("expected format \"forestcoll-forest\", version 1 or 2, found \"{}\", {}",
                      document_.format.substr(0, 40), document_.version));
    }
    const auto collective = parse_collective(document_.collective);
    if (!collective || is_personalized(*collective))
      return flaw(Code::F01, "/collective", "no collective of that name");
    forest.collective = *collective;
    const auto algbw = parse_ratio(document_.algbw);
    const auto optimum = parse_ratio(document_.optimum);
    if (!algbw || !optimum) return flaw(Code::F01, "/algbw", "expected exact rates");
    if (document_.k < 1) return flaw(Code::F01, "/k", "expected a positive integer");
    forest.algbw = *algbw;
    forest.optimum = *optimum;
    forest.k = document_.k;
    return {};
  }

  Expected<void> parse_ranks(CollectiveForest& forest) {
    auto found = forest::find_nodes(document_, file_, topology_);
    if (!found) return found.errors();
    nodes_ = *std::move(found);
    if (const auto done = parse_root(forest); !done) return done.errors();
    return parse_weights(forest);
  }

  Expected<void> parse_root(CollectiveForest& forest) {
    if (document_.root.has_value() != is_rooted(forest.collective)) {
      return flaw(Code::F01, "/root", "a broadcast and a reduce have a root, and no others");
    }
    if (!document_.root) return {};
    forest.root = rank(*document_.root);
    if (!forest.root->valid()) return flaw(Code::F02, "/root", "the root is not a rank");
    return {};
  }

  Expected<void> parse_weights(CollectiveForest& forest) {
    if (document_.weights.empty()) return {};
    if (document_.weights.size() != nodes_.ranks.size()) {
      return flaw(Code::F02, "/weights", "expected one weight per rank");
    }
    for (const std::int64_t weight : document_.weights) {
      if (weight < 0) return flaw(Code::F02, "/weights", "expected integers from 0 on");
      forest.weight.push_back(weight);
    }
    return {};
  }

  Expected<Forest> parse_list(std::size_t list, bool inward) {
    const std::vector<DocumentTree>& written = *document_.lists[list];
    const auto symmetry = parse_symmetry(list);
    if (!symmetry) return symmetry.errors();
    const auto [order, moved] = those_with_images_first(written);
    const std::size_t images = moved * symmetry->size() + (written.size() - moved);
    if (const auto done = check_size(list, images); !done) return done.errors();
    RouteBuilder builder(nodes_.ranks);
    std::vector<Forest::Tree> trees;
    std::vector<Route> routes(written.size() * nodes_.ranks.size());
    std::int64_t left = std::numeric_limits<std::int64_t>::max() / 2;
    for (std::size_t row = 0; row < written.size(); ++row) {
      const std::size_t t = order[row];
      place_ = fmt::format("/{}/{}", forest::kListNames[list], t);
      const Rank root = written[t].root < 0 ? Rank() : rank(written[t].root);
      if (!root.valid()) return flaw("the root is not a rank");
      const auto alike = static_cast<std::int64_t>(row < moved ? symmetry->size() : 1);
      if (written[t].multiplicity < 1 || written[t].multiplicity > left / alike) {
        return flaw("expected a positive multiplicity");
      }
      left -= written[t].multiplicity * alike;
      const std::span into(routes.data() + row * nodes_.ranks.size(), nodes_.ranks.size());
      if (const auto done = parse_edges(written[t], root, inward, builder, into); !done) {
        return done.errors();
      }
      const auto height = measure(root);
      if (!height) return height.errors();
      trees.push_back({root, written[t].multiplicity, *height});
    }
    return Forest(builder.take(), std::move(trees), std::move(routes), *symmetry, moved);
  }

  // The trivial one in version 1.
  Expected<Symmetry> parse_symmetry(std::size_t list) {
    if (document_.version == 1) return Symmetry();
    return forest::make_symmetry(document_.symmetry[list], nodes_, topology_, file_,
                                 fmt::format("/symmetry/{}", forest::kListNames[list]));
  }

  // The trees in the order in which a Forest wants them, and how many stand for images too.
  [[nodiscard]] std::pair<std::vector<std::size_t>, std::size_t> those_with_images_first(
      const std::vector<DocumentTree>& written) const {
    std::vector<std::size_t> order(written.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rest = std::stable_partition(order.begin(), order.end(), [&](std::size_t t) {
      return document_.version == 2 && written[t].images;
    });
    return {order, static_cast<std::size_t>(rest - order.begin())};
  }

  // Whoever goes on from a forest looks at every edge of every image.
  [[nodiscard]] Expected<void> check_size(std::size_t list, std::size_t trees) const {
    if (trees <= kMaxEdges / (nodes_.ranks.size() - 1)) return {};
    return make_error(
        Code::T10,
        fmt::format("{} trees with all images over {} ranks: more than {} edges", trees,
                    nodes_.ranks.size(), kMaxEdges),
        "pack the fabric that is left from scratch",
        {.file = std::string(file_), .where = fmt::format("/{}", forest::kListNames[list])});
  }

  // Every rank but the root gets its route, and its parent.
  Expected<void> parse_edges(const DocumentTree& tree, Rank root, bool inward,
                             RouteBuilder& builder, std::span<Route> row) {
    parent_.assign(nodes_.ranks.size(), Rank());
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      const auto begin = document_.path_nodes.begin() + document_.edge_begin[e];
      const auto end = document_.path_nodes.begin() + document_.edge_begin[e + 1];
      path_.assign(begin, end);
      if (inward) std::reverse(path_.begin(), path_.end());
      if (path_.size() < 2 || !rank(path_.front()).valid() || !rank(path_.back()).valid()) {
        return flaw("a path does not lead from rank to rank");
      }
      const Rank to = rank(path_.back());
      if (to == root || parent_[to.index()].valid()) {
        return flaw(fmt::format("{} is reached twice", id(path_.back())));
      }
      parent_[to.index()] = rank(path_.front());
      path_nodes_.clear();
      for (const Name name : path_) path_nodes_.push_back(node(name));
      for (std::size_t i = 1; i + 1 < path_.size(); ++i) {
        if (topology_.nodes[path_nodes_[i]].type == NodeType::compute) {
          return flaw(fmt::format("a path goes through {}", id(path_[i])));
        }
      }
      row[to.index()] = builder.add(parent_[to.index()], path_nodes_);
    }
    return {};
  }

  // The height; an error where some rank does not hang on the root.
  Expected<std::int32_t> measure(Rank root) {
    depth_.resize(nodes_.ranks.size());
    const auto height = fill_depths(std::span(depth_), root.index(), [&](std::size_t r) {
      return parent_[r].valid() ? parent_[r].index() : r;
    });
    if (height) return *height;
    const auto loose = std::ranges::find(depth_, -1) - depth_.begin();
    return flaw(fmt::format("{} does not hang on the root",
                            topology_.nodes[nodes_.ranks[static_cast<std::size_t>(loose)]].id));
  }

  [[nodiscard]] Rank rank(Name name) const {
    return nodes_.rank_of[static_cast<std::size_t>(name)];
  }
  [[nodiscard]] NodeId node(Name name) const { return nodes_.node[static_cast<std::size_t>(name)]; }
  [[nodiscard]] const std::string& id(Name name) const {
    return document_.names[static_cast<std::size_t>(name)];
  }

  [[nodiscard]] Diagnostic flaw(Code code, std::string where, std::string message) const {
    return forest::flaw_of_forest(code, file_, std::move(where), std::move(message));
  }
  // Of the tree at hand.
  [[nodiscard]] Diagnostic flaw(std::string message) const {
    return flaw(Code::F02, place_, std::move(message));
  }

  const ForestDocument& document_;
  std::string_view file_;
  const Topology& topology_;
  forest::DocumentNodes nodes_;

  // Of the tree at hand.
  std::string place_;
  std::vector<Rank> parent_;
  std::vector<std::int32_t> depth_;
  std::vector<Name> path_;
  std::vector<NodeId> path_nodes_;
};

}  // namespace

Expected<CollectiveForest> parse_forest(std::string_view text, std::string_view file,
                                        const Topology& topology) {
  const auto document = forest::read_forest_document(text, file);
  if (!document) return document.errors();
  return ForestParser(*document, file, topology).parse();
}

Expected<AnyForest> parse_any_forest(std::string_view text, std::string_view file,
                                     const Topology& topology) {
  const auto document = forest::read_forest_document(text, file);
  if (!document) return document.errors();
  if (document->format == "forestcoll-forest" && document->version == forest::kBranchingVersion) {
    auto branching = forest::parse_branching(*document, file, topology);
    if (!branching) return branching.errors();
    return AnyForest(*std::move(branching));
  }
  auto forest = ForestParser(*document, file, topology).parse();
  if (!forest) return forest.errors();
  return AnyForest(*std::move(forest));
}

}  // namespace forestcoll
