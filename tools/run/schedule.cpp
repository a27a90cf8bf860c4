#include "run/schedule.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "audit/common/json_kind.hpp"
#include "audit/common/line_index.hpp"

namespace forestcoll::run {
namespace {

Diagnostic not_to_be_run(std::string_view text, std::string_view file, std::size_t at) {
  const bool empty = at == std::string_view::npos;
  return make_error(
      Code::X01,
      empty ? "the file is empty"
            : "not a schedule that can be run: neither MSCCL XML, an MSCCL++ plan nor "
              "flows",
      "give what `forestcoll synth` writes as msccl, mscclpp or flows; a forest is no program",
      {.file = std::string(file), .where = empty ? "" : audit::LineIndex(text).position(at)});
}

}  // namespace

Expected<std::unique_ptr<Schedule>> load_schedule(std::string_view text, std::string_view file) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  const std::size_t begin = text.find_first_not_of(" \t\r\n", text.starts_with(kBom) ? 3 : 0);
  const char first = begin == std::string_view::npos ? '\0' : text[begin];
  if (first == '<') return load_program(text, file);
  const auto kind = first == '{' ? audit::kind_of_json(text) : audit::JsonKind::other;
  if (kind == audit::JsonKind::plan) return load_plan(text, file);
  if (kind == audit::JsonKind::flows) return load_flows(text, file);
  return not_to_be_run(text, file, begin);
}

CallShape shape_of_call(const Schedule& schedule, std::int64_t rank, std::int64_t bytes,
                        ElementType type) {
  const ScheduleFacts& facts = schedule.facts();
  CallShape shape;
  const auto group = facts.process_groups().size(static_cast<std::int32_t>(rank));
  shape.is_idle = group == 0;
  shape.pattern = shape.is_idle ? Pattern::allreduce : facts.pattern;  // whole buffers
  shape.ranks = std::max<std::int64_t>(group, 1);
  shape.element_bytes = size_of(type);
  shape.whole = bytes / static_cast<std::int64_t>(shape.element_bytes);
  shape.parts = facts.parts ? &*facts.parts : nullptr;
  shape.chunk = shape.whole / facts.chunks;
  shape.scratch = schedule.scratch_chunks(rank) * shape.chunk;
  return shape;
}

std::int64_t ScheduleFacts::most_together() const {
  std::int64_t most = 0;
  for (const auto& group : groups) most = std::max(most, std::ssize(group));
  return most > 0 ? most : ranks;
}

bool reduces(Pattern pattern) {
  return pattern == Pattern::allreduce || pattern == Pattern::reduce_scatter ||
         pattern == Pattern::reduce;
}

std::string_view perf_name(Pattern pattern) {
  constexpr std::array<std::string_view, 9> kNames = {
      "all_gather_perf", "reduce_scatter_perf", "all_reduce_perf", "broadcast_perf", "reduce_perf",
      "alltoall_perf",   "sendrecv_perf",       "scatter_perf",    "gather_perf"};
  return kNames[static_cast<std::size_t>(pattern)];
}

}  // namespace forestcoll::run
