#include "common/files/nccl_rings.hpp"

#include <algorithm>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {

bool has_box_rings(const std::string& algorithm) {
  return algorithm == "nccl-ring" || algorithm == "double-tree" || algorithm == "hierarchical";
}

Expected<std::optional<NcclGraph>> read_rings(const std::string& path) {
  if (path.empty()) return std::optional<NcclGraph>();
  const auto text = read_input(path);
  if (!text) return text.errors();
  const auto graphs = read_nccl_graph(*text, display_name(path));
  if (!graphs) return graphs.errors();
  const auto rings = std::ranges::find(*graphs, 0, &NcclGraph::id);
  if (rings != graphs->end()) return std::optional(*rings);
  Diagnostic error = make_error(Code::B07, "the graph file has no graph of rings (id 0)",
                                "dump it with NCCL_GRAPH_DUMP_FILE, of a run that uses rings");
  error.file = display_name(path);
  return error;
}

}  // namespace forestcoll::cli
