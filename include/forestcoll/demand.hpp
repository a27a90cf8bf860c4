// What is to be moved where every rank has data for single others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll {

struct ParsedDemand {
  Demand demand;
  std::int64_t total = 0;  ///< bytes or blocks, what ranks have for themselves included
};

/// Of blocks. REQUIRES: `is_personalized(collective)`; a root where the collective has one.
[[nodiscard]] ParsedDemand demand_of(Collective collective, std::size_t ranks,
                                     std::optional<Rank> root);

/// Reads a matrix of bytes, one row per sending rank: CSV (blank lines and lines that begin with #
/// do not count) or a JSON array of arrays. Rows may be all 0. `file` is the name that diagnostics
/// carry. All errors of a file are reported together: E01 not JSON, A03 no such matrix, A04 rows or
/// columns more or less than ranks, A05 an amount that is no whole number of bytes, A06 (limit)
/// 2^40 bytes or more together. Cost: linear in the text.
[[nodiscard]] Expected<ParsedDemand> parse_demand(std::string_view text, std::string_view file,
                                                  std::size_t ranks);

}  // namespace forestcoll
