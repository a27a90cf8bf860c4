#include "compare/tables/write_several.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/report/table.hpp"
#include "compare/tables/write.hpp"
#include "compare/words.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {
namespace {

// Of the kind that the row is simulated as, programs where it has them.
const std::vector<SimulatedTime>& best_times(const ComparedRow& row) {
  const auto& programs = times_of(row, Simulated::program);
  return programs.empty() ? times_of(row, row.simulated) : programs;
}

std::optional<double> seconds_at(const ComparedRow& row, std::size_t size) {
  const auto& times = best_times(row);
  return size < times.size() ? std::optional(times[size].seconds) : std::nullopt;
}

std::string heading_of(const std::vector<NamedComparison>& all) {
  const Comparison& first = *all.front().comparison;
  return fmt::format("{} on {} topologies; rates and times are simulated ({})",
                     first.collective_name, all.size(), kModelNotMeasurement);
}

Table table_of(const std::vector<NamedComparison>& all) {
  const Comparison& first = *all.front().comparison;
  Table table{{"topology", "GPUs", "optimum GB/s", "algorithm", "algbw GB/s", "of optimum"}};
  for (const std::int64_t size : first.sizes) {
    table.head.push_back(rounded_size_in_words(static_cast<double>(size)));
  }
  for (const auto& [file, comparison] : all) {
    bool is_first = true;
    for (const ComparedRow& row : comparison->rows) {
      const bool said = !std::exchange(is_first, false);
      TableRow line = {said ? "" : file,
                       said ? "" : std::to_string(comparison->fabric->topology.ranks.size()),
                       said ? "" : number(comparison->optimum), row.algorithm};
      line.push_back(row.error ? std::string(name_of(row.error->code)) : number(row.algbw));
      line.push_back(row.error ? "-" : fraction_in_words(row, *comparison));
      for (std::size_t i = 0; i < first.sizes.size(); ++i) {
        const auto seconds = seconds_at(row, i);
        line.push_back(seconds ? duration_in_words(*seconds) : "-");
      }
      table.rows.push_back(std::move(line));
    }
  }
  return table;
}

// "1 GiB: b.json, then a.json 1.31 times as long", by the times of the first algorithm.
std::vector<std::string> orders_of(const std::vector<NamedComparison>& all) {
  std::vector<std::string> sentences;
  const std::vector<std::int64_t>& sizes = all.front().comparison->sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [file, comparison] : all) {
      if (comparison->rows.empty()) continue;
      const auto seconds = seconds_at(comparison->rows.front(), i);
      if (seconds) order.emplace_back(*seconds, file);
    }
    if (order.size() < 2) continue;
    std::ranges::stable_sort(order, {}, &std::pair<double, std::string>::first);
    constexpr double kSame = 1.005;  // 1 in three digits
    std::vector<std::string> others;
    for (std::size_t o = 1; o < order.size(); ++o) {
      const double times = order[o].first / order.front().first;
      others.push_back(order[o].second + (times < kSame
                                              ? std::string(" takes as long")
                                              : fmt::format(" takes {:.3g} times as long", times)));
    }
    sentences.push_back(fmt::format("{}: {} is the fastest; {}",
                                    rounded_size_in_words(static_cast<double>(sizes[i])),
                                    order.front().second, fmt::join(others, ", ")));
  }
  return sentences;
}

}  // namespace

std::string to_terminal(const std::vector<NamedComparison>& all) {
  std::string text = heading_of(all) + "\n" + aligned(table_of(all), 1, 0);
  for (const std::string& sentence : orders_of(all)) text += sentence + "\n";
  return text;
}

std::string to_markdown(const std::vector<NamedComparison>& all) {
  std::string text = heading_of(all) + ".\n\n" + markdown(table_of(all)) + "\n";
  for (const std::string& sentence : orders_of(all)) text += "- " + sentence + "\n";
  return text;
}

Json to_json(const std::vector<NamedComparison>& all) {
  Json comparisons = Json::array();
  for (const NamedComparison& each : all) comparisons.push_back(to_json(*each.comparison, true));
  return {{"format", "forestcoll-comparisons"},
          {"version", 2},
          {"comparisons", std::move(comparisons)}};
}

std::string to_csv(const std::vector<NamedComparison>& all) {
  std::string text;
  for (const NamedComparison& each : all) {
    const std::string lines = to_csv(*each.comparison);
    text += text.empty() ? lines : lines.substr(lines.find('\n') + 1);
  }
  return text;
}

}  // namespace forestcoll::cli
