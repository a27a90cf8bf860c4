// What this process may use of the machine.
#pragma once

#include <cstdint>

namespace forestcoll::cli::batch {

[[nodiscard]] int processors();
/// Bytes: of the machine, or less where a control group limits it, as in containers and jobs.
[[nodiscard]] std::uint64_t memory();

}  // namespace forestcoll::cli::batch
