// Files for NCCL as it is shipped, which has algorithms of its own and runs no schedules of ours.
#pragma once

#include <string_view>
#include <vector>

#include "common/synthesis/request/options.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

constexpr std::string_view kNcclTuner = "nccl-tuner";
constexpr std::string_view kNcclxTuner = "ncclx-tuner";
/// Rings and trees for NCCL_GRAPH_FILE.
constexpr std::string_view kNcclGraph = "nccl-graph";

/// Rules for a tuner plugin.
[[nodiscard]] bool is_nccl_tuner(std::string_view format);
/// Formats that hold no schedule of ours.
[[nodiscard]] bool is_nccl_file(std::string_view format);

/// S04 where options ask for what such a file has not. REQUIRES: the format is one of those.
[[nodiscard]] Expected<void> refuse_with_nccl_file(const SynthArguments& arguments);

/// The collectives that a tuner's file is for: that of -c, or all that tuners know. Errors: B06.
[[nodiscard]] Expected<std::vector<Collective>> collectives_to_tune(
    const SynthArguments& arguments);
/// The sizes of --tune, or 1K to 4G. Errors: S03.
[[nodiscard]] Expected<std::vector<std::int64_t>> sizes_of_tuner(const SynthArguments& arguments);

}  // namespace forestcoll::cli
