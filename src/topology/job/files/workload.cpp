#include "topology/job/files/workload.hpp"

#include <fmt/format.h>

#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::topology {
namespace {

std::string content_of(const JobStep& step) {
  std::string content;
  for (const JobOperation& operation : step.operations) {
    content += fmt::format("{} {} {}", to_string(operation.collective),
                           operation.bytes.value_or(-1), operation.root.value_or(0));
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

Diagnostic no_workload(std::string message, std::string remedy, const ErrorPlace& place) {
  return make_error(Code::O01, std::move(message), std::move(remedy), place);
}

}  // namespace forestcoll::topology
