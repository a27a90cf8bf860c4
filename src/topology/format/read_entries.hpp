// One node, link or limit of a topology file.
#pragma once

#include <optional>
#include <string_view>

#include "forestcoll/ratio.hpp"
#include "topology/format/document.hpp"
#include "topology/format/json_value.hpp"
#include "topology/format/misnamed_keys.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// The units of numbers that name none.
struct Units {
  Ratio bandwidth = 1;  ///< GB/s
  Ratio latency = 1;    ///< µs
};

/// False, and E02, where the value is not an object.
[[nodiscard]] bool is_object(const JsonValue& value, const Place& place, std::string_view expected,
                             Findings& findings);

/// Nothing where the entry has no ids or no type to go on with; its position is for the caller, and
/// so is the report of keys by another name, here and below.
[[nodiscard]] std::optional<NodeEntry> read_node(const JsonValue& value, const Place& place,
                                                 bool in_template, MisnamedKeys& misnamed,
                                                 Findings& findings);

/// Nothing where it is not known which nodes the entry joins; its position is for the caller.
[[nodiscard]] std::optional<LinkEntry> read_link(const JsonValue& value, const Place& place,
                                                 const Units& units, MisnamedKeys& misnamed,
                                                 Findings& findings);

/// Nothing where it is not known what the limit is, or of which links; its position is for the
/// caller.
[[nodiscard]] std::optional<LimitEntry> read_limit(const JsonValue& value, const Place& place,
                                                   const Units& units, MisnamedKeys& misnamed,
                                                   Findings& findings);

}  // namespace forestcoll::topology
