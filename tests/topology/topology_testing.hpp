// What the tests of topology files share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "forestcoll/topology.hpp"
#include "support/files.hpp"
#include "support/valid.hpp"

namespace forestcoll::testing {

using test::json_files;
using test::read_file;
using test::source_path;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// The findings of a text, errors first; its warnings where it has no errors.
inline Diagnostics findings_of(const std::string& text, const TopologyOptions& options = {}) {
  const auto parsed = parse_topology(text, "test.json", options);
  return parsed ? parsed->warnings : parsed.errors();
}

/// "E05 /links/0/bandwidth" for each finding.
inline std::vector<std::string> codes_of(const Diagnostics& findings) {
  std::vector<std::string> codes;
  for (const Diagnostic& finding : findings) {
    const std::string code(name_of(finding.code));
    codes.push_back(finding.where.empty() ? code : code + " " + finding.where);
  }
  return codes;
}

/// Every finding says what to do, save the line that counts those left out.
inline void expect_remedies(const Diagnostics& findings, const std::string& what) {
  for (const Diagnostic& finding : findings) {
    const bool counts = finding.message.find(" more finding") != std::string::npos;
    EXPECT_NE(finding.remedy.empty(), !counts) << what << ": " << to_string(finding);
  }
}

/// A flat file of these nodes and links, and more keys if wanted.
inline std::string flat_file(const std::string& nodes, const std::string& links,
                             const std::string& more = "") {
  return R"({"format":"forestcoll-topology","version":1,"nodes":[)" + nodes + R"(],"links":[)" +
         links + "]" + more + "}";
}

inline Topology parse_valid(const std::string& text, const TopologyOptions& options = {}) {
  const auto parsed = test::valid(parse_topology(text, "test.json", options));
  return parsed.topology;
}

}  // namespace forestcoll::testing
