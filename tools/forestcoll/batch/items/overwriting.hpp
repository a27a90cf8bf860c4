// No file of a batch takes the place of another.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

/// What a batch reads and writes. Empty paths and "-" are no files.
struct FilesOfBatch {
  std::vector<std::string> inputs;   ///< topologies, a manifest, reports of shards
  std::vector<std::string> outputs;  ///< and their records
  std::string directory;             ///< of outputs; reports and locks go there as well
  std::string report;                ///< the reports' name, without extension
  std::string junit;
  std::string baseline;  ///< may be the report of the last run, which this one replaces
};

/// S04: a report would replace an input or an output, or an output an input. Paths are the same
/// where they are after links were followed. Cost: n log n in the number of files.
[[nodiscard]] Expected<void> refuse_overwriting(const FilesOfBatch& files);

}  // namespace forestcoll::cli::batch
