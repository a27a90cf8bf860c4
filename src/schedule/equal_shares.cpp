#include "schedule/equal_shares.hpp"

#include <algorithm>
#include <string>

#include "forestcoll/codes.hpp"

namespace forestcoll::schedule {

Expected<void> refuse_unequal_shares(const CollectiveForest& forest) {
  const auto& weight = forest.weight;
  const auto other =
      std::find_if(weight.begin(), weight.end(), [&](auto w) { return w != *weight.begin(); });
  if (other == weight.end()) return {};
  const auto rank = static_cast<std::size_t>(other - weight.begin());
  return make_error(
      Code::T09,
      "the ranks own unequal shares of the data (rank 0 has weight " +
          std::to_string(*weight.begin()) + ", rank " + std::to_string(rank) + " has " +
          std::to_string(*other) + "), and a schedule for MSCCL divides a buffer evenly among them",
      "write the trees with `format=forest`, or leave the weights out of the topology");
}

}  // namespace forestcoll::schedule
