// What a process group reaches with the GPUs outside of it as relays, and without.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// Rates of the other way, of collectives whose rate is another one there.
struct GroupRates {
  bool relays = false;  ///< the other way is with relays
  bool chosen = false;  ///< it is the user's own, in another format
  std::vector<std::pair<std::string, Ratio>> algbw = {};  ///< GB/s, by collective
};

/// What trees of the forest's collective reach the other way, both phases of an allreduce at the
/// same time, where that is more than `own` with relays, or less without. Cost: that of `bound` and
/// of `allreduce_optimum`.
[[nodiscard]] std::optional<GroupRates> group_rates(const Fabric& fabric,
                                                    const CollectiveForest& forest,
                                                    const Ratio& own);
/// The same of an all-to-all. Cost: that of `alltoall_optimum`.
[[nodiscard]] std::optional<GroupRates> group_rates(const Fabric& fabric,
                                                    const ParsedDemand& demand,
                                                    const AlltoallOptions& options,
                                                    const Ratio& own);

/// A line with all rates.
[[nodiscard]] std::string in_words(const GroupRates& rates);
/// A line of the summary of one schedule, without its end. `formats`: those that say who relays,
/// such as "forests".
[[nodiscard]] std::string summary_line(const GroupRates& rates, std::string_view formats);
/// `with_relays` or `without_relays`: by collective, or, of one schedule, the rate itself.
void put_group_rates(Json& report, const GroupRates& rates);
void put_group_rate(Json& summary, const GroupRates& rates);

}  // namespace forestcoll::cli
