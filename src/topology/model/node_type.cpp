#include "forestcoll/topology.hpp"

namespace forestcoll {

std::string_view to_string(NodeType type) {
  switch (type) {
    case NodeType::compute:
      return "compute";
    case NodeType::switch_node:
      return "switch";
    case NodeType::relay:
      return "relay";
  }
  return "";
}

}  // namespace forestcoll
