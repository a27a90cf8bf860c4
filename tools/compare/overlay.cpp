#include "compare/overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compare/measured.hpp"
#include "io.hpp"
#include "report.hpp"

namespace forestcoll::cli {
namespace {

// A path may hold an equals sign too: only the name of a row is taken for one.
std::pair<std::string, std::string> split(const Comparison& comparison,
                                          const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals != std::string::npos) {
    std::string name = argument.substr(0, equals);
    if (find_row(comparison, name) != nullptr) return {name, argument.substr(equals + 1)};
  }
  return {ours, argument};
}

// Time is nearly linear in size between neighbouring sizes.
std::optional<double> modelled_algbw(const std::vector<SimulatedTime>& times, double bytes) {
  const auto above =
      std::ranges::find_if(times, [&](const SimulatedTime& time) { return time.bytes >= bytes; });
  if (above == times.end()) return std::nullopt;
  if (above->bytes == bytes) return above->algbw;
  if (above == times.begin()) return std::nullopt;
  const SimulatedTime& low = *(above - 1);
  const double share = (bytes - low.bytes) / (above->bytes - low.bytes);
  return bytes / (low.seconds + share * (above->seconds - low.seconds)) * 1e-9;
}

Diagnostic misfit(const std::string& file, std::string message, std::string remedy) {
  Diagnostic error = usage_error("N04", std::move(message), std::move(remedy));
  error.file = file;
  return error;
}

std::optional<Diagnostic> refuse(const MeasuredFile& measured, const Comparison& comparison,
                                 const std::string& file) {
  if (measured.collective && *measured.collective != comparison.collective) {
    return misfit(file,
                  fmt::format("this is a run of {}, and {} is compared",
                              to_string(*measured.collective), to_string(comparison.collective)),
                  fmt::format("compare with -c {}", to_string(*measured.collective)));
  }
  const auto ranks = static_cast<std::int64_t>(comparison.fabric->topology.ranks.size());
  if (measured.ranks && *measured.ranks != ranks) {
    return misfit(
        file, fmt::format("this is a run of {} ranks, the fabric has {}", *measured.ranks, ranks),
        "give the topology of the run, or choose its GPUs with --ranks");
  }
  return std::nullopt;
}

}  // namespace

Diagnostics add_measured(Comparison& comparison, const std::string& argument) {
  const auto [name, path] = split(comparison, argument);
  const ComparedRow* row = find_row(comparison, name);
  if (row == nullptr) {
    return {usage_error("N08", fmt::format("--measured: {} is not among the algorithms", name),
                        "name one that is, as in nccl-ring=FILE")};
  }
  const auto text = read_input(path);
  if (!text) return text.errors();
  const std::string file = display_name(path);
  auto measured = read_nccl_tests(*text, file);
  if (!measured) return measured.errors();
  if (auto error = refuse(*measured, comparison, file)) return {*std::move(error)};
  for (const MeasuredColumn& column : measured->columns) {
    MeasuredRun run{file, column.placement, name, {}};
    for (const SimulatedTime& time : column.times) {
      run.times.push_back({time, modelled_algbw(row->times, time.bytes)});
    }
    if (!run.times.empty()) comparison.measured.push_back(std::move(run));
  }
  return std::move(measured->warnings);
}

}  // namespace forestcoll::cli
