// The collectives, and what their rates mean.
#pragma once

#include <optional>
#include <string_view>

#include "forestcoll/ratio.hpp"

namespace forestcoll {

enum class Collective {
  allgather,
  reduce_scatter,
  allreduce,
  broadcast,
  reduce,
  alltoall,
  scatter,
  gather
};

/// "allgather", "reduce_scatter", "allreduce", "broadcast", "reduce", "alltoall", "scatter",
/// "gather".
[[nodiscard]] std::string_view to_string(Collective collective);
[[nodiscard]] std::optional<Collective> parse_collective(std::string_view name);

/// broadcast, reduce, scatter and gather have one root; the others serve all ranks alike.
[[nodiscard]] bool is_rooted(Collective collective);

/// Whether data of several ranks are combined: reduce_scatter, reduce, allreduce.
[[nodiscard]] bool has_reduce(Collective collective);
/// Whether data go to several ranks: allgather, broadcast, allreduce.
[[nodiscard]] bool has_broadcast(Collective collective);

/// alltoall, scatter and gather: what a rank has for another is for that one alone, and goes along
/// paths. The data of the others goes along trees.
[[nodiscard]] bool is_personalized(Collective collective);

/// busbw / algbw as nccl-tests defines it: (N−1)/N for allgather, reduce_scatter, alltoall,
/// scatter and gather, 2(N−1)/N for allreduce, 1 for broadcast and reduce.
[[nodiscard]] Ratio busbw_factor(Collective collective, std::int64_t ranks);

}  // namespace forestcoll
