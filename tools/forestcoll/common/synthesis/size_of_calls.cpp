#include "common/synthesis/size_of_calls.hpp"

#include <bit>

#include "forestcoll/collective.hpp"

namespace forestcoll::cli {
namespace {

// Of calls whose parts, one of each rank, are powers of two, no more than `most` in all: no others
// are usual.
std::int64_t in_parts_of_ranks(std::int64_t most, const Fabric& fabric) {
  const auto ranks = static_cast<std::int64_t>(fabric.network.ranks.size());
  if (most < ranks) return most;
  return ranks *
         static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(most / ranks)));
}

}  // namespace

std::int64_t size_of_calls(std::int64_t most, const Fabric& fabric, const CompileOptions& options) {
  const Collective collective = options.synthesis.collective;
  const bool is_whole = is_rooted(collective) || collective == Collective::allreduce;
  return is_whole && !is_personalized(collective) ? most : in_parts_of_ranks(most, fabric);
}

}  // namespace forestcoll::cli
