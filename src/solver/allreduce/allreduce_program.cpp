#include "solver/allreduce/allreduce_program.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "solver/symmetry/fabric_group.hpp"

namespace forestcoll::solver {
namespace {

// Whether every arc has an equal one the other way, every limit too, and who copies combines.
bool is_reversible(const Network& network, const SwitchRoles& roles) {
  const auto& arcs = network.graph.arcs();
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    const ArcId back = network.graph.find(arcs[a].head, arcs[a].tail);
    if (!back.valid() || network.capacity[back] != network.capacity[ArcId(a)]) return false;
  }
  return std::ranges::all_of(roles,
                             [](const SwitchRole& role) { return role.copies == role.combines; }) &&
         has_limits_both_ways(network);
}

ArcId reverse(const Digraph& graph, ArcId a) {
  return graph.find(graph.head(a), graph.tail(a));
}

std::vector<Term> terms_of(const std::map<std::size_t, std::int64_t>& coefficients) {
  std::vector<Term> terms;
  for (const auto& [variable, coefficient] : coefficients) terms.push_back({variable, coefficient});
  return terms;
}

}  // namespace

AllreduceFabric::AllreduceFabric(const Network& of, const SwitchRoles& can)
    : AllreduceFabric(of, can, uniform_weights(of)) {}

AllreduceFabric::AllreduceFabric(const Network& of, const SwitchRoles& can, const Weights& weights)
    : network(of),
      roles(can),
      generators(find_fabric_group(of, can, weights)),
      orbits(orbits_under(of, generators)),
      reversible(is_reversible(of, can)) {}

AllreduceProgram::AllreduceProgram(const AllreduceFabric& fabric, std::vector<TreeClass> classes)
    : AllreduceProgram(fabric, std::move(classes), Weights()) {}

AllreduceProgram::AllreduceProgram(const AllreduceFabric& fabric, std::vector<TreeClass> classes,
                                   Weights given)
    : fabric_(fabric), given_(std::move(given)) {
  for (TreeClass& trees : classes) add_class(std::move(trees));
  finish();
}

AllreduceProgram::AllreduceProgram(const AllreduceFabric& fabric, Weights given)
    : fabric_(fabric), relaxed_(true), given_(std::move(given)) {
  NodeImage identity;
  for (std::size_t v = 0; v < fabric.network.graph.node_count(); ++v) {
    identity.push_back(NodeId(v));
  }
  for (const TreePhases phases : fabric.kinds()) {
    const bool turned = phases == TreePhases::reduce;
    add_class({phases, able_switches(fabric.roles, turned), {identity}, fabric.orbits});
  }
  finish();
}

AllreduceProgram AllreduceProgram::relaxed(const AllreduceFabric& fabric) {
  return {fabric, Weights()};
}

AllreduceProgram AllreduceProgram::of_shares(const AllreduceFabric& fabric,
                                             const Weights& weights) {
  return {fabric, weights};
}

AllreduceProgram AllreduceProgram::of_broadcast(const AllreduceFabric& fabric,
                                                std::vector<TreeClass> classes,
                                                const Weights& weights) {
  return {fabric, std::move(classes), weights};
}

void AllreduceProgram::add_class(TreeClass trees) {
  const bool turned = trees.phases == TreePhases::reduce;
  TwinGraph twins = make_twin_graph(fabric_.network, fabric_.roles, trees.spanned, turned);
  commodities_.push_back({std::move(trees), std::move(twins), turned});
  TreeCommodity& commodity =
      program_.commodities.emplace_back(TreeCommodity{commodities_.back().twins.graph, {}, {}, {}});
  number_arcs(commodity);
  number_roots(commodity);
  add_sinks(commodity);
  add_balance_rows(commodity);
}

// Of the class that is being added, here and below.
void AllreduceProgram::number_arcs(TreeCommodity& commodity) {
  const AllreduceCommodity& own = commodities_.back();
  std::map<std::tuple<std::size_t, bool, bool>, std::size_t> numbers;
  for (const TwinArc& arc : own.twins.arcs) {
    const std::size_t orbit = own.trees.orbits.arcs.of[arc.along.index()];
    const auto [at, is_new] =
        numbers.emplace(std::tuple(orbit, arc.from_twin, arc.to_twin), program_.variables);
    if (is_new) ++program_.variables;
    commodity.variable.push_back(at->second);
  }
}

// Data is rooted at ranks, by what each is given if that is so, and at the twins of switches that
// can hold a sum.
void AllreduceProgram::number_roots(TreeCommodity& commodity) {
  const AllreduceCommodity& own = commodities_.back();
  std::map<std::size_t, std::size_t> numbers;
  std::map<std::size_t, std::size_t>& number = relaxed_ ? common_roots_ : numbers;
  commodity.owned.assign(commodity.graph.node_count(), Term());
  const auto own_by = [&](NodeId node, NodeId original) {
    const std::size_t kind = given_.empty() ? own.trees.orbits.nodes.of[original.index()] : 0;
    const auto [at, is_new] = number.emplace(kind, program_.variables);
    if (is_new) ++program_.variables;
    commodity.owned[node] = {at->second,
                             given_.empty() ? 1 : given_[fabric_.network.rank_of[original]]};
  };
  for (const NodeId v : fabric_.network.ranks) own_by(v, v);
  for (std::size_t i = 0; i < own.twins.spanned.size(); ++i) {
    const NodeId w = own.twins.spanned[i];
    if (given_.empty() && fabric_.roles[w].is_root()) own_by(own.twins.twin(i), w);
  }
}

void AllreduceProgram::add_sinks(TreeCommodity& commodity) const {
  const AllreduceCommodity& own = commodities_.back();
  std::vector<bool> seen(own.trees.orbits.nodes.count, false);
  const auto add = [&](NodeId node, NodeId original) {
    const std::size_t orbit = own.trees.orbits.nodes.of[original.index()];
    if (!seen[orbit]) commodity.sinks.push_back(node);
    seen[orbit] = true;
  };
  for (const NodeId v : fabric_.network.ranks) add(v, v);
  if (relaxed_) return;
  for (std::size_t i = 0; i < own.twins.spanned.size(); ++i) {
    add(own.twins.twin(i), own.twins.spanned[i]);
  }
}

// What goes through a switch comes out of it; a twin may give out more, or less.
void AllreduceProgram::add_balance_rows(const TreeCommodity& commodity) {
  const NetworkOrbits& orbits = commodities_.back().trees.orbits;
  std::vector<bool> seen(orbits.nodes.count, false);
  for (std::size_t v = 0; v < fabric_.network.graph.node_count(); ++v) {
    if (fabric_.network.is_compute(NodeId(v)) || seen[orbits.nodes.of[v]]) continue;
    seen[orbits.nodes.of[v]] = true;
    if (auto row = balance_row(commodity, NodeId(v)); !row.empty()) {
      program_.balance.push_back(std::move(row));
    }
  }
}

void AllreduceProgram::finish() {
  add_capacity_rows();
  if (!relaxed_) add_shares_rows();
  add_objective();
}

// What is broadcast, by every image of every class.
void AllreduceProgram::add_objective() {
  std::map<std::size_t, std::int64_t> coefficients;
  for (std::size_t p = 0; p < commodities_.size(); ++p) {
    if (commodities_[p].turned) continue;
    for (const Term& owned : program_.commodities[p].owned) {
      if (owned.coefficient == 0) continue;
      coefficients[owned.variable] +=
          owned.coefficient * static_cast<std::int64_t>(commodities_[p].trees.images.size());
    }
  }
  program_.objective = terms_of(coefficients);
}

// By orbit of arcs, what all images of all classes take of all of its arcs, and where reduce is
// broadcast turned round, what they take of the reverse arcs: both phases share every arc.
std::vector<AllreduceProgram::Taken> AllreduceProgram::taken_by_orbit() const {
  const Partition& orbits = fabric_.orbits.arcs;
  std::vector<Taken> taken(orbits.count);
  for (std::size_t p = 0; p < commodities_.size(); ++p) {
    const auto images = static_cast<std::int64_t>(commodities_[p].trees.images.size());
    for (std::size_t i = 0; i < commodities_[p].twins.arcs.size(); ++i) {
      const TwinArc& arc = commodities_[p].twins.arcs[i];
      for (const ArcId a : {arc.along, arc.echo}) {
        if (!a.valid()) continue;
        const std::size_t orbit = orbits.of[a.index()];
        taken[orbit][program_.commodities[p].variable[i]] += images;
        if (fabric_.reversible) {
          taken[orbits_[orbit].reversed][program_.commodities[p].variable[i]] += images;
        }
      }
    }
  }
  return taken;
}

void AllreduceProgram::add_capacity_rows() {
  const Network& network = fabric_.network;
  const Partition& orbits = fabric_.orbits.arcs;
  orbits_.resize(orbits.count);
  for (std::size_t a = 0; a < orbits.of.size(); ++a) {
    OrbitOfArcs& orbit = orbits_[orbits.of[a]];
    ++orbit.members;
    orbit.capacity = network.capacity[ArcId(a)];
    if (fabric_.reversible) {
      orbit.reversed = orbits.of[reverse(network.graph, ArcId(a)).index()];
    }
  }
  const std::vector<Taken> taken = taken_by_orbit();
  for (std::size_t orbit = 0; orbit < orbits.count; ++orbit) {
    const OrbitOfArcs& arcs = orbits_[orbit];
    const auto row = add_capacity_row(taken[orbit], arcs.members, arcs.capacity);
    const bool both_ways = fabric_.reversible && arcs.reversed == orbit;
    orbits_[orbit].counted.push_back({row.number, (both_ways ? 2 : 1) / row.divisor});
  }
  add_rows_of_limits(taken);
}

// `members` of this capacity together.
AllreduceProgram::AddedRow AllreduceProgram::add_capacity_row(Taken taken, std::int64_t members,
                                                              Capacity capacity) {
  std::int64_t divisor = members;
  for (const auto& [variable, coefficient] : taken) divisor = std::gcd(divisor, coefficient);
  for (auto& [variable, coefficient] : taken) coefficient /= divisor;
  CapacityRow row{terms_of(taken), capacity * (members / divisor)};
  const auto [at, is_new] = rows_.emplace(std::pair(row.terms, row.bound), rows_.size());
  if (is_new) program_.capacity.push_back(std::move(row));
  return {at->second, is_new, static_cast<double>(divisor)};
}

// Limits that symmetries exchange count each arc of an orbit as often.
void AllreduceProgram::add_rows_of_limits(const std::vector<Taken>& taken) {
  const Network& network = fabric_.network;
  if (network.limits.empty()) return;
  const Partition classes = limit_orbits(network, fabric_.generators);
  std::vector<std::map<std::size_t, std::int64_t>> times(classes.count);  // by orbit of arcs
  std::vector<std::int64_t> members(classes.count, 0);
  std::vector<Capacity> capacity(classes.count, 0);
  for (std::size_t l = 0; l < network.limits.size(); ++l) {
    ++members[classes.of[l]];
    capacity[classes.of[l]] = network.limits[l].capacity;
    for (const auto& [arc, weight] : network.limits[l].uses) {
      times[classes.of[l]][fabric_.orbits.arcs.of[arc.index()]] += weight;
    }
  }
  for (std::size_t c = 0; c < classes.count; ++c) {
    Taken all;
    for (auto& [orbit, count] : times[c]) {
      count /= orbits_[orbit].members;
      for (const auto& [variable, coefficient] : taken[orbit]) all[variable] += count * coefficient;
    }
    const auto row = add_capacity_row(std::move(all), members[c], capacity[c]);
    if (!row.is_new) continue;  // of the reverse arcs, which trees on these take as well
    for (const auto& [orbit, count] : times[c]) {
      const double counted = static_cast<double>(count) / row.divisor;
      orbits_[orbit].counted.push_back({row.number, counted});
      if (fabric_.reversible) {
        orbits_[orbits_[orbit].reversed].counted.push_back({row.number, counted});
      }
    }
  }
}

// Where the phases have trees of their own: what is reduced at a root is what is broadcast from it.
void AllreduceProgram::add_shares_rows() {
  if (std::ranges::none_of(commodities_, &AllreduceCommodity::turned)) return;
  std::map<std::size_t, std::map<std::size_t, std::int64_t>> rows;  // by orbit of roots
  for (std::size_t p = 0; p < commodities_.size(); ++p) {
    const auto images = static_cast<std::int64_t>(commodities_[p].trees.images.size());
    const TreeCommodity& commodity = program_.commodities[p];
    for (std::size_t v = 0; v < commodity.owned.size(); ++v) {
      const Term& owned = commodity.owned[NodeId(v)];
      if (owned.coefficient == 0) continue;
      const std::size_t nodes = fabric_.network.graph.node_count();
      const NodeId root = v < nodes ? NodeId(v) : commodities_[p].twins.spanned[v - nodes];
      rows[fabric_.orbits.nodes.of[root.index()]][owned.variable] +=
          commodities_[p].turned ? -images : images;
    }
  }
  for (const auto& [orbit, coefficients] : rows) program_.balance.push_back(terms_of(coefficients));
}

IdVector<ArcId, double> AllreduceProgram::arc_prices(std::span<const double> prices) const {
  IdVector<ArcId, double> by_arc;
  for (const std::size_t orbit : fabric_.orbits.arcs.of) {
    double price = 0;
    for (const auto& [row, counted] : orbits_[orbit].counted) price += prices[row] * counted;
    by_arc.push_back(price);
  }
  return by_arc;
}

}  // namespace forestcoll::solver
