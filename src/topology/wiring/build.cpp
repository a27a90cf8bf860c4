// From an expression to the links.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "topology/wiring/base_graphs.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll::topology {
namespace {

using Kind = WiringExpression::Kind;

// Larger wirings from smaller ones (Zhao et al., NSDI 2025). Cost: O(result).

// Links become nodes; one leads to those that begin where it ends.
Links line_digraph(const Links& links) {
  std::vector<std::vector<NodeNumber>> leaving(static_cast<std::size_t>(links.nodes));
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    leaving[static_cast<std::size_t>(links.links[i].first)].push_back(static_cast<NodeNumber>(i));
  }
  Links result{.nodes = static_cast<NodeNumber>(links.links.size())};
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    for (const NodeNumber next : leaving[static_cast<std::size_t>(links.links[i].second)]) {
      result.add(static_cast<NodeNumber>(i), next);
    }
  }
  return result;
}

// Every node `times` over, every link between all copies of its ends.
Links degree_expanded(const Links& links, std::int64_t times) {
  Links result{.nodes = links.nodes * times};
  for (const auto& [from, to] : links.links) {
    for (std::int64_t i = 0; i < times; ++i) {
      for (std::int64_t j = 0; j < times; ++j) result.add(from * times + i, to * times + j);
    }
  }
  return result;
}

// Pairs of nodes; one of the two moves at a time.
Links cartesian_product(const Links& a, const Links& b) {
  Links result{.nodes = a.nodes * b.nodes};
  for (NodeNumber v = 0; v < b.nodes; ++v) {
    for (const auto& [from, to] : a.links) result.add(from * b.nodes + v, to * b.nodes + v);
  }
  for (NodeNumber u = 0; u < a.nodes; ++u) {
    for (const auto& [from, to] : b.links) result.add(u * b.nodes + from, u * b.nodes + to);
  }
  return result;
}

// What went wrong, with the part of the expression that it went wrong in.
Diagnostics in_part(Diagnostics errors, const WiringExpression& part) {
  for (Diagnostic& error : errors) error.message = to_string(part) + ": " + error.message;
  return errors;
}

Expected<Links> made(const WiringExpression& expression);

Expected<Links> base_links(const WiringExpression& expression) {
  const auto& graphs = base_graphs();
  const auto graph = std::ranges::find_if(
      graphs, [&](const BaseGraph& known) { return known.info.name == expression.base; });
  FORESTCOLL_CHECK(graph != graphs.end(), "an expression names constructions only");
  const std::size_t given = expression.arguments.size();
  if (given < graph->least || given > graph->most) {
    return in_part(
        {no_such_graph(fmt::format("{} numbers are given", given),
                       fmt::format("Write {}({}).", graph->info.name, graph->info.arguments))},
        expression);
  }
  auto links = graph->make(expression.arguments);
  if (!links) return in_part(links.errors(), expression);
  // Ports of loops stay empty.
  std::erase_if(links->links, [](const auto& link) { return link.first == link.second; });
  return links;
}

std::int64_t count(const std::vector<std::pair<NodeNumber, NodeNumber>>& links) {
  return static_cast<std::int64_t>(links.size());
}

Expected<Links> lined(Links links, std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(links.nodes)), in = out;
    for (const auto& [from, to] : links.links) {
      ++out[static_cast<std::size_t>(from)];
      ++in[static_cast<std::size_t>(to)];
    }
    std::int64_t size = 0;
    for (std::size_t v = 0; v < out.size(); ++v) size += bounded_product(in[v], out[v]);
    if (const auto fits = check_wiring_size(count(links.links), size); !fits) return fits.errors();
    links = line_digraph(links);
  }
  return links;
}

Expected<Links> multiplied(const Links& a, const Links& b) {
  const auto fits = check_wiring_size(
      bounded_product(a.nodes, b.nodes),
      bounded_product(count(a.links), b.nodes) + bounded_product(count(b.links), a.nodes));
  if (!fits) return fits.errors();
  return cartesian_product(a, b);
}

Expected<Links> expanded(Links links, const WiringExpression& expression) {
  const std::int64_t times = expression.times;
  switch (expression.kind) {
    case Kind::line:
      return lined(std::move(links), times);
    case Kind::degree: {
      const auto fits =
          check_wiring_size(bounded_product(links.nodes, times),
                            bounded_product(count(links.links), bounded_product(times, times)));
      if (!fits) return fits.errors();
      return degree_expanded(links, times);
    }
    case Kind::power: {
      Links result = links;
      for (std::int64_t i = 1; i < times; ++i) {
        auto larger = multiplied(result, links);
        if (!larger) return larger;
        result = *std::move(larger);
      }
      return result;
    }
    default: {
      auto other = made(expression.operands[1]);
      if (!other) return other;
      return multiplied(links, *other);
    }
  }
}

Expected<Links> made(const WiringExpression& expression) {
  if (expression.kind == Kind::base) return base_links(expression);
  auto links = made(expression.operands[0]);
  if (!links) return links;
  auto result = expanded(*std::move(links), expression);
  return result ? std::move(result) : Expected<Links>(in_part(result.errors(), expression));
}

}  // namespace

Expected<Wiring> build(const WiringExpression& expression) {
  const auto links = made(expression);
  if (!links) return links.errors();
  return wired(to_string(expression), *links);
}

}  // namespace forestcoll::topology
