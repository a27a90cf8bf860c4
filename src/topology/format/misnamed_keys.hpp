// Keys by another name, such as "source" for "src".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "topology/format/json_value.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// Returns the key that another tool's name stands for: "src" for "source", "bandwidth" for
/// "bw_gbps"; empty where there is none.
[[nodiscard]] std::string_view key_called(std::string_view name);

/// Of a name with a unit, such as "bw_gbps": a sentence that says where the unit stands, with a
/// space before it; else empty.
[[nodiscard]] std::string unit_remedy(std::string_view name);

/// Collects what the entries of one array call their required keys, so that one mistake that is
/// made in every entry is one error.
class MisnamedKeys {
 public:
  /// A key as it is written, and the key that it stands for.
  struct Name {
    std::string written, meant;
    bool operator==(const Name&) const = default;
  };

  /// Adds those of one entry. REQUIRES: there are some.
  void add(const Place& entry, const std::vector<Name>& names);
  /// Reports E02 at the first entry, where there is any. `entries` is "links" or another plural.
  void report(std::string_view entries, Findings& findings) const;

 private:
  std::string first_;  // the JSON pointer of the first entry
  std::size_t count_ = 0;
  std::vector<Name> names_;
};

}  // namespace forestcoll::topology
