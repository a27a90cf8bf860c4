#include "topology/job/files/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::topology {
namespace {

std::string content_of(const JobStep& step) {
  std::string content;
  for (const JobOperation& operation : step.operations) {
    content +=
        fmt::format("{} {} {} {}", to_string(operation.collective), operation.bytes.value_or(-1),
                    operation.root.value_or(0), operation.weight);
    for (const auto& group : operation.groups) {
      content += ';';
      for (const Rank rank : group) content += fmt::format("{} ", rank.index());
    }
    content += '\n';
  }
  return content;
}

}  // namespace

void StepCounter::add(JobStep step) {
  if (step.operations.empty()) return;
  const auto [at, is_new] = by_content_.emplace(content_of(step), steps_.size());
  if (is_new) {
    steps_.push_back(std::move(step));
  } else {
    steps_[at->second].repeat += step.repeat;
  }
}

std::optional<Groups> groups_like(const std::vector<std::int64_t>& group, std::size_t ranks) {
  const auto size = static_cast<std::int64_t>(group.size());
  const auto all = static_cast<std::int64_t>(ranks);
  const std::int64_t step = group[1] - group[0];
  if (step < 1 || all % (step * size) != 0 || group.front() % (step * size) >= step) {
    return std::nullopt;
  }
  for (std::size_t i = 1; i < group.size(); ++i) {
    if (group[i] - group[i - 1] != step) return std::nullopt;
  }
  Groups groups;
  for (std::int64_t block = 0; block < all; block += step * size) {
    for (std::int64_t first = block; first < block + step; ++first) {
      groups.emplace_back();
      for (std::int64_t i = 0; i < size; ++i) {
        groups.back().emplace_back(static_cast<std::size_t>(first + i * step));
      }
    }
  }
  return groups;
}

std::optional<std::int64_t> repeated_rank(std::vector<std::int64_t> group) {
  std::ranges::sort(group);
  const auto twice = std::ranges::adjacent_find(group);
  return twice == group.end() ? std::nullopt : std::optional(*twice);
}

Diagnostic no_workload(std::string message, std::string remedy, const ErrorPlace& place) {
  return make_error(Code::O01, std::move(message), std::move(remedy), place);
}

}  // namespace forestcoll::topology
