// Names made safe for the formats that we write.
#pragma once

#include <string>
#include <string_view>

namespace forestcoll::emit {

/// A JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

/// For the runtimes' own parsers, which know no escapes: everything but letters, digits and "._:/-"
/// becomes '_', as does the second of two '-' in a row. At most `max_size` bytes.
[[nodiscard]] std::string plain(std::string_view text, std::size_t max_size);

}  // namespace forestcoll::emit
