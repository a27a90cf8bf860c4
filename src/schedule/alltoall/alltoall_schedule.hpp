// All-to-all as per-rank programs.
#pragma once

#include <cstdint>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll {

/// Turns paths into per-rank programs. Buffers have a block of k chunks for each rank, in rank
/// order, for k parts times instances; calls are out of place, as the runtimes
/// have them, whatever `options.placement` says. What a
/// rank has for itself is copied, by a threadblock of each instance; everything else goes from rank
/// to rank along its path, through scratch at relays, whose place is given back once it
/// was sent on. Every connection has a threadblock at either end, for one direction each where
/// that fits, else for both. Messages have levels, above those of the message that brought their
/// data and of the one before on their connection; threadblocks go by levels, sending before they
/// receive, so that every wait is for a lower level or a message of the same: free of deadlock
/// with one operation in flight. (A threadblock of both directions moves one chunk a step: it must
/// not send a second operation before it receives.) Data for others goes first.
/// `rank_of` is by node. Errors: T07 (unknown target, ErrorKind::input); ErrorKind::limit: T01
/// threadblocks, T03 channels, T04 chunks, T05 XML elements. Cost: O(M log M) for M legs.
[[nodiscard]] Expected<Schedule> lower_alltoall(const AlltoallRoutes& routes,
                                                const IdVector<NodeId, Rank>& rank_of,
                                                const LowerOptions& options);

/// The same of an allgather in which every rank sends to every other, in `options.instances`
/// chunks. Errors: likewise; T06 one program for both placements.
[[nodiscard]] Expected<Schedule> lower_direct_allgather(std::size_t ranks,
                                                        const LowerOptions& options);

/// Turns paths into an execution plan of MSCCL++, whose executor takes an alltoall, a scatter and a
/// gather in both placements. `box_of` as for `lower_to_plan`. Relays keep data in scratch of its
/// own, and so does a rank that is called in place all that it has for others in an alltoall. Of a
/// scatter all ranks have an input, of a gather an output, of which only the root's counts.
/// REQUIRES: a demand of blocks; a path for all chunks of every pair that has something. Errors,
/// all ErrorKind::limit: T02 operations of a threadblock, T03 channels, T04 messages of which a
/// buffer has 4 GiB or more. Cost: O(M log M) for M legs, a few times where it does not fit at
/// first. T06 a scatter in place whose root is not rank 0.
[[nodiscard]] Expected<ExecutionPlan> lower_paths_to_plan(
    const AlltoallRoutes& routes, const IdVector<NodeId, Rank>& rank_of,
    const IdVector<Rank, std::int32_t>& box_of, const Demand& demand, const PlanOptions& options);

}  // namespace forestcoll
