#include "support/alltoall_oracle.hpp"

#include <glpk.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace forestcoll::test {
namespace {

// One row or column of a matrix, numbered from 1 as GLPK does.
struct Entries {
  std::vector<int> index{0};
  std::vector<double> value{0};
  void add(int i, double v) {
    index.push_back(i);
    value.push_back(v);
  }
};

}  // namespace

double rate_by_definition(const Network& network, const Demand& demand) {
  const auto& arcs = network.graph.arcs();
  glp_prob* problem = glp_create_prob();
  glp_set_obj_dir(problem, GLP_MAX);
  const int theta = glp_add_cols(problem, 1);
  glp_set_col_bnds(problem, theta, GLP_LO, 0, 0);
  glp_set_obj_coef(problem, theta, 1);
  std::vector<Entries> loads(arcs.size());
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) {
      const std::int64_t amount = demand(Rank(s), Rank(t));
      if (amount == 0) continue;
      const int first = glp_add_cols(problem, static_cast<int>(arcs.size()));
      for (std::size_t a = 0; a < arcs.size(); ++a) {
        glp_set_col_bnds(problem, first + static_cast<int>(a), GLP_LO, 0, 0);
        loads[a].add(first + static_cast<int>(a), 1);
      }
      for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
        if (NodeId(v) == network.ranks[s]) continue;
        Entries row;
        for (std::size_t a = 0; a < arcs.size(); ++a) {
          if (arcs[a].head == NodeId(v)) row.add(first + static_cast<int>(a), 1);
          if (arcs[a].tail == NodeId(v)) row.add(first + static_cast<int>(a), -1);
        }
        if (NodeId(v) == network.ranks[t]) row.add(theta, -static_cast<double>(amount));
        const int r = glp_add_rows(problem, 1);
        glp_set_row_bnds(problem, r, GLP_FX, 0, 0);
        glp_set_mat_row(problem, r, static_cast<int>(row.index.size()) - 1, row.index.data(),
                        row.value.data());
      }
    }
  }
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    const int r = glp_add_rows(problem, 1);
    glp_set_row_bnds(problem, r, GLP_UP, 0, static_cast<double>(network.capacity[ArcId(a)]));
    glp_set_mat_row(problem, r, static_cast<int>(loads[a].index.size()) - 1, loads[a].index.data(),
                    loads[a].value.data());
  }
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_ERR;
  options.presolve = GLP_ON;
  EXPECT_EQ(glp_simplex(problem, &options), 0);
  EXPECT_EQ(glp_get_status(problem), GLP_OPT);
  const double rate = glp_get_obj_val(problem) * network.unit.to_double();
  glp_delete_prob(problem);
  return rate;
}

Demand random_demand(std::size_t ranks, std::int64_t most, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> amounts;
  for (std::size_t i = 0; i < ranks * ranks; ++i) {
    amounts.push_back(random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % most));
  }
  amounts[1] = 1 + static_cast<std::int64_t>(random() % most);  // some pair has something
  return Demand::matrix(ranks, std::move(amounts));
}

Relabelled relabelled(const Network& network, const Demand& demand, std::uint64_t seed) {
  const std::size_t n = network.graph.node_count();
  std::vector<std::size_t> image(n), order(network.ranks.size());
  std::iota(image.begin(), image.end(), 0);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  std::ranges::shuffle(image, random);
  std::ranges::shuffle(order, random);
  std::vector<Arc> arcs;
  for (const Arc& arc : network.graph.arcs()) {
    arcs.push_back({NodeId(image[arc.tail.index()]), NodeId(image[arc.head.index()])});
  }
  std::vector<std::size_t> from;
  Network other;
  other.graph = Digraph(n, arcs, &from);
  for (const std::size_t a : from) other.capacity.push_back(network.capacity[ArcId(a)]);
  other.unit = network.unit;
  other.rank_of.assign(n, Rank());
  std::vector<std::int64_t> amounts;
  for (std::size_t r = 0; r < order.size(); ++r) {
    other.ranks.push_back(NodeId(image[network.ranks[order[r]].index()]));
    other.rank_of[other.ranks.back()] = Rank(r);
    for (std::size_t t = 0; t < order.size(); ++t) {
      amounts.push_back(demand(Rank(order[r]), Rank(order[t])));
    }
  }
  if (demand.is_uniform()) return {std::move(other), Demand::uniform(order.size())};
  return {std::move(other), Demand::matrix(order.size(), std::move(amounts))};
}

}  // namespace forestcoll::test
