#include "common/files/detect_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/report/flags.hpp"
#include "common/report/report.hpp"
#include "forestcoll/bottleneck.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/setting.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

struct Optimum {
  Ratio algbw;        ///< GB/s
  std::string limit;  ///< the cut in words
};

// The best allgather over these GPUs on what is left of the fabric; nothing where nothing joins
// them, or where its figures are beyond exact arithmetic.
std::optional<Optimum> best_allgather(const Topology& topology, const std::vector<std::string>& ids,
                                      std::vector<std::string> drop) {
  const auto left =
      degrade(topology, {.drop = std::move(drop), .ranks = fmt::format("{}", fmt::join(ids, ","))});
  const auto network = left ? to_digraph(left->topology) : left.errors();
  if (!network) return std::nullopt;
  const Rate rate = optimal_rate(*network, uniform_weights(*network));
  return Optimum{
      .algbw = Ratio(static_cast<std::int64_t>(ids.size())) * network->unit / rate.inverse,
      .limit =
          in_words(find_bottleneck(*network, rate, CollectivePhase::broadcast), left->topology)};
}

// The name of the first box, with what stands between it and the ids of its nodes.
std::string first_box(const Topology& topology) {
  const auto gpu = std::ranges::find(topology.nodes, NodeType::compute, &TopologyNode::type);
  return gpu == topology.nodes.end() || gpu->box.empty() ? "" : gpu->box + "/";
}

std::vector<std::string> in_box(const std::string& box, const std::vector<std::string>& ids) {
  std::vector<std::string> whole;
  for (const std::string& id : ids) whole.push_back(box + id);
  return whole;
}

void add_cost_of_pcie(const ImportReport& report, const Topology& topology, Diagnostics& findings) {
  if (report.joined_by_pcie.empty()) return;
  const std::string box = first_box(topology);
  std::vector<std::string> all, largest;
  for (const auto& group : report.joined_by_pcie) {
    all.insert(all.end(), group.begin(), group.end());
    if (group.size() > largest.size()) largest = group;
  }
  const auto with = best_allgather(topology, in_box(box, all), {});
  if (!with) return;
  std::string& message = findings.front().message;
  message += fmt::format(". By these bandwidths an allgather over them moves {} GB/s at best ({})",
                         number(with->algbw), with->limit);
  if (largest.size() < 2) return;
  const auto without = best_allgather(topology, in_box(box, largest), {"kind=pcie"});
  if (!without) return;
  message += fmt::format("; one over {} alone, without PCIe, {} GB/s",
                         fmt::join(compress_ids(largest), ","), number(without->algbw));
}

// What is apart in an imported file is so in its source: of a machine, a network may join it.
Diagnostics apart(Diagnostics errors, Source source) {
  const bool is_machine =
      source == Source::nccl || source == Source::nvidia_smi || source == Source::hwloc;
  const std::string_view remedy =
      is_machine ? "Nothing that the file describes joins them. `fabric=single` joins all NICs of "
                   "machines; else mend the source."
                 : "Nothing that the file describes joins them: mend the source.";
  const std::array<Remedy, 2> remedies = {{{Code::E08, remedy}, {Code::E09, remedy}}};
  return with_remedies(std::move(errors), remedies);
}

Diagnostics joined(Diagnostics first, const Diagnostics& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Options of dumps that say nothing to a topology file.
Expected<void> refuse_dump_options(const ImportOptions& options, const std::string& file) {
  std::string given;
  if (options.pcie_p2p) given = "--pcie-p2p";
  if (options.nvswitch) given = "--nvlink";
  if (!options.box_text.empty()) given = "--box";
  if (given.empty()) return {};
  return make_error(Code::I08, given + ": the file is a topology already, and no dump of a machine",
                    "Leave it out, and change the file where it is wrong.", {.file = file});
}

bool is_unknown_xml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

// The format of a file is named near its beginning.
std::string_view head_of(std::string_view text) {
  constexpr std::size_t kHead = 4096;
  return text.substr(0, kHead);
}

Diagnostic unknown_xml(std::string_view text, const std::string& file) {
  if (head_of(text).find("<algo ") != std::string_view::npos) {
    return make_error(Code::S04,
                      fmt::format("{} is a schedule, where a topology is expected", file),
                      "write `forestcoll verify SCHEDULE --topology TOPOLOGY` to check it");
  }
  return make_error(Code::I01, "this is XML, but not NCCL's, hwloc's or GraphML",
                    "`forestcoll topo import --help` lists what can be read.", {.file = file});
}

// Whether a remedy names an option that `topo import` alone has.
bool names_option_of_import(std::string_view remedy) {
  constexpr std::array kOfImport = {
      Setting::bandwidths, Setting::compute,          Setting::fabric,        Setting::gpu,
      Setting::uplinks,    Setting::uplink_bandwidth, Setting::nic_bandwidth, Setting::host};
  return std::ranges::any_of(parts_of(remedy), [&](const TextPart& part) {
    const auto* mention = std::get_if<Mention>(&part);
    return mention != nullptr && std::ranges::find(kOfImport, mention->setting) != kOfImport.end();
  });
}

// The report in the words of the command line, also where the file keeps it.
void name_flags(Imported& imported) {
  ImportReport& report = imported.report;
  for (auto* sentences : {&report.understood, &report.left_out, &report.guesses}) {
    for (std::string& sentence : *sentences) sentence = with_flags(sentence);
  }
  for (auto& [key, value] : imported.document.metadata) {
    if (key.starts_with("guess ")) value = with_flags(value);
  }
}

}  // namespace

Expected<CheckedImport> import_checked(Source source, std::string_view text,
                                       const std::string& file, const Reading& reading) {
  auto imported = import_topology(source, text, file, reading.import);
  if (!imported) return imported.errors();
  name_flags(*imported);
  Diagnostics findings = report_findings(imported->report, imported->warnings, file);
  std::string json = to_topology_json(imported->document);
  auto parsed = parse_topology(json, file + " (imported)", reading.parser);
  if (!parsed) {
    return joined(joined(apart(parsed.errors(), source), imported->warnings), findings);
  }
  add_cost_of_pcie(imported->report, parsed->topology, findings);
  return CheckedImport{.imported = *std::move(imported),
                       .text = std::move(json),
                       .parsed = *std::move(parsed),
                       .findings = std::move(findings)};
}

Expected<ParsedTopology> parse_any(std::string_view text, const std::string& file,
                                   const Reading& reading, Metadata* metadata) {
  const auto source = detect_source(text);
  if (!source) {
    if (is_unknown_xml(text)) return unknown_xml(text, file);
    if (const auto done = refuse_dump_options(reading.import, file); !done) return done.errors();
    if (metadata != nullptr) *metadata = metadata_of(text);
    return parse_topology(text, file, reading.parser);
  }
  auto imported = import_checked(*source, text, file, reading);
  if (!imported) {
    Diagnostics errors = imported.errors();
    for (Diagnostic& error : errors) {
      if (!names_option_of_import(error.remedy)) continue;
      error.remedy += fmt::format(" These are options of `forestcoll topo import {} FILE`.",
                                  info_of(*source).name);
    }
    return errors;
  }
  if (metadata != nullptr) *metadata = metadata_of(imported->text);
  ParsedTopology parsed = std::move(imported->parsed);
  parsed.warnings =
      joined(joined(imported->imported.warnings, imported->findings), parsed.warnings);
  return parsed;
}

Expected<void> refuse_topology_as_schedule(std::string_view text, const std::string& file,
                                           std::string_view usage) {
  if (head_of(text).find("\"forestcoll-topology\"") == std::string_view::npos) return {};
  return make_error(Code::S04, fmt::format("{} is a topology, where a schedule is expected", file),
                    fmt::format("write `{}`", usage));
}

}  // namespace forestcoll::cli
