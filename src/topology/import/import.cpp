// The file of another tool: text to the reader of its source, what that makes of it to a topology
// document.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "forestcoll/text.hpp"
#include "topology/format/text_encoding.hpp"
#include "topology/format/units.hpp"
#include "topology/import/build_cluster.hpp"
#include "topology/import/complete.hpp"
#include "topology/import/notes.hpp"
#include "topology/import/option_use.hpp"
#include "topology/readers/csv_rows.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll {
namespace {

using importing::Context;
using importing::Findings;

template <class Read>
std::optional<TopologyDocument> from_machines(const Context& context, Read read,
                                              Findings& box_findings) {
  auto machines = read(context);
  if (!machines || !importing::complete(context, *machines, box_findings)) return std::nullopt;
  return importing::build_cluster(context, *machines);
}

bool refuse_growing(const Context& context) {
  // A spec of OptCCL's is one node, and rails are all that it knows between several.
  if (context.source == Source::optccl && context.options.boxes > 0 &&
      context.options.boxes <= importing::kMaxHosts &&
      (context.options.fabric.empty() || context.options.fabric == "rail")) {
    return true;
  }
  if (context.options.boxes == 1 && context.options.fabric.empty()) return true;
  context.findings.error(Code::I08, "",
                         "`boxes` and `fabric`: the file is a whole fabric, not a box",
                         "Leave them out.");
  return false;
}

template <class Read>
std::optional<TopologyDocument> from_graph(const Context& context, Read read) {
  if (!refuse_growing(context)) return std::nullopt;
  const auto graph = read(context);
  if (!graph) return std::nullopt;
  const auto gpus =
      std::ranges::count(graph->nodes, NodeType::compute, &importing::GraphNode::type);
  const auto count = static_cast<std::size_t>(gpus);
  if (count < 2 || graph->links.empty()) {
    context.report.left_apart = count >= 2;
    context.findings.error(
        count < 2 ? Code::I06 : Code::I07, "",
        fmt::format("the file has {}, {} and {}, and a fabric has two GPUs and a "
                    "link at least",
                    counted(count, "GPU"), counted(graph->nodes.size() - count, "switch"),
                    counted(graph->links.size(), "link")),
        "Is it complete? Of nodes without a type, `compute=PATTERN` names the "
        "GPUs.");
    return std::nullopt;
  }
  context.report.understood.push_back(counted(count, "GPU"));
  context.report.understood.push_back(counted(graph->nodes.size() - count, "switch"));
  context.report.understood.push_back(counted(graph->links.size(), "link"));
  TopologyDocument document = importing::to_document(*graph);
  importing::add_notes(context.report, document);
  return document;
}

template <class Read>
std::optional<TopologyDocument> from_network(const Context& context, Read read,
                                             Findings& box_findings) {
  const auto network = read(context);
  if (!network) return std::nullopt;
  return importing::join_cluster(context, *network, box_findings);
}

std::optional<TopologyDocument> refuse_rings(const Context& context) {
  context.findings.error(Code::I08, "",
                         "NCCL's graph file says which rings NCCL uses, not what the "
                         "fabric is",
                         "Import the topology that NCCL dumps with NCCL_TOPO_DUMP_FILE.");
  return std::nullopt;
}

std::optional<TopologyDocument> read(const Context& context, Findings& box_findings) {
  using namespace importing;
  if (!check_options(context)) return std::nullopt;
  switch (context.source) {
    case Source::nccl:
      return from_machines(context, read_nccl, box_findings);
    case Source::nccl_graph:
      return refuse_rings(context);
    case Source::nvidia_smi:
      return from_machines(context, read_nvidia_smi, box_findings);
    case Source::hwloc:
      return from_machines(context, read_hwloc, box_findings);
    case Source::ibnetdiscover:
      return from_network(context, read_ibnetdiscover, box_findings);
    case Source::slurm:
      return from_network(context, read_slurm, box_findings);
    case Source::astra_sim:
      return from_graph(context, read_astra_sim);
    case Source::simai:
      return from_graph(context, read_simai);
    case Source::sccl:
      return from_graph(context, read_sccl);
    case Source::optccl:
      return from_graph(context, read_optccl);
    case Source::node_link:
      return from_graph(context, read_node_link);
    case Source::json_graph:
      return from_graph(context, read_json_graph);
    case Source::graphml:
      return from_graph(context, read_graphml);
    case Source::dot:
      return from_graph(context, read_dot);
    case Source::csv:
      return from_graph(context, read_csv);
  }
  return std::nullopt;
}

Diagnostics joined(Diagnostics first, const Diagnostics& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

Diagnostics report_findings(const ImportReport& report, const Diagnostics& told,
                            std::string_view file) {
  Diagnostics findings;
  const auto add = [&](Code code, std::string message, std::string remedy) {
    findings.push_back({.code = code,
                        .severity = Severity::warning,
                        .kind = ErrorKind::input,
                        .file = std::string(file),
                        .where = "",
                        .message = std::move(message),
                        .remedy = std::move(remedy)});
  };
  const std::string correct =
      "Where that is wrong, correct the file that `import_topology()` writes.";
  if (const auto& groups = report.joined_by_pcie; !groups.empty()) {
    const bool none = std::ranges::all_of(groups, [](const auto& g) { return g.size() == 1; });
    const bool expected = !report.nvlink_expected.empty();
    add(Code::I25,
        importing::pcie_in_words(groups) +
            (expected ? fmt::format("; but {}", report.nvlink_expected) : ""),
        fmt::format("Where they have other links, dump the topology where these are seen{}.",
                    none ? ", or give them: " +
                               importing::links_to_give(report.nvlink_bandwidth, report.nvlink_box)
                         : ""));
  }
  for (const std::string& what : report.left_out) {
    const std::string message = "left out: " + what;
    if (std::ranges::find(told, message, &Diagnostic::message) == told.end())
      add(Code::I24, message, correct);
  }
  for (const std::string& guess : report.guesses) add(Code::I23, "guessed: " + guess, correct);
  return findings;
}

Expected<void> check_text(std::string_view text, std::string_view file) {
  Findings findings(file);
  if (topology::check_encoding(topology::without_byte_order_mark(text), findings)) return {};
  return findings.all();
}

Expected<Imported> import_topology(Source source, std::string_view given, std::string_view file,
                                   const ImportOptions& options) {
  const std::string_view text = topology::without_byte_order_mark(given);
  Findings findings(file), box_findings(options.box_file);
  Imported result;
  const Context context{.text = text,
                        .source = source,
                        .options = options,
                        .findings = findings,
                        .report = result.report};
  if (!topology::check_encoding(text, findings)) return findings.all();
  auto document = read(context, box_findings);
  if (!document || findings.has_errors() || box_findings.has_errors()) {
    const Diagnostics told = joined(findings.all(), box_findings.all());
    // What was left out may be why nothing joins the GPUs.
    return result.report.left_apart ? joined(told, report_findings(result.report, told, file))
                                    : told;
  }
  result.document = *std::move(document);
  if (result.document.description.empty()) {
    // Without what the importer needs: "the output of ibnetdiscover; needs --box".
    const std::string_view whole = info_of(source).description;
    result.document.description =
        fmt::format("Imported from {}. Links without a latency count with a typical one.",
                    whole.substr(0, whole.find(';')));
  }
  result.warnings = joined(findings.warnings(), box_findings.warnings());
  return result;
}

Expected<std::vector<std::pair<std::string, Ratio>>> read_bandwidths(std::string_view given,
                                                                     std::string_view file) {
  const std::string_view text = topology::without_byte_order_mark(given);
  Findings findings(file);
  if (!topology::check_encoding(text, findings)) return findings.all();
  const auto rows = importing::csv_rows(text);
  if (!rows) {
    findings.error(Code::I02, "", "a field in quotation marks does not end",
                   "Is the file cut off?");
    return findings.all();
  }
  static constexpr std::string_view kKinds[] = {
      "nvlink", "xgmi", "c2c", "pcie", "cpu", importing::kHostBridge, "nic", "link"};
  std::vector<std::pair<std::string, Ratio>> bandwidths;
  std::set<std::string> seen;
  for (const importing::CsvRow& row : *rows) {
    const std::string where = topology::line_and_column(text, row.offset);
    if (row.fields.size() != 2) {
      findings.error(Code::I02, where, "expected a line such as nvlink,25",
                     "Give a kind of link and its GB/s in each line.");
      continue;
    }
    if (row.offset == rows->front().offset && row.fields[0] == "kind") continue;  // a header
    const bool again = !seen.insert(row.fields[0]).second;
    const auto bandwidth =
        topology::parse_quantity(topology::Quantity::bandwidth, row.fields[1], Ratio(1));
    if (std::ranges::find(kKinds, row.fields[0]) == std::end(kKinds)) {
      findings.error(Code::I03, where,
                     fmt::format("unknown kind of link {}", topology::quote(row.fields[0])),
                     fmt::format("The kinds are {}.", fmt::join(kKinds, ", ")));
    } else if (again) {
      findings.error(Code::I03, where,
                     fmt::format("a second bandwidth of {}", topology::quote(row.fields[0])),
                     "Give each kind of link one.");
    } else if (!bandwidth || *bandwidth <= Ratio(0)) {
      findings.error(
          Code::I03, where,
          fmt::format("expected a bandwidth in GB/s, found {}", topology::quote(row.fields[1])),
          "Write a number such as 25, or a text such as 200 Gb/s.");
    } else {
      bandwidths.emplace_back(row.fields[0], *bandwidth);
    }
  }
  if (findings.has_errors()) return findings.all();
  return bandwidths;
}

}  // namespace forestcoll
