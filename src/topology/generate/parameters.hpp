// The values that a generator was given, read and checked.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::topology {

/// A bandwidth as it goes into the file, and what it is in GB/s.
struct NamedBandwidth {
  std::string text;
  Ratio value;
};

/// Each reader returns the value that was given, or the generator's standard one. A value that
/// cannot be read or is out of range is an error (G03); what is returned then is of the right kind
/// and in range, so that reading can go on and find the rest.
class Parameters {
 public:
  /// Both outlive this. G02 for every value that the generator has no parameter for.
  Parameters(const Generator& generator, const std::map<std::string, std::string>& values);

  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most);
  /// "25", "200 Gb/s": positive.
  NamedBandwidth bandwidth(std::string_view name);
  /// An exact number of at least 1, also written "3:1".
  Ratio factor(std::string_view name);
  /// "4x4x4" or "1,3": numbers of at least `least`, at most `most_items` of them.
  std::vector<std::int64_t> list(std::string_view name, char separator, std::int64_t least,
                                 std::size_t most_items);
  std::string choice(std::string_view name, const std::vector<std::string>& choices);

  /// Whether a value was given, be it the standard one.
  [[nodiscard]] bool given(std::string_view name) const;

  /// G03 with words of the generator's own. What was refused once is not refused again: what is
  /// read in its place has faults that nobody made.
  void refuse(std::string_view name, std::string_view problem, std::string_view remedy);

  [[nodiscard]] bool ok() const { return errors_.empty(); }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }

 private:
  [[nodiscard]] const std::string& standard(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;

  const Generator& generator_;
  const std::map<std::string, std::string>& values_;
  Diagnostics errors_;
  std::set<std::string> refused_;
};

}  // namespace forestcoll::topology
