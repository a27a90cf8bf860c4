#include "common/report/findings/remedies.hpp"

#include <algorithm>

namespace forestcoll::cli {
namespace {

template <class Apply>
Diagnostics with_each(Diagnostics errors, std::span<const Remedy> remedies, Apply&& apply) {
  for (Diagnostic& error : errors) {
    const auto known = std::ranges::find(remedies, error.code, &Remedy::code);
    if (known != remedies.end()) apply(error.remedy, known->text);
  }
  return errors;
}

}  // namespace

Diagnostics with_remedies(Diagnostics errors, std::span<const Remedy> remedies) {
  return with_each(std::move(errors), remedies,
                   [](std::string& remedy, std::string_view text) { remedy = text; });
}

Diagnostics with_more_remedies(Diagnostics errors, std::span<const Remedy> remedies) {
  return with_each(std::move(errors), remedies, [](std::string& remedy, std::string_view text) {
    if (!remedy.empty()) remedy += ' ';
    remedy += text;
  });
}

}  // namespace forestcoll::cli
