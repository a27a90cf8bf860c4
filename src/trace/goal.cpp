// GOAL: a block for each rank, an operation per line with a label, and what it requires.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>

#include "forestcoll/trace.hpp"

namespace forestcoll {
namespace {

constexpr std::int32_t kProcessors = 256;  // the numbers that GOAL's binary form has room for

// Of which there are millions: the formats are parsed by the compiler.
void append_goal(std::string& out, std::size_t label, const TraceOperation& operation) {
  auto to = std::back_inserter(out);
  const std::int32_t processor = operation.threadblock % kProcessors;
  switch (operation.kind) {
    case TraceOperation::Kind::send:
      fmt::format_to(to, FMT_COMPILE("o{}: send {}b to {} tag {} cpu {}\n"), label, operation.bytes,
                     operation.peer, operation.tag, processor);
      break;
    case TraceOperation::Kind::receive:
      fmt::format_to(to, FMT_COMPILE("o{}: recv {}b from {} tag {} cpu {}\n"), label,
                     operation.bytes, operation.peer, operation.tag, processor);
      break;
    case TraceOperation::Kind::local:
      fmt::format_to(to, FMT_COMPILE("o{}: calc 0 cpu {}\n"), label, processor);
  }
  for (const std::int64_t before : operation.after) {
    if (before >= 0) fmt::format_to(to, FMT_COMPILE("o{} requires o{}\n"), label, before);
  }
}

}  // namespace

std::string to_goal(const Trace& trace) {
  std::string out = fmt::format("num_ranks {}\n", trace.ranks.size());
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    fmt::format_to(std::back_inserter(out), "\nrank {} {{\n", rank);
    const auto& operations = trace.ranks[rank];
    for (std::size_t i = 0; i < operations.size(); ++i) append_goal(out, i, operations[i]);
    out += "}\n";
  }
  return out;
}

}  // namespace forestcoll
