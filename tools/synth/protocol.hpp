// Which of the three protocols a runtime can run a schedule in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {

/// Chooses the protocol of `request` where none was asked for, and says whether Simple hangs.
/// Errors (ErrorKind::input): T08 Simple where it hangs, S04 --force-simple where it does not.
[[nodiscard]] std::optional<Diagnostic> settle_protocol(const SynthArguments& arguments,
                                                        const Topology& topology,
                                                        SynthRequest& request);

/// Why the runtime does not itself use LL128 for what the forest sends; empty where it does.
/// RCCL: on machines of 16 gfx90a (MI200 series), for which alone its tuning tables enable it. The
/// others: where every route is NVLink, on GPUs before Blackwell.
/// Cost: linear in the trees' edges and their routes.
[[nodiscard]] std::string why_no_ll128(const CollectiveForest& forest, const Topology& topology,
                                       std::string_view target);

}  // namespace forestcoll::cli
