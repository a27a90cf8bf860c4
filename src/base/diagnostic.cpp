#include "forestcoll/diagnostic.hpp"

#include <utility>

namespace forestcoll {

std::string to_string(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) text += diagnostic.file + ": ";
  if (!diagnostic.where.empty()) text += diagnostic.where + ": ";
  if (diagnostic.severity == Severity::warning) text += "warning: ";
  text += diagnostic.message;
  if (diagnostic.code) text += " [" + std::string(name_of(diagnostic.code)) + "]";
  if (!diagnostic.remedy.empty()) text += "\n  " + diagnostic.remedy;
  return text;
}

Diagnostic make_error(Code code, std::string message, std::string remedy, ErrorPlace place) {
  return {.code = code,
          .severity = Severity::error,
          .kind = info_of(code).kind,
          .file = std::move(place.file),
          .where = std::move(place.where),
          .message = std::move(message),
          .remedy = std::move(remedy)};
}

Diagnostic inexact(std::string message) {
  return make_error(Code::E14, std::move(message),
                    "round the bandwidths to a coarser grid with `quantize`");
}

bool was_stopped(const Diagnostics& errors) {
  return !errors.empty() && errors.front().kind == ErrorKind::stopped;
}

}  // namespace forestcoll
