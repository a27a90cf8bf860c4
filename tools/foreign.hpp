// Topologies from files of any format that is known.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/metadata.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// An import, and the topology that its document describes.
struct CheckedImport {
  Imported imported;
  std::string text;  ///< the topology file
  ParsedTopology parsed;
};

/// Imports a text and checks the result as a topology file is checked. `file` is for messages.
[[nodiscard]] Expected<CheckedImport> import_checked(Source source, std::string_view text,
                                                     const std::string& file,
                                                     const ImportOptions& options,
                                                     const TopologyOptions& parser);

/// Parses a topology file, or imports a file of another format, which its content tells. What was
/// guessed and left out becomes warnings (I23, I24). `metadata`, if asked for, is set to what
/// `metadata_of` finds in the topology file, or in the one that the import makes.
[[nodiscard]] Expected<ParsedTopology> parse_any(std::string_view text, const std::string& file,
                                                 const TopologyOptions& parser,
                                                 Metadata* metadata = nullptr);

}  // namespace forestcoll::cli
