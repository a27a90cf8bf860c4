// Groups of a JSON document.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/job.hpp"
#include "topology/format/json_value.hpp"

namespace forestcoll::topology {

/// Of an array of arrays of ranks, of an object of such arrays by key, or of a text as
/// `parse_groups` reads it. Errors: those of `parse_groups`.
[[nodiscard]] Expected<Groups> groups_of_json(const JsonValue& value, std::size_t ranks,
                                              const Mesh* mesh, const ErrorPlace& place);

/// O02: a text that JSON's `findings` are of. REQUIRES: there is one.
[[nodiscard]] Diagnostic not_groups(std::string_view text, const Findings& findings,
                                    std::string remedy, ErrorPlace place);

/// O07: no spelling of a collective.
[[nodiscard]] Diagnostic unknown_collective(std::string_view name, const ErrorPlace& place);

}  // namespace forestcoll::topology
