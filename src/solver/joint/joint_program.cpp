#include "solver/joint/joint_program.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace forestcoll::solver {
namespace {

// The fabric's part that a stream may take; the order that it has its arcs in goes to `order`.
Digraph graph_of(const Network& network, const Stream& stream, std::vector<std::size_t>& order) {
  std::vector<Arc> arcs;
  for (const ArcId a : stream.arcs) {
    const Arc& arc = network.graph.arcs()[a.index()];
    arcs.push_back(stream.turned ? Arc{arc.head, arc.tail} : arc);
  }
  return {network.graph.node_count(), arcs, &order};
}

}  // namespace

JointProgram::JointProgram(const Network& network, std::span<const Stream> streams,
                           const StreamOrbits& orbits)
    : network_(network), streams_(streams), orbits_(orbits) {
  program_.variables = orbits.arc_classes + orbits.root_classes;
  add_rates();
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (!orbits_.is_first[s]) continue;
    if (streams_[s].kind == Stream::Kind::paths) {
      add_paths(s);
    } else {
      add_trees(s);
    }
  }
  add_capacity_rows();
}

void JointProgram::add_rates() {
  for (const Stream& stream : streams_) {
    for (const std::int64_t amount : stream.amounts) {
      if (amount > 0) rates_.emplace(amount, 0);
    }
  }
  const std::pair<const std::int64_t, std::size_t>* before = nullptr;
  for (auto& rate : rates_) {
    rate.second = program_.variables++;
    if (before != nullptr) {
      const std::int64_t common = std::gcd(before->first, rate.first);
      add_balance({{before->second, rate.first / common}, {rate.second, -before->first / common}});
    }
    before = &rate;
  }
  program_.objective = {{rates_.rbegin()->second, 1}};
}

// Σ terms = 0. Rows of what symmetries exchange are the same.
void JointProgram::add_balance(std::map<std::size_t, std::int64_t> row) {
  std::vector<Term> terms;
  for (const auto& [variable, coefficient] : row) {
    if (coefficient != 0) terms.push_back({variable, coefficient});
  }
  if (!terms.empty() && balances_.insert(terms).second) {
    program_.balance.push_back(std::move(terms));
  }
}

void JointProgram::add_trees(std::size_t s) {
  const Stream& stream = streams_[s];
  std::vector<std::size_t> order;
  TreeCommodity commodity{graph_of(network_, stream, order), {}, {}, stream.of->members};
  for (const std::size_t i : order) commodity.variable.push_back(variable(s, i));
  commodity.owned.assign(network_.graph.node_count(), Term());
  if (stream.kind == Stream::Kind::any_roots) {
    own_any(stream, commodity);
  } else {
    own(stream, commodity);
  }
  std::vector<bool> is_member(network_.graph.node_count(), false);
  for (const NodeId v : stream.of->members) is_member[v.index()] = true;
  for (std::size_t v = 0; v < is_member.size(); ++v) {
    if (is_member[v]) continue;
    auto row = balance_row(commodity, NodeId(v));
    if (!row.empty() && balances_.insert(row).second) program_.balance.push_back(std::move(row));
  }
  program_.commodities.push_back(std::move(commodity));
}

void JointProgram::own(const Stream& stream, TreeCommodity& commodity) const {
  for (std::size_t i = 0; i < stream.amounts.size(); ++i) {
    if (stream.amounts[i] == 0) continue;
    commodity.owned[stream.of->members[i]] = {rates_.at(stream.amounts[i]), 1};
  }
}

// In-trees and out-trees of a commodity have the same roots.
void JointProgram::own_any(const Stream& stream, TreeCommodity& commodity) {
  std::map<std::size_t, std::int64_t> all{{rates_.at(stream.amounts.front()), -1}};
  for (std::size_t i = 0; i < stream.of->members.size(); ++i) {
    const std::size_t root = orbits_.arc_classes + orbits_.of_roots[stream.commodity][i];
    commodity.owned[stream.of->members[i]] = {root, 1};
    ++all[root];
  }
  add_balance(std::move(all));
}

// What enters a node less what leaves it is what it is to receive.
void JointProgram::add_paths(std::size_t s) {
  const Stream& stream = streams_[s];
  std::map<NodeId, std::map<std::size_t, std::int64_t>> rows;
  for (std::size_t i = 0; i < stream.arcs.size(); ++i) {
    Arc arc = network_.graph.arcs()[stream.arcs[i].index()];
    if (stream.turned) std::swap(arc.tail, arc.head);
    ++rows[arc.head][variable(s, i)];
    --rows[arc.tail][variable(s, i)];
  }
  rows.erase(stream.origin);
  for (std::size_t i = 0; i < stream.amounts.size(); ++i) {
    if (stream.amounts[i] > 0) --rows[stream.of->members[i]][rates_.at(stream.amounts[i])];
  }
  for (auto& row : rows) add_balance(std::move(row.second));
}

void JointProgram::add_capacity_rows() {
  IdVector<ArcId, std::map<std::size_t, std::int64_t>> taken(network_.graph.arc_count());
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    for (std::size_t i = 0; i < streams_[s].arcs.size(); ++i) {
      ++taken[streams_[s].arcs[i]][variable(s, i)];
    }
  }
  std::map<std::pair<std::vector<Term>, Capacity>, std::size_t> known;
  for (std::size_t a = 0; a < taken.size(); ++a) {
    if (taken[ArcId(a)].empty()) continue;
    std::vector<Term> terms;
    for (const auto& [at, count] : taken[ArcId(a)]) terms.push_back({at, count});
    const Capacity capacity = network_.capacity[ArcId(a)];
    const auto [at, is_new] = known.emplace(std::pair(terms, capacity), arcs_of_row_.size());
    if (is_new) {
      program_.capacity.push_back({std::move(terms), capacity});
      arcs_of_row_.emplace_back();
    }
    arcs_of_row_[at->second].push_back(ArcId(a));
  }
}

IdVector<ArcId, double> JointProgram::lengths(std::span<const double> prices) const {
  IdVector<ArcId, double> by_arc(network_.graph.arc_count(), 0);
  for (std::size_t i = 0; i < arcs_of_row_.size(); ++i) {
    const auto sharing = static_cast<double>(arcs_of_row_[i].size());
    for (const ArcId a : arcs_of_row_[i]) by_arc[a] = std::max(prices[i], 0.0) / sharing;
  }
  return by_arc;
}

IdVector<ArcId, std::int64_t> JointProgram::load(std::size_t operation,
                                                 std::span<const std::int64_t> values) const {
  IdVector<ArcId, std::int64_t> by_arc(network_.graph.arc_count(), 0);
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    if (streams_[s].operation != operation) continue;
    for (std::size_t i = 0; i < streams_[s].arcs.size(); ++i) {
      by_arc[streams_[s].arcs[i]] += values[variable(s, i)];
    }
  }
  return by_arc;
}

}  // namespace forestcoll::solver
