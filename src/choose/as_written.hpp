// Forests for what is written of them: schedules name peers and no routes.
#pragma once

#include <optional>
#include <vector>

#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::choose {

/// `synthesize`, for a format. Where the trees are for a schedule and reach less by the routes of a
/// runtime than by their own, others are made without detours that no runtime makes (see
/// `without_detours`), and, of an even number of trees, half as many twice. Those that are better
/// by a runtime's routes than the ones before them come first; where such are not by `synthesize`
/// alone, their `forest.optimum` is what no schedule exceeds, and `optimum_of_paths` that of
/// forests. With previous trees, only these count. Never empty.
/// `half`: the result for half as many trees, where it is known. Errors: those of `synthesize`.
/// Cost: that of `synthesize` twice, and where `half` is not known of half as many trees, and so
/// on.
[[nodiscard]] Expected<std::vector<Synthesis>> synthesize_as_written(
    const Network& network, const SynthesizeOptions& options, Format format,
    const std::vector<Synthesis>* half = nullptr);

/// GB/s by the routes of a runtime, all phases at the same time, within the limits that links
/// share; none where exact arithmetic does not hold it, or no route leads to a peer.
/// Cost: O(edges of trees · log + ranks · links).
[[nodiscard]] std::optional<Ratio> algbw_by_peers(const CollectiveForest& forest,
                                                  const Network& network);
/// The same of programs. Cost: O(steps · log + ranks · links).
[[nodiscard]] std::optional<Ratio> algbw_by_peers(const Schedule& schedule, const Network& network);

}  // namespace forestcoll::choose
