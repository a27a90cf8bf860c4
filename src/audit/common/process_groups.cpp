#include "audit/common/process_groups.hpp"

#include <utility>

namespace forestcoll::audit {

ProcessGroups::ProcessGroups(RankLists lists, std::int64_t ranks)
    : lists_(std::move(lists)), ranks_(ranks) {
  if (lists_.empty()) return;
  number_.assign(static_cast<std::size_t>(ranks), -1);
  place_.assign(static_cast<std::size_t>(ranks), 0);
  for (std::size_t g = 0; g < lists_.size(); ++g) {
    for (std::size_t i = 0; i < lists_[g].size(); ++i) {
      const auto rank = static_cast<std::size_t>(lists_[g][i]);
      number_[rank] = static_cast<std::int32_t>(g);
      place_[rank] = static_cast<std::int32_t>(i);
    }
  }
}

}  // namespace forestcoll::audit
