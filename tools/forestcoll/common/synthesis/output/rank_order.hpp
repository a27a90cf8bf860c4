// How a schedule's ranks lie on hosts: what a launcher must be told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// Ranks in order, each with its box and which of the box's GPUs it is, counted in the order of the
/// topology's nodes, which is taken for the local index.
struct RankPlace {
  std::string gpu, box;
  std::int32_t index = 0;
};

struct RankOrder {
  std::vector<RankPlace> ranks;
  std::vector<std::string> boxes;  ///< in the order of their first ranks
  std::int32_t per_box = 0;        ///< GPUs of every box; 0 where boxes differ
  bool box_by_box = false;         ///< all ranks of a box, then those of the next
  bool by_index = false;           ///< within a box, in the order of the GPUs
};

/// A topology without boxes is one, "host". Cost: O(n log n).
[[nodiscard]] RankOrder rank_order_of(const Topology& topology);

/// For Open MPI: a hostfile where ranks go box by box, else a rankfile.
[[nodiscard]] std::string hosts_text(const RankOrder& order);

/// Comments behind it, which say what CUDA_VISIBLE_DEVICES is on each host; empty where the ranks
/// of every host are all of its GPUs in their order.
[[nodiscard]] std::string visible_devices_text(const RankOrder& order);

/// A table of all ranks, in words.
[[nodiscard]] std::string rank_table(const RankOrder& order);

}  // namespace forestcoll::cli
