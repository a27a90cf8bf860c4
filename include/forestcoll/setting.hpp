// The settings and functions of the library that its texts name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace forestcoll {

/// An option of the library, or a function, that findings and reports name: in backquotes, as it is
/// called, an option alone or with a value ("`max_height`", "`format=forest`"), also with dashes.
/// Whoever has other words for it takes a text apart with `parts_of`.
enum class Setting : std::uint8_t {
  a100,
  b200,
  bandwidth,
  bandwidths,
  baseline,
  box,
  boxes,
  boxes_per_leaf,
  compute,
  degree,
  demand,
  derate,
  diameter,
  dimensions,
  dims,
  drop,
  fabric,
  force_simple,
  format,
  global,
  gpu,
  groups,
  h100,
  health,
  host,
  hosts,
  instances,
  k,
  latency,
  levels,
  max_bytes,
  max_height,
  max_nodes,
  max_threadblocks,
  measured,
  members,
  memory,
  mesh,
  nccl_graph,
  nic_bandwidth,
  nodes,
  nvswitch,
  offsets,
  oversubscription,
  pcie_p2p,
  placement,
  ports,
  protocol,
  quantize,
  ranks,
  relays,
  routers,
  seed,
  sharp,
  size,
  spines,
  split_nvswitch,
  switches,
  target,
  threadblocks,
  time_limit,
  topology,
  tune,
  uplink_bandwidth,
  uplinks,
  // Functions, and two options at once.
  alltoall_optimum,
  boxes_and_fabric,
  generate,
  generate_call,
  generators,
  generators_call,
  import_topology,
  import_topology_of,
  make_alltoall_baseline,
  make_baseline,
  summarize,
  to_forest_json,
  verify,
};

/// "max_height", "generate()".
[[nodiscard]] std::string_view name_of(Setting setting);

/// A setting that a text names.
struct Mention {
  Setting setting = {};
  std::optional<std::string> value = {};  ///< "forest" of "`format=forest`"
};

/// Words of a text, or what it names between them.
using TextPart = std::variant<std::string, Mention>;

/// A text in its parts, in order. What else stands in backquotes is words, and so is what stands in
/// quotation marks, which is somebody's input. Cost: linear in the text.
[[nodiscard]] std::vector<TextPart> parts_of(std::string_view text);

}  // namespace forestcoll
