#include "schedule/equal_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::schedule {

Expected<void> refuse_unequal_shares(const CollectiveForest& forest, std::string_view why,
                                     std::string remedy) {
  if (forest.collective == Collective::allreduce) return {};
  const auto& weight = forest.weight;
  const auto other =
      std::find_if(weight.begin(), weight.end(), [&](auto w) { return w != *weight.begin(); });
  if (other == weight.end()) return {};
  return make_error(Code::T09,
                    fmt::format("the ranks own unequal shares of the data (rank 0 has weight {}, "
                                "rank {} has {}), and {}",
                                *weight.begin(), other - weight.begin(), *other, why),
                    std::move(remedy));
}

}  // namespace forestcoll::schedule
