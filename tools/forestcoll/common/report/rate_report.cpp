#include "common/report/rate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/report/flags.hpp"

namespace forestcoll::cli {
namespace {

Json why_not(const Diagnostics& errors) {
  return {{"not_computed", to_json(errors.front())}};
}

using Line = std::array<std::string, 5>;  // collective, figure, before, after, change

std::optional<Ratio> value_of(const Expected<RateFigure>& figure) {
  return figure ? std::optional(figure->at_most) : std::nullopt;
}

std::optional<Ratio> value_of(const Expected<Ratio>& reached) {
  return reached ? std::optional(*reached) : std::nullopt;
}

template <class Figure>
Line line_of(const std::string& collective, const char* name, const Figure& before,
             const Figure& after) {
  const auto from = value_of(before), to = value_of(after);
  return {collective, name, in_words(before), in_words(after),
          from && to ? change_in_words(*from, *to) : ""};
}

// Sizes of a price are whole MiB.
std::string size_of(double bytes) {
  return size_in_words(static_cast<std::int64_t>(bytes));
}

std::vector<Line> lines_of(const FailurePrice& price) {
  const RateFigures &before = price.before, &after = price.after;
  std::vector<Line> lines = {line_of(price.collective, "optimum", before.optimum, after.optimum)};
  if (differ(before) || differ(after)) {
    lines.push_back(line_of(price.collective, "optimum by trees", before.by_trees, after.by_trees));
  }
  if (price.reached_after) {
    lines.push_back(
        line_of(price.collective, "reached", *price.reached_before, *price.reached_after));
  }
  for (std::size_t i = 0; i < price.times_after.size(); ++i) {
    const double from = price.times_before[i].seconds, to = price.times_after[i].seconds;
    lines.push_back({price.collective, "us of " + size_of(price.times_after[i].bytes),
                     fmt::format("{:.1f}", from * 1e6), fmt::format("{:.1f}", to * 1e6),
                     fmt::format("{:+.1f} %", (to / from - 1) * 100)});
  }
  return lines;
}

template <class Figure>
Json change_json(const Figure& before, const Figure& after) {
  Json json = {{"before", to_json(before)}, {"after", to_json(after)}};
  const auto from = value_of(before), to = value_of(after);
  if (from && to) json["change"] = to->to_double() / from->to_double() - 1;
  return json;
}

}  // namespace

Expected<Ratio> busbw_of(const Ratio& algbw, Collective collective, const Network& network) {
  const auto ranks = static_cast<std::int64_t>(network.ranks.size());
  if (const auto busbw = checked_mul(algbw, busbw_factor(collective, ranks))) return *busbw;
  return inexact("the exact busbw of this fabric does not fit 64 bits");
}

std::string not_computed(const Diagnostic& error) {
  return fmt::format("not computed: {} [{}]", with_flags(error.message), name_of(error.code));
}

Json to_json(const Expected<RateFigure>& figure) {
  if (!figure) return why_not(figure.errors());
  Json json = exact(figure->at_most);
  if (!figure->is_exact()) json["at_least"] = exact(figure->at_least);
  return json;
}

Json to_json(const Expected<Ratio>& reached) {
  return reached ? exact(*reached) : why_not(reached.errors());
}

void put_figures(Json& json, const ThreeFigures& figures) {
  json["optimum"] = to_json(figures.rates.optimum);
  json["optimum_by_trees"] = to_json(figures.rates.by_trees);
  json["reached"] = to_json(figures.reached);
}

std::string in_words(const Expected<RateFigure>& figure) {
  if (!figure) return not_computed(figure.errors().front());
  if (figure->is_exact()) return number(figure->at_most);
  return fmt::format("{} to {}", number(figure->at_least), number(figure->at_most));
}

std::string in_words(const Expected<Ratio>& reached) {
  return reached ? number(*reached) : not_computed(reached.errors().front());
}

std::string of_optimum(const Ratio& algbw, const Expected<RateFigure>& optimum) {
  if (!optimum) return "the optimum is " + not_computed(optimum.errors().front());
  if (optimum->is_exact()) return of_optimum(algbw, optimum->at_most);
  return of_optimum(algbw, optimum->at_most, optimum->at_least);
}

bool differ(const RateFigures& figures) {
  if (!figures.optimum || !figures.by_trees) {
    return static_cast<bool>(figures.optimum) != static_cast<bool>(figures.by_trees);
  }
  return *figures.optimum != *figures.by_trees;
}

std::string change_in_words(const Ratio& before, const Ratio& after) {
  if (after == Ratio(0)) return "disconnected";
  constexpr double kPercent = 100;
  return fmt::format("{:+.1f} %", (after.to_double() / before.to_double() - 1) * kPercent);
}

std::string in_words(const std::vector<FailurePrice>& prices) {
  if (prices.empty()) return "";
  std::vector<Line> lines = {{"the failure costs", "GB/s", "before", "after", "change"}};
  for (const FailurePrice& price : prices) {
    for (Line& line : lines_of(price)) lines.push_back(std::move(line));
  }
  std::array<std::size_t, 5> widths = {};
  for (const Line& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  }
  std::string text;
  for (const Line& line : lines) {
    text += fmt::format("{:<{}}  {:<{}}  {:>{}}  {:>{}}  {:>{}}\n", line[0], widths[0], line[1],
                        widths[1], line[2], widths[2], line[3], widths[3], line[4], widths[4]);
  }
  return text;
}

std::string in_words(const FailurePrice& price) {
  std::string text = "  ";
  for (const char c : in_words(std::vector{price}))
    text += c == '\n' ? std::string("\n  ") : std::string(1, c);
  text.erase(text.find_last_not_of("\n ") + 1);
  return text;
}

Json to_json(const FailurePrice& price) {
  const RateFigures &before = price.before, &after = price.after;
  Json json = {{"optimum", change_json(before.optimum, after.optimum)},
               {"optimum_by_trees", change_json(before.by_trees, after.by_trees)}};
  if (price.reached_after) {
    json["reached"] = change_json(*price.reached_before, *price.reached_after);
  }
  for (std::size_t i = 0; i < price.times_after.size(); ++i) {
    const double from = price.times_before[i].seconds, to = price.times_after[i].seconds;
    json["times"].push_back({{"bytes", static_cast<std::int64_t>(price.times_after[i].bytes)},
                             {"before_simulated_seconds", from},
                             {"after_simulated_seconds", to},
                             {"change", to / from - 1}});
  }
  return json;
}

Json to_json(const Bottleneck& bottleneck, const Topology& topology) {
  Json nodes = Json::array();
  std::int64_t compute_nodes = 0;
  for (const NodeId node : bottleneck.sending) {
    nodes.push_back(topology.nodes[node].id);
    compute_nodes += topology.nodes[node].type == NodeType::compute ? 1 : 0;
  }
  Json links = Json::array();
  for (const CrossingLink& link : bottleneck.links) {
    links.push_back({{"src", topology.nodes[link.src].id},
                     {"dst", topology.nodes[link.dst].id},
                     {"bandwidth", exact(link.bandwidth)}});
  }
  return {{"nodes", nodes},
          {"compute_nodes", compute_nodes},
          {"weight", bottleneck.weight},
          {"exit_bandwidth", exact(bottleneck.exit_bandwidth)},
          {"links", links}};
}

}  // namespace forestcoll::cli
