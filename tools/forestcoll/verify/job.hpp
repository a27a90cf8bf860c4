// Whether the schedules of process groups are right, each in its part, and fit a fabric together.
#pragma once

#include <string>
#include <string_view>

#include "command.hpp"
#include "common/fabric.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

/// What `verify` knows of the command line.
struct JobVerification {
  std::string path;               ///< of job.json; the files that it names lie beside it
  const Topology* whole;          ///< null: not given
  const ReadingOptions& reading;  ///< of the parts
  VerifyOptions options;
  bool json = false;
};

/// Verifies every schedule in its part, and that the parts are parts of the fabric. Exit codes as
/// those of `verify`.
[[nodiscard]] Expected<ExitCode> verify_job(std::string_view text, const JobVerification& asked,
                                            const Console& console);

}  // namespace forestcoll::cli
