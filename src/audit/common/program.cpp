#include "audit/common/program.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "forestcoll/ratio.hpp"

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

bool declares_parts(Pattern pattern) {
  return pattern == Pattern::allgather || pattern == Pattern::reduce_scatter;
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

BufferSizes buffer_sizes(Pattern pattern, std::int64_t whole, std::int64_t part) {
  return {input_is_part(pattern) ? part : whole, output_is_part(pattern) ? part : whole};
}

OwnParts::OwnParts(const Program& program)
    : chunks_(program.chunks), groups_(program.groups, program.ranks) {
  if (!declares_parts(program.pattern) || !program.groups.empty()) return;
  if (std::ssize(program.gpus) != program.ranks) return;
  std::vector<std::int64_t> sizes(program.gpus.size(), 0);
  Int128 declared = 0;
  for (const Gpu& gpu : program.gpus) {
    if (gpu.id >= program.ranks) return;
    const std::int64_t size = input_is_part(program.pattern) ? gpu.input_chunks : gpu.output_chunks;
    sizes[static_cast<std::size_t>(gpu.id)] = size;
    declared += size;
  }
  const bool equal = std::ranges::all_of(sizes, [&](auto size) { return size == sizes.front(); });
  if (declared != chunks_ || equal) return;
  begin_.push_back(0);
  for (const std::int64_t size : sizes) begin_.push_back(begin_.back() + size);
}

bool OwnParts::cover() const {
  if (!are_equal()) return true;
  const auto divides = [&](std::int64_t members) { return chunks_ % members == 0; };
  if (groups_.lists().empty()) return divides(groups_.size(0));
  return std::ranges::all_of(groups_.lists(),
                             [&](const auto& group) { return divides(std::ssize(group)); });
}

std::int32_t OwnParts::owner(std::int64_t chunk, std::int32_t rank) const {
  if (are_equal()) return groups_.member(rank, chunk / size(rank));
  const auto after = std::upper_bound(begin_.begin(), begin_.end(), chunk);
  return static_cast<std::int32_t>(after - begin_.begin()) - 1;
}

}  // namespace forestcoll::audit
