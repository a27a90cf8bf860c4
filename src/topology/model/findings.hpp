// The findings of one file, collected while it is read, and the words that they share.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::topology {

/// Collects errors and warnings. Of each code at most `kMaxPerCode` findings are kept; the rest are
/// counted and reported in one line.
class Findings {
 public:
  static constexpr std::size_t kMaxPerCode = 100;

  explicit Findings(std::string_view file) : file_(file) {}

  void error(Code code, std::string where, std::string message, std::string remedy = "");
  void warning(Code code, std::string where, std::string message, std::string remedy = "");

  [[nodiscard]] bool has_errors() const { return !errors_.kept.empty(); }
  /// False where a further finding of this code would only be counted.
  [[nodiscard]] bool shows(Code code) const;

  /// The errors, and after them the warnings: a misspelt key is often why a required one is
  /// missing.
  [[nodiscard]] Diagnostics all() const;
  [[nodiscard]] Diagnostics warnings() const;
  /// All of them, as errors.
  [[nodiscard]] Diagnostics as_errors() const;

 private:
  struct ByName {
    bool operator()(Code a, Code b) const { return name_of(a) < name_of(b); }
  };
  struct List {
    Severity severity;
    Diagnostics kept;
    std::map<Code, std::size_t, ByName> counts;  ///< the kept ones too
  };
  void add(List& list, Code code, std::string where, std::string message, std::string remedy);
  [[nodiscard]] Diagnostics with_counts(const List& list) const;

  std::string file_;
  List errors_{Severity::error, {}, {}};
  List warnings_{Severity::warning, {}, {}};
};

/// The text in quotation marks, on one line, shortened where it is long.
[[nodiscard]] std::string quote(std::string_view text);

/// " (and 7 more of this entry)", or nothing where there is no more.
[[nodiscard]] std::string and_more(std::size_t more);

}  // namespace forestcoll::topology
