#include "solver/pack/problem.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/pack.hpp"

namespace forestcoll::solver {

Problem::Problem(const Network& fabric, Collective collective, std::optional<Rank> root,
                 const std::stop_token& stop)
    : network(fabric),
      backward(reversed(fabric)),
      weights(root ? single_root(fabric, *root) : forestcoll::shares(fabric)),
      reduce(has_reduce(collective)),
      broadcast(has_broadcast(collective)),
      shared(reduce && broadcast && is_symmetric(fabric)) {
  FORESTCOLL_CHECK(root.has_value() == is_rooted(collective), "a root exactly where one is needed");
  if (broadcast) phases.push_back({network, weights, tree_rate(network, weights, stop)});
  if (shared) phases.back().times = 2;
  if (reduce && !shared) {
    phases.push_back({backward, weights, tree_rate(backward, weights, stop)});
  }
}

Problem::Problem(const Network& fabric, Weights shares, Network of_broadcast,
                 std::optional<Network> of_reduce, const std::stop_token& stop)
    : network(fabric),
      backward(reversed(fabric)),
      weights(std::move(shares)),
      reduce(true),
      broadcast(true),
      shared(!of_reduce),
      broadcast_part_(std::move(of_broadcast)),
      reduce_part_(std::move(of_reduce)) {
  phases.push_back({*broadcast_part_, weights, tree_rate(*broadcast_part_, weights, stop)});
  if (shared) return;
  phases.push_back({*reduce_part_, weights, tree_rate(*reduce_part_, weights, stop)});
  phases.back().at_once = true;
}

std::optional<Rate> Problem::broadcast_rate() const {
  return broadcast ? std::optional(phases.front().rate) : std::nullopt;
}

std::optional<Rate> Problem::reduce_rate() const {
  return reduce ? std::optional(phases.back().rate) : std::nullopt;
}

Expected<Ratio> optimum_of(const Problem& problem) {
  std::vector<ScaleAndK> at;
  for (const PhaseProblem& phase : problem.phases) at.push_back({phase.rate.inverse, 1});
  return algbw_of(problem.phases, at);
}

Expected<std::int64_t> k_of_optimum(const Problem& problem) {
  const auto k_of = [](const PhaseProblem& phase) {
    return scale_to_optimum(phase.network, phase.rate).k;
  };
  return common_k(k_of(problem.phases.front()), k_of(problem.phases.back()));
}

Expected<void> refuse_open_rate(const Problem& problem) {
  const auto is_known = [](const PhaseProblem& phase) { return phase.rate.optimal; };
  if (std::all_of(problem.phases.begin(), problem.phases.end(), is_known)) return {};
  auto most = optimum_of(problem);
  if (!most) return most.errors();
  return make_error(Code::R01,
                    "asked to stop before the optimal rate was known: a cut proves "
                    "that it is " +
                        most->to_string() +
                        " GB/s at most; whether it is less is open, and there is no forest",
                    "give it more time");
}

}  // namespace forestcoll::solver
