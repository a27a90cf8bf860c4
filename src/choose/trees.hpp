// Forests whose chunks a runtime's counts divide.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/compile.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::choose {

/// `synthesize` with exactly k trees per root; none where that fails or was stopped.
[[nodiscard]] std::optional<Synthesis> synthesize_at(const Network& network,
                                                     const SynthesizeOptions& asked,
                                                     std::int64_t k);

/// The same trees, those of every root as wide together as its share: k chunks where all have as
/// many, else unequal shares. With the rate that the network carries; none where exact arithmetic
/// does not hold that. REQUIRES: no root has more chunks now, and the trees follow the network's
/// arcs. Cost: of their edges.
[[nodiscard]] std::optional<CollectiveForest> cut_into(CollectiveForest forest,
                                                       const IdVector<Rank, std::int64_t>& shares,
                                                       const Network& network);

/// Forests for an allreduce by XML over N ranks, N no power of two, whose roots sum unequal numbers
/// of chunks, 2^m in all: N·k chunks divide no power of two. Of few ranks each is packed anew, and
/// carries at least 1 % more than the one before it, in fewer chunks. Of many, each has shares
/// within 5 % of N equal ones, and closer ones than those before it; the trees are those of `equal`
/// where these carry nearly as much with unequal shares, else packed anew. Empty where that is not
/// what is asked for, or where N·k chunks are better: where N is a power of two, or shares come
/// from the topology. Cost: of the edges of `equal`, or that of `synthesize`, at most nine times.
[[nodiscard]] std::vector<Synthesis> of_unequal_shares(const Synthesis& equal, const Fabric& fabric,
                                                       const CompileOptions& options);

/// `choose_forest`, of forests that `synthesize` makes with the options as they are.
[[nodiscard]] Expected<ChosenForest> choose_trees(const Fabric& fabric,
                                                  const CompileOptions& given);

/// What `choose_forest` chooses among by time: the trees, and where an allreduce has those of both
/// phases at once, those of one phase after the other behind them. REQUIRES: `options` are settled.
/// Errors: those of `choose_forest` for the first.
[[nodiscard]] Expected<std::vector<ChosenForest>> choose_both_ways(const Fabric& fabric,
                                                                   const CompileOptions& options);

}  // namespace forestcoll::choose
