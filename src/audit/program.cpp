#include "audit/program.hpp"

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

}  // namespace

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

BufferSizes buffer_sizes(Collective collective, std::int64_t chunks, std::int64_t ranks) {
  switch (collective) {
    case Collective::allgather:
      return {chunks / ranks, chunks};
    case Collective::reduce_scatter:
      return {chunks, chunks / ranks};
    case Collective::allreduce:
    case Collective::broadcast:
    case Collective::reduce:
      return {chunks, chunks};
  }
  return {};
}

}  // namespace forestcoll::audit
