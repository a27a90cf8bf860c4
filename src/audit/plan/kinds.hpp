// What the operations of an execution plan are called, take and leave, as tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// "put", "re", …; `other` for what the executor does not have. "rlxsignal" and "rlxwait" are a
/// signal and a wait that are relaxed.
[[nodiscard]] PlanKind plan_kind_of(std::string_view name);
[[nodiscard]] bool is_relaxed(std::string_view name);
/// "memory", "port", "switch", "none"; else `other`.
[[nodiscard]] ChannelKind channel_kind_of(std::string_view name);
/// "i", "o" or "s".
[[nodiscard]] std::optional<Buffer> buffer_of(std::string_view name);

/// One side of an operation: its first `locals` operands are local, the others `rest`.
struct PlanSide {
  enum class Rest : std::uint8_t { none, remote, switched };
  std::int32_t locals = 0;
  Rest rest = Rest::none;
  std::int32_t least = 1, most = 1;  ///< operands
  std::int32_t packets = kNone;      ///< from this operand on they are packets in scratch
  static constexpr std::int32_t kNone = 1 << 20;
};

/// An operation that moves or adds data. Its destinations hold the sum of all its sources; or, if
/// it is `pairwise`, each the source of its own place.
struct PlanTraits {
  PlanKind kind = PlanKind::other;
  PlanSide sources, destinations;
  bool pairwise = false;
  bool through_memory = false, through_port = false;  ///< how it reaches remote operands
};
/// Null for operations that touch no data.
[[nodiscard]] const PlanTraits* traits_of(PlanKind kind);

/// Whether it adds: more than one source makes one result.
[[nodiscard]] bool adds(PlanKind kind);
/// put, pws, pwsf: puts of data, not of packets.
[[nodiscard]] bool is_put(PlanKind kind);

/// Whether operand `i` is packets, each of which carries a flag beside its data. A waiting read
/// takes a packet once it carries the flag of the call. A put through a port channel sends packets
/// as they lie in scratch, without waiting for them.
[[nodiscard]] bool reads_packets(const PlanOp& op, std::size_t i);
[[nodiscard]] bool writes_packets(const PlanOp& op, std::size_t i);
/// Whether its threads wait for the packets that they read.
[[nodiscard]] bool waits_for_packets(PlanKind kind);
/// Whether any of its operands is packets.
[[nodiscard]] bool has_packets(PlanKind kind);

/// Whether the plan reads or writes through a switch channel. Cost: O(operations).
[[nodiscard]] bool has_switches(const PlanFile& plan);

}  // namespace forestcoll::audit
