#include "solver/low/known_programs.hpp"

#include <algorithm>

namespace forestcoll::solver {
namespace {

// Within which numbers of floating point are the same.
constexpr double kRounding = 1 + 1e-7;

bool is_same_phase(const LowPhase& a, const LowPhase& b) {
  return std::ranges::equal(a.network.graph.arcs(), b.network.graph.arcs()) &&
         a.network.ranks == b.network.ranks && a.link == b.link && a.shared == b.shared;
}

// But for what is worth anything.
bool is_same_program(const LowProblem& a, const LowProblem& b) {
  return a.height == b.height && a.capacity == b.capacity && a.shares == b.shares &&
         a.heights == b.heights && a.root_capacity == b.root_capacity &&
         a.most_steps == b.most_steps && std::ranges::equal(a.phases, b.phases, is_same_phase);
}

// Where the problem has a limit: is the solution without one within it?
bool is_worth(const LowProblem& problem, const std::shared_ptr<const LowSolution>& solution) {
  return solution && solution->congestion <= *problem.most_congestion * kRounding;
}

std::shared_ptr<const LowSolution> solved(const LowProblem& problem, const std::stop_token& stop) {
  auto solution = solve_low(problem, stop);
  return solution ? std::make_shared<const LowSolution>(*std::move(solution)) : nullptr;
}

}  // namespace

std::shared_ptr<const LowSolution> KnownPrograms::solve(const LowProblem& problem,
                                                        const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [asked, answer] : known_) {
      if (!is_same_program(asked, problem)) continue;
      if (asked.most_congestion == problem.most_congestion) return answer;
      if (!asked.most_congestion) return is_worth(problem, answer) ? answer : nullptr;
    }
  }
  auto answer = solved(problem, stop);
  const std::lock_guard lock(mutex_);
  if (known_.size() < kMostKnown && !stop.stop_requested()) known_.emplace_back(problem, answer);
  return answer;
}

std::shared_ptr<const LowSolution> solve_low_once(const LowProblem& problem, KnownPrograms* known,
                                                  const std::stop_token& stop) {
  return known ? known->solve(problem, stop) : solved(problem, stop);
}

}  // namespace forestcoll::solver
