#include "verify/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/files/io.hpp"
#include "common/job/written.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

// An operation, judged.
struct JudgedOperation {
  const WrittenOperation* of = nullptr;
  std::optional<Ratio> algbw;  // the least of its groups
};

// The files beside job.json, read and judged.
class JobVerifier {
 public:
  JobVerifier(const JobVerification& asked, Reading reading, const Console& console)
      : asked_(asked), reading_(std::move(reading)), console_(console) {}

  Expected<void> run(const std::vector<WrittenStep>& steps) {
    const ProgressBar bar("checking", console_);
    for (const WrittenStep& step : steps) {
      std::vector<PartClaim> claims;
      for (const WrittenOperation& operation : step.operations) {
        operations_.push_back({&operation, std::nullopt});
        for (const WrittenSchedule& schedule : operation.schedules) {
          if (auto done = judge(schedule); !done) return done;
          claims.push_back({schedule.part, schedule.group, &parts_.back()});
          ++schedules_;
        }
      }
      if (asked_.whole != nullptr) add(check_parts(*asked_.whole, claims));
      check_threadblocks();
    }
    return {};
  }

  [[nodiscard]] const Diagnostics& findings() const { return findings_; }
  [[nodiscard]] std::size_t schedules() const { return schedules_; }
  [[nodiscard]] const std::vector<JudgedOperation>& operations() const { return operations_; }

 private:
  void add(const Diagnostics& more) { findings_.insert(findings_.end(), more.begin(), more.end()); }

  // All schedules of a step are on a GPU at the same time.
  void check_threadblocks() {
    const auto most =
        std::ranges::max_element(threadblocks_, {}, [](auto& of) { return of.second; });
    if (most != threadblocks_.end() && most->second > asked_.options.sms) {
      findings_.push_back(make_error(
          Code::O09,
          fmt::format("rank {} runs {} threadblocks of its groups at once, and holds {}",
                      most->first.value, most->second, asked_.options.sms),
          "make the schedules with a smaller --sms, or name the SMs of the GPU with --sms"));
    }
    threadblocks_.clear();
  }

  // Of the last operation.
  Expected<void> judge(const WrittenSchedule& schedule) {
    auto part = read_topology(schedule.part, reading_, console_);
    if (!part) return part.errors();
    parts_.push_back(std::move(part->topology));
    const auto text = read_input(schedule.file);
    if (!text) return text.errors();
    const auto verdict = verify(*text, schedule.file, &parts_.back(), asked_.options);
    if (!verdict) return verdict.errors();
    JudgedOperation& operation = operations_.back();
    const std::string expected = operation.of->has_demand ? "alltoallv" : operation.of->collective;
    if (verdict->ok && verdict->collective_name != expected) {
      Diagnostic other = make_error(
          Code::O09,
          fmt::format("it does {}, and its operation is {}", verdict->collective_name, expected),
          "give the files that synth wrote");
      other.file = schedule.file;
      findings_.push_back(std::move(other));
    }
    add(verdict->findings);
    for (const Rank rank : schedule.group) threadblocks_[rank] += verdict->threadblocks;
    if (parts_.back().ranks.size() != schedule.group.size()) {
      findings_.push_back(
          make_error(Code::O09,
                     fmt::format("{} is of {} GPUs, and its group of {}", schedule.part,
                                 parts_.back().ranks.size(), schedule.group.size()),
                     "give the files that synth wrote"));
    }
    if (verdict->algbw) {
      operation.algbw = std::min(operation.algbw.value_or(*verdict->algbw), *verdict->algbw);
    }
    return {};
  }

  const JobVerification& asked_;
  Reading reading_;
  const Console& console_;
  std::deque<Topology> parts_;
  std::vector<JudgedOperation> operations_;
  std::map<Rank, std::int32_t> threadblocks_;  // of a step
  std::size_t schedules_ = 0;
  Diagnostics findings_;
};

std::string words_of(const JobVerifier& judged, const std::string& file, bool knows_whole) {
  std::string text;
  for (const Diagnostic& finding : judged.findings()) text += to_string(finding) + "\n";
  if (!judged.findings().empty()) {
    return text +
           fmt::format("{}: invalid: {}\n", file, counted(judged.findings().size(), "error"));
  }
  text = fmt::format("{}: valid: {}, each in its part of the links{}\n", file,
                     counted(judged.schedules(), "schedule"),
                     knows_whole ? ", which all have at once"
                                 : "; with --topology, whether all can have theirs at once");
  Table table{{"operation", "groups", "algbw GB/s"}};
  for (const JudgedOperation& operation : judged.operations()) {
    table.rows.push_back({operation.of->name, std::to_string(operation.of->schedules.size()),
                          operation.algbw ? number(*operation.algbw) : "-"});
  }
  return text + aligned(table, 2, 1);
}

Json json_of(const JobVerifier& judged, const std::string& file, bool knows_whole) {
  Json operations = Json::array(), findings = Json::array();
  for (const JudgedOperation& operation : judged.operations()) {
    Json one = {{"name", operation.of->name},
                {"collective", operation.of->collective},
                {"schedule_count", operation.of->schedules.size()}};
    if (operation.algbw) one["algbw"] = exact(*operation.algbw);
    operations.push_back(std::move(one));
  }
  for (const Diagnostic& finding : judged.findings()) findings.push_back(to_json(finding));
  return {{"format", "forestcoll-verify-job"},
          {"version", 2},
          {"file", file},
          {"ok", judged.findings().empty()},
          {"at_once", knows_whole},
          {"operations", std::move(operations)},
          {"findings", std::move(findings)}};
}

}  // namespace

Expected<ExitCode> verify_job(std::string_view text, const JobVerification& asked,
                              const Console& console) {
  const auto steps = read_written_job(text, asked.path);
  if (!steps) return steps.errors();
  auto reading = reading_of(asked.reading);
  if (!reading) return reading.errors();
  JobVerifier verifier(asked, *std::move(reading), console);
  if (const auto done = verifier.run(*steps); !done) return done.errors();
  const std::string file = display_name(asked.path);
  const bool knows_whole = asked.whole != nullptr;
  const std::string report = asked.json ? report_text(json_of(verifier, file, knows_whole), console)
                                        : words_of(verifier, file, knows_whole);
  if (const auto done = write_output("-", report); !done) return done.errors();
  return verifier.findings().empty() ? ExitCode::done : ExitCode::answer_is_no;
}

}  // namespace forestcoll::cli
