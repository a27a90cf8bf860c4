// A part is tb_id of tbg_size equal parts of what the operation names, which may begin and end
// within chunks. Cut into slices of which each part is a whole number, the plan is one without
// groups, and the rest of the verifier need not know.
#include "audit/plan/groups.hpp"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMaxGroup = 64;  // threadblocks

template <class Visit>
void for_each_part(const PlanFile& plan, Visit visit) {
  for (const PlanGpu& gpu : plan.gpus) {
    for (const PlanThreadblock& tb : gpu.threadblocks) {
      for (const PlanOp& op : tb.ops) {
        if (op.in_group && !op.sources.empty()) visit(op.sources.front().size, op.group_size);
      }
    }
  }
}

void narrow(std::vector<PlanSlice>& operands, const PlanOp& op, std::int64_t slices) {
  for (PlanSlice& operand : operands) {
    operand.index *= slices;
    operand.size *= slices;
    if (!op.in_group) continue;
    const std::int64_t share = operand.size / op.group_size;
    operand.index += op.group_part * share;
    operand.size = share;
  }
}

}  // namespace

void check_group_part(const PlanOp& op, const Place& place, Findings& findings) {
  if (!op.in_group) return;
  if (op.group_size < 1 || op.group_size > kMaxGroup || op.group_part < 0 ||
      op.group_part >= op.group_size) {
    findings.add(Rule::attribute, place,
                 fmt::format("tbg_info: expected tb_id below tbg_size, and that up to {}, found {} "
                             "and {}",
                             kMaxGroup, op.group_part, op.group_size));
  }
  if (op.loop >= 0) {
    findings.add(Rule::unsupported, place,
                 "tbg_info in a pipeline: the executor counts the rounds by whole chunks, and "
                 "leaves the part");
  }
}

std::int64_t slices_of(const PlanFile& plan) {
  std::int64_t slices = 1;
  for_each_part(plan, [&](std::int64_t size, std::int64_t parts) {
    if (size < 1 || parts < 1 || parts > kMaxGroup || slices > kMaxSlices) return;
    slices = std::lcm(slices, parts / std::gcd(size, parts));
  });
  return slices;
}

PlanFile in_slices(PlanFile plan, std::int64_t slices) {
  for (PlanGpu& gpu : plan.gpus) {
    gpu.input_chunks *= slices;
    gpu.output_chunks *= slices;
    gpu.scratch_chunks *= slices;
    for (PlanThreadblock& tb : gpu.threadblocks) {
      for (PlanOp& op : tb.ops) {
        narrow(op.sources, op, slices);
        narrow(op.destinations, op, slices);
      }
    }
  }
  return plan;
}

Program in_slices(Program program, std::int64_t slices) {
  program.slices = slices;
  program.chunks *= slices;
  for (Gpu& gpu : program.gpus) {
    gpu.input_chunks *= slices;
    gpu.output_chunks *= slices;
    gpu.scratch_chunks *= slices;
  }
  return program;
}

std::int64_t units_of_chunks(const PlanFile& plan) {
  std::int64_t cuts = 1, units = 1;
  bool alike = true;
  for_each_part(plan, [&](std::int64_t size, std::int64_t parts) {
    if (size % parts == 0) return;  // at the ends of chunks
    alike = alike && size == 1 && (cuts == 1 || cuts == parts);
    cuts = parts;
    units = std::lcm(units, parts / std::gcd(size, parts));
  });
  return alike ? 1 : units;
}

}  // namespace forestcoll::audit
