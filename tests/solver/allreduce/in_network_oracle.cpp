#include "in_network_oracle.hpp"

#include <glpk.h>
#include <lemon/list_graph.h>
#include <lemon/preflow.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace forestcoll::testing {
namespace {

constexpr std::size_t kMostTrees = 300'000;

bool is_able(const SwitchRole& role, bool reduce) {
  return reduce ? role.combines : role.copies;
}

// A point where trees branch: a rank, or a switch that is spanned.
struct Hop {
  NodeId from, to;
  std::vector<int> load;  // by arc, echoes counted
};

// Trees of one phase that span the ranks and certain switches.
class TreeEnumeration {
 public:
  TreeEnumeration(const Network& network, const SwitchRoles& roles, bool reduce,
                  const std::vector<NodeId>& switches, std::size_t height)
      : network_(network), roles_(roles), reduce_(reduce), height_(height), spanned_(switches) {
    spanned_.insert(spanned_.end(), network.ranks.begin(), network.ranks.end());
    for (const NodeId from : spanned_) {
      path_ = {from};
      find_hops();
    }
  }

  // Every load that a tree from this root can be, once; false where there are too many.
  bool add_loads(NodeId root, std::set<std::vector<int>>& loads) {
    std::vector<const Hop*> chosen;
    std::vector<NodeId> below;
    for (const NodeId v : spanned_) {
      if (v != root) below.push_back(v);
    }
    steps_ = 0;
    choose(root, below, chosen, loads);
    return steps_ < kMostTrees;
  }

 private:
  // As data flows when broadcast; when reduced, arcs are taken the other way.
  [[nodiscard]] ArcId arc(NodeId from, NodeId to) const {
    return reduce_ ? network_.graph.find(to, from) : network_.graph.find(from, to);
  }

  void find_hops() {
    for (std::size_t i = 0; i < network_.graph.node_count(); ++i) {
      const NodeId next(i);
      if (std::ranges::find(path_, next) != path_.end()) continue;
      if (!arc(path_.back(), next).valid()) continue;
      path_.push_back(next);
      if (std::ranges::find(spanned_, next) != spanned_.end()) add_hop();
      if (!network_.is_compute(next)) find_hops();  // through it, be it spanned or not
      path_.pop_back();
    }
  }

  void add_hop() {
    Hop hop{path_.front(), path_.back(), std::vector<int>(network_.graph.arc_count(), 0)};
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
      ++hop.load[arc(path_[i], path_[i + 1]).index()];
    }
    const NodeId before = path_[path_.size() - 2];
    if (!network_.is_compute(hop.to) && network_.is_compute(before) && roles_[hop.to].echoes) {
      const ArcId echo = arc(hop.to, before);
      if (!echo.valid()) return;
      ++hop.load[echo.index()];
    }
    hops_.push_back(std::move(hop));
  }

  void choose(NodeId root, const std::vector<NodeId>& below, std::vector<const Hop*>& chosen,
              std::set<std::vector<int>>& loads) {
    if (++steps_ >= kMostTrees) return;
    if (chosen.size() == below.size()) {
      if (reaches_all(root, chosen)) loads.insert(total(chosen));
      return;
    }
    for (const Hop& hop : hops_) {
      if (hop.to != below[chosen.size()]) continue;
      chosen.push_back(&hop);
      choose(root, below, chosen, loads);
      chosen.pop_back();
    }
  }

  [[nodiscard]] bool reaches_all(NodeId root, const std::vector<const Hop*>& chosen) const {
    std::set<NodeId> reached = {root};
    for (std::size_t round = 0; round < std::min(height_, chosen.size()); ++round) {
      const std::set<NodeId> before = reached;
      for (const Hop* hop : chosen) {
        if (before.contains(hop->from)) reached.insert(hop->to);
      }
    }
    return reached.size() == chosen.size() + 1;
  }

  [[nodiscard]] std::vector<int> total(const std::vector<const Hop*>& chosen) const {
    std::vector<int> load(network_.graph.arc_count(), 0);
    for (const Hop* hop : chosen) {
      for (std::size_t a = 0; a < load.size(); ++a) load[a] += hop->load[a];
    }
    return load;
  }

  const Network& network_;
  const SwitchRoles& roles_;
  bool reduce_;
  std::size_t height_;
  std::vector<NodeId> spanned_;
  std::vector<NodeId> path_;
  std::vector<Hop> hops_;
  std::size_t steps_ = 0;
};

struct Column {
  NodeId root;
  bool reduce;
  std::vector<int> load;
};

// Loads that are no more than another's everywhere make the other one's tree useless.
std::vector<std::vector<int>> least_loads(const std::set<std::vector<int>>& loads) {
  std::vector<std::vector<int>> least;
  for (const auto& load : loads) {  // in lexical order: what is below another comes first
    const bool beaten = std::ranges::any_of(least, [&](const std::vector<int>& other) {
      return std::equal(other.begin(), other.end(), load.begin(), std::less_equal<>());
    });
    if (!beaten) least.push_back(load);
  }
  return least;
}

// Of one phase, from these ranks and from switches that can be roots.
bool add_columns(const Network& network, const SwitchRoles& roles, bool reduce, std::size_t height,
                 const std::vector<NodeId>& ranks, bool from_switches,
                 std::vector<Column>& columns) {
  std::vector<NodeId> able;
  for (std::size_t v = 0; v < roles.size(); ++v) {
    if (is_able(roles[NodeId(v)], reduce)) able.emplace_back(v);
  }
  std::map<NodeId, std::set<std::vector<int>>> loads;
  for (std::size_t subset = 0; subset < (std::size_t{1} << able.size()); ++subset) {
    std::vector<NodeId> switches, roots = ranks;
    for (std::size_t i = 0; i < able.size(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      switches.push_back(able[i]);
      if (from_switches && roles[able[i]].is_root()) roots.push_back(able[i]);
    }
    TreeEnumeration trees(network, roles, reduce, switches, height);
    for (const NodeId root : roots) {
      if (!trees.add_loads(root, loads[root])) return false;
    }
  }
  for (const auto& [root, of_root] : loads) {
    for (const auto& load : least_loads(of_root)) columns.push_back({root, reduce, load});
  }
  return true;
}

// What nodes have at a root: as much to reduce as to broadcast; any of one root; all ranks as much.
enum class Roots { as_reduced, one, equal };

// Maximises what the columns of the phases together carry.
std::optional<double> best_of(const std::vector<Column>& columns, const Network& network,
                              Roots roots) {
  if (columns.empty()) return 0.0;  // GLPK takes no program without columns
  glp_prob* const program = glp_create_prob();
  glp_set_obj_dir(program, GLP_MAX);
  const auto arcs = static_cast<int>(network.graph.arc_count());
  const auto nodes = static_cast<int>(network.graph.node_count());
  const auto limits = static_cast<int>(network.limits.size());
  const bool are_both = roots == Roots::as_reduced;
  glp_add_rows(program, arcs + nodes + limits);
  for (int a = 0; a < arcs; ++a) {
    glp_set_row_bnds(program, a + 1, GLP_UP, 0,
                     static_cast<double>(network.capacity[ArcId(std::int32_t(a))]));
  }
  for (int v = 0; v < nodes; ++v) {
    glp_set_row_bnds(program, arcs + v + 1, roots == Roots::one ? GLP_FR : GLP_FX, 0, 0);
  }
  for (int l = 0; l < limits; ++l) {
    glp_set_row_bnds(program, arcs + nodes + l + 1, GLP_UP, 0,
                     static_cast<double>(network.limits[static_cast<std::size_t>(l)].capacity));
  }
  const auto all = static_cast<int>(columns.size()) + 1;
  glp_add_cols(program, all);
  glp_set_col_bnds(program, all, GLP_LO, 0, 0);
  if (roots == Roots::equal) {  // the last column is what every rank has
    std::vector<int> rows = {0};
    for (const NodeId v : network.ranks) rows.push_back(arcs + v.value + 1);
    const std::vector<double> values(rows.size(), -1);
    glp_set_mat_col(program, all, static_cast<int>(rows.size()) - 1, rows.data(), values.data());
    glp_set_obj_coef(program, all, static_cast<double>(network.ranks.size()));
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const Column& column = columns[j];
    const int number = static_cast<int>(j) + 1;
    glp_set_col_bnds(program, number, GLP_LO, 0, 0);
    const bool counts = roots == Roots::one || (are_both && !column.reduce);
    glp_set_obj_coef(program, number, counts ? 1 : 0);
    std::vector<int> rows = {0, arcs + column.root.value + 1};
    std::vector<double> values = {0, are_both && column.reduce ? -1.0 : 1.0};
    for (int a = 0; a < arcs; ++a) {
      if (column.load[static_cast<std::size_t>(a)] == 0) continue;
      rows.push_back(a + 1);
      values.push_back(column.load[static_cast<std::size_t>(a)]);
    }
    for (int l = 0; l < limits; ++l) {
      double used = 0;
      for (const auto& [arc, weight] : network.limits[static_cast<std::size_t>(l)].uses) {
        used += static_cast<double>(weight) * column.load[arc.index()];
      }
      if (used == 0) continue;
      rows.push_back(arcs + nodes + l + 1);
      values.push_back(used);
    }
    glp_set_mat_col(program, number, static_cast<int>(rows.size()) - 1, rows.data(), values.data());
  }
  glp_smcp silent;
  glp_init_smcp(&silent);
  silent.msg_lev = GLP_MSG_ERR;
  const bool solved = glp_simplex(program, &silent) == 0 && glp_get_status(program) == GLP_OPT;
  const double best = glp_get_obj_val(program);
  glp_delete_prob(program);
  return solved ? std::optional(best) : std::nullopt;
}

}  // namespace

std::optional<double> best_by_all_trees(const Network& network, const SwitchRoles& roles,
                                        std::size_t height) {
  std::vector<Column> columns;
  for (const bool reduce : {false, true}) {
    if (!add_columns(network, roles, reduce, height, network.ranks, true, columns))
      return std::nullopt;
  }
  return best_of(columns, network, Roots::as_reduced);
}

std::optional<double> best_by_all_trees(const Network& network, const SwitchRoles& roles,
                                        Collective collective, std::optional<Rank> root) {
  std::vector<Column> columns;
  const bool reduce = collective == Collective::reduce || collective == Collective::reduce_scatter;
  const std::vector<NodeId> roots =
      root ? std::vector<NodeId>{network.ranks[root->index()]} : network.ranks;
  if (!add_columns(network, roles, reduce, network.ranks.size() + roles.size(), roots, false,
                   columns)) {
    return std::nullopt;
  }
  return best_of(columns, network, root ? Roots::one : Roots::equal);
}

namespace {

// A node, or the branching point at it.
using Point = std::pair<NodeId, bool>;

struct PointArc {
  Point from, to;
  Ratio amount;
};

// As out-trees, whatever the phase.
std::vector<PointArc> point_arcs(const Network& network, const AllreduceTrees& trees, bool reduce) {
  std::vector<PointArc> arcs;
  for (const AllreduceArc& taken : trees.taken) {
    const Point tail(network.graph.tail(taken.arc), taken.branches_at_tail);
    const Point head(network.graph.head(taken.arc), taken.branches_at_head);
    arcs.push_back(reduce ? PointArc{head, tail, taken.amount}
                          : PointArc{tail, head, taken.amount});
  }
  return arcs;
}

std::int64_t common_denominator(const AllreduceTrees& trees) {
  std::int64_t common = 1;
  for (const Ratio& root : trees.root) common = std::lcm(common, root.den());
  for (const AllreduceArc& taken : trees.taken) common = std::lcm(common, taken.amount.den());
  return common;
}

std::string find_trees_flaw(const Network& network, const SwitchRoles& roles,
                            const AllreduceTrees& trees, bool reduce) {
  for (const NodeId w : trees.switches) {
    if (!is_able(roles[w], reduce)) return "a switch branches that cannot";
  }
  const auto spans = [&](NodeId v) {
    return std::ranges::find(trees.switches, v) != trees.switches.end();
  };
  const auto arcs = point_arcs(network, trees, reduce);
  std::map<NodeId, Ratio> balance;
  for (const PointArc& arc : arcs) {
    for (const auto& [v, branches] : {arc.from, arc.to}) {
      if (branches && !spans(v)) return "a switch branches that is not spanned";
    }
    if (!arc.from.second) balance[arc.from.first] = balance[arc.from.first] - arc.amount;
    if (!arc.to.second) balance[arc.to.first] = balance[arc.to.first] + arc.amount;
  }
  for (const auto& [v, excess] : balance) {
    if (!network.is_compute(v) && excess != Ratio(0)) return "a switch is not balanced";
  }
  // Flows, in whole numbers.
  const std::int64_t unit = common_denominator(trees);
  const auto whole = [&](const Ratio& amount) { return (amount * Ratio(unit)).num(); };
  lemon::ListDigraph graph;
  lemon::ListDigraph::ArcMap<std::int64_t> capacity(graph);
  std::map<Point, lemon::ListDigraph::Node> points;
  const auto point = [&](const Point& at) {
    const auto [found, is_new] = points.try_emplace(at);
    if (is_new) found->second = graph.addNode();
    return found->second;
  };
  const auto add = [&](lemon::ListDigraph::Node from, lemon::ListDigraph::Node to,
                       std::int64_t amount) { capacity[graph.addArc(from, to)] = amount; };
  const auto source = graph.addNode();
  std::int64_t all = 0;
  for (std::size_t i = 0; i < trees.root.size(); ++i) {
    const NodeId v(i);
    if (trees.root[v] == Ratio(0)) continue;
    if (!network.is_compute(v) && !(spans(v) && roles[v].is_root())) return "a root that is none";
    add(source, point({v, !network.is_compute(v)}), whole(trees.root[v]));
    all += whole(trees.root[v]);
  }
  for (const PointArc& arc : arcs) add(point(arc.from), point(arc.to), whole(arc.amount));
  std::vector<Point> sinks;
  for (const NodeId v : network.ranks) sinks.emplace_back(v, false);
  for (const NodeId w : trees.switches) sinks.emplace_back(w, true);
  for (const Point& sink : sinks) {
    const auto target = point(sink);
    lemon::Preflow<lemon::ListDigraph, lemon::ListDigraph::ArcMap<std::int64_t>> flow(
        graph, capacity, source, target);
    flow.runMinCut();
    if (flow.flowValue() < all) return "a node cannot get all data";
  }
  return "";
}

std::map<NodeId, Ratio> roots_of(const std::vector<AllreduceTrees>& phase) {
  std::map<NodeId, Ratio> roots;
  for (const AllreduceTrees& trees : phase) {
    for (std::size_t v = 0; v < trees.root.size(); ++v) {
      roots[NodeId(v)] = roots[NodeId(v)] + trees.root[NodeId(v)];
    }
  }
  return roots;
}

}  // namespace

std::string find_split_flaw(const Network& network, const SwitchRoles& roles,
                            const AllreduceSplit& split) {
  IdVector<ArcId, Ratio> load(network.graph.arc_count(), Ratio(0));
  for (const auto& [phase, reduce] : {std::pair(&split.broadcast, false), {&split.reduce, true}}) {
    for (const AllreduceTrees& trees : *phase) {
      if (auto flaw = find_trees_flaw(network, roles, trees, reduce); !flaw.empty()) return flaw;
      for (const AllreduceArc& taken : trees.taken) {
        if (taken.amount < Ratio(0)) return "a negative amount";
        load[taken.arc] = load[taken.arc] + taken.amount;
        const NodeId tail = network.graph.tail(taken.arc), head = network.graph.head(taken.arc);
        const NodeId at = reduce ? tail : head, other = reduce ? head : tail;
        const bool branches = reduce ? taken.branches_at_tail : taken.branches_at_head;
        if (!branches || !network.is_compute(other) || !roles[at].echoes) continue;
        const ArcId echo = network.graph.find(head, tail);
        if (!echo.valid()) return "an echo has no way";
        load[echo] = load[echo] + taken.amount;
      }
    }
  }
  for (std::size_t a = 0; a < load.size(); ++a) {
    if (load[ArcId(a)] > Ratio(network.capacity[ArcId(a)])) return "an arc carries too much";
  }
  for (const ArcLimit& limit : network.limits) {
    Ratio used = 0;
    for (const auto& [arc, weight] : limit.uses) used = used + load[arc] * Ratio(weight);
    if (used > Ratio(limit.capacity)) return "arcs of a limit carry too much together";
  }
  const auto roots = roots_of(split.broadcast);
  if (roots != roots_of(split.reduce)) return "the phases have other roots";
  Ratio all = 0;
  for (const auto& [v, amount] : roots) all = all + amount;
  return all * network.unit == split.algbw ? "" : "the roots are not worth the rate";
}

}  // namespace forestcoll::testing
