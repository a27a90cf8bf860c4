// The nodes of a tree are the ranks and, in version 3, all switches at which edges end: what a
// switch does to a tree is seen from that. Where an edge leads to it, or from it, data is copied,
// or added up; a switch inside a path only passes it on. Over these nodes it has to be a tree.
//
// Where a switch echoes (NVSwitch), what a GPU stores into it to be copied comes back over the
// GPU's own link, and what a GPU reads from it combined takes the GPU's own part there. Both load
// the arc the other way.
#include "audit/forest/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "audit/forest/edges.hpp"
#include "audit/forest/facts.hpp"
#include "audit/forest/images.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::audit {
namespace {

class ForestCheck : EdgeChecks {
 public:
  ForestCheck(const ForestFile& forest, const Topology* topology, const ForestFacts& facts,
              Findings& findings, Verdict& verdict)
      : EdgeChecks(forest, facts),
        topology_(topology),
        findings_(findings),
        verdict_(verdict),
        roles_(topology == nullptr ? SwitchRoles() : switch_roles(*topology)),
        vertex_of_(facts.rank_by_name) {}

  void run() {
    for (const ForestPhase& phase : facts_.phases) check_phase(phase);
    if (!findings_.blocked() && branches()) {
      if (is_rooted(verdict_.collective)) {
        count_roots();
      } else {
        compare_roots();
      }
    }
    if (!findings_.blocked() && facts_.network) {
      check_claim(facts_, *topology_, loads_, findings_, verdict_);
    }
    const bool is_in_turn = !branches() && verdict_.collective == Collective::allreduce;
    compare_with_optimum(facts_, is_in_turn, findings_);
  }

 private:
  // The tree at hand, for messages.
  struct Place {
    const ForestPhase& phase;
    const ForestTree& tree;
    std::string where;
  };
  using ByName = std::vector<std::int64_t>;

  [[nodiscard]] bool branches() const { return forest_.version == 3; }
  [[nodiscard]] bool is_rank(Name n) const { return facts_.rank_of(n) >= 0; }

  void check_phase(const ForestPhase& phase) {
    ByName rooted(forest_.names.size(), 0), moved_rooted = rooted;
    load_.assign(facts_.network ? facts_.network->graph.arc_count() : 0, 0);
    moved_load_ = load_;
    const std::int64_t most = branches() ? forest_.chunks : kMaxTrees;
    std::int64_t left = most;
    for (std::size_t t = 0; t < phase.list->trees.size(); ++t) {
      const ForestTree& tree = phase.list->trees[t];
      const Place place{phase, tree, fmt::format("{} tree {}", phase.name, t)};
      if (tree.images && forest_.version != 2) {
        findings_.add(Rule::attribute, place.where, "images: belong to version 2 of the format");
      }
      if (!check_multiplicity(place, left)) continue;
      left -= tree.multiplicity;
      if (!check_root(place)) continue;
      (tree.images ? moved_rooted : rooted)[static_cast<std::size_t>(tree.root)] +=
          tree.multiplicity;
      check_tree(place);
      for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) check_path(place, e);
    }
    if (!branches()) {
      add_images(phase, moved_rooted, rooted);
      check_per_root(phase, rooted);
    } else if (left > 0) {
      findings_.add(Rule::multiplicity, std::string(phase.name),
                    fmt::format("the trees carry {} chunks of the {}", most - left, most));
    }
    loads_.push_back(load_);
    rooted_.push_back(std::move(rooted));
  }

  bool check_multiplicity(const Place& place, std::int64_t left) {
    const std::int64_t found = place.tree.multiplicity;
    if (found >= 1 && found <= left) return true;
    findings_.add(Rule::multiplicity, place.where,
                  branches()
                      ? fmt::format("multiplicity: expected an integer from 1 to {}, which is what "
                                    "is left of the {} chunks, found {}",
                                    left, forest_.chunks, found)
                      : fmt::format("multiplicity: expected a positive integer, found {}", found));
    return false;
  }

  // A rank; or of an allreduce whose trees branch a switch that can be one.
  bool check_root(const Place& place) {
    const Name root = place.tree.root;
    const auto fail = [&](std::string message) {
      findings_.add(Rule::tree, place.where, std::move(message));
      return false;
    };
    if (root < 0) return fail("no root is named");
    if (is_rank(root) || (branches() && topology_ == nullptr)) return true;
    if (!branches() || is_rooted(verdict_.collective)) {
      return fail(fmt::format("the root {} is not a rank", name(root)));
    }
    const NodeId node = facts_.node_of(root);
    if (node.valid() && !roles_.empty() && roles_[node].is_root()) return true;
    return fail(
        fmt::format("the root {} is neither a rank nor a switch that copies and combines without "
                    "an echo",
                    name(root)));
  }

  // What the images of trees do: an automorphism takes a spanning tree to a spanning tree, and
  // routes to routes, so that only roots and loads need to be added up.
  void add_images(const ForestPhase& phase, const ByName& moved_rooted, ByName& rooted) {
    const std::size_t before = findings_.count();
    const Images images(forest_, *phase.list, phase.name, findings_);
    if (findings_.count() > before || !check_automorphisms(phase, images)) return;
    const auto image = [&](std::size_t g, std::size_t at) {
      return static_cast<std::size_t>(images.apply(g, static_cast<Name>(at)));
    };
    const auto arc_image = [&](std::size_t g, std::size_t arc) {
      return arc_image_[g][arc].index();
    };
    const auto roots = images.spread(moved_rooted, image);
    const auto loads = images.spread(moved_load_, arc_image);
    const auto add = [&](const std::vector<std::int64_t>& more, std::vector<std::int64_t>& all) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (more[i] > kMaxTrees - all[i]) return false;
        all[i] += more[i];
      }
      return true;
    };
    if (roots && loads && add(*roots, rooted) && add(*loads, load_)) return;
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

  // One edge into (out of) every node of the tree but the root, and all of them hang on the root.
  void check_tree(const Place& place) {
    const auto ranks = static_cast<std::int32_t>(forest_.ranks.size());
    std::vector<Name> switches;
    std::vector<std::int32_t> parent(forest_.ranks.size(), -1);
    const auto vertex = [&](Name n) {
      std::int32_t& number = vertex_of_[static_cast<std::size_t>(n)];
      if (number < 0) {
        number = ranks + static_cast<std::int32_t>(switches.size());
        switches.push_back(n);
        parent.push_back(-1);
      }
      return number;
    };
    const auto is_vertex = [&](Name n) { return branches() ? n >= 0 : is_rank(n); };
    const std::int32_t root = vertex(place.tree.root);
    bool sound = true;
    for (std::size_t e = place.tree.edges_begin; e < place.tree.edges_end; ++e) {
      const ForestEdge& edge = forest_.edges[e];
      std::string flaw = branches() ? "an edge has two ends" : "both ends of an edge must be ranks";
      if (is_vertex(edge.src) && is_vertex(edge.dst)) {
        const std::int32_t src = vertex(edge.src), dst = vertex(edge.dst);
        const std::int32_t up = place.phase.inward ? dst : src;
        const std::int32_t down = place.phase.inward ? src : dst;
        flaw = join(place, down == root, up, parent[static_cast<std::size_t>(down)],
                    place.phase.inward ? edge.src : edge.dst);
      }
      if (flaw.empty()) continue;
      findings_.add(Rule::tree, edge_place(place.where, place.tree, e), std::move(flaw));
      sound = false;
    }
    for (const Name n : switches) {
      if (n != place.tree.root) check_capability(place, n);
    }
    const auto name_of = [&](std::int32_t v) {
      return name(v < ranks ? forest_.ranks[static_cast<std::size_t>(v)]
                            : switches[static_cast<std::size_t>(v - ranks)]);
    };
    if (sound) check_shape(place.tree, parent, root, name_of, place.where, findings_);
    for (const Name n : switches) vertex_of_[static_cast<std::size_t>(n)] = -1;
  }

  // The flaw, in words; empty where there is none, and the parent is noted.
  std::string join(const Place& place, bool is_root, std::int32_t up, std::int32_t& parent,
                   Name child) const {
    const bool inward = place.phase.inward;
    const std::string_view way = inward ? "out of" : "into";
    if (is_root) {
      return fmt::format("leads {} the root {}: the edges of this list go from {}", way,
                         name(child), inward ? "child to parent" : "parent to child");
    }
    if (parent >= 0) return fmt::format("a second edge {} {}", way, name(child));
    parent = up;
    return {};
  }

  void check_capability(const Place& place, Name n) {
    if (topology_ == nullptr) return;
    const NodeId node = facts_.node_of(n);
    if (!node.valid()) return;  // said of the path
    const bool inward = place.phase.inward;
    if (!roles_.empty() && (inward ? roles_[node].combines : roles_[node].copies)) return;
    findings_.add(Rule::tree, place.where,
                  fmt::format("edges end at {}, which does not {}", name(n),
                              inward ? "combine (\"reduce\")" : "copy (\"multicast\")"));
  }

  void check_path(const Place& place, std::size_t e) {
    const auto say = [&](std::string flaw) {
      if (flaw.empty()) return true;
      findings_.add(Rule::path, edge_place(place.where, place.tree, e), std::move(flaw));
      return false;
    };
    const auto path = path_of(forest_.edges[e]);
    if (!say(flaw_of_ends(path, forest_.edges[e]))) return;
    say(flaw_between(path));
    if (!facts_.network) return;
    auto& load = place.tree.images ? moved_load_ : load_;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      if (!say(add_load(path[i], path[i + 1], place.tree.multiplicity, load))) return;
    }
    const bool inward = place.phase.inward;
    const Name end = inward ? path.front() : path.back();
    const Name beside = inward ? path[1] : path[path.size() - 2];
    if (is_rank(end) || !is_rank(beside) || roles_.empty()) return;
    if (!roles_[facts_.node_of(end)].echoes) return;
    say(add_load(inward ? beside : end, inward ? end : beside, place.tree.multiplicity, load));
  }

  void check_per_root(const ForestPhase& phase, const ByName& rooted_at) {
    const bool rooted = is_rooted(verdict_.collective);
    std::size_t roots = 0;
    for (std::size_t r = 0; r < forest_.ranks.size(); ++r) {
      const std::int64_t found = rooted_at[static_cast<std::size_t>(forest_.ranks[r])];
      if (found > 0) ++roots;
      const std::int64_t owed = forest_.k * facts_.weight[r];
      if (found == owed || (rooted && found == 0)) continue;
      findings_.add(
          Rule::multiplicity, std::string(phase.name),
          fmt::format(
              "the trees rooted at {} have multiplicity {} together; k is {}{}",
              name(forest_.ranks[r]), found, forest_.k,
              facts_.weight[r] == 1 ? "" : fmt::format(", its weight {}", facts_.weight[r])));
    }
    if (rooted && roots != 1) {
      findings_.add(Rule::multiplicity, std::string(phase.name),
                    fmt::format("a {} has one root; the trees have {}",
                                forestcoll::to_string(verdict_.collective), roots));
    }
  }

  void count_roots() {
    const auto roots =
        std::ranges::count_if(rooted_.front(), [](auto chunks) { return chunks > 0; });
    if (roots == 1) return;
    findings_.add(Rule::multiplicity, std::string("/trees"),
                  fmt::format("a {} has one root; the trees have {}",
                              forestcoll::to_string(verdict_.collective), roots));
  }

  void compare_roots() {
    for (std::size_t i = 0; i < forest_.names.size(); ++i) {
      const std::int64_t reduced = rooted_.front()[i], broadcast = rooted_.back()[i];
      if (reduced == broadcast) continue;
      findings_.add(Rule::multiplicity, std::string("/broadcast"),
                    fmt::format("{} chunks are reduced at {}, and {} broadcast from it", reduced,
                                forest_.names[i], broadcast));
    }
  }

  [[nodiscard]] Capacity capacity(ArcId arc) const { return facts_.network->capacity[arc]; }

  const Topology* topology_;
  Findings& findings_;
  Verdict& verdict_;
  const SwitchRoles roles_;
  std::vector<std::int32_t> vertex_of_;  // by name: of the tree at hand, −1: not in it
  // Of the phase at hand, by arc: of trees, and of those whose images are still to be added.
  std::vector<std::int64_t> load_, moved_load_;
  std::vector<std::vector<ArcId>> arc_image_;     // by generator
  std::vector<std::vector<std::int64_t>> loads_;  // by phase
  std::vector<ByName> rooted_;                    // likewise
};

}  // namespace

void check_forest(const ForestFile& forest, const Topology* topology, Findings& findings,
                  Verdict& verdict) {
  const auto facts = read_facts(forest, topology, findings, verdict);
  if (facts) ForestCheck(forest, topology, *facts, findings, verdict).run();
}

}  // namespace forestcoll::audit
