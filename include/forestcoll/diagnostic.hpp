// What is wrong with an input, where, and what to do about it; and results that may be that.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "forestcoll/codes.hpp"

namespace forestcoll {

enum class Severity { error, warning };

/// One finding.
struct Diagnostic {
  std::optional<Code> code = {};  ///< none: one that this release does not know
  Severity severity = Severity::error;
  ErrorKind kind = ErrorKind::input;
  std::string file = {};     ///< as the user named it; empty where there is none
  std::string where = {};    ///< JSON pointer, or "line:column"; may be empty
  std::string message = {};  ///< what was expected, and what was found
  std::string remedy = {};   ///< what to do; may be empty
  std::size_t counted = 0;   ///< findings of this code that were not kept, where it counts them
};

using Diagnostics = std::vector<Diagnostic>;

/// "dgx2.json: /links/17/bandwidth: expected …, found "50GBs" [E05]" and, on a second line, the
/// remedy.
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

/// Where an error is; either may be empty.
struct ErrorPlace {
  std::string file = {};   ///< as the user named it
  std::string where = {};  ///< JSON pointer, or "line:column"
};

/// An error of its code's kind. `message` says what was expected and what was found, a limit with
/// its number; `remedy` what to do about it, and may be empty.
[[nodiscard]] Diagnostic make_error(Code code, std::string message, std::string remedy = {},
                                    ErrorPlace place = {});

/// E14 of bandwidths: `message` says what does not fit; the remedy is a coarser grid.
[[nodiscard]] Diagnostic inexact(std::string message);

/// A value, or the errors that explain why there is none (at least one).
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::move(value)) {}                        // NOLINT: a result is one
  Expected(Diagnostics errors) : state_(std::move(errors)) {}            // NOLINT
  Expected(Diagnostic error) : state_(Diagnostics{std::move(error)}) {}  // NOLINT

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] T& operator*() & { return std::get<0>(state_); }
  [[nodiscard]] const T& operator*() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& operator*() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] T* operator->() { return &std::get<0>(state_); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(state_); }
  [[nodiscard]] const Diagnostics& errors() const { return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

/// Of what has no value to give: done, or the errors that explain why it is not.
template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Diagnostics errors) : errors_(std::move(errors)) {}         // NOLINT: as above
  Expected(Diagnostic error) { errors_.push_back(std::move(error)); }  // NOLINT

  [[nodiscard]] bool has_value() const { return errors_.empty(); }
  explicit operator bool() const { return has_value(); }
  /// None where it is done.
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }

 private:
  Diagnostics errors_;
};

/// Is this what a stage says that was asked to stop?
[[nodiscard]] bool was_stopped(const Diagnostics& errors);

}  // namespace forestcoll
