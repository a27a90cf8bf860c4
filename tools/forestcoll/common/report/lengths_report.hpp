// Limits that links share, and the lengths of links and limits that prove a rate: in words and
// JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/report/report.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// "limit bus": of `network.limits[number]`. REQUIRES: the network is the topology's.
[[nodiscard]] std::string limit_name(const Topology& topology, const Network& network,
                                     std::size_t number);
/// "limit bus of 16 GB/s, shared by 4 directions".
[[nodiscard]] std::string in_words(const SharedLimit& limit, const Topology& topology);
/// The same of `network.limits[number]`, with the bandwidth that the file has for its weights.
/// REQUIRES: the network is the topology's.
[[nodiscard]] std::string limit_in_words(const Topology& topology, const Network& network,
                                         std::size_t number);

/// {"name", "bandwidth", "links": [{"src", "dst", "limit_weight"}]}, as the file has them.
[[nodiscard]] Json to_json(const SharedLimit& limit, const Topology& topology);
/// The same of `network.limits[number]`, of the links in use.
[[nodiscard]] Json limit_json(const Topology& topology, const Network& network, std::size_t number);

/// The labels of the links that each arc stands for: "pcie", "nvlink+pcie".
[[nodiscard]] IdVector<ArcId, std::string> kinds_of_arcs(const Topology& topology,
                                                         const Network& network);

/// Whether the proof needs a limit.
[[nodiscard]] bool is_held_by_limits(const JointOptimum& optimum);

/// As numbers, or as {"exact", "value"}.
enum class LengthForm : std::uint8_t { number, exact };
/// [{"src", "dst", "length"}] of the lengths that are not 0.
[[nodiscard]] Json lengths_json(const ArcLengths& lengths, const Topology& topology,
                                const Network& network, LengthForm form);
/// `limit_json` of the limits whose lengths are not 0, each with its "length".
[[nodiscard]] Json limit_lengths_json(const std::vector<std::int64_t>& lengths,
                                      const Topology& topology, const Network& network,
                                      LengthForm form);
/// {"lengths", "shared_limits"} of a proof, as {"exact", "value"}.
[[nodiscard]] Json to_json(const JointOptimum& optimum, const Topology& topology,
                           const Network& network);

/// Links that prove a rate, of one kind, length and capacity, which the same operations use; or a
/// limit that several share.
struct LengthLine {
  std::string links;                    ///< "32 links of ib 50 GB/s, box0/nic0 -> leaf0, …"
  std::string length;                   ///< "length 1"
  std::vector<std::size_t> operations;  ///< by `JointOptimum::loads`; of a limit none
};
[[nodiscard]] std::vector<LengthLine> length_lines(const JointOptimum& optimum,
                                                   const Topology& topology,
                                                   const Network& network);
/// "2 links of pcie 32 GB/s, gpu2 -> sw, …: length 1"; of one limit alone the length is left out.
[[nodiscard]] std::vector<std::string> in_words(const JointOptimum& optimum,
                                                const Topology& topology, const Network& network);

}  // namespace forestcoll::cli
