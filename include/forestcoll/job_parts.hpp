// The groups of a job as fabrics of their own: each with its members and its part of the links.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "forestcoll/commodity.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// A group in its part of the links.
struct JobPart {
  std::size_t operation = 0;
  std::size_t group = 0;  ///< of the operation's groups
  /// The members in the order of the group, and what they reach one another through, with what is
  /// theirs of every link's bandwidth. All members own the same; others relay where they may.
  Topology topology;
};

/// The parts of all groups of two and more, operation by operation. What the shares leave of a link
/// goes evenly to the groups that use it; a link that nobody uses goes to the groups with a member
/// at its end, evenly. A group that then has no way back, as of a broadcast beside others, gets a
/// millionth of it from them. Of links that share a limit nothing is left over. So all parts
/// together have at most what the fabric has, and each group reaches in its part at least what the
/// shares are of, or a little less where slivers were taken. Parts whose exact bandwidths are too
/// fine to be solved for are rounded down, to 2^-24 GB/s. REQUIRES: `shares` are of `joint_optimum`
/// for these operations on `network`, which is of `topology`. Errors: E14 where even so a bandwidth
/// is too fine, O08 where there is no way back. Cost: linear in groups times links.
[[nodiscard]] Expected<std::vector<JobPart>> job_parts(const Topology& topology,
                                                       const Network& network,
                                                       std::span<const JobOperation> operations,
                                                       const LinkShares& shares, bool relays);

/// The fabric as one collective of all its ranks has it: of links that share a limit the part that
/// its shares are of, of all others everything; no limits are left, and of a collective with a root
/// perhaps no way back. Nodes keep their numbers. Parts whose exact bandwidths are too fine are
/// rounded down, so that no cut loses more than 2^-23 of `least`, in GB/s: of the rate, the part
/// that a cut may have to carry at least. REQUIRES: `shares` are of `joint_optimum` for that
/// collective alone on `network`, of `topology`. Errors: E14 parts that are too small.
[[nodiscard]] Expected<Topology> within_limits(const Topology& topology, const Network& network,
                                               const JobOperation& operation,
                                               const LinkShares& shares, const Ratio& least);

/// A text that parts have in common where they differ by names alone, node by node: what is made
/// for the ranks of one serves those of the others. Cost: linear in the part.
[[nodiscard]] std::string shape_of(const Topology& part);

}  // namespace forestcoll
