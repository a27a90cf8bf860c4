#include "topology/model/findings.hpp"

#include <fmt/format.h>

#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kMaxQuoted = 60;

}  // namespace

void Findings::error(Code code, std::string where, std::string message, std::string remedy) {
  add(errors_, code, std::move(where), std::move(message), std::move(remedy));
}

void Findings::warning(Code code, std::string where, std::string message, std::string remedy) {
  add(warnings_, code, std::move(where), std::move(message), std::move(remedy));
}

bool Findings::shows(Code code) const {
  for (const List* list : {&errors_, &warnings_}) {
    const auto found = list->counts.find(code);
    if (found != list->counts.end() && found->second >= kMaxPerCode) return false;
  }
  return true;
}

void Findings::add(List& list, Code code, std::string where, std::string message,
                   std::string remedy) {
  if (++list.counts[code] > kMaxPerCode) return;
  list.kept.push_back({.code = code,
                       .severity = list.severity,
                       .kind = info_of(code).kind,
                       .file = file_,
                       .where = std::move(where),
                       .message = std::move(message),
                       .remedy = std::move(remedy)});
}

Diagnostics Findings::with_counts(const List& list) const {
  Diagnostics all = list.kept;
  for (const auto& [code, count] : list.counts) {
    if (count <= kMaxPerCode) continue;
    all.push_back({.code = code,
                   .severity = list.severity,
                   .kind = info_of(code).kind,
                   .file = file_,
                   .where = "",
                   .message = fmt::format("and {} more of this kind", count - kMaxPerCode),
                   .remedy = "",
                   .counted = count - kMaxPerCode});
  }
  return all;
}

Diagnostics Findings::all() const {
  Diagnostics all = with_counts(errors_);
  const Diagnostics rest = warnings();
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

Diagnostics Findings::warnings() const {
  return with_counts(warnings_);
}

Diagnostics Findings::as_errors() const {
  Diagnostics errors = all();
  for (Diagnostic& error : errors) error.severity = Severity::error;
  return errors;
}

std::string quote(std::string_view text) {
  std::string shown = "\"";
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size(); ++at, ++length) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool begins_character = (byte & 0xC0U) != 0x80U;
    if (length >= kMaxQuoted && begins_character) {
      shown += "…";
      break;
    }
    const bool steers = byte == 0xC2 && at + 1 < text.size() &&
                        static_cast<unsigned char>(text[at + 1]) < 0xA0;  // U+0080 to U+009F
    if (byte < 0x20 || byte == 0x7F) {
      shown += fmt::format("\\u{:04x}", byte);
    } else if (steers) {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[++at]));
    } else {
      shown += text[at];
    }
  }
  return shown + "\"";
}

std::string and_more(std::size_t more) {
  return more == 0 ? "" : fmt::format(" (and {} more of this entry)", more);
}

}  // namespace forestcoll::topology
