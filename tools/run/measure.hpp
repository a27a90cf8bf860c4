// What a measurement over all ranks needs: a common beginning, times and errors of all, and rank 0
// that prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "run/options.hpp"

namespace forestcoll::run {

// All ranks must call these.

/// Returns at about the same moment on all ranks: they leave a barrier one after the other, so that
/// where they have one clock, as under SimGrid, they agree on a moment after that.
void begin_together();
/// One time of those that the ranks have.
[[nodiscard]] double over_ranks(double seconds, Average average);
/// Wrong elements of all ranks; at rank 0 `remarks` gets a line with those that have any.
[[nodiscard]] std::int64_t count_wrong(std::int64_t here, std::string& remarks);
/// Comments that head a table: what runs (`subject`), on what, and where each rank is.
[[nodiscard]] std::string heading(std::string_view subject);

/// Errors: X03, where there are not as many processes as GPUs: "the job is of 8 GPUs; …".
[[nodiscard]] Expected<void> check_processes(std::string_view subject, std::int64_t ranks);

/// Errors: X06, beyond the elements of a call that MPI counts in 32 bits.
[[nodiscard]] Expected<void> check_bytes(std::int64_t bytes);

/// Prints on rank 0.
void print(const std::string& text);

}  // namespace forestcoll::run
