// What tests of the verifier share: check a text, break it in one place, look for a finding.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "audit/builders.hpp"
#include "forestcoll/verify.hpp"

namespace audit_test {

using forestcoll::Code;
using forestcoll::Fault;
using forestcoll::Verdict;
using forestcoll::VerifyOptions;

inline Verdict check_text(const std::string& text, const VerifyOptions& options = {}) {
  auto verdict = forestcoll::verify(text, "test.xml", nullptr, options);
  EXPECT_TRUE(verdict.has_value()) << to_string(verdict.errors()[0]);
  return verdict ? *verdict : Verdict{};
}

inline Verdict verdict_for(const Algo& algo, const std::string& target = "azure") {
  return check_text(to_xml(algo), {.target = target});
}

/// Three ranks; threadblock 0 sends to the next, threadblock 1 receives from the last.
inline std::string good() {
  return to_xml(ring_allgather(3, 1, false, true));
}

/// With the first `from` replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Whether a finding has this code, and these words in its place and message.
inline bool finds(const Verdict& verdict, Code code, const std::string& words,
                  const std::string& where = "") {
  for (const auto& f : verdict.findings) {
    if (f.code == code && f.message.find(words) != std::string::npos &&
        f.where.find(where) != std::string::npos) {
      return !verdict.ok;
    }
  }
  for (const auto& f : verdict.findings) ADD_FAILURE() << to_string(f);
  return false;
}

/// A good file with one edit, and what must be found in it.
struct Edit {
  const char* name;
  const char* from;
  const char* to;
  Code code;
  const char* words;
  const char* where;
};

inline std::string name_of(const ::testing::TestParamInfo<Edit>& edit) {
  return edit.param.name;
}

}  // namespace audit_test
