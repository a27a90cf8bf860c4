// Sizes in bytes, as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll {

/// One size: digits, and then K, M, G or T, a power of 1024 as in nccl-tests, which may be spelt KB
/// or KiB; in either case. A B alone is a byte. Nothing where it is not that, or 2^63 and more.
[[nodiscard]] std::optional<std::int64_t> parse_size(std::string_view text);

/// Several sizes, with commas: each one size, or a range. "1K:4G" doubles from the first to the
/// last, "1K:4G:16" multiplies by 16; "1K-4G" is read as "1K:4G". Ascending and each once, from 1
/// byte to 1024T, at most 1024 of them. Errors: M01.
[[nodiscard]] Expected<std::vector<std::int64_t>> parse_sizes(std::string_view text);

}  // namespace forestcoll
