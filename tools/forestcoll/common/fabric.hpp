// The topology that a command works on: its options, how it is read, and what is asked about it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/files/detect_format.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

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

/// How topology files are read.
struct ReadingOptions {
  std::size_t max_nodes = TopologyOptions{}.max_nodes;
  bool strict = false;
  std::string quantize;  ///< GB/s, as text; empty: keep every bandwidth as it is
  DumpOptions dump;
};
void add_reading_options(CLI::App& command, ReadingOptions& options);

/// --drop, --derate, --ranks, --members, --relays and --no-relays.
void add_failure_options(CLI::App& command, Failures& failures);

/// --latency, of commands that give times.
void add_latency_option(CLI::App& command, Failures& failures);

/// The options for the parser and the importer, with the file of `--box` read. Errors: S03 where
/// `--quantize` is no positive number, I08 where `--nvlink` says nothing, those of reading.
[[nodiscard]] Expected<Reading> reading_of(const ReadingOptions& options);

/// Reads and checks one file; `path` may be "-". A topology without a name gets the file's, without
/// its extension, or "topology". `metadata`, if asked for, is set as `parse_any` does.
[[nodiscard]] Expected<ParsedTopology> read_topology(const std::string& path,
                                                     const Reading& reading, const Console& console,
                                                     Metadata* metadata = nullptr);

/// A process group with the GPUs outside of it as relays, where they are left out or only some
/// relay, or without them where they do.
struct GroupBeside {
  Topology topology;
  bool relays = false;
  bool chosen = false;  ///< the user's own choice, for formats that can say who relays
};

/// What is to be said of how a topology was read.
struct ReadingNotes {
  Diagnostics warnings;
  std::vector<std::string> notes;  ///< what was inferred
  Ratio quantize_change;
  std::vector<std::string> changes;  ///< what --drop, --derate, --ranks and --members did
  /// The fabric without what --drop and --derate did; none where they were not given.
  std::optional<Topology> before = {};
  /// The same process group the other way; none where all GPUs take part, or it is not connected.
  std::optional<GroupBeside> beside = {};
};

/// A topology as the options leave it. The GPU is that of the fabric as the file has it.
struct LoadedTopology : ReadingNotes {
  Topology topology;
  ChosenGpu gpu;
};
/// Errors: those of the file and of `degrade`.
[[nodiscard]] Expected<LoadedTopology> load_topology(const std::string& path,
                                                     const ReadingOptions& options,
                                                     const Failures& failures,
                                                     const Console& console);

/// The same, ready to be compiled for.
struct Fabric : forestcoll::Fabric, ReadingNotes {
  /// Set by `divide_limits`: the optimum on `links()` of the collective that the network is a part
  /// for, with the lengths that prove it, without shares and loads.
  std::optional<JointOptimum> optimum = {};
};
/// Errors: those of `load_topology`, E14.
[[nodiscard]] Expected<Fabric> load_fabric(const std::string& path, const ReadingOptions& options,
                                           const Failures& failures, const Console& console);

/// The fabric without what --drop and --derate did; none where they were not given. Errors: E14.
[[nodiscard]] Expected<std::optional<Fabric>> fabric_before(const Fabric& fabric);

/// The fabric as programs find it, which run on the ranks alone: without relays. Errors: those of
/// `degrade`, where the ranks do not reach one another so; their remedy names other formats.
[[nodiscard]] Expected<Fabric> members_alone(Fabric fabric);

/// Prints the warnings of the file, and what was inferred.
void report_parsed(const ParsedTopology& parsed, const Console& console);

/// Prints the warnings of the file, what was inferred, and what `--quantize`, `--drop`, `--derate`,
/// `--ranks` and `--members` changed.
void report_reading(const ReadingNotes& read, const ReadingOptions& options,
                    const Console& console);

/// The rank that `text` names: the id of a compute node, or else a rank. Error S02.
[[nodiscard]] Expected<Rank> find_rank(const Topology& topology, const std::string& text);
/// The rank in `other` of the GPU with this one's id, which has another where some are left out.
[[nodiscard]] Expected<Rank> same_rank(const Topology& topology, Rank rank, const Topology& other);

/// The root of a collective as the command line has it: `text` is empty where there was no
/// `--root`. Error S02 where a rooted collective has none or another has one.
[[nodiscard]] Expected<std::optional<Rank>> find_root(const Topology& topology,
                                                      Collective collective,
                                                      const std::string& text);

}  // namespace forestcoll::cli
