#include "verify/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "common/files/io.hpp"
#include "common/job/group_fabrics.hpp"
#include "common/job/group_parts.hpp"
#include "common/report/flags.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"

namespace forestcoll::cli {
namespace {

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

// A schedule in the place of one group after the other.
class GroupsJudge {
 public:
  GroupsJudge(const VerifiedProgram& program, const GroupsVerification& asked)
      : program_(program), fabrics_(asked.whole, asked.relays) {}

  // What is wrong with it there; nothing where it is right.
  std::optional<Diagnostic> judge_in(const std::vector<Rank>& group) {
    if (const auto done = refuse_other_size(group, program_.alone().ranks); !done) {
      return done.errors().front();
    }
    const auto fabric = fabrics_.of(group);
    if (!fabric) return fabric.errors().front();
    Verdict verdict = program_.on(*fabric);
    if (!verdict.ok) return verdict.findings.front();
    loads_.push_back(std::move(verdict.loads));
    if (verdict.algbw) algbw_ = std::min(algbw_.value_or(*verdict.algbw), *verdict.algbw);
    return std::nullopt;
  }

  // The least of the groups, each by itself.
  [[nodiscard]] const std::optional<Ratio>& algbw() const { return algbw_; }
  // Of each group, in units of one group's buffer.
  [[nodiscard]] const std::vector<std::vector<LinkLoad>>& loads() const { return loads_; }

 private:
  const VerifiedProgram& program_;
  GroupFabrics fabrics_;
  std::optional<Ratio> algbw_;
  std::vector<std::vector<LinkLoad>> loads_;
};

Expected<JudgedGroups> judge(std::string_view text, const std::string& file,
                             const GroupsVerification& asked, const Groups& groups,
                             const Console& console) {
  ProgressBar bar("checking", console);
  const auto program = VerifiedProgram::read(text, file, asked.options);
  if (!program) return program.errors();
  const Verdict& alone = program->alone();
  if (auto done = refuse_for_groups(alone.format, !alone.groups.empty()); !done) {
    return done.errors();
  }
  JudgedGroups judged{alone};
  judged.findings = alone.findings;
  if (!alone.ok) return judged;
  GroupsJudge places(*program, asked);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    bar.update(static_cast<double>(g) / static_cast<double>(groups.size()));
    if (groups[g].size() < 2) continue;  // nothing to move
    ++judged.groups;
    const auto wrong = places.judge_in(groups[g]);
    if (!wrong) continue;
    ++judged.bad;
    judged.findings.push_back(in_group(*wrong, g, groups[g], file));
  }
  judged.algbw = places.algbw();
  if (judged.ok()) judged.at_once = rate_at_once(asked.whole, places.loads());
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
