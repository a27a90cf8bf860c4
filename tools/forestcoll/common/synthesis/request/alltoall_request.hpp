// What `synth -c alltoall` is asked for.
#pragma once

#include <cstdint>
#include <optional>

#include "common/synthesis/request/options.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// What only an all-to-all has, asked of another collective: S04.
[[nodiscard]] Expected<void> refuse_alltoall_options(const SynthArguments& arguments);

/// As resolved.
struct AlltoallRequest {
  AlltoallCompileOptions options;  ///< but for what the solver is told
  /// For its size protocol, instances and buffers are chosen, too, of programs that are ours, for
  /// equal amounts.
  bool by_size = false;
  bool size_is_default = false;              ///< as in SynthRequest
  std::optional<std::int64_t> buffer_bytes;  ///< as in SynthRequest
};
/// Errors: S02, S03, S04, B06, B09, T06, where the options do not go together or cannot be read.
[[nodiscard]] Expected<AlltoallRequest> resolve_alltoall(const SynthArguments& arguments);
/// The same as they would be given for an allgather, as far as schedules of all collectives have
/// them in common.
[[nodiscard]] SynthArguments as_for_allgather(const SynthArguments& arguments);

}  // namespace forestcoll::cli
