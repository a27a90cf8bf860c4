#include "audit/msccl/data_paths.hpp"

#include <utility>

namespace forestcoll::audit {

DataPaths::DataPaths(const StepGraph& graph, std::span<const std::int32_t> order)
    : graph_(graph),
      pivot_(graph.steps.size(), -1),
      flagged_(graph.steps.size(), false),
      seen_(graph.steps.size(), 0),
      flagged_seen_(graph.steps.size(), 0) {
  for (const std::int32_t step : order) {
    const auto s = static_cast<std::size_t>(step);
    const std::int32_t message = graph.node(step).message_from;
    const std::int32_t flag = graph.node(step).depends_on;
    if (message >= 0 && flag >= 0) {
      pivot_[s] = step;
    } else if (message >= 0 || flag >= 0) {
      const auto from = static_cast<std::size_t>(message >= 0 ? message : flag);
      pivot_[s] = pivot_[from];
      flagged_[s] = flag >= 0 || flagged_[from];
    }
  }
}

void DataPaths::visit(std::int32_t step, bool flagged) {
  if (step < 0) return;
  const auto s = static_cast<std::size_t>(step);
  auto& seen = flagged ? flagged_seen_[s] : seen_[s];
  if (seen == round_) return;
  seen = round_;
  stack_.emplace_back(step, flagged);
}

void DataPaths::mark(std::int32_t pivot) {
  ++round_;
  visit(pivot, false);
  while (!stack_.empty()) {
    const auto [step, flagged] = stack_.back();
    stack_.pop_back();
    visit(graph_.node(step).message_from, flagged);
    visit(graph_.node(step).depends_on, true);
  }
}

bool DataPaths::is_ordered(std::int32_t before, std::int32_t after) const {
  const auto b = static_cast<std::size_t>(before);
  if (before == after) return false;
  if (flagged_seen_[b] == round_) return true;
  return flagged_[static_cast<std::size_t>(after)] && seen_[b] == round_;
}

}  // namespace forestcoll::audit
