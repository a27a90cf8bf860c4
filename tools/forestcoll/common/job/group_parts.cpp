#include "common/job/group_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {

std::string ranks_in_words(const std::vector<Rank>& group) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> ranks;
  for (const Rank r : group) {
    if (ranks.size() == kMost) {
      ranks.emplace_back("…");
      break;
    }
    ranks.push_back(std::to_string(r.value));
  }
  return fmt::format("{}", fmt::join(ranks, ","));
}

std::string group_in_words(std::size_t number, const std::vector<Rank>& group) {
  return fmt::format("group {} (ranks {})", number, ranks_in_words(group));
}

std::string name_in_groups(const std::string& collective, const std::string& groups,
                           std::size_t count) {
  constexpr std::size_t kLong = 40;
  if (groups.size() < kLong) return fmt::format("{} {}", collective, groups);
  return fmt::format("{} in {}", collective, counted(count, "group"));
}

Expected<void> refuse_other_size(const std::vector<Rank>& group, std::int64_t ranks) {
  if (static_cast<std::int64_t>(group.size()) == ranks) return {};
  return make_error(
      Code::O09,
      fmt::format("it has {}, and the schedule is for {}", counted(group.size(), "member"), ranks),
      "give groups of as many members as the schedule has ranks");
}

Diagnostic in_group(Diagnostic finding, std::size_t number, const std::vector<Rank>& group,
                    const std::string& file) {
  const std::string place = group_in_words(number, group);
  finding.where = finding.where.empty() ? place : place + ": " + finding.where;
  finding.file = file;
  return finding;
}

Expected<void> refuse_for_groups(const std::string& format, bool is_of_all_groups) {
  if (is_of_all_groups) {
    return make_error(Code::S04, "--groups: this plan is of all its groups, which it names",
                      "leave --groups out");
  }
  if (format == "msccl-xml" || format == "mscclpp-plan") return {};
  const bool names_gpus = format.starts_with("forestcoll-");
  return make_error(
      Code::S04,
      names_gpus ? "--groups: forests and flows name their GPUs, and are of one group"
                 : "--groups: this file is no schedule of a group",
      names_gpus
          ? "name the group with --members in place of --groups, or give a schedule as MSCCL "
            "XML or an MSCCL++ plan"
          : "leave --groups out, or give MSCCL XML or an MSCCL++ plan");
}

}  // namespace forestcoll::cli
