// What the tests of topology files share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "forestcoll/topology.hpp"

namespace forestcoll::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::filesystem::path source_path(const std::string& relative) {
  return std::filesystem::path(SOURCE_DIR) / relative;
}

/// The JSON files of a folder, by name.
inline std::vector<std::filesystem::path> json_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_path(folder))) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

/// The findings of a text, errors first; its warnings where it has no errors.
inline Diagnostics findings_of(const std::string& text, const TopologyOptions& options = {}) {
  const auto parsed = parse_topology(text, "test.json", options);
  return parsed ? parsed->warnings : parsed.errors();
}

/// "E05 /links/0/bandwidth" for each finding.
inline std::vector<std::string> codes_of(const Diagnostics& findings) {
  std::vector<std::string> codes;
  for (const Diagnostic& finding : findings) {
    codes.push_back(finding.where.empty() ? finding.code : finding.code + " " + finding.where);
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
  auto parsed = parse_topology(text, "test.json", options);
  if (!parsed) {
    ADD_FAILURE() << to_string(parsed.errors().front());
    return {};
  }
  return parsed->topology;
}

}  // namespace forestcoll::testing
