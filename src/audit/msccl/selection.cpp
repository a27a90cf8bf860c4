// A file that does not match a call is passed over without a word, and the call "passes" on the
// runtime's own algorithm. So a file that can never be selected is as wrong as one that hangs.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "audit/msccl/checks.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::audit {
namespace {

// The upper end of the window. What leaves its end out is often written with a round one.
std::string end_text(const Program& program, const TargetRules& target, std::int64_t last) {
  const bool is_round = program.max_bytes % 1024 == 0;
  if (target.max_bytes_is_included || !is_round) return "to " + size_in_words(last);
  return "to less than " + size_in_words(program.max_bytes);
}

// The buffer that counts are taken of, in the words of the collective's interface.
std::string_view counted(const Program& program) {
  const Pattern pattern = program.pattern;
  if (!OwnParts(program).are_equal()) return "elements that the call counts per rank";
  if (pattern == Pattern::allgather) return "elements sent per rank";
  if (pattern == Pattern::reduce_scatter) return "elements received per rank";
  if (pattern == Pattern::alltoall) return "elements per pair of ranks";
  return "elements per rank";
}

bool is_unlimited(const Program& program, const TargetRules& target) {
  return target.max_bytes_is_included && program.max_bytes == 0;
}

// The largest size in the window.
std::int64_t last_size(const Program& program, const TargetRules& target) {
  return target.max_bytes_is_included ? program.max_bytes : program.max_bytes - 1;
}

std::string modes_text(const Program& program) {
  if (program.in_place && program.out_of_place) return "in place and out of place";
  return program.in_place ? "in place" : "out of place";
}

}  // namespace

void put_usable(const Program& program, const TargetRules& target, Findings& findings,
                Verdict& verdict) {
  verdict.usable_counts = "none";
  const Place header{-1, -1, -1, program.line, {}};
  const std::int64_t multiplier = is_divided(program.pattern) ? program.ranks : 1;
  const std::int64_t step =
      target.counts_parts ? program.chunks : program.chunks / std::gcd(program.chunks, multiplier);
  const bool unlimited = is_unlimited(program, target);
  const std::int64_t last = last_size(program, target);

  if (!program.in_place && !program.out_of_place) {
    findings.add(Rule::never_selected, header,
                 "inplace and outofplace are both 0: no call selects the file");
    return;
  }
  if (!unlimited && (last < program.min_bytes || last < 0)) {
    findings.add(Rule::never_selected, header,
                 fmt::format("minBytes {} and maxBytes {} leave no size for target {}",
                             program.min_bytes, program.max_bytes, target.name),
                 "set maxBytes above minBytes");
    return;
  }
  // Each chunk holds at least one element of one byte.
  const Int128 smallest = Int128{step} * multiplier;
  if (!unlimited && (last < smallest || last / smallest * smallest < program.min_bytes)) {
    findings.add(
        Rule::never_selected, header,
        fmt::format("no buffer of minBytes {} to maxBytes {} is a multiple of {} elements, "
                    "as target {} asks of {} chunks",
                    program.min_bytes, program.max_bytes, step * multiplier, target.name,
                    program.chunks),
        "make it with a higher `max_bytes` or a smaller `k`");
    return;
  }
  const std::string counts =
      step == 1 ? fmt::format("any count ({})", counted(program))
                : fmt::format("count must be divisible by {} ({})", step, counted(program));
  verdict.usable_counts = fmt::format("{}; {}; buffers from {} {}", counts, modes_text(program),
                                      size_in_words(program.min_bytes),
                                      unlimited ? "upwards" : end_text(program, target, last));
  verdict.usable = UsableSizes{.count_multiple = step,
                               .bytes_multiple = std::nullopt,
                               .min_bytes = program.min_bytes,
                               .max_bytes = unlimited ? std::nullopt : std::optional(last)};
}

ChunkBytes chunk_bytes(const Program& program, const TargetRules& target) {
  const std::int64_t least = std::max<std::int64_t>(program.min_bytes, 1);
  return {(least - 1) / program.chunks + 1, is_unlimited(program, target)
                                                ? std::numeric_limits<std::int64_t>::max()
                                                : last_size(program, target) / program.chunks};
}

}  // namespace forestcoll::audit
