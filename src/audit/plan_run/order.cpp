#include <fmt/format.h>

#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kNamed = 1'000;  // operations of a cycle that are spelt out

std::string describe(const PlanFile& plan, const PlanGraph& graph, std::int32_t n) {
  const PlanGraph::Node& node = graph.nodes[static_cast<std::size_t>(n)];
  std::string text = to_string(graph.place(n));
  if (node.op >= 0) text += fmt::format(" ({})", graph.op(plan, n).name);
  return text;
}

// Walking back along what is still waited for closes a cycle.
void report_cycle(const PlanFile& plan, const PlanGraph& graph,
                  const std::vector<std::int32_t>& missing, Findings& findings) {
  std::vector<std::int32_t> seen(graph.nodes.size(), -1);
  std::int32_t n = 0;
  while (missing[static_cast<std::size_t>(n)] == 0) ++n;
  std::vector<std::int32_t> walk;
  while (seen[static_cast<std::size_t>(n)] < 0) {
    seen[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(walk.size());
    walk.push_back(n);
    for (const std::int32_t before : graph.predecessors(n)) {
      if (missing[static_cast<std::size_t>(before)] > 0) {
        n = before;
        break;
      }
    }
  }
  std::string text = "deadlock: ";
  std::size_t named = 0;
  std::int32_t first = -1;
  for (auto i = static_cast<std::size_t>(seen[static_cast<std::size_t>(n)]); i < walk.size(); ++i) {
    const PlanGraph::Kind kind = graph.nodes[static_cast<std::size_t>(walk[i])].kind;
    if (kind != PlanGraph::Kind::control && kind != PlanGraph::Kind::data) continue;
    if (first < 0) first = walk[i];
    if (++named <= kNamed) {
      text += fmt::format("{}{}", named > 1 ? " waits for " : "", describe(plan, graph, walk[i]));
    }
  }
  if (named > kNamed) text += fmt::format(" … {} more", named - kNamed);
  if (first >= 0) text += " waits for the first";
  findings.add(Rule::deadlock, first >= 0 ? graph.place(first) : graph.place(n), std::move(text));
}

}  // namespace

std::vector<std::int32_t> order_plan(const PlanFile& plan, const PlanGraph& graph,
                                     Findings& findings) {
  std::vector<std::int32_t> missing(graph.nodes.size(), 0);  // predecessors not yet in the order
  const Lists<> after(graph.nodes.size(), [&](auto&& add) {
    for (const auto& [from, to] : graph.edges) add(static_cast<std::size_t>(from), to);
  });
  for (const auto& [from, to] : graph.edges) ++missing[static_cast<std::size_t>(to)];
  std::vector<std::int32_t> order;
  order.reserve(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (missing[n] == 0) order.push_back(static_cast<std::int32_t>(n));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::int32_t next : after[static_cast<std::size_t>(order[i])]) {
      if (--missing[static_cast<std::size_t>(next)] == 0) order.push_back(next);
    }
  }
  if (order.size() == graph.nodes.size()) return order;
  report_cycle(plan, graph, missing, findings);
  return {};
}

}  // namespace forestcoll::audit
