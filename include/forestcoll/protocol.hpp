// Which of MSCCL's three protocols a runtime can run a schedule in.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

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

}  // namespace forestcoll
