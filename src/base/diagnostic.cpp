#include "forestcoll/diagnostic.hpp"

namespace forestcoll {

std::string to_string(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) text += diagnostic.file + ": ";
  if (!diagnostic.where.empty()) text += diagnostic.where + ": ";
  if (diagnostic.severity == Severity::warning) text += "warning: ";
  text += diagnostic.message;
  if (!diagnostic.code.empty()) text += " [" + diagnostic.code + "]";
  if (!diagnostic.remedy.empty()) text += "\n  " + diagnostic.remedy;
  return text;
}

bool was_stopped(const Diagnostics& errors) {
  return !errors.empty() && errors.front().kind == ErrorKind::stopped;
}

}  // namespace forestcoll
