#include "compare/measured/overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

// Both bandwidths are printed with two decimals.
constexpr double kOverlayRoundingGbs = 0.006;

bool is_row(const RowsRequest& request, const std::string& name) {
  const auto is_name = [&](const std::string& path) { return display_name(path) == name; };
  return std::ranges::find(request.algorithms, name) != request.algorithms.end() ||
         std::ranges::any_of(request.schedules, is_name);
}

// A path may hold an equals sign too, but not after the name of a row.
std::pair<std::string, std::string> split(const RowsRequest& request, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) return {kOurs, argument};
  std::string name = argument.substr(0, equals);
  const bool is_path = !is_row(request, name) && name.find('/') != std::string::npos;
  if (is_path) return {kOurs, argument};
  return {std::move(name), argument.substr(equals + 1)};
}

Diagnostic misfit(const std::string& file, std::string where, std::string message,
                  std::string remedy) {
  return make_error(Code::N04, std::move(message), std::move(remedy), {file, std::move(where)});
}

Expected<void> refuse_heading(const MeasuredFile& measured, const RowsRequest& request,
                              std::int64_t ranks, const std::string& file) {
  const Collective collective = request.collective;
  const std::string compared =
      request.demand ? request.collective_name : std::string(to_string(collective));
  if (!measured.collective.empty() && measured.collective != compared) {
    return misfit(
        file, "",
        fmt::format("this is a run of {}, and {} is compared", measured.collective, compared),
        fmt::format("compare with -c {}", measured.collective));
  }
  if (measured.ranks && *measured.ranks != ranks) {
    return misfit(
        file, "",
        fmt::format("this is a run of {} ranks, the fabric has {}", *measured.ranks, ranks),
        "give the topology of the run, or choose its GPUs with --ranks");
  }
  if (measured.reduces && *measured.reduces != has_reduce(collective)) {
    return misfit(
        file, "",
        fmt::format("{}, and {} {}",
                    *measured.reduces ? "this run adds up (redop)"
                                      : "this run only copies (redop \"none\")",
                    to_string(collective), has_reduce(collective) ? "adds up" : "only copies"),
        "compare with the collective that was run, with -c");
  }
  return {};
}

// What nccl-tests makes of algbw tells collectives apart where they do not name themselves.
Expected<void> refuse_rows(const MeasuredFile& measured, Collective collective, std::int64_t ranks,
                           const std::string& file) {
  const double factor = busbw_factor(collective, ranks).to_double();
  for (const MeasuredColumn& column : measured.columns) {
    for (const MeasuredRow& row : column.rows) {
      const double expected = row.printed_algbw * factor;
      if (std::abs(row.printed_busbw - expected) <= kOverlayRoundingGbs * (1 + factor)) continue;
      return misfit(
          file, std::to_string(row.line),
          fmt::format("busbw {} is not that of {} over {} ranks, {:.4g} times algbw {}",
                      row.printed_busbw, to_string(collective), ranks, factor, row.printed_algbw),
          "give a run of the collective that is compared, over as many GPUs");
    }
  }
  return {};
}

// Printed with two decimals, it says nothing of slow runs.
void set_busbw(MeasuredFile& measured, double factor) {
  for (MeasuredColumn& column : measured.columns) {
    for (MeasuredRow& row : column.rows) row.time.busbw = row.time.algbw * factor;
  }
}

std::optional<double> modelled_algbw(const ComparedRow& row, double bytes) {
  const auto found = std::ranges::find(row.at_measured, bytes, &SimulatedTime::bytes);
  return found == row.at_measured.end() ? std::nullopt : std::optional(found->algbw);
}

}  // namespace

std::string measured_path(const RowsRequest& request, const std::string& argument) {
  return split(request, argument).second;
}

Expected<Overlay> read_overlay(const RowsRequest& request, std::int64_t ranks,
                               const std::string& argument) {
  const auto [name, path] = split(request, argument);
  if (!is_row(request, name)) {
    return make_error(Code::N08, fmt::format("--measured: {} is not among the algorithms", name),
                      "name one that is, as in nccl-ring=FILE");
  }
  const auto text = read_input(path);
  if (!text) return text.errors();
  const std::string file = display_name(path);
  auto measured = read_nccl_tests(*text, file);
  if (!measured) return measured.errors();
  if (const auto done = refuse_heading(*measured, request, ranks, file); !done) {
    return done.errors();
  }
  if (const auto done = refuse_rows(*measured, request.collective, ranks, file); !done) {
    return done.errors();
  }
  set_busbw(*measured, busbw_factor(request.collective, ranks).to_double());
  return Overlay{name, file, *std::move(measured)};
}

void ask_for_sizes(RowsRequest& request, const Overlay& overlay) {
  std::vector<std::int64_t>& sizes = request.measured_sizes[overlay.algorithm];
  for (const MeasuredColumn& column : overlay.measured.columns) {
    for (const MeasuredRow& row : column.rows) {
      sizes.push_back(static_cast<std::int64_t>(row.time.bytes));
    }
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
}

void add_measured(Comparison& comparison, const Overlay& overlay) {
  const ComparedRow& compared = *find_row(comparison, overlay.algorithm);
  for (const MeasuredColumn& column : overlay.measured.columns) {
    MeasuredRun run{overlay.file, column.placement, overlay.algorithm, overlay.measured.origin, {}};
    for (const MeasuredRow& row : column.rows) {
      run.times.push_back({row.time, row.wrong, modelled_algbw(compared, row.time.bytes)});
    }
    if (!run.times.empty()) comparison.measured.push_back(std::move(run));
  }
}

}  // namespace forestcoll::cli
