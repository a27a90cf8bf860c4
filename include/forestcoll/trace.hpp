// A schedule as the messages that each rank sends and receives, for others' simulators.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll {

/// What a threadblock does at one time. Operations of a rank are numbered from 0.
struct TraceOperation {
  enum class Kind : std::uint8_t {
    send,
    receive,
    local  ///< a copy or a sum within the rank, or waiting alone; it takes no time
  };
  Kind kind = Kind::local;
  std::int32_t threadblock = 0;
  std::int32_t peer = -1;                        ///< the other rank of a message
  std::int32_t tag = 0;                          ///< of a message: its channel
  std::int64_t bytes = 0;                        ///< of a message
  std::array<std::int64_t, 2> after = {-1, -1};  ///< operations that end before it; −1: none
};

/// One call of a collective. The i-th send from a rank to another with a tag is what the i-th
/// receive there gets. Operations stand after those that they wait for.
struct Trace {
  std::string collective;  ///< "allreduce"
  std::int64_t bytes = 0;  ///< of the whole buffer
  std::vector<std::vector<TraceOperation>> ranks;
};

/// The most operations of all ranks together; a GOAL file has some 50 bytes for each.
inline constexpr std::int64_t kMaxTraceOperations = 4'000'000;

/// What a runtime does with MSCCL XML for a buffer of `bytes`, rounded down to whole chunks: pass
/// by pass over the program, each message cut as its protocol cuts it (NCCL's default buffers).
/// Threadblocks do one step after the other, and wait for flags. That a connection holds a few
/// messages only cannot be said in a trace: a sender may run ahead. `target` is whose XML it is.
/// REQUIRES: `verify` finds the XML to be right. Errors: those of its reader; M01, less than a byte
/// for each chunk; M05, stuck at this
/// size, which the file's window leaves out; M06, more than kMaxTraceOperations. Cost: linear in
/// the operations.
[[nodiscard]] Expected<Trace> make_trace(std::string_view xml, std::string_view file,
                                         std::string_view target, std::int64_t bytes);

/// The text form of GOAL, which LogGOPSim's txt2bin and ATLAHS read: a threadblock is a processor
/// of its rank (modulo 256, GOAL's most), and all share one NIC.
[[nodiscard]] std::string to_goal(const Trace& trace);

/// The Chakra execution trace of one rank, as ASTRA-sim's custom collectives load it: binary, each
/// message preceded by its length; peers are positions in the group.
[[nodiscard]] std::string to_chakra(const Trace& trace, std::size_t rank);

}  // namespace forestcoll
