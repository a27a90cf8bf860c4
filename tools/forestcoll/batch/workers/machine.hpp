// What this process may use of the machine.
#pragma once

#include <cstdint>

namespace forestcoll::cli::batch {

[[nodiscard]] int processors();
/// Bytes: of the machine, or less where a control group limits it, as in containers and jobs.
[[nodiscard]] std::uint64_t memory();
/// Where the address space is limited (`ulimit -v`), so many threads share so many heaps as fit
/// into it. Call before they are started.
void share_heaps(int threads);

}  // namespace forestcoll::cli::batch
