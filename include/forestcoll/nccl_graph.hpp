// Rings for NCCL and RCCL as they are shipped: what NCCL_GRAPH_FILE puts in place of their search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/baseline.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// The most channels of a graph. NCCL uses each twice (src/graph/connect.cc), and does not look
/// whether it has room: for 64 in all, in older releases 32.
inline constexpr std::int64_t kMostNcclChannels = 16;

/// The graphs of one file, which is for every box, and what they are worth.
struct NcclGraphs {
  std::vector<NcclGraph> graphs;  ///< 0 the rings, 1 the trees: chains in the order of the rings
  std::string type_intra;         ///< how GPUs reach one another, as NCCL calls it: "NVL"
  std::string type_inter;         ///< how they reach the NICs: "PIX", "PXN"
  std::size_t gpus = 0;           ///< of a box
  std::size_t nics = 0;           ///< of a box; 0 where there is one box
  std::int64_t rings = 0;         ///< different channels of a box before they are split
  Ratio ring_speed;               ///< GB/s of each
  std::string origin;             ///< where they are from: "NCCL search"
  Ratio algbw;                    ///< GB/s: what the links allow an allgather on these rings
  Ratio own_algbw;                ///< the same on those that NCCL, or RCCL, takes by itself
  std::string own;                ///< what these are, in words; empty: it has none here
};

/// The best rings for the boxes of a fabric: those that `nccl_ring` has in each kind of box, and in
/// boxes of up to 16 GPUs with links of their own as many as are packed (see `pack_rings`); those
/// count on which the links of the whole fabric allow an allgather the most, of equals NCCL's own.
/// Each ring is split into as many channels as one threadblock can keep busy, 25 GB/s or 40 from
/// Hopper on, `kMostNcclChannels` in all. With several boxes a channel begins at a GPU beside a NIC
/// and is given that NIC in and out, as NCCL's rails are; NICs are numbered in the order of the
/// topology. REQUIRES: `network` is the topology's. Errors: B02 boxes of different sizes; B01, B08
/// where there are no rings at all.
[[nodiscard]] Expected<NcclGraphs> make_nccl_graphs(const Topology& topology,
                                                    const Network& network,
                                                    const BaselineOptions& options,
                                                    bool is_hopper_or_later);

/// The XML of NCCL_GRAPH_FILE (src/graph/search.cc of NCCL): devices in hexadecimal, by their place
/// in the box.
[[nodiscard]] std::string to_nccl_graph_xml(const NcclGraphs& graphs, const Topology& topology);

}  // namespace forestcoll
