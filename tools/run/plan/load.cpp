#include <algorithm>
#include <limits>
#include <utility>

#include "audit/common/findings.hpp"
#include "audit/plan/conditions.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan/groups.hpp"
#include "audit/plan/rules/rules.hpp"
#include "forestcoll/verify.hpp"
#include "run/plan/run.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {
namespace {

class PlanSchedule : public Schedule {
 public:
  // With groups of threadblocks cut to slices, as the verifier does it.
  PlanSchedule(const audit::PlanFile& plan, const audit::Program& program, std::int64_t slices,
               bool is_refused)
      : plan_(audit::in_slices(plan, slices)) {
    facts_.format = "mscclpp-plan";
    facts_.protocol = plan.protocol;
    facts_.pattern = program.pattern;
    facts_.ranks = program.ranks;
    facts_.groups = program.groups;
    facts_.chunks = program.chunks * slices;
    const audit::OwnParts parts(audit::in_slices(program, slices));
    if (!parts.are_equal()) facts_.parts = parts;
    facts_.grain = plan.alignment;
    facts_.in_place = plan.in_place;
    facts_.out_of_place = !plan.in_place;
    facts_.only_sums = true;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    facts_.min_bytes = static_cast<std::int64_t>(std::min(plan.min_size, kMost));
    facts_.max_bytes =
        static_cast<std::int64_t>(std::min({plan.max_size, audit::largest_message(plan), kMost}));
    facts_.is_refused_by_runtimes = is_refused;
  }

  [[nodiscard]] const ScheduleFacts& facts() const override { return facts_; }

  [[nodiscard]] std::int64_t scratch_chunks(std::int64_t rank) const override {
    return gpu(rank).scratch_chunks;
  }

  [[nodiscard]] std::unique_ptr<RankRun> prepare(std::int64_t rank, const CallShape& shape,
                                                 ElementType type,
                                                 const Connections& connections) const override {
    PlanCut cut;
    cut.chunk_elements = shape.whole / facts_.chunks;
    cut.chunk_bytes = cut.chunk_elements * static_cast<std::int64_t>(shape.element_bytes);
    cut.scratch_bytes = gpu(rank).scratch_chunks * cut.chunk_bytes;
    cut.grain = plan_.alignment;
    return std::make_unique<PlanRun>(static_cast<int>(rank),
                                     tasks_of(plan_, static_cast<std::size_t>(rank)),
                                     gpu(rank).semaphores, cut, type, connections.communicator);
  }

 private:
  [[nodiscard]] const audit::PlanGpu& gpu(std::int64_t rank) const {
    return plan_.gpus[static_cast<std::size_t>(rank)];
  }

  audit::PlanFile plan_;
  ScheduleFacts facts_;
};

}  // namespace

Expected<std::unique_ptr<Schedule>> load_plan(std::string_view text, std::string_view file) {
  audit::Findings findings(file);
  const auto plan = audit::read_plan(text, file, findings);
  if (!plan) return plan.errors();
  audit::Program program;
  audit::check_plan_structure(*plan, VerifyOptions{}.sms, program, findings);
  if (findings.blocked()) return findings.sorted(kReported);
  const std::int64_t slices = audit::slices_of(*plan);
  if (slices > audit::kMaxSlices) {
    findings.add(audit::Rule::too_large, std::string(),
                 "groups of threadblocks that cut a chunk into too many parts");
    return findings.sorted(kReported);
  }
  std::unique_ptr<Schedule> schedule =
      std::make_unique<PlanSchedule>(*plan, program, slices, findings.count() > 0);
  return schedule;
}

}  // namespace forestcoll::run
