#include "audit/forest/check.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "audit/forest/edges.hpp"
#include "audit/forest/facts.hpp"
#include "audit/forest/images.hpp"

namespace forestcoll::audit {
namespace {

class ForestCheck : EdgeChecks {
 public:
  ForestCheck(const ForestFile& forest, const Topology* topology, const ForestFacts& facts,
              Findings& findings, Verdict& verdict)
      : EdgeChecks(forest, facts), topology_(topology), findings_(findings), verdict_(verdict) {}

  void run() {
    for (const ForestPhase& phase : facts_.phases) check_phase(phase);
    if (!findings_.blocked() && facts_.network) {
      check_claim(facts_, *topology_, loads_, findings_, verdict_);
    }
    compare_with_optimum(facts_, verdict_.collective == Collective::allreduce, findings_);
  }

 private:
  void check_phase(const ForestPhase& phase) {
    std::vector<std::int64_t> per_root(forest_.ranks.size(), 0), per_moved_root = per_root;
    load_.assign(facts_.network ? facts_.network->graph.arc_count() : 0, 0);
    moved_load_ = load_;
    std::int64_t total = 0;
    for (std::size_t t = 0; t < phase.list->trees.size(); ++t) {
      const ForestTree& tree = phase.list->trees[t];
      const std::string where = fmt::format("{} tree {}", phase.name, t);
      const std::int32_t root = facts_.rank_of(tree.root);
      if (root < 0) {
        findings_.add(Rule::tree, where,
                      tree.root < 0 ? "no root is named"
                                    : fmt::format("the root {} is not a rank", name(tree.root)));
        continue;
      }
      if (tree.multiplicity < 1 || tree.multiplicity > kMaxTrees - total) {
        findings_.add(
            Rule::multiplicity, where,
            fmt::format("multiplicity: expected a positive integer, found {}", tree.multiplicity));
        continue;
      }
      total += tree.multiplicity;
      if (tree.images && forest_.version == 1) {
        findings_.add(Rule::attribute, where, "images: belong to version 2 of the format");
      }
      (tree.images ? per_moved_root : per_root)[static_cast<std::size_t>(root)] +=
          tree.multiplicity;
      check_tree(phase, tree, root, where);
      check_paths(tree, where);
    }
    add_images(phase, per_moved_root, per_root);
    check_per_root(phase, per_root);
    loads_.push_back(load_);
  }

  // What the images of trees do: an automorphism takes a spanning tree to a spanning tree, and
  // routes to routes, so that only roots and loads need to be added up.
  void add_images(const ForestPhase& phase, const std::vector<std::int64_t>& moved_roots,
                  std::vector<std::int64_t>& per_root) {
    const std::size_t before = findings_.count();
    const Images images(forest_, *phase.list, phase.name, findings_);
    if (findings_.count() > before || !check_automorphisms(phase, images)) return;
    const auto rank_image = [&](std::size_t g, std::size_t rank) {
      return static_cast<std::size_t>(facts_.rank_of(images.apply(g, forest_.ranks[rank])));
    };
    const auto arc_image = [&](std::size_t g, std::size_t arc) {
      return arc_image_[g][arc].index();
    };
    const auto roots = images.spread(moved_roots, rank_image);
    const auto loads = images.spread(moved_load_, arc_image);
    const auto add = [&](const std::vector<std::int64_t>& more, std::vector<std::int64_t>& all) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (more[i] > kMaxTrees - all[i]) return false;
        all[i] += more[i];
      }
      return true;
    };
    if (roots && loads && add(*roots, per_root) && add(*loads, load_)) return;
    findings_.add(Rule::too_large, std::string(phase.name),
                  "the images of the trees are more than exact arithmetic holds");
  }

  // Ranks go to ranks and, with a topology, links to links of the same bandwidth.
  bool check_automorphisms(const ForestPhase& phase, const Images& images) {
    arc_image_.assign(images.generators(), {});
    for (std::size_t g = 0; g < images.generators(); ++g) {
      const std::string where = fmt::format("/symmetry/{}/{}", phase.name, g);
      for (const Name rank : forest_.ranks) {
        if (facts_.rank_of(images.apply(g, rank)) >= 0) continue;
        findings_.add(Rule::attribute, where,
                      fmt::format("takes the rank {} to {}, which is none", name(rank),
                                  name(images.apply(g, rank))));
        return false;
      }
      if (facts_.network && !map_arcs(images, g, where)) return false;
    }
    return true;
  }

  bool map_arcs(const Images& images, std::size_t g, const std::string& where) {
    const Digraph& graph = facts_.network->graph;
    std::vector<NodeId> image(graph.node_count());
    for (std::size_t v = 0; v < image.size(); ++v) image[v] = NodeId(v);
    for (std::size_t i = 0; i < forest_.names.size(); ++i) {
      const Name to = images.apply(g, static_cast<Name>(i));
      if (to == static_cast<Name>(i)) continue;
      const NodeId from = facts_.node_of(static_cast<Name>(i)), there = facts_.node_of(to);
      if (!from.valid() || !there.valid()) {
        findings_.add(Rule::fabric, where,
                      fmt::format("{} is not a node of the topology",
                                  from.valid() ? name(to) : forest_.names[i]));
        return false;
      }
      image[from.index()] = there;
    }
    for (std::size_t a = 0; a < graph.arc_count(); ++a) {
      const NodeId tail = graph.tail(ArcId(a)), head = graph.head(ArcId(a));
      const ArcId to = facts_.network->graph.find(image[tail.index()], image[head.index()]);
      arc_image_[g].push_back(to);
      if (to.valid() && capacity(to) == capacity(ArcId(a))) continue;
      findings_.add(Rule::fabric, where,
                    fmt::format("takes the link from {} to {} to no link of the same bandwidth",
                                topology_->nodes[tail].id, topology_->nodes[head].id));
      return false;
    }
    return true;
  }

  // One edge into (out of) every rank but the root, and all of them hang on the root.
  void check_tree(const ForestPhase& phase, const ForestTree& tree, std::int32_t root,
                  const std::string& where) {
    const std::size_t ranks = forest_.ranks.size();
    std::vector<std::int32_t> parent(ranks, -1);
    bool sound = true;
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      const ForestEdge& edge = forest_.edges[e];
      const std::int32_t up = facts_.rank_of(phase.inward ? edge.dst : edge.src);
      const std::int32_t down = facts_.rank_of(phase.inward ? edge.src : edge.dst);
      const auto fail = [&](std::string message) {
        findings_.add(Rule::tree, edge_place(where, tree, e), std::move(message));
        sound = false;
      };
      if (up < 0 || down < 0) {
        fail("both ends of an edge must be ranks");
      } else if (down == root) {
        fail(fmt::format("leads {} the root {}: the edges of this list go from {}",
                         phase.inward ? "out of" : "into", name(tree.root),
                         phase.inward ? "child to parent" : "parent to child"));
      } else if (parent[static_cast<std::size_t>(down)] >= 0) {
        fail(fmt::format("a second edge {} {}", phase.inward ? "out of" : "into",
                         name(forest_.ranks[static_cast<std::size_t>(down)])));
      } else {
        parent[static_cast<std::size_t>(down)] = up;
      }
    }
    if (!sound) return;
    const auto name_of = [&](std::int32_t rank) {
      return name(forest_.ranks[static_cast<std::size_t>(rank)]);
    };
    check_shape(tree, parent, root, name_of, where, findings_);
  }

  void check_paths(const ForestTree& tree, const std::string& where) {
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      const auto say = [&](std::string flaw) {
        if (flaw.empty()) return true;
        findings_.add(Rule::path, edge_place(where, tree, e), std::move(flaw));
        return false;
      };
      const auto path = path_of(forest_.edges[e]);
      if (!say(flaw_of_ends(path, forest_.edges[e]))) continue;
      say(flaw_between(path));
      auto& load = tree.images ? moved_load_ : load_;
      for (std::size_t i = 0; facts_.network && i + 1 < path.size(); ++i) {
        if (!say(add_load(path[i], path[i + 1], tree.multiplicity, load))) break;
      }
    }
  }

  void check_per_root(const ForestPhase& phase, const std::vector<std::int64_t>& per_root) {
    const bool rooted = is_rooted(verdict_.collective);
    std::size_t roots = 0;
    for (std::size_t r = 0; r < per_root.size(); ++r) {
      if (per_root[r] > 0) ++roots;
      const std::int64_t owed = forest_.k * facts_.weight[r];
      if (per_root[r] == owed || (rooted && per_root[r] == 0)) continue;
      findings_.add(
          Rule::multiplicity, std::string(phase.name),
          fmt::format(
              "the trees rooted at {} have multiplicity {} together; k is {}{}",
              name(forest_.ranks[r]), per_root[r], forest_.k,
              facts_.weight[r] == 1 ? "" : fmt::format(", its weight {}", facts_.weight[r])));
    }
    if (rooted && roots != 1) {
      findings_.add(Rule::multiplicity, std::string(phase.name),
                    fmt::format("a {} has one root; the trees have {}",
                                forestcoll::to_string(verdict_.collective), roots));
    }
  }

  [[nodiscard]] Capacity capacity(ArcId arc) const { return facts_.network->capacity[arc]; }

  const Topology* topology_;
  Findings& findings_;
  Verdict& verdict_;
  // Of the phase at hand, by arc: of trees, and of those whose images are still to be added.
  std::vector<std::int64_t> load_, moved_load_;
  std::vector<std::vector<ArcId>> arc_image_;  // by generator
  std::vector<std::vector<std::int64_t>> loads_;
};

}  // namespace

void check_forest(const ForestFile& forest, const Topology* topology, Findings& findings,
                  Verdict& verdict) {
  const auto facts = read_facts(forest, topology, findings, verdict);
  if (!facts) return;
  if (forest.version == 3) {
    check_branching(forest, topology, *facts, findings, verdict);
  } else {
    ForestCheck(forest, topology, *facts, findings, verdict).run();
  }
}

}  // namespace forestcoll::audit
