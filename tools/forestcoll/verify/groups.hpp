// Whether one schedule is right for every group of several, each on its own members.
#pragma once

#include <string>
#include <string_view>

#include "command.hpp"
#include "common/job/request.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

/// What `verify` knows of the command line.
struct GroupsVerification {
  std::string path;           ///< of the schedule
  const JobArguments& words;  ///< with --groups
  const Topology& whole;
  bool relays = false;  ///< whether GPUs outside of a group pass its data on
  VerifyOptions options;
  bool json = false;
};

/// Verifies the schedule by itself, and in the place of every group: GPU r of the file is the
/// group's r-th member. Says what all groups have at once. Exit codes as those of `verify`. Errors:
/// those of `groups_of`, `refuse_for_groups` and `verify`.
[[nodiscard]] Expected<ExitCode> verify_in_groups(std::string_view text,
                                                  const GroupsVerification& asked,
                                                  const Console& console);

}  // namespace forestcoll::cli
