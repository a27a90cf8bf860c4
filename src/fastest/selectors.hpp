// What the selectors that are in use would pick: algorithm and protocol by published rules, then
// timed like everything else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fastest/contest.hpp"

namespace forestcoll::fastest {

struct Pick {
  std::string algorithm;
  std::string protocol;              ///< empty: the fastest
  bool packets_in_switches = false;  ///< a plan whose switches copy packets
  bool operator==(const Pick&) const = default;
};

struct Selector {
  std::string name;  ///< `kNcclPick`, `kMscclppPick`
  std::function<Pick(std::int64_t bytes)> pick;
};

/// What NCCL's cost model says of an algorithm in a protocol.
struct NcclOption {
  Pick pick;
  double latency_us, gbs;
  [[nodiscard]] double microseconds(std::int64_t bytes) const;
};
/// Of rings and double trees, as far as the contest has them, in LL and Simple; with `with_ll128`
/// in LL128, too, where the contest has it (base latency 14 µs, 1.9 per NVLink hop and 4 per
/// network hop of rings, 1.25 and 8.5 of trees; 15/16 of the bandwidth).
[[nodiscard]] std::vector<NcclOption> nccl_options(const Contest& contest, const Fabric& fabric,
                                                   bool with_ll128);

/// Those that say something of this collective on this fabric: NCCL's where it has rings;
/// MSCCL++'s, as vLLM's, for an allreduce in one box.
///
/// NCCL takes what its own model says is least, latency + bytes / bandwidth, over rings and double
/// trees and the protocols LL, LL128 and Simple (src/graph/tuning.cc: base and per-hop latencies in
/// µs of rings 6.6 + 0.6 and 8.4 + 3.4 per NVLink hop, of trees 6.8 + 0.6 and 8.4 + 4.0, of LL and
/// Simple; of a network hop 2.7 and 14 for rings, 5 and 14 for trees); the bandwidth is what the
/// links allow the algorithm, half of it in LL. Differs: no channels are counted, and NVLS has no
/// program here.
/// MSCCL++ on one box of up to eight GPUs whose switch copies and combines: to 16 KiB every rank's
/// packets to all, to 32 KiB packets that the switch copies, to 64 KiB packets in two steps, then
/// NVLS. Programs and plans are in contests of their own: each has the sizes of its kind.
/// Elsewhere, as vLLM: one-shot for two ranks, for up to four below 512 KiB, for up to eight below
/// 256 KiB, else two-shot.
[[nodiscard]] std::vector<Selector> selectors(const Contest& contest, const Fabric& fabric);

/// Whether a contender is what the selector picks at that size.
[[nodiscard]] Contest::Takes takes(const Contest& contest, const Selector& selector,
                                   std::int64_t bytes);
/// By size; none where the contest has no such contender. `of_interest[i]` is as in
/// `Contest::winner`.
[[nodiscard]] std::vector<std::optional<Winner>> picks(Contest& contest, const Selector& selector,
                                                       const std::vector<std::int64_t>& sizes,
                                                       const std::vector<double>& of_interest);

}  // namespace forestcoll::fastest
