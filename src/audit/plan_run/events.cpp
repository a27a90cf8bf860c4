#include "audit/plan_run/events.hpp"

#include <algorithm>

namespace forestcoll::audit {
namespace {

// Events that a node may know without being one itself.
constexpr std::size_t kFewKnown = 8;

using Kind = PlanGraph::Kind;

}  // namespace

PlanEvents::PlanEvents(const PlanGraph& graph, std::span<const std::int32_t> order)
    : graph_(graph),
      event_(graph.nodes.size(), -1),
      known_begin_(graph.nodes.size(), 0),
      known_end_(graph.nodes.size(), 0) {
  number_chains();
  std::int32_t time = 0;
  for (const std::int32_t node : order) {
    collect_known(node);
    keep_or_forget(node);
    if (event_[static_cast<std::size_t>(node)] < 0) continue;
    data_.time[static_cast<std::size_t>(event_[static_cast<std::size_t>(node)])] = time++;
  }
  data_.line_begin.push_back(static_cast<std::int32_t>(data_.line.size()));
  const auto add_waits = [&](bool weak_ones) {
    return Lists(data_.line.size(), [&](auto&& add) {
      for (const auto& [event, known] : waits_) {
        if (weak_ones || !known.weakly) add(static_cast<std::size_t>(event), known.event);
      }
    });
  };
  if (is_relaxed_) {
    in_time_ = data_;
    in_time_.waits = add_waits(true);
  }
  data_.waits = add_waits(false);
}

// Events of a line have consecutive numbers, and stand on it in the order of their positions.
void PlanEvents::number_chains() {
  std::vector<std::int32_t>& begin = data_.line_begin;
  begin.assign(static_cast<std::size_t>(graph_.columns) + 1, 0);
  for (const PlanGraph::Node& node : graph_.nodes) {
    if (node.column >= 0) ++begin[static_cast<std::size_t>(node.column) + 1];
  }
  for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
  const auto events = static_cast<std::size_t>(begin.back());
  begin.pop_back();
  data_.line.resize(events);
  data_.time.resize(events);
  rank_of_line_.resize(begin.size());
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
    const PlanGraph::Node& node = graph_.nodes[n];
    if (node.column < 0) continue;
    event_[n] = begin[static_cast<std::size_t>(node.column)] + node.position;
    data_.line[static_cast<std::size_t>(event_[n])] = node.column;
    rank_of_line_[static_cast<std::size_t>(node.column)] = node.rank;
  }
}

// On a line of its own.
void PlanEvents::add_event(std::int32_t node) {
  const auto event = static_cast<std::int32_t>(data_.line.size());
  event_[static_cast<std::size_t>(node)] = event;
  data_.line.push_back(static_cast<std::int32_t>(data_.line_begin.size()));
  data_.line_begin.push_back(event);
  data_.time.push_back(-1);
  rank_of_line_.push_back(node_of(node).rank);
}

std::span<const PlanEvents::Known> PlanEvents::known_at(std::int32_t node) const {
  const auto n = static_cast<std::size_t>(node);
  return {known_.data() + known_begin_[n], known_.data() + known_end_[n]};
}

void PlanEvents::collect_known(std::int32_t node) {
  here_.clear();
  for (const std::int32_t before : graph_.predecessors(node)) {
    const PlanGraph::Carries carries = graph_.carries(before, node);
    if (carries == PlanGraph::Carries::nothing) continue;
    const bool weakly = carries == PlanGraph::Carries::beginnings;
    if (const std::int32_t event = event_[static_cast<std::size_t>(before)]; event >= 0) {
      here_.push_back({event, weakly});
      continue;
    }
    for (const Known& known : known_at(before)) {
      here_.push_back({known.event, weakly || known.weakly});
    }
  }
  std::sort(here_.begin(), here_.end());
  const auto [from, to] = std::ranges::unique(here_, {}, &Known::event);
  here_.erase(from, to);
}

void PlanEvents::keep_or_forget(std::int32_t node) {
  const std::size_t most = node_of(node).kind == Kind::effect ? 1 : kFewKnown;
  if (!is_on_chain(node) && here_.size() > most) add_event(node);
  const auto n = static_cast<std::size_t>(node);
  if (event_[n] < 0) {
    known_begin_[n] = static_cast<std::uint32_t>(known_.size());
    known_.insert(known_.end(), here_.begin(), here_.end());
    known_end_[n] = static_cast<std::uint32_t>(known_.size());
    return;
  }
  for (const Known& known : here_) {
    if (data_.line_of(known.event) == data_.line_of(event_[n])) continue;
    waits_.push_back({event_[n], known});
    is_relaxed_ = is_relaxed_ || known.weakly;
  }
}

Span PlanEvents::span(std::int32_t node) const {
  const std::int32_t own = event_[static_cast<std::size_t>(node)];
  if (node_of(node).kind == Kind::start) return {own, {own, -1}};
  Span span;
  span.begins = own >= 0 ? own : known_at(node).front().event;
  const auto& releases = graph_.released_by[static_cast<std::size_t>(node)];
  for (std::size_t i = 0; i < releases.size(); ++i) {
    if (releases[i] >= 0) span.over[i] = event_[static_cast<std::size_t>(releases[i])];
  }
  return span;
}

std::vector<bool> PlanEvents::known_before(std::span<const PlanQuery> queries,
                                           const EventOrder& by) const {
  std::vector<OrderQuery> asked;
  asked.reserve(queries.size());
  for (const auto& [before, after] : queries) {
    asked.push_back({span(before).over, span(after).begins});
  }
  return happens_before(by, asked);
}

Execution plan_execution(const PlanFile& plan, const PlanGraph& graph, const PlanEvents& events,
                         std::span<const std::int32_t> order) {
  Execution execution;
  execution.events = &events.data();
  execution.in_time = &events.in_time();
  execution.count = static_cast<std::int32_t>(graph.nodes.size());
  for (const std::int32_t n : order) {
    if (graph.moves_data(n)) execution.operations.push_back(n);
  }
  execution.access = [&](std::int32_t n, Access& into) { find_access(plan, graph, n, into); };
  execution.span = [&](std::int32_t n) { return events.span(n); };
  return execution;
}

}  // namespace forestcoll::audit
