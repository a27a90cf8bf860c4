// The fields of one JSON object, read by key, with what is wrong reported in place.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "topology/format/host_list.hpp"
#include "topology/format/json_value.hpp"
#include "topology/format/misnamed_keys.hpp"
#include "topology/format/units.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// What an optional or a required key holds, and whether it was fit for use.
template <class T>
struct Field {
  T value;
  bool ok = true;  ///< false: it was reported, and `value` is the default
};

/// Reads one object. Every getter reports a value that it cannot use, once.
class Fields {
 public:
  Fields(const JsonValue& object, const Place& place, Findings& findings)
      : object_(object), place_(place), findings_(findings) {}

  /// W06 for every key that is neither of these nor begins with "x-".
  void check_keys(std::initializer_list<std::string_view> known) const;
  /// The same; and an unknown key that stands for one of `required`, which is missing, is noted in
  /// `misnamed`, to be reported there, and its value is read as that of the key that it stands for.
  void check_keys(std::initializer_list<std::string_view> known,
                  std::initializer_list<std::string_view> required, MisnamedKeys& misnamed);
  /// The finding W06 at a key, which otherwise is ignored.
  void ignored(std::string_view key, std::string message, std::string remedy) const;

  [[nodiscard]] const JsonValue* find(std::string_view key) const {
    return object_.find(written(key));
  }
  [[nodiscard]] std::string pointer(std::string_view key) const {
    return Place(place_, written(key)).pointer();
  }

  /// A text of at most `max_length` bytes, without control characters but those in `layout`.
  [[nodiscard]] Field<std::string> text(std::string_view key, std::size_t max_length,
                                        std::string_view layout = {}) const;
  /// The exact number at a key, in `unit` unless its text names another; nothing where there is no
  /// such number. Reports nothing: what is in range is for the caller to say.
  [[nodiscard]] std::optional<Ratio> quantity(std::string_view key, Quantity kind,
                                              const Ratio& unit) const;
  [[nodiscard]] Field<bool> boolean(std::string_view key, bool otherwise) const;
  /// True for the second of two words, false for the first, which is the default. `remedy`: of E02.
  [[nodiscard]] Field<bool> is_second(std::string_view key, std::string_view first,
                                      std::string_view second, std::string remedy = "") const;
  /// A required host list: E02 where there is none, E11 where it is malformed.
  [[nodiscard]] std::optional<HostList> ids(std::string_view key) const;

  /// The error E02 at a key: what was expected, and what was found.
  void wrong(std::string_view key, std::string_view expected, std::string remedy = "") const;

 private:
  /// What the object calls a key.
  [[nodiscard]] std::string_view written(std::string_view key) const;
  /// W06 at a key that is not of `known`.
  void report_unknown(const std::string& key, std::initializer_list<std::string_view> known) const;

  const JsonValue& object_;
  const Place& place_;
  Findings& findings_;
  std::vector<MisnamedKeys::Name> misnamed_;  // of this object
};

/// A host list in a JSON value; E11 or E02 where it is none.
[[nodiscard]] std::optional<HostList> read_ids(const JsonValue& value, const Place& place,
                                               Findings& findings);

}  // namespace forestcoll::topology
