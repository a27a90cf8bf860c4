// `forestcoll batch merge`: the reports of shards become one.
#pragma once

#include <memory>

#include "command.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli::batch {

/// Adds the command to `batch`.
[[nodiscard]] Command add_merge(CLI::App& batch);

}  // namespace forestcoll::cli::batch
