// What a switch does to a tree is seen from where edges end: at a switch that an edge leads to, or
// from, data is copied, or added up; a switch inside a path only passes it on. So the nodes of a
// tree are the ranks and all switches at which edges end, and over these it has to be a tree.
//
// Where a switch echoes (NVSwitch), what a GPU stores into it to be copied comes back over the
// GPU's own link, and what a GPU reads from it combined takes the GPU's own part there. Both load
// the arc the other way.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "audit/forest/check.hpp"
#include "audit/forest/edges.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::audit {
namespace {

class BranchingCheck : EdgeChecks {
 public:
  BranchingCheck(const ForestFile& forest, const Topology* topology, const ForestFacts& facts,
                 Findings& findings, Verdict& verdict)
      : EdgeChecks(forest, facts),
        topology_(topology),
        findings_(findings),
        verdict_(verdict),
        roles_(topology == nullptr ? SwitchRoles() : switch_roles(*topology)),
        vertex_of_(forest.names.size(), -1) {
    for (std::size_t i = 0; i < vertex_of_.size(); ++i) {
      vertex_of_[i] = facts.rank_of(static_cast<Name>(i));
    }
  }

  void run() {
    for (const ForestPhase& phase : facts_.phases) check_phase(phase);
    if (!findings_.blocked()) {
      if (is_rooted(verdict_.collective)) {
        count_roots();
      } else {
        compare_roots();
      }
    }
    if (!findings_.blocked() && facts_.network) {
      check_claim(facts_, *topology_, loads_, findings_, verdict_);
    }
    compare_with_optimum(facts_, false, findings_);
  }

 private:
  // The tree at hand, for messages.
  struct Place {
    const ForestPhase& phase;
    const ForestTree& tree;
    std::string where;
  };

  void check_phase(const ForestPhase& phase) {
    load_.assign(facts_.network ? facts_.network->graph.arc_count() : 0, 0);
    rooted_.emplace_back(forest_.names.size(), 0);
    std::int64_t left = forest_.chunks;
    for (std::size_t t = 0; t < phase.list->trees.size(); ++t) {
      const ForestTree& tree = phase.list->trees[t];
      const Place place{phase, tree, fmt::format("{} tree {}", phase.name, t)};
      if (tree.images) {
        findings_.add(Rule::attribute, place.where, "images: belong to version 2 of the format");
      }
      if (tree.multiplicity < 1 || tree.multiplicity > left) {
        findings_.add(Rule::multiplicity, place.where,
                      fmt::format("multiplicity: expected an integer from 1 to {}, which is what "
                                  "is left of the {} chunks, found {}",
                                  left, forest_.chunks, tree.multiplicity));
        continue;
      }
      left -= tree.multiplicity;
      if (!check_root(place)) continue;
      rooted_.back()[static_cast<std::size_t>(tree.root)] += tree.multiplicity;
      check_tree(place);
      for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) check_path(place, e);
    }
    if (left > 0) {
      findings_.add(Rule::multiplicity, std::string(phase.name),
                    fmt::format("the trees carry {} chunks of the {}", forest_.chunks - left,
                                forest_.chunks));
    }
    loads_.push_back(load_);
  }

  bool check_root(const Place& place) {
    const Name root = place.tree.root;
    if (root < 0) {
      findings_.add(Rule::tree, place.where, "no root is named");
      return false;
    }
    if (facts_.rank_of(root) >= 0 || topology_ == nullptr) return true;
    if (is_rooted(verdict_.collective)) {
      findings_.add(Rule::tree, place.where, fmt::format("the root {} is not a rank", name(root)));
      return false;
    }
    const NodeId node = facts_.node_of(root);
    if (node.valid() && !roles_.empty() && roles_[node].is_root()) return true;
    findings_.add(Rule::tree, place.where,
                  fmt::format("the root {} is neither a rank nor a switch that copies and combines "
                              "without an echo",
                              name(root)));
    return false;
  }

  // One edge into (out of) every rank and switch of the tree but the root.
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
    const std::int32_t root = vertex(place.tree.root);
    bool sound = true;
    for (std::size_t e = place.tree.edges_begin; e < place.tree.edges_end; ++e) {
      const ForestEdge& edge = forest_.edges[e];
      std::string flaw = "an edge has two ends";
      if (edge.src >= 0 && edge.dst >= 0) {
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
    const std::string_view way = place.phase.inward ? "out of" : "into";
    if (is_root) return fmt::format("leads {} the root {}", way, name(child));
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
    const std::string flaw = flaw_of_path(place, forest_.edges[e]);
    if (flaw.empty()) return;
    findings_.add(Rule::path, edge_place(place.where, place.tree, e), flaw);
  }

  std::string flaw_of_path(const Place& place, const ForestEdge& edge) {
    const auto path = path_of(edge);
    if (auto flaw = flaw_of_ends(path, edge); !flaw.empty()) return flaw;
    if (auto flaw = flaw_between(path); !flaw.empty()) return flaw;
    if (!facts_.network) return {};
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      auto flaw = add_load(path[i], path[i + 1], place.tree.multiplicity, load_);
      if (!flaw.empty()) return flaw;
    }
    const bool inward = place.phase.inward;
    const Name end = inward ? path.front() : path.back();
    const Name beside = inward ? path[1] : path[path.size() - 2];
    if (facts_.rank_of(end) >= 0 || facts_.rank_of(beside) < 0 || roles_.empty()) return {};
    if (!roles_[facts_.node_of(end)].echoes) return {};
    return add_load(inward ? beside : end, inward ? end : beside, place.tree.multiplicity, load_);
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

  const Topology* topology_;
  Findings& findings_;
  Verdict& verdict_;
  const SwitchRoles roles_;
  std::vector<std::int32_t> vertex_of_;  // by name: of the tree at hand, −1: not in it
  std::vector<std::int64_t> load_;       // of the phase at hand, by arc
  std::vector<std::vector<std::int64_t>> loads_, rooted_;  // by phase
};

}  // namespace

void check_branching(const ForestFile& forest, const Topology* topology, const ForestFacts& facts,
                     Findings& findings, Verdict& verdict) {
  BranchingCheck(forest, topology, facts, findings, verdict).run();
}

}  // namespace forestcoll::audit
