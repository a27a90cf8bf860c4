// Text: numbers and sizes in bytes as people write them, and what is safe in XML and HTML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// "346.667": at most three decimals, or six significant digits for small numbers.
[[nodiscard]] std::string number(double value);
/// "346.667 (1040/3)", or "200" where that is exact.
[[nodiscard]] std::string number(const Ratio& value);
/// "1 link", "8 links", "2 switches".
[[nodiscard]] std::string counted(std::size_t count, std::string_view singular);

/// One size: digits, and then K, M, G or T, a power of 1024 as in nccl-tests, which may be spelt KB
/// or KiB; in either case, with a space before it or none. A B alone is a byte. Nothing where it is
/// not that, or 2^63 and more.
[[nodiscard]] std::optional<std::int64_t> parse_size(std::string_view text);

/// Several sizes, with commas: each one size, or a range. "1K:4G" doubles from the first to the
/// last, "1K:4G:16" multiplies by 16; "1K-4G" is read as "1K:4G". Ascending and each once, from 1
/// byte to 1024T, at most 1024 of them. Errors: M01.
[[nodiscard]] Expected<std::vector<std::int64_t>> parse_sizes(std::string_view text);

/// In the largest unit in which it is a whole number: "64 KiB", "131071 B".
[[nodiscard]] std::string size_in_words(std::int64_t bytes);
/// The same as `parse_size` reads it: "64K", "131071".
[[nodiscard]] std::string size_as_option(std::int64_t bytes);

// Text made safe for XML and HTML.

/// For contents and attribute values: & < > " escaped, control characters replaced by '?'.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace forestcoll
