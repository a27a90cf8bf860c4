// The matrix of an all-to-all-v, from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll {

struct ParsedDemand {
  Demand demand;
  std::int64_t total = 0;  ///< bytes, what ranks have for themselves included
};

/// Reads a matrix of bytes, one row per sending rank: CSV (blank lines and lines that begin with #
/// do not count) or a JSON array of arrays. Rows may be all 0. `file` is the name that diagnostics
/// carry. All errors of a file are reported together: E01 not JSON, A03 no such matrix, A04 rows or
/// columns more or less than ranks, A05 an amount that is no whole number of bytes, A06 (limit)
/// 2^40 bytes or more together. Cost: linear in the text.
[[nodiscard]] Expected<ParsedDemand> parse_demand(std::string_view text, std::string_view file,
                                                  std::size_t ranks);

}  // namespace forestcoll
