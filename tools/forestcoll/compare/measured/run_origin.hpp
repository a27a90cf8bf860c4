// On what a measured run was made, as forestcoll-run writes it into its table.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace forestcoll::cli {

struct RunOrigin {
  std::string text = {};  ///< "SimGrid"; empty: nothing is said, as by nccl-tests on GPUs
  double slowdown = 1;    ///< of its links beside the fabric's: times are divided by it
};

/// Of a line such as "# origin: an emulated fabric, 160000 times slower"; nothing of others.
[[nodiscard]] std::optional<RunOrigin> origin_in(std::string_view line);

/// What stands before the name of the run's file: "Measured", "SimGrid", "MPI on this machine",
/// "Measured on an emulated fabric (its times divided by 160000)".
[[nodiscard]] std::string in_words(const RunOrigin& origin);

}  // namespace forestcoll::cli
