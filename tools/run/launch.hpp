// Starting itself under mpirun, with as many processes as the schedule has GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "forestcoll/diagnostic.hpp"
#include "run/options.hpp"

namespace forestcoll::run {

/// Whether a launcher of MPI, a batch system or a simulator has started this process.
[[nodiscard]] bool is_launched();

/// How many processes the first file needs; nothing where that is not known without running it, as
/// of standard input. Errors: those of reading it.
[[nodiscard]] Expected<std::optional<std::int64_t>> processes_for(const Options& options);

/// Replaces this process by `mpirun` of the same program with these arguments, after a comment that
/// says how. Returns only where there is no mpirun: X03.
[[nodiscard]] Diagnostic start_under_mpirun(std::int64_t processes,
                                            std::span<const char* const> arguments);

}  // namespace forestcoll::run
