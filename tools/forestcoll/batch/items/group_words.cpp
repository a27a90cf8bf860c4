#include "batch/items/group_words.hpp"

#include <algorithm>
#include <cstddef>

#include "command.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

// Of a fabric for words to be tried on: no smaller than those that there are. A mesh has its own.
constexpr std::size_t kTrialRanks = std::size_t{1} << 16, kMostOfMesh = std::size_t{1} << 20;

bool is_of_this_size(const Diagnostic& error) {
  return error.code == Code::O03 || (error.code == Code::O05 && error.where.ends_with("/groups")) ||
         (error.code == Code::O07 && error.where.ends_with("/root"));
}

}  // namespace

Expected<void> check_group_words(const Asked& asked) {
  Console silent;
  silent.quiet = true;
  const bool has_mesh = !asked.job.mesh.empty();
  const auto job =
      job_of(asked.job, {asked.synth.failures, asked.synth.collective, asked.synth.root},
             has_mesh ? kMostOfMesh : kTrialRanks, silent, MeshFit::some_ranks);
  if (job || (!has_mesh && std::ranges::all_of(job.errors(), is_of_this_size))) return {};
  return job.errors();
}

}  // namespace forestcoll::cli::batch
