// Topologies from what people have: dumps of machines, cluster files, graphs of other tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

enum class Source {
  nccl,           ///< NCCL's or RCCL's topology XML (NCCL_TOPO_DUMP_FILE): one machine
  nccl_graph,     ///< NCCL's graph XML (NCCL_GRAPH_DUMP_FILE): rings, not a topology
  nvidia_smi,     ///< the matrix of `nvidia-smi topo -m`: one machine
  hwloc,          ///< `lstopo --of xml` with NVLink or xGMI distances: one machine
  ibnetdiscover,  ///< the InfiniBand fabric between machines
  slurm,          ///< Slurm's topology.conf: the switches between machines
  astra_sim,      ///< ASTRA-sim's analytical network, YAML
  simai,          ///< an edge list of ns-3 or SimAI
  sccl,           ///< a topology of SCCL or msccl-tools, JSON
  optccl,         ///< a topology spec of OptCCL, JSON: one node, joined by rails
  node_link,      ///< networkx node-link JSON
  json_graph,     ///< JSON Graph Format
  graphml,
  dot,
  csv,  ///< a list of links with a header line
};

struct SourceInfo {
  Source source;
  std::string_view name;         ///< for the command line: "nccl"
  std::string_view description;  ///< for people
};
[[nodiscard]] std::span<const SourceInfo> import_sources();
[[nodiscard]] const SourceInfo& info_of(Source source);
[[nodiscard]] std::optional<Source> find_source(std::string_view name);

/// E01 where the file is no text in UTF-8, such as one in UTF-16; a byte-order mark of UTF-8 may
/// stand before what is imported. Cost: linear in the text.
[[nodiscard]] Expected<void> check_text(std::string_view text, std::string_view file);

/// What a text is, by its content. Nothing for a forestcoll topology file, and for what is not
/// recognised. Cost: linear in the text at worst.
[[nodiscard]] std::optional<Source> detect_source(std::string_view text);

/// Whose bandwidth a link of a known generation gets where the file gives none.
enum class LinkConstants {
  by_source,  ///< NCCL's for NCCL's files, the vendor's for the others
  nominal,    ///< the vendor's figure
  nccl,       ///< the constant that NCCL and RCCL plan with, what a link achieves
};

struct ImportOptions {
  LinkConstants constants = LinkConstants::by_source;
  /// GB/s of a single link by kind (nvlink, xgmi, c2c, pcie, cpu, nic, link); they overrule the
  /// file and the constants. Of host-bridge: what the devices behind a PCIe host bridge share up to
  /// the CPU, which no file says, and which is not limited without.
  std::vector<std::pair<std::string, Ratio>> bandwidths = {};
  std::string gpu = {};                     ///< the GPU's model, where a file does not say it
  std::optional<Ratio> nic_bandwidth = {};  ///< GB/s, for NICs whose speed the file does not say
  bool split_nvswitch = false;              ///< a node per NVSwitch, not one per machine
  /// GPUs may reach each other through PCIe and CPUs beside NVLink and xGMI too. Where those do not
  /// join all GPUs of a machine, PCIe and CPUs do so in any case.
  bool pcie_p2p = false;
  std::optional<Ratio> nvswitch = {};  ///< GB/s of a GPU to the NVSwitches, of files without links
  std::string host = {};               ///< what boxes are called; empty: box0, box1, …
  std::size_t boxes = 1;               ///< so many machines like the one of the file
  std::string fabric = {};             ///< rail, single, odd-even, fat-tree:BOXES[:RATIO]
  std::string compute = {};            ///< which nodes are GPUs, which hosts boxes: * and ?
  /// What one machine has, and its name for messages: the dump of one, for cluster files; a dump or
  /// a topology file, for files of machines without the links of the GPUs, or without GPUs.
  std::string box_text = {}, box_file = {};
  std::size_t uplinks = 1;                     ///< Slurm: links between two switches
  std::optional<Ratio> uplink_bandwidth = {};  ///< Slurm: GB/s of one of them
};

/// What the importer made of a file, in sentences.
struct ImportReport {
  std::vector<std::string> understood;  ///< GPUs, links by kind, NICs
  std::vector<std::string> left_out;    ///< and why
  std::vector<std::string> guesses;     ///< what the file does not say, and what was taken instead
  /// Groups of a box's GPUs, by their ids there, that PCIe and CPUs join for want of other links;
  /// those of a group are joined without. Empty: there are none such.
  std::vector<std::vector<std::string>> joined_by_pcie;
  bool left_apart = false;  ///< nothing joins the GPUs (I07)
  /// Why that is doubtful, GPUs of this model having NVLink; and the name of a generator
  /// (`generators`) that has such GPUs. Empty: nothing tells.
  std::string nvlink_expected, nvlink_box;
  std::optional<Ratio> nvlink_bandwidth;  ///< GB/s of all links of such a GPU; none: not known
};

struct Imported {
  TopologyDocument document;  ///< `to_topology_json` makes the topology file
  ImportReport report;
  /// I21 a doubtful figure or a link that is left out, I22 links that differ by direction, W05.
  Diagnostics warnings;
};

/// The report as warnings, for those who get no report: first I25 where PCIe and CPUs join the
/// GPUs, then I24 what was left out, unless `told` has a finding that says so, and I23 guesses.
[[nodiscard]] Diagnostics report_findings(const ImportReport& report, const Diagnostics& told,
                                          std::string_view file);

/// Reads a file of another format. `file` is the name that diagnostics carry.
/// Errors: E01 not text; I01 not a file of this source; I02 malformed or incomplete; I03 a value
/// that is not what belongs there; I04 an unknown generation of hardware; I05 something that the
/// file does not say and an option must; I06 no GPUs; I07 nothing joins the GPUs; I08 an option
/// that does not fit; I09 too large; after them the warnings, and with I07 what was left out
/// and guessed. `parse_topology` of the document finds what is left.
/// Cost: O(text + links × log links); for matrices, of the size of the matrix.
[[nodiscard]] Expected<Imported> import_topology(Source source, std::string_view text,
                                                 std::string_view file,
                                                 const ImportOptions& options = {});

/// Reads a CSV of bandwidths by kind of link: lines `kind,bandwidth`, in GB/s or with a unit.
/// Errors: I02, I03.
[[nodiscard]] Expected<std::vector<std::pair<std::string, Ratio>>> read_bandwidths(
    std::string_view text, std::string_view file);

/// One channel of a graph: the devices that it visits, in order.
struct NcclChannel {
  std::vector<std::int64_t> gpus;
  std::optional<std::int64_t> net_in, net_out;  ///< the NICs before and after them
};

/// What NCCL chose for one algorithm.
struct NcclGraph {
  std::int64_t id = 0;                     ///< 0 ring, 1 tree, 2 collnet, 3 NVLS
  std::int64_t pattern = 0;                ///< 4: a ring
  Ratio speed_intra = 0, speed_inter = 0;  ///< GB/s per channel
  bool pxn = false;                        ///< GPUs reach NICs through the GPUs beside these
  std::vector<NcclChannel> channels = {};
  std::string file = {};  ///< as the user named it
};

/// Reads NCCL's graph XML. Errors: E01, I01, I02, I03.
[[nodiscard]] Expected<std::vector<NcclGraph>> read_nccl_graph(std::string_view text,
                                                               std::string_view file);

}  // namespace forestcoll
