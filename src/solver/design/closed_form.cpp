// T_L and T_B as published, to be held against what is computed.
#include <map>
#include <set>

#include "base/check.hpp"
#include "forestcoll/design.hpp"
#include "solver/design/figures.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll {
namespace {

using topology::WiringExpression;
using Kind = WiringExpression::Kind;

// An expression with its size.
struct Sized {
  ClosedForm form;
  std::int64_t nodes = 0, ports = 0;
  bool regular = true;  ///< what the theorems are about
};

Ratio least_time(std::int64_t nodes) {
  return Ratio(nodes - 1, nodes);
}

ClosedForm optimal(std::int64_t steps, std::int64_t nodes) {
  return {static_cast<std::size_t>(steps), least_time(nodes)};
}

// Of T_L(m) = m/2 rounded down per side.
std::int64_t half_sides(const std::vector<std::int64_t>& sides) {
  std::int64_t steps = 0;
  for (const std::int64_t side : sides) steps += side / 2;
  return steps;
}

// Offsets 1 … d on d + 2 nodes.
bool is_full_dicirculant(const std::vector<std::int64_t>& a) {
  for (std::size_t i = 1; i < a.size(); ++i) {
    if (a[i] != static_cast<std::int64_t>(i)) return false;
  }
  return a[0] == static_cast<std::int64_t>(a.size()) + 1;
}

// Of offsets m and m + 1, the smallest m with 2m(m + 1) + 1 ≥ n: m (Boesch, Wang 1985).
std::optional<std::size_t> consecutive_steps(const std::vector<std::int64_t>& a) {
  const std::int64_t m = a[1];
  const bool enough = 2 * m * (m + 1) + 1 >= a[0], fewest = 2 * m * (m - 1) + 1 < a[0];
  if (a[2] != m + 1 || !enough || !fewest) return std::nullopt;
  return static_cast<std::size_t>(m);
}

// Those that tables of base graphs have, with one step more than the diameter: of a schedule that
// is not breadth-first.
bool is_tabulated_de_bruijn(const std::vector<std::int64_t>& a) {
  static const std::set<std::vector<std::int64_t>> tabulated = {{2, 3}, {2, 4}, {3, 2}, {4, 2}};
  return tabulated.contains(a);
}

// The least D with d^D ≥ n.
std::size_t ceil_log(std::int64_t n, std::int64_t d) {
  std::size_t power = 0;
  for (std::int64_t reached = 1; reached < n; reached *= d) ++power;
  return power;
}

ClosedForm of_base(const WiringExpression& e, std::int64_t nodes) {
  static const std::map<std::int64_t, std::int64_t> diameters = {
      {6, 2},  {10, 3}, {14, 3}, {15, 3}, {21, 3},  {26, 3}, {32, 4},
      {35, 3}, {45, 4}, {70, 7}, {80, 4}, {189, 6}, {728, 6}};
  const auto& a = e.arguments;
  if (e.base == "complete") return optimal(1, nodes);
  if (e.base == "bipartite") return optimal(a[0] == 1 ? 1 : 2, nodes);
  if (e.base == "hamming" || e.base == "hypercube") return optimal(a[0], nodes);
  if (e.base == "ring" || e.base == "biring") return optimal(nodes / 2, nodes);
  if (e.base == "uniring") return optimal(nodes - 1, nodes);
  if (e.base == "torus") return optimal(half_sides(a), nodes);
  if (e.base == "diamond") return optimal(3, nodes);
  if (e.base == "debruijn" && is_tabulated_de_bruijn(a)) return optimal(a[1] + 1, nodes);
  if (e.base == "distance-regular") return optimal(diameters.at(a[0]), nodes);
  if (e.base == "circulant" && a.size() == 3 && 2 * a[2] != a[0]) {
    return {consecutive_steps(a), least_time(nodes)};
  }
  if (e.base == "genkautz") return {ceil_log(nodes, a[0]), std::nullopt};  // Imase, Itoh 1983
  if (e.base == "dicirculant" && is_full_dicirculant(a)) return optimal(2, nodes);
  if (e.base == "kautz" && a[0] > 1) {
    // It is a line digraph of the complete graph of d + 1 nodes.
    const Ratio d(a[0]);
    return {
        static_cast<std::size_t>(a[1]),
        d / (d + Ratio(1)) + d / (d - Ratio(1)) * (Ratio(1) / (d + Ratio(1)) - Ratio(1, nodes))};
  }
  return {};
}

ClosedForm computed(const Wiring& wiring) {
  const auto distances = distances_of(wiring);
  if (!distances) return {};
  return {distances->steps, solver::bfb_time(solver::Neighbours(wiring), wiring.ports)};
}

Sized sized(const WiringExpression& e);

// What the theorems take: published, or else computed.
Sized known(const WiringExpression& e) {
  Sized result = sized(e);
  if (result.form.steps && result.form.bfb) return result;
  const auto wiring = topology::build(e);
  FORESTCOLL_CHECK(wiring.has_value(), "parts of a wiring that was made");
  const ClosedForm found = computed(*wiring);
  if (!result.form.steps) result.form.steps = found.steps;
  if (!result.form.bfb) result.form.bfb = found.bfb;
  return result;
}

Sized lined(Sized of, std::int64_t times) {
  const std::int64_t before = of.nodes;
  for (std::int64_t i = 0; i < times; ++i) of.nodes *= of.ports;
  if (of.form.steps) *of.form.steps += static_cast<std::size_t>(times);
  if (of.ports == 1) {
    of.form = {};  // the formula is of two ports and more
  } else if (of.form.bfb) {
    of.form.bfb =
        *of.form.bfb + Ratio(of.ports, of.ports - 1) * (Ratio(1, before) - Ratio(1, of.nodes));
  }
  return of;
}

Sized expanded(Sized of, std::int64_t times) {
  const std::int64_t before = of.nodes;
  of.nodes *= times;
  of.ports *= times;
  if (times == 1) return of;
  if (of.form.steps) *of.form.steps += 1;
  if (of.form.bfb) of.form.bfb = *of.form.bfb + Ratio(times - 1, times * before);
  return of;
}

Sized raised(Sized of, std::int64_t times) {
  const std::int64_t before = of.nodes;
  for (std::int64_t i = 1; i < times; ++i) of.nodes *= before;
  of.ports *= times;
  if (of.form.steps) *of.form.steps *= static_cast<std::size_t>(times);
  if (of.form.bfb) of.form.bfb = *of.form.bfb / least_time(before) * least_time(of.nodes);
  return of;
}

// Of factors that are optimal; of others nothing is published.
Sized multiplied(const Sized& a, const Sized& b) {
  Sized result{.form = {},
               .nodes = a.nodes * b.nodes,
               .ports = a.ports + b.ports,
               .regular = a.regular && b.regular};
  if (a.form.steps && b.form.steps) result.form.steps = *a.form.steps + *b.form.steps;
  if (a.form.bfb == least_time(a.nodes) && b.form.bfb == least_time(b.nodes)) {
    result.form.bfb = least_time(result.nodes);
  }
  return result;
}

Sized formula(const WiringExpression& e) {
  switch (e.kind) {
    case Kind::base: {
      const auto wiring = topology::build(e);
      FORESTCOLL_CHECK(wiring.has_value(), "parts of a wiring that was made");
      const auto nodes = static_cast<std::int64_t>(wiring->nodes);
      return {of_base(e, nodes), nodes, static_cast<std::int64_t>(wiring->ports),
              is_regular(*wiring)};
    }
    case Kind::line:
      return lined(known(e.operands[0]), e.times);
    case Kind::degree:
      return expanded(known(e.operands[0]), e.times);
    case Kind::power:
      return raised(known(e.operands[0]), e.times);
    case Kind::product:
      return multiplied(known(e.operands[0]), known(e.operands[1]));
  }
  return {};
}

Sized sized(const WiringExpression& e) {
  Sized result = formula(e);
  if (!result.regular) result.form = {};
  return result;
}

}  // namespace

ClosedForm closed_form(std::string_view expression) {
  const auto parsed = topology::parse_expression(expression);
  FORESTCOLL_CHECK(parsed.has_value(), "an expression of a wiring that was made");
  return sized(*parsed).form;
}

}  // namespace forestcoll
