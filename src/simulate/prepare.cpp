// From a schedule's text to something that can be simulated.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "audit/common/findings.hpp"
#include "audit/common/line_index.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/flows/file.hpp"
#include "audit/forest/file.hpp"
#include "audit/msccl/checks.hpp"
#include "audit/msccl/target_rules.hpp"
#include "audit/msccl/xml_reader.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan/groups.hpp"
#include "audit/plan/rules/rules.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "simulate/model.hpp"
#include "simulate/prepare_program.hpp"

namespace forestcoll {
namespace {

using audit::Findings;

Diagnostic refuse(std::string_view file, std::string where, std::string message,
                  std::string remedy) {
  return make_error(Code::M04, std::move(message), std::move(remedy),
                    {.file = std::string(file), .where = std::move(where)});
}

// A file that one runtime's parser or limits refuse still does what it says; and what a forest
// claims to reach does not matter for what it does.
bool is_tolerable(Fault fault) {
  return fault != Fault::wrong && fault != Fault::misplaced;
}

// A verdict without anything that keeps the schedule from doing what it promises, and the target
// that gave it.
struct Acceptance {
  Verdict verdict;
  std::string target;
};

Expected<Acceptance> accept(std::string_view text, std::string_view file,
                            const Topology& topology) {
  std::optional<Diagnostic> objection;
  Fault fault = Fault::wrong;
  for (const std::string& target : verify_targets()) {
    VerifyOptions options;
    options.target = target;
    options.max_findings = std::numeric_limits<std::size_t>::max();
    auto verdict = verify(text, file, &topology, options);
    if (!verdict) return verdict.errors();
    if (verdict->format.starts_with("nccl")) {
      return refuse(file, "",
                    fmt::format("{} holds no schedule: it says which of its own algorithms or "
                                "rings NCCL takes",
                                verdict->format),
                    "give the schedule that is to be simulated");
    }
    const auto& faults = verdict->faults;
    const auto gravest = std::find_if_not(faults.begin(), faults.end(), is_tolerable);
    if (gravest == faults.end()) return Acceptance{*std::move(verdict), target};
    if (!objection) {
      objection = verdict->findings[static_cast<std::size_t>(gravest - faults.begin())];
      fault = *gravest;
    }
    if (verdict->format != "msccl-xml") break;  // others are for one runtime
  }
  if (fault == Fault::misplaced) {
    return refuse(
        file, objection->where,
        fmt::format("the schedule is not for this topology: {}", objection->message),
        "give the topology that it was made for, with the same `drop`, `members` and `ranks`");
  }
  return refuse(
      file, objection->where,
      fmt::format("not a right schedule: {} [{}]", objection->message, name_of(objection->code)),
      "`verify()` says all that is wrong");
}

// Of a plan for several groups, the largest.
std::int64_t ranks_together(const Verdict& verdict) {
  std::int64_t most = 0;
  for (const auto& group : verdict.groups) most = std::max(most, std::ssize(group));
  return most > 0 ? most : verdict.ranks;
}

double busbw_of(std::string_view collective_name, std::int64_t ranks) {
  const auto collective = parse_collective(collective_name);
  if (!collective) return static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return busbw_factor(*collective, ranks).to_double();
}

// What a rank sends on average, its own data included; at least one byte.
std::int64_t buffer_bytes(const audit::FlowsFile& flows) {
  std::int64_t total = flows.own_bytes.value_or(0);
  for (const audit::FlowPair& pair : flows.pairs) total += pair.bytes.value_or(0);
  return std::max<std::int64_t>(1, total / std::ssize(flows.ranks));
}

Diagnostic misplaced(std::string_view file, const Findings& findings) {
  const Diagnostic first = findings.sorted(1).front();
  return refuse(
      file, first.where, first.message,
      "give the topology that it was made for, with the same `drop`, `members` and `ranks`");
}

Diagnostic refuse_unlike_routes() {
  return refuse("", "", "the fabric's routes are not as alike as the programs",
                "give the programs of all ranks");
}

std::size_t op_count(const audit::PlanFile& plan) {
  std::size_t count = 0;
  for (const audit::PlanGpu& gpu : plan.gpus) {
    for (const audit::PlanThreadblock& block : gpu.threadblocks) count += block.ops.size();
  }
  return count;
}

// The GPUs of the plan stand for all, whose peers are not there to be checked.
simulate::PlanSource source_of_classes(const audit::PlanFile& plan, simulate::Fabric& fabric,
                                       Findings& findings, const simulate::PlanImages& images) {
  std::int64_t chunks = 0;
  for (const audit::PlanGpu& gpu : plan.gpus) {
    chunks = std::max({chunks, gpu.input_chunks, gpu.output_chunks});
  }
  const audit::MemoryMap nothing(audit::Program{}, audit::Placement::in_place);
  return {plan, nothing, chunks, fabric, findings, images};
}

simulate::PlanSource source_of(audit::PlanFile plan, simulate::Fabric& fabric, Findings& findings) {
  audit::Program program;
  audit::check_plan_structure(plan, VerifyOptions{}.sms, program, findings);
  const std::int64_t slices = audit::slices_of(plan);
  const audit::MemoryMap memory(in_slices(program, slices), plan.in_place
                                                                ? audit::Placement::in_place
                                                                : audit::Placement::out_of_place);
  return {in_slices(std::move(plan), slices), memory, program.chunks * slices, fabric, findings};
}

class Preparation {
 public:
  Preparation(std::string_view text, std::string_view file, const Topology& topology,
              Acceptance acceptance, simulate::Fabric fabric)
      : text_(text),
        file_(file),
        topology_(topology),
        target_(std::move(acceptance.target)),
        fabric_(std::move(fabric)),
        findings_(file) {
    const Verdict& verdict = acceptance.verdict;
    description_ = {verdict.format, verdict.collective_name, "Simple", verdict.ranks,
                    busbw_of(verdict.collective_name, ranks_together(verdict))};
    chunks_ = verdict.chunks;
  }

  Expected<Simulator> read() {
    if (description_.format == "msccl-xml") return read_xml();
    if (description_.format == "mscclpp-plan") return read_plan();
    if (description_.format == "forestcoll-flows") return read_flows();
    return read_forest();
  }

 private:
  Expected<Simulator> read_xml() {
    const audit::TargetRules& target = *audit::find_target_rules(target_);
    auto program = audit::read_msccl_xml(text_, file_, audit::LineIndex(text_), target, findings_);
    if (!program) return program.errors();
    audit::check_structure(*program, target, VerifyOptions{}.sms, findings_);
    description_.protocol = program->protocol;
    return finish(simulate::ProgramSource(*std::move(program), fabric_, findings_));
  }

  Expected<Simulator> read_plan() {
    auto plan = audit::read_plan(text_, file_, findings_);
    if (!plan) return plan.errors();
    description_.protocol = plan->protocol;
    return finish(source_of(*std::move(plan), fabric_, findings_));
  }

  Expected<Simulator> read_forest() {
    const auto forest = audit::read_forest_json(text_, file_, findings_);
    if (!forest) return forest.errors();
    return finish(simulate::ForestSource(*forest, topology_, chunks_, fabric_, findings_));
  }

  Expected<Simulator> read_flows() {
    const auto flows = audit::read_flows(text_, file_, findings_);
    if (!flows) return flows.errors();
    if (description_.collective == "alltoallv") description_.bytes = buffer_bytes(*flows);
    return finish(simulate::FlowsSource(*flows, topology_, fabric_));
  }

  Expected<Simulator> finish(Simulator::Model::Source source) {
    if (findings_.blocked()) return misplaced(file_, findings_);
    return Simulator(std::make_shared<const Simulator::Model>(
        std::move(description_), topology_, std::move(fabric_), std::move(source)));
  }

  std::string_view text_, file_;
  const Topology& topology_;
  std::string target_;
  simulate::Fabric fabric_;
  Findings findings_;
  Simulator::Model::Description description_;
  std::int64_t chunks_ = 0;
};

}  // namespace

Expected<simulate::PreparedProgram> simulate::prepare_program(audit::Program program,
                                                              const Topology& topology,
                                                              Fabric fabric, const Images& images) {
  Simulator::Model::Description description{"msccl-xml", std::string(to_string(program.pattern)),
                                            program.protocol, program.ranks,
                                            busbw_of(to_string(program.pattern), program.ranks)};
  Findings findings("the schedule");
  ProgramSource source(std::move(program), fabric, findings, images);
  if (!findings.blocked() && images.count > 1 && !source.knows_classes()) {
    return refuse_unlike_routes();
  }
  if (findings.blocked()) return misplaced("", findings);
  const std::int64_t steps = source.simulated_steps();
  return PreparedProgram{
      Simulator(std::make_shared<const Simulator::Model>(std::move(description), topology,
                                                         std::move(fabric), std::move(source))),
      steps};
}

Expected<Simulator> simulate::prepare_plan(audit::PlanFile plan, Collective collective,
                                           const Topology& topology, Fabric fabric,
                                           const PlanImages& images) {
  if (op_count(plan) > audit::kMaxPlanFileOps) {
    return refuse("", "", fmt::format("more than {} operations", audit::kMaxPlanFileOps),
                  "give a plan with fewer");
  }
  const auto ranks = std::ssize(plan.gpus);
  Simulator::Model::Description description{"mscclpp-plan", std::string(to_string(collective)),
                                            plan.protocol, ranks,
                                            busbw_factor(collective, ranks).to_double()};
  Findings findings("the schedule");
  const bool are_all = images.ranks.count == 1;
  PlanSource source = are_all ? source_of(std::move(plan), fabric, findings)
                              : source_of_classes(plan, fabric, findings, images);
  if (!findings.blocked() && !source.knows_classes()) return refuse_unlike_routes();
  if (findings.blocked()) return misplaced("", findings);
  return Simulator(std::make_shared<const Simulator::Model>(std::move(description), topology,
                                                            std::move(fabric), std::move(source)));
}

Expected<Simulator> prepare_simulation(std::string_view schedule, std::string_view file,
                                       const Topology& topology) {
  auto acceptance = accept(schedule, file, topology);
  if (!acceptance) return acceptance.errors();
  const bool names_paths = acceptance->verdict.threadblocks == 0;  // a forest, not programs
  auto fabric = simulate::Fabric::make(names_paths ? topology : without_relays(topology));
  if (!fabric) return fabric.errors();
  return Preparation(schedule, file, topology, *std::move(acceptance), *std::move(fabric)).read();
}

}  // namespace forestcoll
