#include "solver/joint/joint_oracle.hpp"

#include <glpk.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace forestcoll::test {
namespace {

// A row of the program: coefficients by column.
using Row = std::map<int, double>;

class Definition {
 public:
  Definition(const Network& network, bool relays)
      : network_(network),
        relays_(relays),
        problem_(glp_create_prob()),
        loads_(network.graph.arc_count()) {
    glp_set_obj_dir(problem_, GLP_MAX);
    rate_ = objective_ = column();
    glp_set_obj_coef(problem_, rate_, 1);
  }
  ~Definition() { glp_delete_prob(problem_); }
  Definition(const Definition&) = delete;
  Definition& operator=(const Definition&) = delete;

  // What follows is of an operation whose rate is this one's, in units of capacity: exactly, at
  // least, or all that is left.
  enum class Rate { fixed, at_least, objective };
  void begin_operation(Rate kind, double rate) {
    if (kind == Rate::objective) {
      rate_ = objective_;
      return;
    }
    rate_ = column();
    glp_set_col_bnds(problem_, rate_, kind == Rate::fixed ? GLP_FX : GLP_LO, rate, rate);
  }

  // `amount`: of the buffer, beside the largest operation's.
  void add(const JobOperation& operation, const std::vector<Rank>& group, double amount) {
    const std::size_t n = group.size();
    members_.clear();
    for (const Rank r : group) members_.push_back(network_.ranks[r.index()]);
    const double part = amount / static_cast<double>(n);
    std::vector<double> of_root(n, 0);
    if (operation.root) of_root[*operation.root] = amount;
    switch (operation.collective) {
      case Collective::allgather:
        return add_trees(std::vector(n, part), false);
      case Collective::reduce_scatter:
        return add_trees(std::vector(n, part), true);
      case Collective::broadcast:
        return add_trees(of_root, false);
      case Collective::reduce:
        return add_trees(of_root, true);
      case Collective::allreduce:
        return add_allreduce(amount);
      default:
        break;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        double moved = part;
        if (operation.demand) {
          moved = static_cast<double>((*operation.demand)(Rank(i), Rank(j)));
        }
        if (operation.collective == Collective::scatter && i != operation.root) moved = 0;
        if (operation.collective == Collective::gather && j != operation.root) moved = 0;
        if (moved > 0) add_path(members_[i], members_[j], moved);
      }
    }
  }

  double solve() {
    for (std::size_t a = 0; a < loads_.size(); ++a) {
      const auto capacity = static_cast<double>(network_.capacity[ArcId(a)]);
      if (!loads_[a].empty()) add_row(loads_[a], GLP_UP, capacity);
    }
    for (const ArcLimit& limit : network_.limits) {
      Row row;
      for (const auto& [arc, weight] : limit.uses) {
        for (const auto& [at, taken] : loads_[arc.index()]) {
          row[at] += static_cast<double>(weight) * taken;
        }
      }
      if (!row.empty()) add_row(row, GLP_UP, static_cast<double>(limit.capacity));
    }
    glp_smcp options;
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_ERR;
    options.presolve = GLP_ON;
    EXPECT_EQ(glp_simplex(problem_, &options), 0);
    EXPECT_EQ(glp_get_status(problem_), GLP_OPT);
    return glp_get_obj_val(problem_) * network_.unit.to_double();
  }

 private:
  int column() {
    const int made = glp_add_cols(problem_, 1);
    glp_set_col_bnds(problem_, made, GLP_LO, 0, 0);
    return made;
  }

  void add_row(const Row& row, int kind, double bound) {
    std::vector<int> index{0};
    std::vector<double> value{0};
    for (const auto& [at, coefficient] : row) {
      index.push_back(at);
      value.push_back(coefficient);
    }
    const int made = glp_add_rows(problem_, 1);
    glp_set_row_bnds(problem_, made, kind, bound, bound);
    glp_set_mat_row(problem_, made, static_cast<int>(row.size()), index.data(), value.data());
  }

  bool is_open(NodeId v) const {
    return relays_ || !network_.is_compute(v) || std::ranges::count(members_, v) > 0;
  }

  // A column for every arc that the group may take, 0 for the others.
  std::vector<int> columns() {
    std::vector<int> made;
    for (const Arc& arc : network_.graph.arcs()) {
      made.push_back(is_open(arc.tail) && is_open(arc.head) ? column() : 0);
    }
    return made;
  }

  void load(const std::vector<int>& taken) {
    for (std::size_t a = 0; a < taken.size(); ++a) {
      if (taken[a] != 0) loads_[a][taken[a]] = 1;
    }
  }

  Row balance(const std::vector<int>& flow, NodeId v, bool turned) const {
    Row row;
    for (std::size_t a = 0; a < flow.size(); ++a) {
      if (flow[a] == 0) continue;
      const Arc& arc = network_.graph.arcs()[a];
      if ((turned ? arc.tail : arc.head) == v) row[flow[a]] += 1;
      if ((turned ? arc.head : arc.tail) == v) row[flow[a]] -= 1;
    }
    return row;
  }

  void add_path(NodeId from, NodeId to, double amount) {
    const std::vector<int> flow = columns();
    load(flow);
    for (std::size_t v = 0; v < network_.graph.node_count(); ++v) {
      if (NodeId(v) == from) continue;
      Row row = balance(flow, NodeId(v), false);
      if (NodeId(v) == to) row[rate_] -= amount;
      if (!row.empty()) add_row(row, GLP_FX, 0);
    }
  }

  // `shares`: columns of what each member roots, with coefficients. All of it, `total`, has to
  // reach every member.
  void add_phase(const std::vector<Row>& shares, bool turned) {
    const std::vector<int> taken = columns();
    load(taken);
    for (std::size_t v = 0; v < network_.graph.node_count(); ++v) {
      if (std::ranges::count(members_, NodeId(v)) > 0) continue;
      const Row row = balance(taken, NodeId(v), turned);
      if (!row.empty()) add_row(row, GLP_FX, 0);
    }
    for (const NodeId sink : members_) {
      const std::vector<int> flow = columns();
      for (std::size_t a = 0; a < flow.size(); ++a) {
        if (flow[a] != 0) add_row({{flow[a], 1}, {taken[a], -1}}, GLP_UP, 0);
      }
      for (std::size_t v = 0; v < network_.graph.node_count(); ++v) {
        if (NodeId(v) == sink) continue;
        Row row = balance(flow, NodeId(v), turned);
        for (std::size_t i = 0; i < members_.size(); ++i) {
          if (members_[i] != NodeId(v)) continue;
          for (const auto& [at, coefficient] : shares[i]) row[at] += coefficient;
        }
        if (!row.empty()) add_row(row, GLP_FX, 0);
      }
    }
  }

  void add_trees(const std::vector<double>& amounts, bool turned) {
    std::vector<Row> shares;
    for (const double amount : amounts) {
      shares.push_back(amount > 0 ? Row{{rate_, amount}} : Row{});
    }
    add_phase(shares, turned);
  }

  void add_allreduce(double amount) {
    std::vector<Row> shares;
    Row all{{rate_, -amount}};
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const int share = column();
      shares.push_back({{share, 1}});
      all[share] = 1;
    }
    add_row(all, GLP_FX, 0);
    add_phase(shares, false);
    add_phase(shares, true);
  }

  const Network& network_;
  bool relays_;
  glp_prob* problem_;
  std::vector<Row> loads_;
  std::vector<NodeId> members_;
  int rate_ = 0, objective_ = 0;
};

double weighted_bytes(const JobOperation& operation) {
  return static_cast<double>(operation.bytes.value_or(1) * operation.weight);
}

double largest_of(std::span<const JobOperation> operations) {
  double largest = 0;
  for (const JobOperation& operation : operations) {
    largest = std::max(largest, weighted_bytes(operation));
  }
  return largest;
}

// What each operation has, and in which way.
struct Asked {
  Definition::Rate kind = Definition::Rate::objective;
  double rate = 0;  // GB/s
};

double most_by_definition(const Network& network, std::span<const JobOperation> operations,
                          bool relays, const std::vector<Asked>& asked) {
  Definition definition(network, relays);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    definition.begin_operation(asked[i].kind, asked[i].rate / network.unit.to_double());
    for (const auto& group : operations[i].groups) {
      if (group.size() < 2) continue;
      definition.add(operations[i], group, weighted_bytes(operations[i]) / largest_of(operations));
    }
  }
  return definition.solve();
}

}  // namespace

double joint_rate_by_definition(const Network& network, std::span<const JobOperation> operations,
                                bool relays) {
  return most_by_definition(network, operations, relays, std::vector<Asked>(operations.size()));
}

std::vector<double> max_min_by_definition(const Network& network,
                                          std::span<const JobOperation> operations, bool relays) {
  constexpr double kLess = 1 - 1e-7, kMore = 1 + 1e-5;  // than what rounding leaves of a rate
  std::vector<double> rates(operations.size(), 0);
  std::vector<Asked> asked(operations.size());
  const auto is_free = [](const Asked& one) { return one.kind == Definition::Rate::objective; };
  while (std::ranges::any_of(asked, is_free)) {
    const double level = most_by_definition(network, operations, relays, asked);
    std::vector<Asked> next = asked;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (!is_free(asked[i])) continue;
      std::vector<Asked> others = asked;
      for (std::size_t j = 0; j < asked.size(); ++j) {
        if (j != i && is_free(asked[j])) others[j] = {Definition::Rate::at_least, level * kLess};
      }
      if (most_by_definition(network, operations, relays, others) > level * kMore) continue;
      next[i] = {Definition::Rate::fixed, level * kLess};
      rates[i] = level;
    }
    if (std::ranges::count_if(next, is_free) == std::ranges::count_if(asked, is_free)) {
      ADD_FAILURE() << "no operation is held";
      break;
    }
    asked = std::move(next);
  }
  return rates;
}

}  // namespace forestcoll::test
