// Topologies from files of any format that is known.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {

/// An import, and the topology that its document describes.
struct CheckedImport {
  Imported imported;
  std::string text;  ///< the topology file
  ParsedTopology parsed;
  Diagnostics findings;  ///< of the import: what was left out, guessed and joined by PCIe
};

/// How a file is read, by the options of the command.
struct Reading {
  TopologyOptions parser = {};
  ImportOptions import = {};  ///< where the file is of another format
};

/// Imports a text and checks the result as a topology file is checked. `file` is for messages.
[[nodiscard]] Expected<CheckedImport> import_checked(Source source, std::string_view text,
                                                     const std::string& file,
                                                     const Reading& reading);

/// S04 where `text`, read in place of a schedule, is a topology file: the arguments of a command
/// were exchanged. `usage` is how they are written.
[[nodiscard]] Expected<void> refuse_topology_as_schedule(std::string_view text,
                                                         const std::string& file,
                                                         std::string_view usage);

/// Parses a topology file, or imports a file of another format, which its content tells. What was
/// guessed, left out and joined by PCIe becomes warnings (I23, I24, I25). `metadata`, if asked for,
/// is set to what `metadata_of` finds in the topology file, or in the one that the import makes.
/// Error I08: `reading` has options for dumps, and the file is a topology file.
[[nodiscard]] Expected<ParsedTopology> parse_any(std::string_view text, const std::string& file,
                                                 const Reading& reading,
                                                 Metadata* metadata = nullptr);

}  // namespace forestcoll::cli
