// Sizes on the command line: one grammar in all options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// What --help says of every option that takes several sizes.
constexpr const char* kSizesInWords =
    "sizes with commas, each one size or\n"
    "a range: 1K:4G doubles, 1K:4G:4 goes by factors of 4. K, M, G and T (or KB,\n"
    "KiB, ...) are powers of 1024";

/// One size. Error S03, which begins with the option's name.
[[nodiscard]] Expected<std::int64_t> read_size(const std::string& option, const std::string& text);

/// Several, by the grammar of `parse_sizes`. Error S03, likewise.
[[nodiscard]] Expected<std::vector<std::int64_t>> read_sizes(const std::string& option,
                                                             const std::string& text);

}  // namespace forestcoll::cli
