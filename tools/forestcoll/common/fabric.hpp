// The topology that a command works on: its options, how it is read, and what is asked about it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/detect_format.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/metadata.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// What a dump of a machine does not say, or is to be read as.
struct DumpOptions {
  std::string nvlink;  ///< "nvswitch=300"; empty: nothing
  std::string box;     ///< a file, or a name of `topo gen`; empty: nothing
  bool pcie_p2p = false;
};

/// --nvlink, --box and --pcie-p2p.
void add_dump_options(CLI::App& command, DumpOptions& options);

/// How topology files are read.
struct ReadingOptions {
  std::size_t max_nodes = TopologyOptions{}.max_nodes;
  bool strict = false;
  std::string quantize;  ///< GB/s, as text; empty: keep every bandwidth as it is
  DumpOptions dump;
};
void add_reading_options(CLI::App& command, ReadingOptions& options);

/// --drop, --derate and --ranks.
void add_failure_options(CLI::App& command, Failures& failures);

/// The options for the parser and the importer, with the file of `--box` read. Errors: S03 where
/// `--quantize` is no positive number, I08 where `--nvlink` says nothing, those of reading.
[[nodiscard]] Expected<Reading> reading_of(const ReadingOptions& options);

/// Reads and checks one file; `path` may be "-". A topology without a name gets the file's, without
/// its extension, or "topology". `metadata`, if asked for, is set as `parse_any` does.
[[nodiscard]] Expected<ParsedTopology> read_topology(const std::string& path,
                                                     const Reading& reading, const Console& console,
                                                     Metadata* metadata = nullptr);

/// A fabric, ready to be compiled for, and what is to be said of how it was read. The GPU is that
/// of the fabric as the file has it.
struct Fabric : forestcoll::Fabric {
  Diagnostics warnings;
  std::vector<std::string> notes;  ///< what was inferred when it was read
  Ratio quantize_change;
  std::vector<std::string> changes;  ///< what --drop, --derate and --ranks did
};
/// Errors: those of the file, E14, and those of `degrade`.
[[nodiscard]] Expected<Fabric> load_fabric(const std::string& path, const ReadingOptions& options,
                                           const Failures& failures, const Console& console);

/// Prints the warnings of the file, and what was inferred.
void report_parsed(const ParsedTopology& parsed, const Console& console);

/// Prints the warnings of the file, what was inferred, and what `--quantize`, `--drop`, `--derate`
/// and `--ranks` changed.
void report_reading(const Fabric& fabric, const ReadingOptions& options, const Console& console);

/// The rank that `text` names: the id of a compute node, or else a rank. Error S02.
[[nodiscard]] Expected<Rank> find_rank(const Topology& topology, const std::string& text);

/// The root of a collective as the command line has it: `text` is empty where there was no
/// `--root`. Error S02 where a rooted collective has none or another has one.
[[nodiscard]] Expected<std::optional<Rank>> find_root(const Topology& topology,
                                                      Collective collective,
                                                      const std::string& text);

}  // namespace forestcoll::cli
