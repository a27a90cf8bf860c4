#include <limits>
#include <utility>

#include "audit/common/findings.hpp"
#include "audit/common/line_index.hpp"
#include "audit/msccl/lexical.hpp"
#include "audit/msccl/step_graph.hpp"
#include "audit/msccl/structure.hpp"
#include "audit/msccl/target_rules.hpp"
#include "audit/msccl/xml_reader.hpp"
#include "forestcoll/verify.hpp"
#include "run/program_run.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {
namespace {

constexpr std::size_t kReported = 20;  // findings

class ProgramSchedule : public Schedule {
 public:
  ProgramSchedule(audit::Program program, const audit::TargetRules& target, bool is_refused)
      : program_(std::move(program)) {
    facts_.format = "msccl-xml";
    facts_.protocol = program_.protocol;
    facts_.pattern = program_.pattern;
    facts_.ranks = program_.ranks;
    facts_.chunks = program_.chunks;
    facts_.in_place = program_.in_place;
    facts_.out_of_place = program_.out_of_place;
    facts_.min_bytes = program_.min_bytes;
    facts_.max_bytes = program_.max_bytes;
    if (target.max_bytes_is_included) {
      if (facts_.max_bytes == 0) facts_.max_bytes = std::numeric_limits<std::int64_t>::max();
    } else {
      --facts_.max_bytes;
    }
    facts_.is_refused_by_runtimes = is_refused;
  }

  [[nodiscard]] const ScheduleFacts& facts() const override { return facts_; }

  [[nodiscard]] std::int64_t scratch_chunks(std::int64_t rank) const override {
    return gpu(rank).scratch_chunks;
  }

  [[nodiscard]] std::unique_ptr<RankRun> prepare(std::int64_t rank, const CallShape& shape,
                                                 ElementType type, std::int64_t buffer_bytes,
                                                 Watchdog& watchdog) const override {
    const Cut cut =
        cut_call(program_.protocol, shape.whole / program_.chunks, size_of(type), buffer_bytes);
    return std::make_unique<ProgramRun>(gpu(rank), cut, type, watchdog);
  }

 private:
  [[nodiscard]] const audit::Gpu& gpu(std::int64_t rank) const {
    return program_.gpus[static_cast<std::size_t>(rank)];
  }

  audit::Program program_;
  ScheduleFacts facts_;
};

Expected<std::unique_ptr<Schedule>> load_for(const audit::TargetRules& target,
                                             std::string_view text, std::string_view file) {
  audit::Findings findings(file);
  const audit::LineIndex lines(text);
  if (auto error = check_lexical_rules(text, file, lines, findings)) return *std::move(error);
  auto program = audit::read_msccl_xml(text, file, lines, target, findings);
  if (!program) return program.errors();
  audit::check_structure(*program, target, VerifyOptions{}.sms, findings);
  if (!findings.blocked()) static_cast<void>(build_step_graph(*program, findings));
  if (findings.blocked()) return findings.sorted(kReported);
  std::unique_ptr<Schedule> schedule =
      std::make_unique<ProgramSchedule>(*std::move(program), target, findings.count() > 0);
  return schedule;
}

}  // namespace

Expected<std::unique_ptr<Schedule>> load_program(std::string_view text, std::string_view file) {
  std::optional<Diagnostics> objections;  // of the first runtime
  for (const std::string& name : audit::target_names()) {
    auto schedule = load_for(*audit::find_target_rules(name), text, file);
    if (schedule) return schedule;
    if (!objections) objections = schedule.errors();
  }
  return *std::move(objections);
}

}  // namespace forestcoll::run
