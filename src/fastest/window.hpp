// For which sizes a schedule is good enough to be claimed by its file.
#pragma once

#include <cstdint>
#include <optional>

#include "fastest/contest.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll::fastest {

/// Whether the contender runs as it should where `NCCL_BUFFSIZE` is that: it needs those buffers,
/// or none in particular.
[[nodiscard]] bool runs_with(const Contest& contest, std::size_t contender,
                             std::int64_t buffer_bytes);

/// The sizes around `bytes`, in powers of two times it (of what its chunks do not
/// divide also half as much again and a quarter less, or parts of that), at which the contender is
/// no slower than what the runtime itself would pick and takes at most 10 % more than the fastest
/// contender, all by simulation, and that a runtime selects it at; from 1 byte on where it is good
/// down to 1 KiB, and without an end where it is good up to 4 GiB, beyond which links alone count.
/// With up to three sizes of it, the times there and those of the runtime's own choice, which runs
/// with the same buffers, or its own: with `buffer_bytes` where the file is one of a set that
/// shares them. REQUIRES: the contender wins at `bytes`. Cost: for every size, the simulations of
/// those few contenders whose bounds are below.
[[nodiscard]] SizeWindow find_window(Contest& contest, const Fabric& fabric, std::size_t contender,
                                     std::int64_t bytes, std::optional<std::int64_t> buffer_bytes);

/// `found`, the fastest file that a runtime selects at `bytes`; or, where the runtime's own choice
/// is faster, with any buffers or, in a set, with its own, the fastest of those that it selects at
/// sizes around, which their chunks divide, if that is not slower. Then no file is worth having at
/// `bytes` itself, but six rings, say, are for all multiples of six chunks.
[[nodiscard]] Winner or_for_sizes_around(Contest& contest, const Fabric& fabric, Winner found,
                                         std::int64_t bytes, const Contest::Takes& takes,
                                         std::optional<std::int64_t> buffer_bytes);

/// The fastest file at a size, or for the sizes around it, as above, or as `Contest::counts` says;
/// none where no contender serves it.
[[nodiscard]] std::optional<Winner> file_winner(Contest& contest, const Fabric& fabric,
                                                std::int64_t bytes);

/// A file, and the size that it is chosen for.
struct SizedFile {
  std::int64_t bytes = 0;
  Winner winner;
};
/// `file_winner` at `bytes`. Where files may be for sizes around, and that one is slower than the
/// runtime's own choice or has no usable size: the one of the nearest size, by factors of four and
/// within those of `asked`, that is neither. Where there is none, that at `bytes` all the same.
[[nodiscard]] std::optional<SizedFile> sized_file(Contest& contest, const Fabric& fabric,
                                                  std::int64_t bytes, const XmlOptions& asked);

/// `find_window`, where `asked` names no sizes; with the next multiple of its chunks where it has
/// no usable size.
[[nodiscard]] std::optional<SizeWindow> window_if_open(Contest& contest, const Fabric& fabric,
                                                       std::size_t contender, std::int64_t bytes,
                                                       const XmlOptions& asked);

/// Whether the runtime's own choice is known, and ahead by more than what is worth a simulation.
[[nodiscard]] bool is_behind_runtime(const TimeBeside& time);

/// What the contender takes at a size, beside the runtime's own choice, as above.
[[nodiscard]] TimeBeside time_beside(Contest& contest, const Fabric& fabric, std::size_t contender,
                                     std::int64_t bytes, std::optional<std::int64_t> buffer_bytes);

}  // namespace forestcoll::fastest
