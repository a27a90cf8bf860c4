// Every published figure of every wiring up to a size, beside the exact one.
#include <algorithm>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/design.hpp"
#include "solver/design/candidates.hpp"
#include "solver/design/figures.hpp"

namespace forestcoll {
namespace {

using Kind = topology::WiringExpression::Kind;

std::string construction_of(const topology::WiringExpression& expression) {
  switch (expression.kind) {
    case Kind::base:
      return expression.base;
    case Kind::line:
      return "L(g)";
    case Kind::degree:
      return "g*n";
    case Kind::power:
      return "g^n";
    case Kind::product:
      return "g x h";
  }
  return {};
}

// No schedule takes fewer steps than the diameter, and BFB takes no more.
FormulaVerdict verdict_of_steps(std::optional<std::size_t> published, std::size_t steps) {
  if (!published) return FormulaVerdict::none;
  if (*published == steps) return FormulaVerdict::equal;
  return *published > steps ? FormulaVerdict::bound : FormulaVerdict::impossible;
}

FormulaVerdict verdict_of_time(std::optional<Ratio> published, const Ratio& bfb,
                               const Ratio& optimum) {
  if (!published) return FormulaVerdict::none;
  if (*published == bfb) return FormulaVerdict::equal;
  if (*published > bfb) return FormulaVerdict::bound;
  return *published >= optimum ? FormulaVerdict::other : FormulaVerdict::impossible;
}

bool says_something(const ClosedForm& form) {
  return form.steps || form.bfb;
}

}  // namespace

std::string_view to_string(FormulaVerdict verdict) {
  switch (verdict) {
    case FormulaVerdict::none:
      return "none";
    case FormulaVerdict::equal:
      return "equal";
    case FormulaVerdict::bound:
      return "bound";
    case FormulaVerdict::other:
      return "other";
    case FormulaVerdict::impossible:
      return "impossible";
  }
  return "";
}

Expected<std::vector<std::string>> formula_candidates(const FormulaRequest& request) {
  const DirectRequest largest{.nodes = request.most_nodes, .ports = request.ports};
  if (const auto possible = solver::check_request(largest); !possible) return possible.errors();
  constexpr std::size_t kNoRandoms = 0;  // nothing is published about them
  solver::Candidates candidates(kNoRandoms, solver::Expanded::base_graphs_too);
  std::vector<std::string> names;
  std::set<std::string> met;
  for (std::size_t nodes = request.ports + 1; nodes <= request.most_nodes; ++nodes) {
    for (const auto& expression : candidates.all(static_cast<std::int64_t>(nodes),
                                                 static_cast<std::int64_t>(request.ports))) {
      std::string name = to_string(expression);
      if (!met.insert(name).second || !says_something(closed_form(name))) continue;
      const auto wiring = topology::build(expression);
      if (wiring && distances_of(*wiring)) names.push_back(std::move(name));
    }
  }
  return names;
}

FormulaCheck check_formula(std::string_view expression) {
  const auto parsed = topology::parse_expression(expression);
  FORESTCOLL_CHECK(parsed.has_value(), "an expression that was made of a tree");
  const auto wiring = topology::build(*parsed);
  FORESTCOLL_CHECK(wiring.has_value(), "a candidate is a wiring");
  const auto distances = distances_of(*wiring);
  const auto bfb = solver::bfb_time(solver::Neighbours(*wiring), wiring->ports);
  FORESTCOLL_CHECK(distances && bfb, "the nodes of a candidate reach one another on few ports");
  FormulaCheck check{.expression = std::string(expression),
                     .construction = construction_of(*parsed),
                     .nodes = wiring->nodes,
                     .ports = wiring->ports,
                     .published = closed_form(expression),
                     .steps = distances->steps,
                     .bfb = *bfb,
                     .allgather = allgather_time(*wiring)};
  check.of_steps = verdict_of_steps(check.published.steps, check.steps);
  check.of_time = verdict_of_time(check.published.bfb, check.bfb, check.allgather);
  return check;
}

}  // namespace forestcoll
