// Jobs: collectives of process groups that run at once over one fabric, and how people write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll {

/// Process groups that share no member: the ranks of the fabric that each has, in the order of the
/// group's own ranks. A group of one member has nothing to move.
using Groups = std::vector<std::vector<Rank>>;

/// One collective, which all of these groups run at once.
struct JobOperation {
  std::string name;
  Collective collective = Collective::allreduce;
  Groups groups;
  /// Of the whole buffer of each group, as algbw counts it; none: rates alone are asked for, and
  /// all operations of the step have as much. What a demand says takes its place.
  std::optional<std::int64_t> bytes = {};
  std::optional<std::size_t> root = {};  ///< its rank in each group
  std::optional<Demand> demand = {};     ///< of an alltoall, in bytes, among the members of a group
  /// Its rate is so many times what its bytes alone would give it beside the others of its step.
  std::int64_t weight = 1;
};

/// Operations that run at once, so many times.
struct JobStep {
  std::string name;
  std::int64_t repeat = 1;
  std::vector<JobOperation> operations;
};

/// Whether the library can work with an operation on a fabric of so many ranks. Errors, each with
/// its place below `place`, a JSON pointer: O03 a rank that the fabric does not have; O04 a rank
/// that is named twice; O05 a group without a member, or no group of two; O07 a root, a demand or
/// bytes that do not fit the collective, or a weight that is not from 1 to 1000. Cost: linear in
/// the groups and the demand.
[[nodiscard]] Expected<void> check_operation(const JobOperation& operation, std::size_t ranks,
                                             const ErrorPlace& place = {});

// A mesh: ranks as points of a grid whose axes have names.

enum class MeshOrder {
  megatron,    ///< the first axis is the fastest: its neighbours are consecutive ranks
  device_mesh  ///< row-major, as PyTorch's: the last axis is the fastest
};
/// "megatron", "device-mesh".
[[nodiscard]] std::optional<MeshOrder> parse_mesh_order(std::string_view name);

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
};

/// The axes, the fastest first. INVARIANT: names differ, sizes are 1 or more.
struct Mesh {
  std::vector<MeshAxis> axes;

  /// How many ranks it arranges.
  [[nodiscard]] std::size_t points() const;
};

enum class MeshFit {
  all_ranks,  ///< the mesh has as many points as the fabric has ranks
  some_ranks  ///< it may have fewer: those ranks are numbered that the job is for
};

/// Steps that run one after the other.
struct Job {
  std::vector<JobStep> steps;
  std::optional<Mesh> mesh = {};  ///< of the ranks, where there is one
  /// What a reader of others' workloads and traces took for granted, in sentences.
  std::vector<std::string> notes = {};
};

/// Reads "tp=8,dp=4". Errors: O06 where it is not that, or the sizes do not multiply to `ranks`, or
/// to as many at most.
[[nodiscard]] Expected<Mesh> parse_mesh(std::string_view text, MeshOrder order, std::size_t ranks,
                                        const ErrorPlace& place = {},
                                        MeshFit fit = MeshFit::all_ranks);

/// Where the ranks of a mesh are if its axes are laid over the fabric's ranks in this order, the
/// fastest first: item r is where rank r is. REQUIRES: `order` is a permutation of the axes.
[[nodiscard]] std::vector<Rank> placement_of(const Mesh& mesh, std::span<const std::size_t> order);
/// The job whose ranks are there instead.
[[nodiscard]] Job placed(Job job, std::span<const Rank> placement);

// Groups as people write them.

/// Reads the groups of all ranks by
///  * the colour of a rank, as nccl-tests has it: "MOD 8", "DIV 8", "AND 0x7", "OR 0x7", or "%8",
///    "/8", "&0x7", "|0x7"; numbers are decimal, 0x… or 0b…;
///  * axes of the mesh with dashes, "tp", "dp-cp": ranks that differ along these alone; "all": all;
///  * lists: "[[0,1],[2,3]]", or as ASTRA-sim has them, "{"1":[0,1],"2":[2,3]}".
/// `mesh` may be null. Errors: O02 where it is none of them, O06 an axis that the mesh does not
/// have. Ranks in lists are for `check_operation` to check. Cost: linear in the ranks.
[[nodiscard]] Expected<Groups> parse_groups(std::string_view text, std::size_t ranks,
                                            const Mesh* mesh, const ErrorPlace& place = {});

/// Reads "COLLECTIVE GROUPS [BYTES] [root=R] [weight=W]", such as "allgather tp 64M", and checks
/// it. Its name is the text. Errors: O07 where it is not that, those of `parse_groups` and
/// `check_operation`.
[[nodiscard]] Expected<JobOperation> parse_operation(std::string_view text, std::size_t ranks,
                                                     const Mesh* mesh,
                                                     const ErrorPlace& place = {});

/// Reads a file of the format forestcoll-job (docs/jobs.md), and checks it; or a workload of OptCCL
/// or SimAI, or a trace of PyTorch's profiler, told apart by content. `mesh`: of the command line,
/// for a file that has none, which the others' have not or name themselves; may be null. `ranks`:
/// of the fabric, and where the job has a mesh of its own that fits, the points of that. `file` is
/// the name that diagnostics carry. Errors: O01 not such a file, with the place; S04 two meshes;
/// those of groups, meshes and operations. Cost: linear in the text and the groups.
[[nodiscard]] Expected<Job> parse_job(std::string_view text, std::string_view file,
                                      std::size_t ranks, const Mesh* mesh,
                                      MeshFit fit = MeshFit::all_ranks);

}  // namespace forestcoll
