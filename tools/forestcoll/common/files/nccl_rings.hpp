// The rings of a dump of NCCL's, for the algorithms that go round them.
#pragma once

#include <optional>
#include <string>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/import.hpp"

namespace forestcoll::cli {

/// True of the algorithms that go round the rings of boxes.
[[nodiscard]] bool has_box_rings(const std::string& algorithm);

/// Those of NCCL_GRAPH_DUMP_FILE; nothing where `path` is empty. Errors: those of reading, and B07.
[[nodiscard]] Expected<std::optional<NcclGraph>> read_rings(const std::string& path);

}  // namespace forestcoll::cli
