// Flows JSON as its file says: read, bounded, and not yet judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/common/findings.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::audit {

/// A node of the file, by the order in which ids first appear; −1: none was given.
using FlowNode = std::int32_t;

struct FlowPath {
  std::string share;  ///< as written
  std::vector<FlowNode> nodes;
  std::vector<std::int64_t> rounds;
};

struct FlowPair {
  FlowNode src = -1, dst = -1;
  std::optional<std::int64_t> bytes;
  std::size_t begin = 0, end = 0;  ///< its paths, in FlowsFile::paths
};

/// A rate that the file names: a fraction, and beside it a number for people.
struct FlowsRate {
  std::optional<std::string> exact;  ///< as written
  std::optional<double> value;
};

struct FlowsFile {
  std::string format, collective;
  std::int64_t version = 0, k = 0, rounds = 0;
  std::optional<std::int64_t> own_bytes;
  std::optional<std::string> root;  ///< an id; of a scatter or gather
  FlowsRate algbw, algbw_in_rounds, optimum;
  std::vector<FlowNode> ranks;
  std::vector<std::string> ids;  ///< by FlowNode
  std::vector<FlowPair> pairs;
  std::vector<FlowPath> paths;
};

/// Values of the wrong type are findings, and so are keys that flows do not have. Errors: not JSON,
/// a key that stands twice, more paths or nodes than this verifier holds. Cost: linear in the text.
[[nodiscard]] Expected<FlowsFile> read_flows(std::string_view text, std::string_view file,
                                             Findings& findings);

}  // namespace forestcoll::audit
