// The operations of a plan, as they are timed.
#pragma once

#include <cstdint>
#include <vector>

namespace forestcoll::simulate {

/// What a plan's threadblocks and proxies do, and what waits for what.
struct PlanOperations {
  struct Node {
    std::int32_t block = -1;
    double unit = 0;  ///< bytes of each chunk for which its pipeline goes round once; 0: in none
    std::int32_t loop = -1;              ///< which pipeline of which threadblock
    bool by_proxy = false;               ///< not by the threadblock
    bool moves = false;                  ///< is data, not control
    std::int64_t copied = 0, added = 0;  ///< chunks, locally
    std::int64_t size = 0;               ///< chunks of each flow, flags included
    bool adds = false;                   ///< what flows is added to something
    bool packets = false;                ///< it makes or waits for packets
    std::vector<std::int32_t> routes;    ///< one flow after the other
  };
  struct Edge {
    std::int32_t from = -1, to = -1;
    std::int32_t route = -1;  ///< −1: within a rank
    bool packets = false;     ///< what is waited for is a flag beside data
    bool next_round = false;
    bool all_rounds = false;  ///< all of the one before any of the other
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// The same without what takes no time by itself (signals, waits, threads that meet), as far as
/// that leaves no more to wait for: whoever waits for it waits for what it waits for. All others
/// begin and end when they did. Cost: O(n + m) in nodes and edges.
[[nodiscard]] PlanOperations without_control(const PlanOperations& all);

}  // namespace forestcoll::simulate
