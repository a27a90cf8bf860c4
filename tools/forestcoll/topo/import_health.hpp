// `topo import --health`: what dumps say is down, taken from a topology.
#pragma once

#include <string>
#include <vector>

#include "common/files/named_files.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/health.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {

/// "FILE" or "GPUS=FILE".
struct HealthFile {
  std::string gpus, file;
};
[[nodiscard]] HealthFile health_file(const std::string& item);
/// Those files, for `refuse_clashes`.
[[nodiscard]] std::vector<NamedFile> health_files(const std::vector<std::string>& items);

/// What is left of a topology by these files, one after the other, and what each of them says.
struct WithHealth {
  DegradedTopology left;
  std::string text = {};  ///< the topology file, with `metadata`
  std::vector<HealthReport> reports = {};
};
/// Errors: those of files, `read_health` and `degrade`.
[[nodiscard]] Expected<WithHealth> with_health(const Topology& topology, const Metadata& metadata,
                                               const std::vector<std::string>& items);

/// "--drop A~B": what other commands take for the same.
[[nodiscard]] std::vector<std::string> as_options(const Failures& failures);

}  // namespace forestcoll::cli
