// What is down or slow in a fabric today, from what its operators' tools print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// What one dump says of a topology.
struct HealthReport {
  std::string source;      ///< "nvidia-smi nvlink -s": what the dump is
  Failures failures = {};  ///< `drop` and `derate` of what is down or slow: for `degrade`
  std::vector<std::string> found = {};  ///< the same in sentences: "gpu3: 2 of 12 NVLinks are down"
  /// I21: what is doubtful and changes nothing. Counts of errors, bandwidth that is degraded by
  /// nobody knows how much, a link that is down and may be one of several.
  Diagnostics warnings = {};
};

/// Reads a dump, which its content tells:
///   nvidia-smi nvlink -s, -e     NVLinks of each GPU: inactive, slower than others; errors counted
///   dcgmi nvlink -s              the same
///   nvidia-smi -q                the section Fabric of GPUs on NVSwitches and of NVL72
///   NCCL's log                   lines with `healthMask`, of one host
///   rocm-smi --showtopo, --showxgmierr     xGMI that is missing; errors counted
///   iblinkinfo                   ports of InfiniBand: down, slower than the topology says
///   ibdiagnet                    the same, from its files ibdiagnet2.db_csv or ibdiagnet2.lst
/// `gpus` names the GPUs that the dump numbers 0, 1, …, as for `members`: a box or ids; empty where
/// the topology has one box. The last two name hosts, which are boxes of the same name.
/// `file` is for messages. What is neither named in the dump nor in the topology is left alone.
/// Errors: I01 not such a dump; I02 malformed, or of other GPUs than these; I05 a box is not named;
/// D01, D02, D04 of `gpus`. Cost: linear in the text and the topology.
[[nodiscard]] Expected<HealthReport> read_health(const Topology& topology, std::string_view text,
                                                 std::string_view file,
                                                 const std::string& gpus = {});

}  // namespace forestcoll
