#include "audit/common/program.hpp"

#include <array>

namespace forestcoll::audit {
namespace {

//                                                     recv   send   src    dst    write  reduce
constexpr std::array<Operation, 9> kOperations = {
    {{"s", false, true, true, false, false, false},
     {"r", true, false, false, false, true, false},
     {"rcs", true, true, false, false, true, false},
     {"rrs", true, true, true, false, false, true},
     {"rrc", true, false, true, false, true, true},
     {"rrcs", true, true, true, false, true, true},
     {"cpy", false, false, true, false, true, false},
     {"re", false, false, true, true, true, true},
     {"nop", false, false, false, false, false, false}}};

constexpr std::array<std::string_view, 9> kPatterns = {"allgather", "reduce_scatter", "allreduce",
                                                       "broadcast", "reduce",         "alltoall",
                                                       "sendrecv",  "scatter",        "gather"};

}  // namespace

std::string_view to_string(Pattern pattern) {
  return kPatterns[static_cast<std::size_t>(pattern)];
}

std::optional<Pattern> parse_pattern(std::string_view name) {
  for (std::size_t i = 0; i < kPatterns.size(); ++i) {
    if (kPatterns[i] == name) return static_cast<Pattern>(i);
  }
  return std::nullopt;
}

bool is_divided(Pattern pattern) {
  return pattern == Pattern::alltoall || input_is_part(pattern) || output_is_part(pattern);
}

bool is_rooted(Pattern pattern) {
  return pattern == Pattern::broadcast || pattern == Pattern::reduce ||
         pattern == Pattern::scatter || pattern == Pattern::gather;
}

bool input_is_part(Pattern pattern) {
  return pattern == Pattern::allgather || pattern == Pattern::gather;
}

bool output_is_part(Pattern pattern) {
  return pattern == Pattern::reduce_scatter || pattern == Pattern::scatter;
}

std::string_view to_string(Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return "input";
    case Buffer::output:
      return "output";
    case Buffer::scratch:
      return "scratch";
  }
  return "";
}

const Operation* find_operation(std::string_view name) {
  for (const Operation& operation : kOperations) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

BufferSizes buffer_sizes(Pattern pattern, std::int64_t chunks, std::int64_t ranks) {
  return {input_is_part(pattern) ? chunks / ranks : chunks,
          output_is_part(pattern) ? chunks / ranks : chunks};
}

}  // namespace forestcoll::audit
