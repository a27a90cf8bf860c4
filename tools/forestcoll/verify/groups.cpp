#include "verify/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/files/io.hpp"
#include "common/job/group_parts.hpp"
#include "common/report/flags.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"

namespace forestcoll::cli {
namespace {

// The links' loads of all groups together, in units of one group's buffer.
class LoadsAtOnce {
 public:
  void add(const std::vector<LinkLoad>& loads) {
    for (const LinkLoad& load : loads) {
      auto& [sum, bandwidth] = of_[{load.src, load.dst}];
      const auto more = checked_add(sum, load.load);
      fits_ &= more.has_value();
      if (more) sum = *more;
      bandwidth = load.bandwidth;
    }
  }

  // GB/s that every group has; none where it does not fit exact numbers.
  [[nodiscard]] std::optional<Ratio> algbw() const {
    std::optional<Ratio> least;
    for (const auto& [ends, use] : of_) {
      const auto& [load, bandwidth] = use;
      if (load == Ratio(0)) continue;
      const auto rate = checked_div(bandwidth, load);
      if (!rate || !fits_) return std::nullopt;
      least = least ? std::min(*least, *rate) : *rate;
    }
    return least;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::pair<Ratio, Ratio>> of_;
  bool fits_ = true;
};

constexpr std::size_t kMostShown = 4;  // groups that it does not fit

// A schedule in the places of all groups.
struct JudgedGroups {
  Verdict alone;  // without a fabric
  std::size_t groups = 0, bad = 0;
  Diagnostics findings = {};          // the first of each group that it does not fit
  std::optional<Ratio> algbw = {};    // the least of the groups, each by itself
  std::optional<Ratio> at_once = {};  // of every group, beside the others

  [[nodiscard]] bool ok() const { return findings.empty(); }
};

// What is wrong with the schedule in the place of a group; nothing where it is right.
Expected<std::optional<Diagnostic>> judge_in(const std::vector<Rank>& group, std::string_view text,
                                             const GroupsVerification& asked,
                                             const std::string& file, JudgedGroups& judged,
                                             LoadsAtOnce& loads) {
  if (const auto done = refuse_other_size(group, judged.alone.ranks); !done) {
    return std::optional(done.errors().front());
  }
  const auto fabric = fabric_of_group(asked.whole, group, asked.relays);
  if (!fabric) return std::optional(fabric.errors().front());
  const auto verdict = verify(text, file, &*fabric, asked.options);
  if (!verdict) return verdict.errors();
  if (!verdict->ok) return std::optional(verdict->findings.front());
  loads.add(verdict->loads);
  if (verdict->algbw)
    judged.algbw = std::min(judged.algbw.value_or(*verdict->algbw), *verdict->algbw);
  return std::optional<Diagnostic>();
}

Expected<JudgedGroups> judge(std::string_view text, const std::string& file,
                             const GroupsVerification& asked, const Groups& groups,
                             const Console& console) {
  ProgressBar bar("checking", console);
  auto alone = verify(text, file, nullptr, asked.options);
  if (!alone) return alone.errors();
  if (auto done = refuse_for_groups(alone->format, !alone->groups.empty()); !done) {
    return done.errors();
  }
  JudgedGroups judged{*std::move(alone)};
  judged.findings = judged.alone.findings;
  if (!judged.alone.ok) return judged;
  LoadsAtOnce loads;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    bar.update(static_cast<double>(g) / static_cast<double>(groups.size()));
    if (groups[g].size() < 2) continue;  // nothing to move
    ++judged.groups;
    const auto wrong = judge_in(groups[g], text, asked, file, judged, loads);
    if (!wrong) return wrong.errors();
    if (!*wrong) continue;
    ++judged.bad;
    judged.findings.push_back(in_group(**wrong, g, groups[g], file));
  }
  // What several links share is no load of one link.
  if (judged.ok() && asked.whole.limits.empty()) judged.at_once = loads.algbw();
  return judged;
}

std::string words_of(const JudgedGroups& judged, const std::string& file) {
  std::string text;
  std::size_t shown = 0;
  for (const Diagnostic& finding : judged.findings) {
    if (judged.bad > 0 && ++shown > kMostShown) break;
    text += to_string(with_flags(finding)) + "\n";
  }
  if (judged.bad > kMostShown) {
    text += fmt::format("  … and {} more\n", counted(judged.bad - kMostShown, "group"));
  }
  if (judged.bad > 0) {
    return text + fmt::format("{}: invalid in {} of {}\n", file, judged.bad,
                              counted(judged.groups, "group"));
  }
  if (!judged.ok()) {
    return text +
           fmt::format("{}: invalid: {}\n", file, counted(judged.alone.finding_count, "error"));
  }
  text += fmt::format(
      "{}: valid in {}: {} over {}\n", file,
      judged.groups == 1 ? "the group" : fmt::format("each of {} groups", judged.groups),
      judged.alone.collective_name, counted(static_cast<std::size_t>(judged.alone.ranks), "rank"));
  if (judged.algbw) {
    text += fmt::format(
        "  algbw on the topology: {} GB/s of one group by itself{}\n", number(*judged.algbw),
        judged.at_once ? fmt::format(", {} GB/s of each of all at once", number(*judged.at_once))
                       : "");
  }
  return text;
}

Json json_of(const JudgedGroups& judged, const std::string& file, const std::string& groups) {
  const Verdict& alone = judged.alone;
  Json operation = {{"name", name_in_groups(alone.collective_name, groups, judged.groups)},
                    {"collective", alone.collective_name},
                    {"schedule_count", judged.groups}};
  if (judged.algbw) operation["algbw"] = exact(*judged.algbw);
  if (judged.at_once) operation["algbw_at_once"] = exact(*judged.at_once);
  Json findings = Json::array();
  for (const Diagnostic& finding : judged.findings) findings.push_back(to_json(finding));
  return {{"format", "forestcoll-verify-job"},
          {"version", 2},
          {"file", file},
          {"ok", judged.ok()},
          {"at_once", true},
          {"operations", Json::array({std::move(operation)})},
          {"findings", std::move(findings)}};
}

}  // namespace

Expected<ExitCode> verify_in_groups(std::string_view text, const GroupsVerification& asked,
                                    const Console& console) {
  const auto groups = groups_of(asked.words, asked.whole.ranks.size());
  if (!groups) return groups.errors();
  const std::string file = display_name(asked.path);
  const auto judged = judge(text, file, asked, *groups, console);
  if (!judged) return judged.errors();
  const std::string report = asked.json
                                 ? report_text(json_of(*judged, file, *asked.words.groups), console)
                                 : words_of(*judged, file);
  if (const auto done = write_output("-", report); !done) return done.errors();
  return judged->ok() ? ExitCode::done : ExitCode::answer_is_no;
}

}  // namespace forestcoll::cli
