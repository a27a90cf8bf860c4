#include "forestcoll/whatif.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "solver/study/changed_fabric.hpp"
#include "solver/symmetry/alike.hpp"
#include "topology/format/select.hpp"
#include "topology/model/arcs.hpp"
#include "topology/model/pcie_direction.hpp"

namespace forestcoll {
namespace {

using Links = std::vector<LinkId>;

std::vector<NodeId> nodes_of(const Topology& topology, const std::string& box) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const TopologyNode& node = topology.nodes[NodeId(i)];
    if (node.enabled && node.box == box) nodes.push_back(NodeId(i));
  }
  return nodes;
}

// Classes of parts, less those that stand in a pair.
template <class Id>
std::vector<std::vector<Id>> without_pairs(std::vector<std::vector<Id>> classes,
                                           const std::vector<std::pair<Id, Id>>& pairs) {
  std::set<Id> paired;
  for (const auto& [first, second] : pairs) paired.insert({first, second});
  for (std::vector<Id>& parts : classes) {
    std::erase_if(parts, [&](Id part) { return paired.contains(part); });
  }
  std::erase_if(classes, [](const std::vector<Id>& parts) { return parts.empty(); });
  return classes;
}

// The pairs of one class, as their first and their second parts.
template <class Id>
std::pair<std::vector<Id>, std::vector<Id>> sides(const std::vector<std::size_t>& chosen,
                                                  const std::vector<std::pair<Id, Id>>& pairs) {
  std::pair<std::vector<Id>, std::vector<Id>> both;
  for (const std::size_t pair : chosen) {
    both.first.push_back(pairs[pair].first);
    both.second.push_back(pairs[pair].second);
  }
  return both;
}

// Links that are of use only together: those on both sides of a switch with two neighbours.
std::vector<Links> in_series(const Topology& topology, const std::vector<Links>& classes) {
  IdVector<NodeId, std::set<NodeId>> neighbours(topology.nodes.size());
  IdVector<NodeId, std::set<std::size_t>> classes_at(topology.nodes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    for (const LinkId id : classes[c]) {
      const TopologyLink& link = topology.links[id];
      neighbours[link.src].insert(link.dst), neighbours[link.dst].insert(link.src);
      classes_at[link.src].insert(c), classes_at[link.dst].insert(c);
    }
  }
  std::set<std::set<std::size_t>> joined;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const NodeId node(i);
    if (topology.nodes[node].type == NodeType::switch_node && neighbours[node].size() == 2 &&
        classes_at[node].size() > 1) {
      joined.insert(classes_at[node]);
    }
  }
  std::vector<Links> series;
  for (const auto& members : joined) {
    Links links;
    for (const std::size_t c : members) {
      links.insert(links.end(), classes[c].begin(), classes[c].end());
    }
    std::ranges::sort(links);
    series.push_back(std::move(links));
  }
  return series;
}

// What is worth a look: any one link of a class, the class, links in series, and whole kinds; each
// set once.
std::vector<UpgradeEffect> candidates(const Topology& topology, const std::vector<Links>& classes) {
  std::vector<UpgradeEffect> all;
  std::set<Links> met;
  const auto add = [&](Links links) {
    if (met.insert(links).second) all.push_back({std::move(links), true, 0});
  };
  std::map<std::string, Links> kinds;
  for (const Links& links : classes) {
    add(links);
    if (links.size() > 1) all.push_back({links, false, 0});
    Links& kind = kinds[topology.links[links.front()].kind];
    kind.insert(kind.end(), links.begin(), links.end());
  }
  for (Links& links : in_series(topology, classes)) add(std::move(links));
  for (auto& [kind, links] : kinds) {
    std::ranges::sort(links);
    add(std::move(links));
  }
  return all;
}

// Limits of one bandwidth on links that look alike.
std::vector<std::vector<std::size_t>> like_limits(const Topology& topology) {
  using Look = std::tuple<std::string, Ratio, Ratio>;  // kind, bandwidth, weight
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> links;
  for (const topology::DirectedLink& arc : topology::enabled_arcs(topology)) {
    links[{arc.arc.tail, arc.arc.head}].push_back(arc.link);
  }
  std::map<std::pair<Ratio, std::multiset<Look>>, std::vector<std::size_t>> classes;
  for (std::size_t l = 0; l < topology.limits.size(); ++l) {
    std::multiset<Look> looks;
    for (const SharedLimit::Use& use : topology.limits[l].uses) {
      for (const LinkId id : links[{use.src, use.dst}]) {
        looks.insert({topology.links[id].kind, topology.links[id].bandwidth, use.weight});
      }
    }
    if (!looks.empty()) classes[{topology.limits[l].bandwidth, std::move(looks)}].push_back(l);
  }
  std::vector<std::vector<std::size_t>> all;
  for (auto& [look, limits] : classes) all.push_back(std::move(limits));
  return all;
}

// Looks at one change after another.
class Study {
 public:
  Study(const Topology& topology, const WhatIfOptions& options)
      : topology_(topology),
        options_(options),
        fabric_(topology, options.collective, options.root) {}

  Expected<WhatIf> run() {
    const auto network = to_digraph(topology_);
    if (!network) return network.errors();
    const auto base = fabric_.solve();
    if (!base) return base.errors();
    FORESTCOLL_CHECK(*base > Ratio(0), "a fabric without islands");
    fabric_.keep_tight_cut();
    result_.algbw = *base;
    list_changes(*network);
    if (const auto done = fail_parts(); !done) return done.errors();
    if (const auto done = upgrade(); !done) return done.errors();
    if (const auto done = upgrade_limits(); !done) return done.errors();
    rank();
    result_.solved = fabric_.solved() - 1;
    return std::move(result_);
  }

 private:
  // Which parts are alike? One of each class stands for all.
  void list_changes(const Network& network) {
    const Weights weights = options_.root ? single_root(network, *options_.root) : shares(network);
    solver::JointParts joint{.nodes = topology::device_halves(topology_), .links = {}};
    joint.links = topology::device_links(topology_, joint.nodes);
    const solver::AlikeParts alike = solver::alike_parts(topology_, network, weights, joint);
    for (Links& links : without_pairs(alike.links, joint.links)) {
      result_.failures.push_back({std::move(links), 0});
    }
    for (const auto& chosen : alike.joint_links) {
      auto [there, back] = sides(chosen, joint.links);
      result_.failures.push_back({std::move(there), 0, false, std::move(back)});
    }
    for (FailureEffect failure : result_.failures) {
      if (topology_.links[failure.links.front()].count == 1) continue;
      failure.one_cable = true;
      result_.cable_failures.push_back(std::move(failure));
    }
    for (std::vector<NodeId>& nodes : without_pairs(alike.nodes, joint.nodes)) {
      result_.node_failures.push_back({std::move(nodes), 0});
    }
    for (const auto& chosen : alike.pairs) {
      auto [out, in] = sides(chosen, joint.nodes);
      result_.node_failures.push_back({std::move(out), 0, std::move(in)});
    }
    // A fabric without its only box is none.
    if (alike.boxes.size() > 1 || (!alike.boxes.empty() && alike.boxes[0].size() > 1)) {
      for (const auto& names : alike.boxes) result_.box_failures.push_back({names, 0});
    }
    result_.upgrades = candidates(topology_, alike.links);
    for (std::vector<std::size_t>& limits : like_limits(topology_)) {
      result_.limit_upgrades.push_back({std::move(limits), 0});
    }
    steps_ = result_.limit_upgrades.size() + result_.failures.size() +
             result_.cable_failures.size() + result_.node_failures.size() +
             result_.box_failures.size() + result_.upgrades.size();
  }

  Expected<void> fail_parts() {
    for (auto* list : {&result_.failures, &result_.cable_failures}) {
      for (FailureEffect& failure : *list) {
        Links links = {failure.links.front()};
        if (!failure.ways_back.empty()) links.push_back(failure.ways_back.front());
        if (const auto done = set(failure.algbw, failure.one_cable ? fabric_.without_a_cable(links)
                                                                   : fabric_.without(links));
            !done) {
          return done.errors();
        }
      }
    }
    for (NodeFailureEffect& failure : result_.node_failures) {
      std::vector<NodeId> nodes = {failure.nodes.front()};
      if (!failure.ways_in.empty()) nodes.push_back(failure.ways_in.front());
      if (const auto done = set(failure.algbw, fabric_.without(nodes)); !done) return done.errors();
    }
    for (BoxFailureEffect& failure : result_.box_failures) {
      const auto nodes = nodes_of(topology_, failure.boxes.front());
      if (const auto done = set(failure.algbw, fabric_.without(nodes)); !done) return done.errors();
    }
    return {};
  }

  // With wider links, unless a bottleneck that misses them says that it is of no use.
  Expected<void> upgrade() {
    std::vector<UpgradeEffect> paying;
    for (UpgradeEffect& upgrade : result_.upgrades) {
      const Links widened = upgrade.together ? upgrade.links : Links{upgrade.links.front()};
      if (!fabric_.may_pay(widened)) {
        ++result_.proved;
        step();
        continue;
      }
      if (const auto done = set(upgrade.algbw, fabric_.widened(widened, options_.factor)); !done) {
        return done.errors();
      }
      if (upgrade.algbw > result_.algbw) {
        paying.push_back(std::move(upgrade));
      } else {
        fabric_.keep_tight_cut();
      }
    }
    result_.upgrades = std::move(paying);
    return {};
  }

  Expected<void> upgrade_limits() {
    for (LimitUpgradeEffect& upgrade : result_.limit_upgrades) {
      const auto widened = fabric_.widened_limits(upgrade.limits, options_.factor);
      if (const auto done = set(upgrade.algbw, widened); !done) return done.errors();
    }
    std::erase_if(result_.limit_upgrades, [this](const LimitUpgradeEffect& upgrade) {
      return upgrade.algbw <= result_.algbw;
    });
    return {};
  }

  Expected<void> set(Ratio& algbw, const Expected<Ratio>& found) {
    if (!found) return found.errors();
    algbw = *found;
    step();
    return {};
  }

  void step() {
    if (options_.progress) options_.progress(++done_, steps_);
  }

  // The dearest and the best first.
  void rank() {
    std::ranges::stable_sort(result_.failures, {}, &FailureEffect::algbw);
    std::ranges::stable_sort(result_.cable_failures, {}, &FailureEffect::algbw);
    std::ranges::stable_sort(result_.node_failures, {}, &NodeFailureEffect::algbw);
    std::ranges::stable_sort(result_.box_failures, {}, &BoxFailureEffect::algbw);
    std::ranges::stable_sort(
        result_.limit_upgrades,
        [](const LimitUpgradeEffect& a, const LimitUpgradeEffect& b) { return b.algbw < a.algbw; });
    std::ranges::stable_sort(result_.upgrades, [](const UpgradeEffect& a, const UpgradeEffect& b) {
      const auto count = [](const UpgradeEffect& u) { return u.together ? u.links.size() : 1; };
      return std::pair(b.algbw, count(a)) < std::pair(a.algbw, count(b));
    });
  }

  const Topology& topology_;
  const WhatIfOptions& options_;
  solver::ChangedFabric fabric_;
  WhatIf result_;
  std::size_t done_ = 0, steps_ = 0;
};

// An id at the end of a link's text, where "*2" would be a count of cables.
std::string as_last(const std::string& id) {
  const std::size_t star = id.rfind('*');
  const bool ends_so = star != std::string::npos && star + 1 < id.size() &&
                       id.find_first_not_of("0123456789", star + 1) == std::string::npos;
  return ends_so ? id.substr(0, star + 1) + "[" + id.substr(star + 1) + "]" : id;
}

}  // namespace

std::vector<std::string> names_of(const NodeFailureEffect& effect, const Topology& topology) {
  std::vector<std::string> names;
  for (const NodeId node : effect.nodes) {
    const std::string& id = topology.nodes[node].id;
    names.push_back(effect.ways_in.empty() ? id : topology::device_of(id).value_or(id));
  }
  return names;
}

std::optional<std::string> drop_text(const FailureEffect& effect, const Topology& topology) {
  const LinkId first = effect.links.front();
  const TopologyLink& link = topology.links[first];
  const bool joint = !effect.ways_back.empty();
  std::string src = topology.nodes[link.src].id, dst = topology.nodes[link.dst].id;
  std::set<LinkId> meant = {first};
  if (joint) {
    const TopologyLink& back = topology.links[effect.ways_back.front()];
    if (back.dst != link.src) src = topology::device_of(src).value_or(src);
    if (back.src != link.dst) dst = topology::device_of(dst).value_or(dst);
    meant.insert(effect.ways_back.front());
  }
  const std::string text = src + (link.full_duplex || joint ? "~" : "->") + as_last(dst) +
                           (effect.one_cable ? "*1" : "");
  const topology::NameLookup lookup(topology);
  const auto [name, cables] = lookup.cables(text);
  const auto selected = lookup.links(name, "");
  if (!selected || cables.has_value() != effect.one_cable) return std::nullopt;
  for (const topology::SelectedLink& found : *selected) {
    const bool whole = found.forward && found.backward == topology.links[found.link].full_duplex;
    if (!whole || meant.erase(found.link) == 0) return std::nullopt;
  }
  return meant.empty() ? std::optional(text) : std::nullopt;
}

Expected<WhatIf> what_if(const Topology& topology, const WhatIfOptions& options) {
  FORESTCOLL_CHECK(options.root.has_value() == is_rooted(options.collective),
                   "a root exactly where one is needed");
  FORESTCOLL_CHECK(options.factor > Ratio(1), "an upgrade makes wider");
  return Study(topology, options).run();
}

}  // namespace forestcoll
