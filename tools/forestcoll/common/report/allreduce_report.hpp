// What `bound` says of allreduces beyond reduce-scatter followed by allgather.
#pragma once

#include <string>

#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// {"at_most"}, with "reached" where trees are proved to reach something, "value" and "gap" where
/// floating point finds the optimum, and "exact" where it is proved; or {"not_computed"}.
/// `two_phases` is the algbw of reduce-scatter, then allgather, if that fits.
[[nodiscard]] Json to_json(const Expected<AllreduceOptimum>& optimum,
                           const Expected<Ratio>& two_phases);

/// The same as a line.
[[nodiscard]] std::string in_words(const Expected<AllreduceOptimum>& optimum,
                                   const Expected<Ratio>& two_phases);

/// Of the optimum with switches that copy and combine, beside that without them.
[[nodiscard]] std::string in_network_in_words(const Expected<AllreduceOptimum>& optimum,
                                              const Expected<AllreduceOptimum>& of_ranks,
                                              const Expected<Ratio>& two_phases);

/// The same of a broadcast or reduce that is faster so: {"at_most"}, with "reached",
/// "trees_at_most" and "exact" as of an allreduce.
[[nodiscard]] Json to_json(const Expected<PhaseOptimum>& optimum);
[[nodiscard]] std::string in_network_in_words(Collective collective,
                                              const Expected<PhaseOptimum>& optimum,
                                              const Ratio& without);

}  // namespace forestcoll::cli
