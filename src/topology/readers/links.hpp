// Single links, and the few lines with ranges that say the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::importing {

struct FlatLink {
  std::string src = {}, dst = {};
  Ratio bandwidth = 0;  ///< GB/s of one
  std::int64_t count = 1;
  std::string kind = {};
  bool full_duplex = true;
  std::optional<Ratio> latency = {};  ///< µs; none: the file says nothing of it
};

/// Joins every one-way link with one like it that leads back to a link both ways.
/// Cost: O(m log m).
[[nodiscard]] std::vector<FlatLink> join_directions(const std::vector<FlatLink>& links);

/// The links as entries with ranges: a star, a product or pairs in one line where the ids allow it.
/// Expanded, the entries are the links, in an order of their own. Cost: O(m log m).
[[nodiscard]] std::vector<LinkText> compact(const std::vector<FlatLink>& links);

}  // namespace forestcoll::importing
