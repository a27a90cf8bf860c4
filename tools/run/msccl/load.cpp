#include <limits>
#include <optional>
#include <utility>

#include "audit/common/findings.hpp"
#include "audit/common/line_index.hpp"
#include "audit/msccl/checks.hpp"
#include "audit/msccl/lexical.hpp"
#include "audit/msccl/step_graph.hpp"
#include "audit/msccl/target_rules.hpp"
#include "audit/msccl/xml_reader.hpp"
#include "forestcoll/verify.hpp"
#include "run/msccl/schedule.hpp"

namespace forestcoll::run {
namespace {

ScheduleFacts facts_of(const audit::Program& program, const audit::TargetRules& target) {
  ScheduleFacts facts;
  facts.format = "msccl-xml";
  facts.protocol = program.protocol;
  facts.pattern = program.pattern;
  facts.ranks = program.ranks;
  facts.chunks = program.chunks;
  if (const audit::OwnParts parts(program); !parts.are_equal()) facts.parts = parts;
  facts.in_place = program.in_place;
  facts.out_of_place = program.out_of_place;
  facts.min_bytes = program.min_bytes;
  facts.max_bytes = program.max_bytes;
  if (!target.max_bytes_is_included) {
    --facts.max_bytes;
  } else if (facts.max_bytes == 0) {
    facts.max_bytes = std::numeric_limits<std::int64_t>::max();
  }
  return facts;
}

Expected<std::unique_ptr<Schedule>> load_for(const audit::TargetRules& target,
                                             std::string_view text, std::string_view file) {
  audit::Findings findings(file);
  const audit::LineIndex lines(text);
  if (const auto done = check_lexical_rules(text, file, lines, findings); !done) {
    return done.errors();
  }
  auto program = audit::read_msccl_xml(text, file, lines, target, findings);
  if (!program) return program.errors();
  audit::check_structure(*program, target, VerifyOptions{}.sms, findings);
  if (!findings.blocked()) static_cast<void>(build_step_graph(*program, findings));
  if (findings.blocked()) return findings.sorted(kReported);
  ScheduleFacts facts = facts_of(*program, target);
  facts.is_refused_by_runtimes = findings.count() > 0;
  std::unique_ptr<Schedule> schedule =
      std::make_unique<ProgramSchedule>(*std::move(program), std::move(facts));
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
