// Which of NCCL's own algorithms is the fastest for a size, as files that tuner plugins read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/baseline.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll {

/// An algorithm of NCCL in a protocol.
struct NcclChoice {
  std::string algorithm;  ///< as tuner plugins call it: "ring", "tree", "nvls", "pat"
  std::string protocol;   ///< "ll", "ll128", "simple"
  double seconds = 0;     ///< at the size, or the first that it is chosen for
};

/// A choice for a range of sizes, bytes of the whole buffer, both ends included.
struct NcclRule {
  std::int64_t first = 0, last = 0;
  NcclChoice choice;
};

/// What is the fastest at a size, and what NCCL takes by itself.
struct NcclTunedSize {
  std::int64_t bytes = 0;
  NcclChoice best, own;
};

/// One collective.
struct NcclTuning {
  Collective collective = Collective::allreduce;
  std::vector<NcclRule> rules;  ///< ascending, for all sizes there are, without gaps
  /// The same among what NCCL always has: it may have ruled LL128 or NVLS out, and then takes the
  /// next rule that fits. Empty where `rules` have neither.
  std::vector<NcclRule> otherwise;
  std::vector<NcclTunedSize> sizes;  ///< those that were asked for
};

struct NcclTunerOptions {
  /// The threads' stop and the progress; the collective, and its root, are set.
  CompileOptions compile = {};
  std::vector<std::int64_t> sizes;  ///< bytes of the whole buffer, ascending, at least one
  BaselineOptions baseline = {};
};

/// The collectives that tuner plugins know, in the order of NCCL's example.
[[nodiscard]] std::span<const Collective> nccl_tuner_collectives();
/// As the plugins call it: "reducescatter". REQUIRES: it is one of those.
[[nodiscard]] std::string_view nccl_name(Collective collective);

/// For each size the fastest of NCCL's rings, its double trees (an allreduce), NVLS (one box whose
/// switches copy and combine, from Hopper on) and PAT (one GPU per box, allgather and
/// reduce_scatter), and of their protocols. Rings, trees and PAT are simulated as programs in 1, 2,
/// 4 or 8 instances, in passes as large as the slices of NCCL's kernels. NVLS, for which there is
/// no program of NCCL's kind, is looked at where NCCL's cost model has it ahead, with the time of
/// that model at the rate of the links: 25 µs, and 85 % of the rate on Hopper, 74 % on Blackwell
/// (src/graph/tuning.cc). A rule goes on while it is within 1 % of the fastest, and NCCL's own
/// choice counts where that is. Channels are those that NCCL itself takes for the largest size of
/// the row (src/enqueue.cc): the model's threadblocks say nothing of NCCL's kernels. `own` is what
/// the cost model picks (see `selectors`), here with LL128 where NCCL has it, and NVLS, each timed
/// as it is at its fastest.
/// REQUIRES: all ranks own the same. Errors: B06 a collective that plugins do not know; those of
/// `fastest_choices`. Cost: that, of two algorithms.
[[nodiscard]] Expected<NcclTuning> tune_nccl(const Fabric& fabric, const NcclTunerOptions& options);

/// The nodes and ranks of the communicator that rules are for: a node is a box.
struct NcclCommunicator {
  std::int64_t nodes = 1, ranks = 1;
};
[[nodiscard]] NcclCommunicator nccl_communicator(const Topology& topology);

/// The CSV of the example tuner plugin of NCCL and RCCL, NCCL_TUNER_CONFIG_FILE: a line
/// "collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff"
/// for each rule, with NCCL's own number of channels. REQUIRES: the tunings are of the topology.
[[nodiscard]] std::string to_nccl_tuner_csv(std::span<const NcclTuning> tunings,
                                            const Topology& topology);
/// The CSV of the tuner that is built into torchcomms' NCCLX, NCCLX_TUNER_CONFIG_FILE: a line
/// "collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks" for each rule, sizes as
/// intervals of the buffer's part of a rank. REQUIRES: as above.
[[nodiscard]] std::string to_ncclx_tuner_csv(std::span<const NcclTuning> tunings,
                                             const Topology& topology);

}  // namespace forestcoll
