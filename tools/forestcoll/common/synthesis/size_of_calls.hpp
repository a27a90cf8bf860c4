// Sizes of buffers that calls usually have.
#pragma once

#include <cstdint>

#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll::cli {

/// The largest up to `most`: what every rank has a part of is in parts that are powers of two.
[[nodiscard]] std::int64_t size_of_calls(std::int64_t most, const Fabric& fabric,
                                         const CompileOptions& options);

}  // namespace forestcoll::cli
