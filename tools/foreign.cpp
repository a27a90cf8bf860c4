#include "foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace forestcoll::cli {
namespace {

// What is apart in an imported file is so in its source: other options may join it.
Diagnostics with_import_remedies(Diagnostics errors) {
  for (Diagnostic& error : errors) {
    if (error.code != "E08" && error.code != "E09") continue;
    error.remedy =
        "Nothing that the file describes joins them. Of a machine, --pcie-p2p takes the PCIe for a "
        "way between its GPUs, and --fabric single joins all NICs; else mend the source.";
  }
  return errors;
}

// What the importer found, left out and guessed.
Diagnostics import_warnings(const Imported& imported, const std::string& file) {
  Diagnostics warnings = imported.warnings;
  const Diagnostics report = report_findings(imported.report, warnings, file);
  warnings.insert(warnings.end(), report.begin(), report.end());
  return warnings;
}

bool is_unknown_xml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

Diagnostic unknown_xml(const std::string& file) {
  return {.code = "I01",
          .severity = Severity::error,
          .kind = ErrorKind::input,
          .file = file,
          .where = "",
          .message = "this is XML, but not NCCL's, hwloc's or GraphML",
          .remedy = "`forestcoll topo import --help` lists what can be read."};
}

}  // namespace

Expected<CheckedImport> import_checked(Source source, std::string_view text,
                                       const std::string& file, const ImportOptions& options,
                                       const TopologyOptions& parser) {
  auto imported = import_topology(source, text, file, options);
  if (!imported) return imported.errors();
  std::string json = to_topology_json(imported->document);
  auto parsed = parse_topology(json, file + " (imported)", parser);
  if (!parsed) {
    Diagnostics errors = with_import_remedies(parsed.errors());
    const Diagnostics all = import_warnings(*imported, file);
    errors.insert(errors.end(), all.begin(), all.end());
    return errors;
  }
  return CheckedImport{
      .imported = *std::move(imported), .text = std::move(json), .parsed = *std::move(parsed)};
}

Expected<ParsedTopology> parse_any(std::string_view text, const std::string& file,
                                   const TopologyOptions& parser, Metadata* metadata) {
  const auto source = detect_source(text);
  if (!source) {
    if (is_unknown_xml(text)) return unknown_xml(file);
    if (metadata != nullptr) *metadata = metadata_of(text);
    return parse_topology(text, file, parser);
  }
  auto imported = import_checked(*source, text, file, {}, parser);
  if (!imported) {
    Diagnostics errors = imported.errors();
    for (Diagnostic& error : errors) {
      const bool has_option = error.code == "I04" || error.code == "I05" || error.code == "I07";
      if (!has_option) continue;
      error.remedy += fmt::format(" These are options of `forestcoll topo import {} FILE`.",
                                  info_of(*source).name);
    }
    return errors;
  }
  if (metadata != nullptr) *metadata = metadata_of(imported->text);
  ParsedTopology parsed = std::move(imported->parsed);
  const Diagnostics warnings = import_warnings(imported->imported, file);
  parsed.warnings.insert(parsed.warnings.begin(), warnings.begin(), warnings.end());
  return parsed;
}

}  // namespace forestcoll::cli
