#include "topo/import_health.hpp"

#include <filesystem>
#include <utility>

#include "common/files/io.hpp"
#include "forestcoll/convert.hpp"

namespace forestcoll::cli {
namespace {

// What a dump takes away may be too much.
Diagnostics of_dump(Diagnostics errors, const std::string& file) {
  for (Diagnostic& error : errors) error.file = file;
  return errors;
}

}  // namespace

HealthFile health_file(const std::string& item) {
  std::error_code error;
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos || std::filesystem::exists(item, error)) return {"", item};
  return {item.substr(0, equals), item.substr(equals + 1)};
}

std::vector<NamedFile> health_files(const std::vector<std::string>& items) {
  std::vector<NamedFile> files;
  for (const std::string& item : items) files.push_back({"--health file", health_file(item).file});
  return files;
}

Expected<WithHealth> with_health(const Topology& topology, const Metadata& metadata,
                                 const std::vector<std::string>& items) {
  WithHealth result{.left = {topology, {}}};
  for (const std::string& item : items) {
    const auto [gpus, file] = health_file(item);
    const auto text = read_input(file);
    if (!text) return text.errors();
    // Two tools may tell of one failure: each looks at what the others have left.
    auto report = read_health(result.left.topology, *text, display_name(file), gpus);
    if (!report) return report.errors();
    if (!report->failures.empty()) {
      auto left = degrade(result.left.topology, report->failures);
      if (!left) return of_dump(left.errors(), display_name(file));
      result.left.topology = std::move(left->topology);
      for (std::string& change : left->changes) result.left.changes.push_back(std::move(change));
      for (Diagnostic& each : left->warnings) result.left.warnings.push_back(std::move(each));
    }
    result.reports.push_back(*std::move(report));
  }
  result.text = convert(result.left.topology, GraphFormat::topology, metadata).text;
  return result;
}

std::vector<std::string> as_options(const Failures& failures) {
  std::vector<std::string> options;
  for (const std::string& item : failures.drop) options.push_back("--drop " + item);
  for (const std::string& item : failures.derate) options.push_back("--derate " + item);
  return options;
}

}  // namespace forestcoll::cli
