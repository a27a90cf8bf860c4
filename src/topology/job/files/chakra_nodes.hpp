// Nodes of a Chakra execution trace, whichever way it is written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::topology {

struct ChakraNode {
  /// NodeType of the schema (mlcommons/chakra, et_def.proto), as far as it matters here.
  enum Type : std::int32_t { metadata = 1, send = 5, receive = 6, collective = 7 };

  std::uint64_t id = 0;
  std::int32_t type = 0;
  std::vector<std::uint64_t> depends;  ///< on nodes by id, for control or data
  std::string name, inputs;            ///< `inputs`: their values, as text
  /// Values of attributes as text: "comm_size" is "1048576", "is_cpu_op" "false". Those of nodes
  /// without communication are left out.
  std::map<std::string, std::string, std::less<>> attributes;
  std::string where;  ///< in the file: "message 17"
};

/// Whether this is a stream of messages, each after its length, the first of which is metadata.
[[nodiscard]] bool is_chakra_stream(std::string_view text);
/// Whether these are JSON objects one after the other.
[[nodiscard]] bool is_chakra_json(std::string_view text);

/// Reads either, message by message. Errors: O01 with the message. Cost: linear.
[[nodiscard]] Expected<std::vector<ChakraNode>> read_chakra_nodes(std::string_view text,
                                                                  std::string_view file);

}  // namespace forestcoll::topology
