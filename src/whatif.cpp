#include "forestcoll/whatif.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "solver/alike.hpp"
#include "topology/pcie_direction.hpp"

namespace forestcoll {
namespace {

// More cuts than these are not tried as a start: each costs a look at every arc.
constexpr std::size_t kMostCuts = 64;

using Links = std::vector<LinkId>;

Diagnostic too_large() {
  return {.code = "E14",
          .kind = ErrorKind::limit,
          .message = "the exact rate of a changed fabric does not fit 64-bit fractions",
          .remedy = "round the bandwidths to a coarser grid with --quantize"};
}

bool has_reduce(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::reduce || c == Collective::allreduce;
}
bool has_broadcast(Collective c) {
  return c == Collective::allgather || c == Collective::broadcast || c == Collective::allreduce;
}

// True where every compute node is reached from `start`.
bool reaches_all(const Network& network) {
  std::vector<bool> met(network.graph.node_count(), false);
  std::vector<NodeId> stack = {network.ranks.front()};
  met[stack.front().index()] = true;
  while (!stack.empty()) {
    const NodeId v = stack.back();
    stack.pop_back();
    for (ArcId a = network.graph.first_out(v); a != network.graph.last_out(v); ++a.value) {
      const NodeId w = network.graph.head(a);
      if (!met[w.index()]) stack.push_back(w);
      met[w.index()] = true;
    }
  }
  return std::ranges::all_of(network.ranks, [&](NodeId v) { return met[v.index()]; });
}

// The optimum of one fabric after another, each a small change from the first.
class Solver {
 public:
  Solver(const Topology& topology, const WhatIfOptions& options)
      : options_(options),
        topology_(topology),
        ranks_(topology.ranks),
        root_(options.root ? topology.ranks[options.root->index()] : NodeId()) {}

  // GB/s; 0 where compute nodes are cut off.
  Expected<Ratio> solve() {
    const auto network = to_digraph(topology_);
    if (!network) return network.errors();
    const Network backward = reversed(*network);
    if (!reaches_all(*network) || !reaches_all(backward)) return Ratio(0);
    std::optional<Ratio> algbw;
    if (has_broadcast(options_.collective)) {
      algbw = phase(*network, forward_cuts_);
      if (!algbw) return too_large();
    }
    if (has_reduce(options_.collective)) {
      const auto reduce = phase(backward, backward_cuts_);
      if (!reduce) return too_large();
      // One after the other, each over all the data: 1 / (1/a + 1/b).
      algbw = !algbw ? reduce
                     : Ratio::reduced(Int128{algbw->num()} * reduce->num(),
                                      Int128{algbw->num()} * reduce->den() +
                                          Int128{reduce->num()} * algbw->den());
      if (!algbw) return too_large();
    }
    ++solved_;
    return *algbw;
  }

  Expected<Ratio> without(LinkId link) {
    topology_.links[link].enabled = false;
    auto algbw = solve();
    topology_.links[link].enabled = true;
    return algbw;
  }

  // Among the compute nodes that are left; 0 also where fewer than two are, or none has data.
  Expected<Ratio> without(const std::vector<NodeId>& nodes) {
    for (const NodeId v : nodes) topology_.nodes[v].enabled = false;
    std::erase_if(topology_.ranks, [&](NodeId v) { return !topology_.nodes[v].enabled; });
    auto algbw = has_work() ? solve() : Expected<Ratio>(Ratio(0));
    for (const NodeId v : nodes) topology_.nodes[v].enabled = true;
    topology_.ranks = ranks_;
    return algbw;
  }

  Expected<Ratio> widened(const Links& links) {
    std::vector<Ratio> before;
    for (const LinkId link : links) {
      before.push_back(topology_.links[link].bandwidth);
      const auto wider = checked_mul(before.back(), options_.factor);
      if (!wider) return too_large();
      topology_.links[link].bandwidth = *wider;
    }
    auto algbw = solve();
    for (std::size_t i = 0; i < links.size(); ++i) {
      topology_.links[links[i]].bandwidth = before[i];
    }
    return algbw;
  }

  // False where a known bottleneck of the fabric as it is has none of these links across it. Only
  // for one phase: of two, one can gain alone.
  [[nodiscard]] bool may_pay(const Links& links) const {
    if (has_broadcast(options_.collective) && has_reduce(options_.collective)) return true;
    return std::ranges::all_of(tight_, [&](const std::vector<bool>& cut) {
      return std::ranges::any_of(links, [&](LinkId id) {
        const TopologyLink& link = topology_.links[id];
        const bool out = cut[link.src.index()] && !cut[link.dst.index()];
        const bool in = !cut[link.src.index()] && cut[link.dst.index()];
        return out || (link.full_duplex && in);
      });
    });
  }

  // The cut of the last solution, as flags from the side that sends the data: a bottleneck of the
  // fabric as it is, where the last rate was the same.
  void keep_tight_cut() {
    std::vector<bool> sends(topology_.nodes.size(), false);
    for (const NodeId v : last_cut_) sends[v.index()] = true;
    if (has_reduce(options_.collective)) sends.flip();
    tight_.push_back(std::move(sends));
  }

  [[nodiscard]] std::int64_t solved() const { return solved_; }

 private:
  using Cuts = std::vector<std::vector<NodeId>>;

  [[nodiscard]] bool has_work() const {
    if (topology_.ranks.size() < 2) return false;
    if (root_.valid()) return topology_.nodes[root_].enabled;
    return std::ranges::any_of(topology_.ranks,
                               [&](NodeId v) { return topology_.nodes[v].weight > Ratio(0); });
  }

  // Those that still have compute nodes on both sides.
  [[nodiscard]] Cuts usable(const Cuts& cuts, const Network& network) const {
    Cuts left;
    for (const std::vector<NodeId>& cut : cuts) {
      const auto inside =
          std::ranges::count_if(cut, [&](NodeId v) { return network.rank_of[v].valid(); });
      const auto all = static_cast<std::ptrdiff_t>(network.ranks.size());
      if (inside > 0 && inside < all) left.push_back(cut);
    }
    return left;
  }

  std::optional<Ratio> phase(const Network& network, Cuts& cuts) {
    const Weights weights =
        root_.valid() ? single_root(network, network.rank_of[root_]) : shares(network);
    const bool complete = topology_.ranks.size() == ranks_.size();
    const Rate rate = complete ? optimal_rate(network, weights, cuts)
                               : optimal_rate(network, weights, usable(cuts, network));
    last_cut_ = rate.bottleneck.sending;
    if (cuts.size() < kMostCuts && std::ranges::find(cuts, last_cut_) == cuts.end()) {
      cuts.push_back(last_cut_);
    }
    const std::int64_t all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
    const auto in_units = checked_div(Ratio(all), rate.inverse);
    return in_units ? checked_mul(*in_units, network.unit) : std::nullopt;
  }

  const WhatIfOptions& options_;
  Topology topology_;
  std::vector<NodeId> ranks_;  // of the whole fabric
  NodeId root_;                // invalid: the collective has none
  Cuts forward_cuts_, backward_cuts_;
  std::vector<NodeId> last_cut_;
  std::vector<std::vector<bool>> tight_;
  std::int64_t solved_ = 0;
};

std::vector<NodeId> nodes_of(const Topology& topology, const std::string& box) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const TopologyNode& node = topology.nodes[NodeId(i)];
    if (node.enabled && node.box == box) nodes.push_back(NodeId(i));
  }
  return nodes;
}

// Classes of nodes, less what is a half of some device.
std::vector<std::vector<NodeId>> without_halves(
    std::vector<std::vector<NodeId>> classes,
    const std::vector<std::pair<NodeId, NodeId>>& devices) {
  std::set<NodeId> halves;
  for (const auto& [out, in] : devices) halves.insert({out, in});
  for (std::vector<NodeId>& nodes : classes) {
    std::erase_if(nodes, [&](NodeId node) { return halves.contains(node); });
  }
  std::erase_if(classes, [](const std::vector<NodeId>& nodes) { return nodes.empty(); });
  return classes;
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

}  // namespace

std::vector<std::string> names_of(const NodeFailureEffect& effect, const Topology& topology) {
  std::vector<std::string> names;
  for (const NodeId node : effect.nodes) {
    const std::string& id = topology.nodes[node].id;
    names.push_back(effect.ways_in.empty() ? id : topology::device_of(id).value_or(id));
  }
  return names;
}

Expected<WhatIf> what_if(const Topology& topology, const WhatIfOptions& options) {
  FORESTCOLL_CHECK(options.root.has_value() == is_rooted(options.collective),
                   "a root exactly where one is needed");
  FORESTCOLL_CHECK(options.factor > Ratio(1), "an upgrade makes wider");
  // 1. The fabric as it is.
  const auto network = to_digraph(topology);
  if (!network) return network.errors();
  Solver solver(topology, options);
  const auto base = solver.solve();
  if (!base) return base.errors();
  FORESTCOLL_CHECK(*base > Ratio(0), "a fabric without islands");
  solver.keep_tight_cut();
  WhatIf result{.algbw = *base};

  // 2. Which parts are alike? One of each class stands for all.
  const Weights weights = options.root ? single_root(*network, *options.root) : shares(*network);
  const auto devices = topology::device_halves(topology);
  const solver::AlikeParts alike = solver::alike_parts(topology, *network, weights, devices);
  const auto single_nodes = without_halves(alike.nodes, devices);
  std::vector<UpgradeEffect> upgrades = candidates(topology, alike.links);
  // A fabric without its only box is none.
  const auto boxes = alike.boxes.size() > 1 || (!alike.boxes.empty() && alike.boxes[0].size() > 1)
                         ? alike.boxes
                         : std::vector<std::vector<std::string>>();
  const std::size_t steps = alike.links.size() + single_nodes.size() + alike.pairs.size() +
                            boxes.size() + upgrades.size();
  std::size_t done = 0;
  const auto step = [&] {
    if (options.progress) options.progress(++done, steps);
  };

  // 3. Without one link, one node, one box.
  for (const Links& links : alike.links) {
    const auto algbw = solver.without(links.front());
    if (!algbw) return algbw.errors();
    result.failures.push_back({links, *algbw});
    step();
  }
  for (const std::vector<NodeId>& nodes : single_nodes) {
    const auto algbw = solver.without(std::vector<NodeId>{nodes.front()});
    if (!algbw) return algbw.errors();
    result.node_failures.push_back({nodes, *algbw});
    step();
  }
  for (const std::vector<std::size_t>& pairs : alike.pairs) {
    const auto& [out, in] = devices[pairs.front()];
    const auto algbw = solver.without(std::vector<NodeId>{out, in});
    if (!algbw) return algbw.errors();
    NodeFailureEffect effect{{}, *algbw};
    for (const std::size_t pair : pairs) {
      effect.nodes.push_back(devices[pair].first);
      effect.ways_in.push_back(devices[pair].second);
    }
    result.node_failures.push_back(std::move(effect));
    step();
  }
  for (const std::vector<std::string>& names : boxes) {
    const auto algbw = solver.without(nodes_of(topology, names.front()));
    if (!algbw) return algbw.errors();
    result.box_failures.push_back({names, *algbw});
    step();
  }

  // 4. With wider links, unless a bottleneck that misses them says that it is of no use.
  for (UpgradeEffect& upgrade : upgrades) {
    const Links widened = upgrade.together ? upgrade.links : Links{upgrade.links.front()};
    if (!solver.may_pay(widened)) {
      ++result.proved;
    } else {
      const auto algbw = solver.widened(widened);
      if (!algbw) return algbw.errors();
      upgrade.algbw = *algbw;
      if (*algbw > *base) {
        result.upgrades.push_back(std::move(upgrade));
      } else {
        solver.keep_tight_cut();
      }
    }
    step();
  }

  // 5. The dearest and the best first.
  std::ranges::stable_sort(result.failures, {}, &FailureEffect::algbw);
  std::ranges::stable_sort(result.node_failures, {}, &NodeFailureEffect::algbw);
  std::ranges::stable_sort(result.box_failures, {}, &BoxFailureEffect::algbw);
  std::ranges::stable_sort(result.upgrades, [](const UpgradeEffect& a, const UpgradeEffect& b) {
    const auto count = [](const UpgradeEffect& u) { return u.together ? u.links.size() : 1; };
    return std::pair(b.algbw, count(a)) < std::pair(a.algbw, count(b));
  });
  result.solved = solver.solved() - 1;
  return result;
}

}  // namespace forestcoll
