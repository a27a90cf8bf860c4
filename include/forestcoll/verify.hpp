// Verification of schedules, forests and proofs by code that shares nothing with what made them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

struct JointDemand;  // commodity.hpp

struct VerifyOptions {
  std::string target = "azure";
  std::int32_t sms = 108;         ///< threadblocks that a GPU holds at once
  std::size_t max_findings = 20;  ///< report at most so many
};

/// The load of one link under a schedule.
struct LinkLoad {
  std::string src, dst;
  Ratio load;       ///< data sent over it, in units of the whole collective's buffer
  Ratio bandwidth;  ///< GB/s
};

/// A chunk of an allreduce that a rank adds up in another order than the first rank of its group.
struct BitDifference {
  Rank rank;
  std::int64_t chunk = 0;
  Rank first = Rank(0);
};

/// The calls that select a schedule, in numbers.
struct UsableSizes {
  /// Of MSCCL XML: what divides the count of elements that the collective's interface has.
  std::optional<std::int64_t> count_multiple;
  std::optional<std::int64_t> bytes_multiple;  ///< of a plan: what divides the bytes of a buffer
  std::int64_t min_bytes = 0;                  ///< of the buffer that selection looks at
  std::optional<std::int64_t> max_bytes;       ///< included; none: any
};

/// What a finding says of a schedule.
enum class Fault {
  wrong,      ///< it does not do what it promises
  misplaced,  ///< it does not fit the topology
  refused,    ///< it is right, but the target's parser or limits do not take it
  unused,     ///< it is right, but no call ever selects it
  claim,      ///< it is right, but does not reach the rate that the file claims
};

/// What verification found.
struct Verdict {
  bool ok = false;
  std::string format;         ///< "msccl-xml", "mscclpp-plan", "forestcoll-forest" or "…-flows"
  Diagnostics findings;       ///< errors V…, each with rank, threadblock and step
  std::vector<Fault> faults;  ///< what each of `findings` says
  std::size_t finding_count = 0;  ///< of all, also those beyond max_findings
  /// What the target would do with the file, in words: "runs; the result is correct", "rejects it:
  /// …".
  std::string outcome;
  /// What the schedule promises; "alltoallv" is an alltoall.
  std::string collective_name;
  Collective collective = Collective::allgather;
  std::optional<Rank> root;  ///< of a broadcast, reduce, scatter or gather, as its program behaves
  /// Of a right allreduce that is a schedule: whether all ranks add up every chunk in one and the
  /// same order. If so their results have the same bits; if not, floating-point sums may differ.
  std::optional<bool> same_bits;
  std::optional<BitDifference> bit_difference;  ///< the first, if they may differ
  std::int64_t ranks = 0;
  /// Of a plan for several process groups at once: the ranks of each, in the order of its own.
  /// Empty: all ranks are one.
  std::vector<std::vector<Rank>> groups = {};
  std::int64_t chunks = 0;  ///< of the whole buffer; for a forest, trees counted by multiplicity
  std::int32_t threadblocks = 0, channels = 0, steps = 0;  ///< largest over the GPUs
  bool free_at_one_in_flight = false;  ///< no deadlock with one operation in flight either (D = 1)
  /// Of MSCCL XML: the largest buffer, in bytes, on which it is free of deadlock with the runtime's
  /// default buffers. Larger ones get stuck, but its window leaves them out.
  std::optional<std::int64_t> safe_bytes;
  std::string protocol;               ///< of MSCCL XML: "Simple", "LL" or "LL128"
  std::string usable_counts;          ///< for which element counts a runtime selects it
  std::optional<UsableSizes> usable;  ///< the same in numbers; none where no call selects it
  /// Of a schedule: what else its calls must keep to, and the runtime does not check; clauses that
  /// go on after "only if".
  std::vector<std::string> conditions;
  std::optional<Ratio> algbw;       ///< GB/s, with a topology
  std::optional<LinkLoad> busiest;  ///< with a topology
  /// With a topology in which a limit that links share holds the schedule up, and no single link:
  /// what `name_of` calls the limit.
  std::optional<std::string> binding_limit;
  std::vector<LinkLoad> loads;  ///< with a topology, by (src, dst)
};

/// The most that `verify` reads of a forest JSON: edges, the images of trees not counted, and
/// bytes.
inline constexpr std::int64_t kMaxForestEdges = 20'000'000;
inline constexpr std::size_t kMaxForestBytes = std::size_t{2} << 30;

/// Verifies MSCCL XML, an MSCCL++ plan, forest or flows JSON (told apart by content). Errors:
/// the file is not one of them at all (it cannot be read as XML or JSON). A schedule that is wrong
/// is a Verdict with findings.
[[nodiscard]] Expected<Verdict> verify(std::string_view text, std::string_view file,
                                       const Topology* topology, const VerifyOptions& options);

/// A program of ranks, MSCCL XML or an MSCCL++ plan, verified once and then on one fabric after the
/// other.
class VerifiedProgram {
 public:
  class Judged;  // defined with the library's sources

  /// Errors: those of `verify`.
  [[nodiscard]] static Expected<VerifiedProgram> read(std::string_view text, std::string_view file,
                                                      const VerifyOptions& options);

  /// What `verify` finds without a topology, of any file that it reads.
  [[nodiscard]] const Verdict& alone() const;
  /// What `verify` finds with this one. REQUIRES: `alone()` is right, and of a program of ranks.
  /// Cost: that of its links' loads.
  [[nodiscard]] Verdict on(const Topology& topology) const;

 private:
  explicit VerifiedProgram(std::shared_ptr<const Judged> judged);
  std::shared_ptr<const Judged> judged_;
};

/// GB/s that each of several schedules has where all run at once on a fabric: what the busiest link
/// leaves them, or the busiest of the limits that links share. `loads`: of each, in shares of its
/// own buffer, all being of one size. Nothing where no link is loaded, a link is not of the fabric,
/// or it does not fit exact numbers. Cost: linear in the loads, and in the fabric.
[[nodiscard]] std::optional<Ratio> rate_at_once(const Topology& whole,
                                                std::span<const std::vector<LinkLoad>> loads);

/// Of MSCCL XML, the targets that `VerifyOptions::target` may name; "azure" first.
[[nodiscard]] std::vector<std::string> verify_targets();

/// A group of a job and the part of a fabric that is said to be its own.
struct PartClaim {
  std::string name;         ///< for findings
  std::vector<Rank> group;  ///< ranks of the whole fabric
  const Topology* part = nullptr;
};
/// Whether these are parts of the fabric that do not overlap: each has the compute nodes of its
/// group as its ranks, in their order, and of every pair of nodes all parts together have at most
/// the bandwidth that links of the whole have from the one to the other. Findings, O09, at most one
/// per part or pair of nodes; none where all holds. Cost: O(links of all parts · log).
[[nodiscard]] Diagnostics check_parts(const Topology& whole, std::span<const PartClaim> parts);

/// The optimal rate again, by textbook bisection with LEMON's preflow on independent code:
/// max over cuts of weight(S) / B⁺(S), exactly.
[[nodiscard]] Ratio rate_by_bisection(const Network& network,
                                      const IdVector<Rank, std::int64_t>& weights);
/// 1/x* of a balanced part, the same way; nothing where it takes more of an arc than there is or a
/// switch is not balanced.
[[nodiscard]] std::optional<Ratio> rate_of_part(const Network& network,
                                                const IdVector<Rank, std::int64_t>& weights,
                                                const BalancedPart& part);
/// No balanced part has a lower 1/x than this, by adding the proof up; nothing where it proves
/// nothing.
[[nodiscard]] std::optional<Ratio> rate_by_prices(const Network& network,
                                                  const IdVector<Rank, std::int64_t>& weights,
                                                  const BalanceProof& proof);

// The proof of an all-to-all's rate, checked by a stranger.

/// Whether a proof holds, by definition and in exact arithmetic of any size: symmetries map the
/// fabric and the demand onto themselves; flows start and end where the demand says, and their
/// average over the symmetries keeps every capacity at the rate that they are to reach; the
/// lengths, by shortest paths, or the cut allow no more than what they are to prove. Shares nothing
/// with what finds proofs. Empty where all holds, else what does not. Cost: O(sources · m log n)
/// for the sources that the flows are of.
[[nodiscard]] std::string find_alltoall_flaw(const Network& network, const Demand& demand,
                                             const AlltoallProof& proof);

// The proof of the rate of several collectives at once.

/// GB/s of `demand.whole()` that no trees and paths exceed, as these lengths of the links, and of
/// the network's limits, prove by the theorem of `joint_optimum`, in exact arithmetic of any size:
/// shortest paths through nodes that pass data on, and cheapest arborescences from their dual side.
/// Shares nothing with what finds lengths. Nothing where they prove nothing or the rate does not
/// fit 64 bits. Cost: Dijkstra per member, and O(n²) in a group of n.
[[nodiscard]] std::optional<Ratio> joint_rate_by_lengths(const Network& network,
                                                         const JointDemand& demand,
                                                         const ArcLengths& lengths,
                                                         std::span<const std::int64_t> of_limits);

}  // namespace forestcoll
