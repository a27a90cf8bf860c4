// The collectives, and what their rates mean.
#pragma once

#include <optional>
#include <string_view>

#include "forestcoll/ratio.hpp"

namespace forestcoll {

enum class Collective { allgather, reduce_scatter, allreduce, broadcast, reduce };

/// "allgather", "reduce_scatter", "allreduce", "broadcast", "reduce".
[[nodiscard]] std::string_view to_string(Collective collective);
[[nodiscard]] std::optional<Collective> parse_collective(std::string_view name);

/// broadcast and reduce have one root; the others serve all ranks alike.
[[nodiscard]] bool is_rooted(Collective collective);

/// busbw / algbw as nccl-tests defines it: (N−1)/N for allgather and reduce_scatter, 2(N−1)/N for
/// allreduce, 1 for broadcast and reduce.
[[nodiscard]] Ratio busbw_factor(Collective collective, std::int64_t ranks);

}  // namespace forestcoll
