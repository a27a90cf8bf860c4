// Which file is written for a size, and which sizes it claims.
#pragma once

#include <cstdint>
#include <optional>

#include "fastest/contest.hpp"
#include "fastest/runtime_choice.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll::fastest {

/// Whether the runtime's own choice is known, and ahead by more than what is worth a simulation.
[[nodiscard]] bool is_behind_runtime(const TimeBeside& time);

/// A file, and the size that it is chosen for.
struct SizedFile {
  std::int64_t bytes = 0;
  Winner winner;
};

/// Which file is written for a size, and for which sizes. A runtime selects a file where its chunks
/// divide the count: at the size itself, or only at sizes around it, as six rings at multiples of
/// six chunks. The fastest of those that are selected at the size is written. The fastest of all
/// takes its place, if it is selected at some size of its window, where
/// - the runtime's own choice, with any buffers or those of the set, is faster than the former, and
///   not than the latter, or is as fast as the former, and slower than the latter;
/// - with `ServedCounts::around`, the former takes more than twice as long;
/// - but with `ServedCounts::of_size`, nothing is selected at the size. Then any window will do.
class FileSearch {
 public:
  /// `buffer_bytes`: `NCCL_BUFFSIZE` of a set of files; none: each has what it needs.
  FileSearch(Contest& contest, const Fabric& fabric, std::optional<std::int64_t> buffer_bytes = {});

  /// The contenders that may be files: in a set those in Simple with its buffers, and all others.
  [[nodiscard]] Contest::Takes takes() const;

  /// The file for a size; none where no contender serves it. `selected`: the fastest of `takes`
  /// that is selected there, if any is. Cost: of `Contest::winner`, and of a window where files for
  /// sizes around are looked at.
  [[nodiscard]] std::optional<Winner> at(std::int64_t bytes, std::optional<Winner> selected) const;
  [[nodiscard]] std::optional<Winner> at(std::int64_t bytes) const;
  /// The same. Where files may be for sizes around, and that one is slower than the runtime's own
  /// choice or has no usable size: the one of the nearest size, by factors of four and within those
  /// that the contest's options ask for, that is neither. Where there is none, that at `bytes` all
  /// the same.
  [[nodiscard]] std::optional<SizedFile> at_or_near(std::int64_t bytes) const;

  /// The sizes around `bytes`, in powers of two times it (of what its chunks do not divide also
  /// half as much again and a quarter less, or parts of that), at which the contender is no slower
  /// than what the runtime itself would pick and takes at most 10 % more than the fastest
  /// contender, all by simulation, and that a runtime selects it at; from 1 byte on where it is
  /// good down to 1 KiB, and without an end where it is good up to 4 GiB, beyond which links alone
  /// count. Where its chunks divide none of these, up to the next that they divide. With up to
  /// three sizes of it, the times there and those of the runtime's own choice, as in `beside`.
  /// REQUIRES: the contender wins at `bytes`. Cost: for every size, the simulations of those few
  /// contenders whose bounds are below.
  [[nodiscard]] SizeWindow window(std::size_t contender, std::int64_t bytes) const;

  /// What the contender takes at a size, beside the runtime's own choice, which runs with the same
  /// buffers, of the set or those that the contender needs.
  [[nodiscard]] TimeBeside beside(std::size_t contender, std::int64_t bytes) const;

 private:
  class WindowFinder;
  [[nodiscard]] std::optional<Winner> no_slower_than_runtime(std::int64_t bytes) const;
  [[nodiscard]] std::optional<Winner> around(std::int64_t bytes, double most) const;
  [[nodiscard]] std::optional<double> most_for_sizes_around(std::int64_t bytes,
                                                            const Winner& selected) const;
  [[nodiscard]] bool is_worth_having(const std::optional<Winner>& file, std::int64_t bytes) const;
  // With which a file of it runs.
  [[nodiscard]] std::int64_t buffers_of(std::size_t contender) const;

  Contest* contest_;
  RuntimeChoice runtime_;
  std::optional<std::int64_t> buffer_bytes_;
};

}  // namespace forestcoll::fastest
