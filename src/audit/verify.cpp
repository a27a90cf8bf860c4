// The stages of verification. Each adds what it finds; those that run the program are left out once
// something was found that makes running it pointless.
#include "forestcoll/verify.hpp"

#include <fmt/format.h>
#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "audit/common/fabric_load.hpp"
#include "audit/common/findings.hpp"
#include "audit/common/json_kind.hpp"
#include "audit/common/line_index.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/common/program.hpp"
#include "audit/execution/interpret.hpp"
#include "audit/flows/check.hpp"
#include "audit/flows/file.hpp"
#include "audit/forest/check.hpp"
#include "audit/forest/file.hpp"
#include "audit/msccl/checks.hpp"
#include "audit/msccl/lexical.hpp"
#include "audit/msccl/step_graph.hpp"
#include "audit/msccl/target_rules.hpp"
#include "audit/msccl/xml_reader.hpp"
#include "audit/nccl/files.hpp"
#include "audit/plan/conditions.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan/groups.hpp"
#include "audit/plan/releases.hpp"
#include "audit/plan/rules/rules.hpp"
#include "audit/plan_run/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {
namespace audit {

// What ranks send, and access through switches.
struct Sent {
  Transfers transfers;
  GroupAccesses accesses = {};
};

// What a program does on any fabric.
struct Traffic {
  Program program;
  std::optional<PlanFile> plan = {};  // that the program is of
  std::optional<Sent> sent = {};      // none where the plan cannot be followed
};

struct Judgement {
  Findings findings;
  Verdict verdict = {};
  std::optional<Traffic> traffic = {};  // of programs that could be run
};

namespace {

constexpr std::size_t kMaxPlanBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxTunerBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxGraphBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxMemoryChunks = std::size_t{1} << 26;
constexpr const char* kOfGroups =
    "all ranks make the call at once, whole buffers of all groups being of one size; a rank in no "
    "group gives two of that size, which are left as they are";
constexpr const char* kOfUnequalParts =
    "every rank has the part of the data that the file gives it, in place at its offset in the "
    "whole buffer: a call that gives all ranks as much, as NCCL's calls do, is refused or gets "
    "wrong data";

void describe_call(const Program& program, Verdict& verdict) {
  verdict.collective_name = to_string(program.pattern);
  verdict.collective = parse_collective(verdict.collective_name).value_or(Collective::allgather);
  verdict.ranks = program.ranks;
  verdict.chunks = program.chunks;
}

void describe(const Program& program, Verdict& verdict) {
  describe_call(program, verdict);
  verdict.protocol = program.protocol;
  for (const Gpu& gpu : program.gpus) {
    verdict.threadblocks =
        std::max(verdict.threadblocks, static_cast<std::int32_t>(gpu.threadblocks.size()));
    for (const Threadblock& tb : gpu.threadblocks) {
      verdict.channels = std::max(verdict.channels, tb.channel + 1);
      verdict.steps = std::max(verdict.steps, static_cast<std::int32_t>(tb.steps.size()));
    }
  }
}

// With two placements, the first difference of either.
void note_results(const Program& program, const Results& results, Verdict& verdict) {
  if (results.root) verdict.root = Rank(*results.root);
  if (program.pattern != Pattern::allreduce) return;
  verdict.same_bits = verdict.same_bits.value_or(true) && !results.bits;
  if (results.bits && !verdict.bit_difference) {
    verdict.bit_difference =
        BitDifference{Rank(results.bits->rank), results.bits->chunk, Rank(results.bits->first)};
  }
}

bool can_be_followed(const MemoryMap& memory, Findings& findings) {
  if (memory.total() <= kMaxMemoryChunks) return true;
  findings.add(Rule::too_large, Place{},
               fmt::format("{} chunks of memory over all ranks; this verifier follows {}",
                           memory.total(), kMaxMemoryChunks));
  return false;
}

void check_data(const Program& program, const StepGraph& graph, const Execution& execution,
                Placement placement, Findings& findings, Verdict& verdict) {
  const MemoryMap memory(program, placement);
  if (!can_be_followed(memory, findings)) return;
  Findings races(findings.file());
  Results results;
  const auto place_of = [&](std::int32_t step) { return graph.place(step); };
  tbb::parallel_invoke(
      [&] { check_races(graph, execution, memory, races); },
      [&] { results = interpret(program, execution, memory, place_of, findings); });
  findings.add(races);
  note_results(program, results, verdict);
}

Transfers transfers_of(const StepGraph& graph) {
  Transfers transfers;
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    const StepGraph::Node& node = graph.steps[s];
    if (node.message_to < 0) continue;
    const std::int32_t from = graph.block_of(static_cast<std::int32_t>(s)).rank;
    transfers[{from, graph.block_of(node.message_to).rank}] += node.step->count;
  }
  return transfers;
}

void check_on(const Topology& topology, const Traffic& traffic, Findings& findings,
              Verdict& verdict) {
  if (traffic.plan && topology.ranks.size() == traffic.plan->gpus.size()) {
    check_plan_boxes(*traffic.plan, topology, findings);
  }
  if (!traffic.sent) return;
  check_fabric(traffic.program, traffic.sent->transfers, traffic.sent->accesses, topology, findings,
               verdict);
}

std::optional<Traffic> run_program(Program program, const TargetRules& target, Findings& findings,
                                   Verdict& verdict) {
  const StepGraph graph = build_step_graph(program, findings);
  if (findings.blocked()) return std::nullopt;
  // Without limits on what is in flight: if even that gets stuck, no order exists to judge data by.
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 40;
  std::vector<std::int32_t> order;
  const bool ordered = !find_deadlock(graph, kMaxCount, kUnlimited, &order);
  Findings data(findings.file());
  const auto check_deadlocks = [&] {
    const DeadlockVerdict deadlock = check_deadlock(graph, program, target, findings);
    verdict.free_at_one_in_flight = deadlock.free_at_one_in_flight;
    verdict.safe_bytes = deadlock.safe_bytes;
  };
  const auto check_placements = [&] {
    if (!ordered) return;
    const Execution execution = step_execution(graph, order);
    for (const auto& [asked, placement] :
         {std::pair(program.in_place, Placement::in_place),
          std::pair(program.out_of_place, Placement::out_of_place)})
      if (asked) check_data(program, graph, execution, placement, data, verdict);
  };
  tbb::parallel_invoke(check_deadlocks, check_placements);
  findings.add(data);
  if (!ordered) return std::nullopt;
  Sent sent{transfers_of(graph)};
  return Traffic{std::move(program), {}, std::move(sent)};
}

// A text, and what to judge it by.
struct Request {
  std::string_view text, file;
  const Topology* topology;
  const TargetRules& target;
  const PlanRelease& release;
  const VerifyOptions& options;
};

Expected<void> verify_xml(const Request& request, Judgement& judgement) {
  auto& [findings, verdict, traffic] = judgement;
  const LineIndex lines(request.text);
  const auto done = check_lexical_rules(request.text, request.file, lines, findings);
  if (!done) return done;
  auto program = read_msccl_xml(request.text, request.file, lines, request.target, findings);
  if (!program) return program.errors();
  check_structure(*program, request.target, request.options.sms, findings);
  verdict.format = "msccl-xml";
  put_usable(*program, request.target, findings, verdict);
  if (!OwnParts(*program).are_equal()) verdict.conditions.emplace_back(kOfUnequalParts);
  describe(*program, verdict);
  if (!findings.blocked()) {
    traffic = run_program(*std::move(program), request.target, findings, verdict);
  }
  return {};
}

void describe(const PlanFile& plan, Verdict& verdict) {
  for (const PlanGpu& gpu : plan.gpus) {
    verdict.threadblocks =
        std::max(verdict.threadblocks, static_cast<std::int32_t>(gpu.threadblocks.size()));
    std::size_t channels = 0;
    for (const PlanChannels& list : gpu.channels) channels += list.ids.size() + list.groups.size();
    verdict.channels = std::max(verdict.channels, static_cast<std::int32_t>(channels));
    for (const PlanThreadblock& tb : gpu.threadblocks) {
      verdict.steps = std::max(verdict.steps, static_cast<std::int32_t>(tb.ops.size()));
    }
  }
}

std::optional<Traffic> run_plan(PlanFile plan, Program program, Findings& findings,
                                Verdict& verdict) {
  const MemoryMap memory(program, plan.in_place ? Placement::in_place : Placement::out_of_place);
  if (!can_be_followed(memory, findings)) return std::nullopt;
  auto run = check_plan(plan, program, memory, findings);
  if (!run) return Traffic{std::move(program), std::move(plan)};
  verdict.free_at_one_in_flight = true;  // a signal never waits
  note_results(program, run->results, verdict);
  check_output_offsets(plan, verdict.root, findings);
  return Traffic{std::move(program), std::move(plan),
                 Sent{std::move(run->transfers), std::move(run->group_accesses)}};
}

Expected<void> verify_plan(const Request& request, Judgement& judgement) {
  auto& [findings, verdict, traffic] = judgement;
  auto plan = read_plan(request.text, request.file, findings);
  if (!plan) return plan.errors();
  *plan = as_run_by(request.release, *std::move(plan));
  Program program;
  check_plan_structure(*plan, request.options.sms, program, findings);
  check_release(*plan, request.release, findings);
  verdict.format = "mscclpp-plan";
  describe_call(program, verdict);
  for (const auto& group : program.groups) verdict.groups.emplace_back(group.begin(), group.end());
  describe(*plan, verdict);
  if (findings.blocked()) return {};
  put_usable(*plan, findings, verdict);
  verdict.conditions = plan_conditions(*plan, request.release);
  if (!OwnParts(program).are_equal()) verdict.conditions.emplace_back(kOfUnequalParts);
  if (!program.groups.empty()) verdict.conditions.emplace_back(kOfGroups);
  const std::int64_t slices = slices_of(*plan);
  traffic =
      run_plan(in_slices(*std::move(plan), slices), in_slices(program, slices), findings, verdict);
  return {};
}

// JSON of another kind gets one answer, not a finding for each field that it lacks.
Diagnostic not_a_forest(const std::string& format, std::string_view file) {
  if (format == "forestcoll-topology") {
    return file_error(file, "/format", "a topology, not a schedule",
                      "give the schedule first, and the topology with `topology`");
  }
  return file_error(file, "/format",
                    format.empty()
                        ? "JSON without the format \"forestcoll-forest\": not a schedule"
                        : fmt::format("expected the format \"forestcoll-forest\", found \"{}\"",
                                      format.substr(0, 40)),
                    "give the schedule as MSCCL XML, an MSCCL++ plan, or forest or flows JSON");
}

Expected<void> verify_forest(const Request& request, Judgement& judgement) {
  auto& [findings, verdict, traffic] = judgement;
  auto forest = read_forest_json(request.text, request.file, findings);
  if (!forest) return forest.errors();
  if (forest->format != "forestcoll-forest") return not_a_forest(forest->format, request.file);
  verdict.format = "forestcoll-forest";
  check_forest(*forest, request.topology, findings, verdict);
  if (parse_collective(forest->collective)) verdict.collective_name = forest->collective;
  return {};
}

Expected<void> verify_flows(const Request& request, Judgement& judgement) {
  auto& [findings, verdict, traffic] = judgement;
  const auto flows = read_flows(request.text, request.file, findings);
  if (!flows) return flows.errors();
  verdict.format = "forestcoll-flows";
  check_flows(*flows, request.topology, findings, verdict);
  return {};
}

Expected<void> verify_tuner(const Request& request, Judgement& judgement) {
  check_tuner(request.text, request.topology, judgement.findings, judgement.verdict);
  return {};
}

Expected<void> verify_graph(const Request& request, Judgement& judgement) {
  auto& [findings, verdict, traffic] = judgement;
  // NCCL's reader of graphs is that of MSCCL XML.
  const auto done =
      check_lexical_rules(request.text, request.file, LineIndex(request.text), findings);
  if (done) check_graph(request.text, request.topology, findings, verdict);
  return done;
}

// What NCCL takes in place of its own choice holds no schedule: its check has said what it comes
// to.
void conclude(Verdict& verdict, const Findings& findings, const VerifyOptions& options) {
  verdict.findings = findings.sorted(options.max_findings);
  verdict.faults = findings.faults(options.max_findings);
  verdict.finding_count = findings.count();
  verdict.ok = findings.count() == 0;
  if (!verdict.ok || verdict.outcome.empty()) verdict.outcome = outcome(findings);
  if (!verdict.ok) {  // what is wrong has no bits to compare
    verdict.same_bits.reset();
    verdict.bit_difference.reset();
  }
}

// What files of one kind are checked by, and how many bytes of them are read.
struct FileKind {
  Expected<void> (*verify)(const Request&, Judgement&);
  std::size_t most_bytes;
};

// Nothing where the text, which begins with `first`, is of no kind.
std::optional<FileKind> kind_of(std::string_view text, char first) {
  if (first == '<' && looks_like_graph(text)) return FileKind{verify_graph, kMaxGraphBytes};
  if (first == '<') return FileKind{verify_xml, kMaxFileBytes};
  if (first == '{') {
    switch (kind_of_json(text)) {
      case JsonKind::plan:
        return FileKind{verify_plan, kMaxPlanBytes};
      case JsonKind::flows:
        return FileKind{verify_flows, kMaxForestBytes};
      case JsonKind::other:
        return FileKind{verify_forest, kMaxForestBytes};
    }
  }
  if (looks_like_tuner(text)) return FileKind{verify_tuner, kMaxTunerBytes};
  return std::nullopt;
}

Expected<Judgement> judge(std::string_view text, std::string_view file, const Topology* topology,
                          const VerifyOptions& options) {
  const TargetRules* target = find_target_rules(options.target);
  const PlanRelease* release = find_plan_release(options.target);
  if (target == nullptr && release == nullptr) {
    return make_error(Code::V04, fmt::format("unknown target \"{}\"", options.target),
                      fmt::format("targets are {}, and of plans {}",
                                  fmt::join(target_names(), ", "), plan_release_names()));
  }
  // A file of another kind than the target loads is judged by the first target of its kind.
  if (target == nullptr) target = find_target_rules(VerifyOptions{}.target);
  if (release == nullptr) release = &newest_plan_release();
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  const std::size_t begin = text.find_first_not_of(" \t\r\n", text.starts_with(kBom) ? 3 : 0);
  const char first = begin == std::string_view::npos ? '\0' : text[begin];
  const auto kind = kind_of(text, first);
  if (!kind) {
    return file_error(file, begin == std::string_view::npos ? "" : LineIndex(text).position(begin),
                      begin == std::string_view::npos
                          ? "the file is empty"
                          : "neither XML nor a JSON object: expected '<' or '{'",
                      "give the schedule as MSCCL XML, an MSCCL++ plan, or forest or flows JSON");
  }
  if (text.size() > kind->most_bytes) {
    return file_error(
        file, "",
        fmt::format("the file has {} bytes; at most {} are read", text.size(), kind->most_bytes));
  }
  Judgement judgement{Findings(file)};
  const auto done = kind->verify({text, file, topology, *target, *release, options}, judgement);
  if (!done) return done.errors();
  auto& [findings, verdict, traffic] = judgement;
  if (topology != nullptr && traffic) check_on(*topology, *traffic, findings, verdict);
  conclude(verdict, findings, options);
  return judgement;
}

}  // namespace
}  // namespace audit

std::vector<std::string> verify_targets() {
  return audit::target_names();
}

Expected<Verdict> verify(std::string_view text, std::string_view file, const Topology* topology,
                         const VerifyOptions& options) {
  auto judgement = audit::judge(text, file, topology, options);
  if (!judgement) return judgement.errors();
  return std::move(judgement->verdict);
}

class VerifiedProgram::Judged {
 public:
  audit::Judgement alone;
  VerifyOptions options;
};

VerifiedProgram::VerifiedProgram(std::shared_ptr<const Judged> judged)
    : judged_(std::move(judged)) {}

Expected<VerifiedProgram> VerifiedProgram::read(std::string_view text, std::string_view file,
                                                const VerifyOptions& options) {
  auto alone = audit::judge(text, file, nullptr, options);
  if (!alone) return alone.errors();
  return VerifiedProgram(std::make_shared<const Judged>(Judged{*std::move(alone), options}));
}

const Verdict& VerifiedProgram::alone() const {
  return judged_->alone.verdict;
}

Verdict VerifiedProgram::on(const Topology& topology) const {
  Verdict verdict = alone();
  audit::Findings findings(judged_->alone.findings.file());
  audit::check_on(topology, *judged_->alone.traffic, findings, verdict);
  audit::conclude(verdict, findings, judged_->options);
  return verdict;
}

}  // namespace forestcoll
