// The memory of all ranks over symbolic data, and what a collective promises to leave in it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/common/contents.hpp"
#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/common/program.hpp"

namespace forestcoll::audit {

/// A rank whose result is summed up in another order than that of its group's first rank, so that
/// its bits may differ.
struct BitsDiffer {
  std::int32_t rank = 0, first = 0;
  std::int64_t chunk = 0;
};

/// What running a program over symbolic data tells.
struct Results {
  std::optional<std::int32_t> root;  ///< of a rooted one: what most chunks speak for
  std::optional<BitsDiffer> bits;    ///< of an allreduce: the first difference, if there is one
};

/// One chunk of one rank, as a step names it.
struct ChunkRef {
  std::int32_t rank = 0;
  Buffer buffer = Buffer::input;
  std::int64_t offset = 0;
};

/// Every chunk holds a sum of contributions of ranks, and the place in the collective's buffer that
/// they belong to. Copying copies the pair; reducing adds sums of one place that have no rank in
/// common. Nothing is ever taken out of a sum, so a mistake is reported where it
/// happens and its traces ("poison") are silent. One finding per step; the rest of its chunks say
/// the same.
class SymbolicMemory {
 public:
  /// Where a step stands, for findings.
  using PlaceOf = std::function<Place(std::int32_t)>;

  /// Inputs hold what the collective puts there, all else is undefined. `program`, `memory` and
  /// `findings` outlive the object.
  SymbolicMemory(const Program& program, const MemoryMap& memory, PlaceOf place_of,
                 Findings& findings);

  /// What follows is done by this step of this rank.
  void begin(std::int32_t step, std::int32_t rank);
  [[nodiscard]] Content read(const ChunkRef& chunk);
  /// The sum; `into` names the chunk in findings.
  [[nodiscard]] Content add(Content a, Content b, const ChunkRef& into);
  void write(const ChunkRef& chunk, Content value);

  /// Checks that each rank ends with what the collective promises in its group, and one in no group
  /// with what it had.
  Results check_results();

 private:
  // What a chunk must hold in the end: the contributions of these ranks, in whatever order.
  struct Promise {
    std::int32_t index = 0;
    std::int32_t set = -1;
  };

  [[nodiscard]] std::int32_t ranks() const { return static_cast<std::int32_t>(program_.ranks); }
  [[nodiscard]] bool is_out_of_place() const {
    return memory_.placement() == Placement::out_of_place;
  }
  [[nodiscard]] std::string name(const ChunkRef& chunk) const;
  [[nodiscard]] const Content& output(std::int32_t rank, std::int64_t chunk) const;
  [[nodiscard]] const ProcessGroups& groups() const { return memory_.parts().groups(); }
  // Of the rank's group.
  [[nodiscard]] std::int32_t all_of(std::int32_t rank) const {
    return groups().lists().empty() ? sums_.sets().all()
                                    : sets_[static_cast<std::size_t>(groups().number(rank))];
  }
  void fill_inputs();
  void report(Rule rule, const ChunkRef& chunk, std::string message, std::string remedy = {});
  [[nodiscard]] std::int32_t most_frequent_source() const;
  [[nodiscard]] std::int32_t source_of(std::int32_t rank) const;
  [[nodiscard]] std::int32_t most_complete_rank() const;
  [[nodiscard]] std::optional<BitsDiffer> compare_bits() const;
  [[nodiscard]] Promise promised(std::int32_t rank, std::int64_t chunk,
                                 std::optional<std::int32_t> root) const;
  void check_rank(std::int32_t rank, std::optional<std::int32_t> root);
  void check_idle(std::int32_t rank);
  void check_chunk(std::int32_t rank, std::int64_t chunk, Promise expected);
  [[nodiscard]] std::string describe(Content found, Promise expected) const;

  const Program& program_;
  const MemoryMap& memory_;
  PlaceOf place_of_;
  Findings& findings_;
  PartialSums sums_;
  std::vector<std::int32_t> sets_;  // of all members, by process group
  std::vector<Content> content_;
  std::vector<std::int32_t> writer_;  // the step that wrote a chunk last
  std::int32_t step_ = -1, rank_ = -1;
  bool reported_ = false;
  std::int32_t last_reported_writer_ = -2;
};

}  // namespace forestcoll::audit
