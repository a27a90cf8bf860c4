#include "compare/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/report/allreduce_report.hpp"
#include "common/report/alltoall_report.hpp"
#include "common/report/flags.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/report.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {

std::string reached_name(const std::string& target) {
  return target == LowerOptions().target ? kReachedName
                                         : fmt::format("reached by synth, for {}", target);
}
namespace {

// Trailing zeros say nothing.
std::string with_one_decimal(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

// Three significant digits, as a plain number.
std::string three_digits(double value) {
  const int before = value < 1 ? 1 : 1 + static_cast<int>(std::floor(std::log10(value)));
  return fmt::format("{:.{}f}", value, before >= 3 ? 0 : 3 - before);
}

// Of all links and limits, of which the network has parts alone.
std::string lengths_in_words(const Fabric& fabric) {
  constexpr std::size_t kMost = 3;
  const auto lines = in_words(*fabric.optimum, fabric.topology, fabric.links());
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, lines.size()); ++i) {
    text += (i == 0 ? "" : "; ") + lines[i];
  }
  return text + (lines.size() > kMost ? fmt::format("; and {} more", lines.size() - kMost) : "");
}

}  // namespace

std::string in_words(Simulated kind) {
  switch (kind) {
    case Simulated::trees:
      return "trees without threadblocks";
    case Simulated::flows:
      return "flows without threadblocks";
    case Simulated::program:
      break;
  }
  return "programs of threadblocks";
}

std::string simulated(Simulated kind) {
  if (kind == Simulated::flows) return "flows";
  return kind == Simulated::trees ? "trees" : "program";
}

std::string optimum_name(const Comparison& comparison) {
  const auto& optimum = comparison.figures.rates.optimum;
  if (comparison.alltoall && optimum && !optimum->is_exact()) return "limit of alltoall (proved)";
  if (comparison.allreduce() == nullptr) return optimum ? "optimum (proved)" : kByTreesName;
  if (!optimum) return kTwoPhasesName;
  return optimum->is_exact() ? "optimum of allreduce (proved)" : "limit of allreduce (proved)";
}

std::string fraction_title(const Comparison& comparison) {
  if (comparison.figures.rates.optimum) return "of optimum";
  return comparison.allreduce() == nullptr ? "of trees" : "of two phases";
}

std::string optimum_in_words(const Comparison& comparison) {
  const AllreduceFigures* known = comparison.allreduce();
  const auto& optimum = comparison.figures.rates.optimum;
  if (known == nullptr && !optimum) {
    return fmt::format("optimum of {}: {}", comparison.collective_name, in_words(optimum));
  }
  if (known == nullptr || !known->two_phases) return "";
  std::string line = in_words(known->by_trees, *known->two_phases);
  if (known->in_network) {
    line += in_network_in_words(*known->in_network, known->by_trees, *known->two_phases);
  }
  line.pop_back();  // the end of the last line
  if (!optimum) {
    line += fmt::format(
        "; {} GB/s is the optimum of reduce-scatter, then allgather, which both at "
        "once may exceed",
        number(comparison.optimum));
  }
  return line;
}

std::string bottleneck_in_words(const Comparison& comparison) {
  const Fabric& fabric = *comparison.fabric;
  if (comparison.is_by_lengths) return lengths_in_words(fabric);
  if (!comparison.alltoall) return in_words(comparison.bottleneck, fabric.topology);
  const std::string lines =
      bottleneck_in_words(comparison.alltoall->proof, comparison.alltoall->demand.demand,
                          fabric.topology, fabric.network, 0);
  const std::size_t begin = lines.find(": ") + 2;  // after what it is of
  return lines.substr(begin, lines.find('\n') - begin);
}

std::string parts_in_words(const ComparedRow& row) {
  if (row.parts) return std::to_string(*row.parts);
  return row.forest ? std::to_string(row.forest->k) : "";  // switches can be roots, too
}

std::string rounded_size_in_words(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{} {}", with_one_decimal(bytes), kUnits[unit]);
}

std::string duration_in_words(double seconds, const char* micro) {
  if (seconds < 1e-3) return fmt::format("{} {}s", three_digits(seconds * 1e6), micro);
  if (seconds < 1) return fmt::format("{} ms", three_digits(seconds * 1e3));
  return fmt::format("{} s", three_digits(seconds));
}

std::string fraction_in_words(const ComparedRow& row, const Comparison& comparison) {
  return percent(row.algbw, comparison.optimum);
}

std::string short_number(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.1f}", value);
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

std::string why(const Diagnostic& error) {
  const std::string message = with_flags(error.message);
  return error.code ? fmt::format("{} [{}]", message, name_of(error.code)) : message;
}

}  // namespace forestcoll::cli
