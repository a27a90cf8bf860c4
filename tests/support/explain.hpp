// What a verdict says, for messages of tests and to look for words in.
#pragma once

#include <string>

#include "forestcoll/verify.hpp"

namespace forestcoll::test {

/// A line for each finding.
inline std::string explain(const Verdict& verdict) {
  std::string text;
  for (const Diagnostic& finding : verdict.findings) text += to_string(finding) + "\n";
  return text;
}

/// Of a text; the error of one that cannot be judged.
inline std::string explain(const std::string& text, const Topology* topology,
                           const std::string& file = "f.json") {
  const auto verdict = verify(text, file, topology, {});
  if (!verdict) return to_string(verdict.errors().front());
  return verdict->ok ? "right" + explain(*verdict) : explain(*verdict);
}

}  // namespace forestcoll::test
