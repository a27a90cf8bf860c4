// The runtimes' own XML parser is no XML parser: what it would stumble over.
#pragma once

#include <cstddef>
#include <string_view>

#include "audit/common/findings.hpp"
#include "audit/common/line_index.hpp"

namespace forestcoll::audit {

/// How large a file may be before it is refused unread; keeps memory bounded. As many elements as
/// 1,024 GPUs, the most that a runtime reads, can load in all.
inline constexpr std::size_t kMaxFileBytes = std::size_t{512} << 20;
inline constexpr std::size_t kMaxFileElements = 4'200'000;

/// Adds a finding for every construct that is well-formed XML and yet fails, or is misread, in a
/// runtime, and one where it cannot read on to the end. Returns an error only where the text is too
/// large or not text. What else is not well-formed is left to the XML parser proper. Cost: one
/// pass, no memory.
[[nodiscard]] Expected<void> check_lexical_rules(std::string_view text, std::string_view file,
                                                 const LineIndex& lines, Findings& findings);

}  // namespace forestcoll::audit
