// A topology with what follows from it: its GPU's figures, protocols, how long schedules take.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

struct ChosenGpu {
  std::string name;    ///< one of `simulation_gpus()`
  std::string reason;  ///< in words: "named by the fabric", "by its links", "assumed: …"
};

/// The one GPU with figures that the fabric's name has in it ("DGX A100", "MI250"), or else its
/// metadata, its description, the names of its templates; else the one whose NVLink or xGMI the
/// GPUs have, by bandwidth. "a100" where there is none, or where more than one is named.
/// Cost: O(n + m) and the length of the texts.
[[nodiscard]] ChosenGpu choose_gpu(const Topology& topology, const Metadata& metadata);

/// Threadblocks that a GPU holds at once, one per multiprocessor: the target's `default_sms`, which
/// are those of a usual GPU, or as many as this one has, if it has fewer.
[[nodiscard]] std::int32_t default_sms(std::string_view target, const ChosenGpu& gpu);

/// What is derived from a topology once: schedules are compiled for it.
struct Fabric {
  Topology topology;
  Network network;  ///< `to_digraph(topology)`, or of that within its limits (`within_limits`)
  ChosenGpu gpu;    ///< whose figures the model of time takes
  /// Where `network` is within limits: all that the links carry, and the limits.
  std::optional<Network> whole = {};
  /// GB/s that the collective of this part reaches on `whole` by trees of any height.
  std::optional<Ratio> reached_on_whole = {};

  /// What any schedule may use, whatever `network` leaves for forests.
  [[nodiscard]] const Network& links() const { return whole ? *whole : network; }
};

/// Errors: E14 (see `to_digraph`). Cost: O(n + m).
[[nodiscard]] Expected<Fabric> make_fabric(Topology topology, const Metadata& metadata = {});
/// For a GPU that is known already.
[[nodiscard]] Expected<Fabric> make_fabric(Topology topology, ChosenGpu gpu);

// Which of MSCCL's three protocols a runtime can run a schedule in.

/// Whether a schedule in Simple hangs: a broadcast or reduce whose messages leave a box.
[[nodiscard]] bool hangs_in_simple(Collective collective, const Topology& topology);
/// "in Simple, a broadcast …": the reason.
[[nodiscard]] std::string why_it_hangs_in_simple(Collective collective);

/// `asked`, or where that is empty Simple, or LL where Simple hangs. Error T08: Simple is asked for
/// where it hangs, and not forced.
[[nodiscard]] Expected<std::string> choose_protocol(std::string_view asked, bool force_simple,
                                                    Collective collective,
                                                    const Topology& topology);

/// Why the runtime does not itself use LL128 for what the forest sends; empty where it does.
/// RCCL: on machines of 16 gfx90a (MI200 series), for which alone its tuning tables enable it. The
/// others: where every route is NVLink, on GPUs before Blackwell.
/// Cost: linear in the trees' edges and their routes.
[[nodiscard]] std::string why_no_ll128(const CollectiveForest& forest, const Topology& topology,
                                       std::string_view target);
/// The same for what any rank may send to any other: where every link is NVLink.
[[nodiscard]] std::string why_no_ll128(const Topology& topology, std::string_view target);

// How long a schedule takes for a message.

/// Bytes for which schedules are chosen where no size is asked for.
inline constexpr std::int64_t kLargeMessage = std::int64_t{1} << 30;

/// Seconds for so many bytes of the whole buffer, as `simulate` has it, with the figures of the
/// fabric's GPU: a model, not a measurement. Nothing where the schedule cannot be simulated within
/// 5 million operations, or `stop` asks to give up before the end. Cost: of `verify`, and of those
/// operations.
[[nodiscard]] std::optional<double> simulated_time(std::string_view schedule, const Fabric& fabric,
                                                   std::int64_t bytes,
                                                   const std::stop_token& stop = {});

}  // namespace forestcoll
