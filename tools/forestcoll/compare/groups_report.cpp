#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/report/html_page.hpp"
#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "compare/groups.hpp"
#include "compare/page/chart.hpp"
#include "compare/tables/write.hpp"
#include "compare/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kAtOnce = "algbw GB/s of each group, all at once";
constexpr const char* kAlone = "algbw GB/s of the slowest group, the others idle";

double algbw_of(std::int64_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

// Those that have something to move.
std::size_t groups_at_work(const GroupsRequest& request) {
  return static_cast<std::size_t>(std::ranges::count_if(
      request.operation.groups, [](const auto& group) { return group.size() > 1; }));
}

// What every form of the report says.
struct GroupsTexts {
  std::string heading, model, optimum;
  Table at_once, alone;
  std::vector<std::string> remarks;  // why an algorithm has no times
};

GroupsTexts texts_of(const GroupsComparison& comparison, const GroupsRequest& request,
                     const Fabric& fabric) {
  GroupsTexts texts;
  texts.heading = one_line(fmt::format("{}: {} in {} at once", fabric.topology.name,
                                       to_string(request.operation.collective),
                                       counted(groups_at_work(request), "group")));
  texts.model = fmt::format("simulated ({}); GPU parameters: {} ({})", kModelNotMeasurement,
                            request.parameters.name, request.gpu_chosen);
  texts.optimum = fmt::format("trees and paths reach at most {} GB/s in each group, all at once{}",
                              number(comparison.optimum),
                              request.relays ? ", where GPUs pass on what is for others" : "");
  texts.at_once = rates_by_size(comparison.rows, request.sizes, false);
  texts.alone = rates_by_size(comparison.rows, request.sizes, true);
  for (const GroupsRow& row : comparison.rows) {
    if (row.error) texts.remarks.push_back(one_line(row.algorithm + ": " + why(*row.error)));
  }
  return texts;
}

std::string aligned_or_none(const Table& table) {
  return table.rows.empty() ? "no algorithm has times\n" : aligned(table, 1, 0);
}

Chart chart_of(const GroupsComparison& comparison, const GroupsTexts& texts, int width) {
  Chart chart;
  chart.title = texts.heading;
  chart.value_title = fmt::format("{}: {}", kAtOnce, kModelNotMeasurement);
  chart.limit = comparison.optimum.to_double();
  chart.limit_name = fmt::format("joint optimum of trees and paths: {} GB/s", number(*chart.limit));
  chart.width = width;
  std::size_t others = 0;
  for (const GroupsRow& row : comparison.rows) {
    if (row.times.empty()) continue;
    const std::size_t slot = row.algorithm == kOurs ? 0 : slot_of_other(others++);
    ChartSeries series{row.algorithm, slot, Mark::line, {}};
    for (const GroupsTime& time : row.times) {
      series.points.push_back(
          {static_cast<double>(time.bytes), algbw_of(time.bytes, time.at_once)});
    }
    chart.series.push_back(std::move(series));
  }
  choose_named(chart.series);
  return chart;
}

}  // namespace

bool has_times(const GroupsComparison& comparison) {
  return std::ranges::any_of(comparison.rows,
                             [](const GroupsRow& row) { return !row.times.empty(); });
}

Table rates_by_size(const std::vector<GroupsRow>& rows, const std::vector<std::int64_t>& sizes,
                    bool alone) {
  Table table{{"algorithm"}};
  for (const std::int64_t size : sizes) {
    table.head.push_back(rounded_size_in_words(static_cast<double>(size)));
  }
  for (const GroupsRow& row : rows) {
    if (row.times.empty() || (alone && !row.times.front().alone)) continue;
    TableRow line{row.algorithm};
    for (const GroupsTime& time : row.times) {
      line.push_back(short_number(algbw_of(time.bytes, alone ? *time.alone : time.at_once)));
    }
    line.resize(table.head.size());  // of a row that is still made
    table.rows.push_back(std::move(line));
  }
  return table;
}

std::string groups_in_words(const GroupsComparison& comparison, const GroupsRequest& request,
                            const Fabric& fabric) {
  const GroupsTexts texts = texts_of(comparison, request, fabric);
  std::string text = fmt::format("{}; {}\n{}\n", texts.heading, texts.model, texts.optimum);
  text += fmt::format("\n{}\n{}", kAtOnce, aligned_or_none(texts.at_once));
  text += fmt::format("\n{}\n{}", kAlone, aligned_or_none(texts.alone));
  if (!texts.remarks.empty()) text += "\n";
  for (const std::string& remark : texts.remarks) text += remark + "\n";
  return text;
}

std::string groups_to_markdown(const GroupsComparison& comparison, const GroupsRequest& request,
                               const Fabric& fabric) {
  const GroupsTexts texts = texts_of(comparison, request, fabric);
  std::string text =
      fmt::format("### {}\n\nTimes are {}; {}.\n", texts.heading, texts.model, texts.optimum);
  text += fmt::format("\n{}:\n\n{}", kAtOnce, markdown(texts.at_once));
  text += fmt::format("\n{}:\n\n{}", kAlone, markdown(texts.alone));
  if (!texts.remarks.empty()) text += "\n";
  for (const std::string& remark : texts.remarks) text += fmt::format("- {}\n", remark);
  return text;
}

std::string groups_to_latex(const GroupsComparison& comparison, const GroupsRequest& request,
                            const Fabric& fabric) {
  const GroupsTexts texts = texts_of(comparison, request, fabric);
  std::string text = fmt::format("% {}; {}\n", texts.heading, texts.model);
  text += latex_of_text(texts.at_once, fmt::format("{}; {}", kAtOnce, texts.model));
  text += "\n" + latex_of_text(texts.alone, fmt::format("{}; {}", kAlone, texts.model));
  for (const std::string& remark : texts.remarks) text += fmt::format("% {}\n", remark);
  return text;
}

std::string groups_to_csv(const GroupsComparison& comparison, const GroupsRequest& request,
                          const Fabric& fabric) {
  Table table{{"topology", "collective", "groups", "algorithm", "error", "optimum_exact", "optimum",
               "bytes", "seconds", "algbw_at_size", "alone_seconds", "alone_algbw_at_size"}};
  const auto plain = [](double value) { return fmt::format("{:.9g}", value); };
  for (const GroupsRow& row : comparison.rows) {
    TableRow line = {fabric.topology.name,
                     std::string(to_string(request.operation.collective)),
                     std::to_string(groups_at_work(request)),
                     row.algorithm,
                     row.error ? why(*row.error) : "",
                     comparison.optimum.to_string(),
                     plain(comparison.optimum.to_double())};
    if (row.times.empty()) {
      line.resize(table.head.size());
      table.rows.push_back(std::move(line));
      continue;
    }
    for (const GroupsTime& time : row.times) {
      TableRow sized = line;
      sized.push_back(std::to_string(time.bytes));
      for (const auto& seconds : {std::optional(time.at_once), time.alone}) {
        sized.push_back(seconds ? plain(*seconds) : "");
        sized.push_back(seconds ? plain(algbw_of(time.bytes, *seconds)) : "");
      }
      table.rows.push_back(std::move(sized));
    }
  }
  return to_csv(table, "\n");
}

std::string groups_to_chart(const GroupsComparison& comparison, const GroupsRequest& request,
                            const Fabric& fabric, int width) {
  return write_chart(chart_of(comparison, texts_of(comparison, request, fabric), width));
}

std::string groups_to_page(const GroupsComparison& comparison, const GroupsRequest& request,
                           const Fabric& fabric, int width) {
  const GroupsTexts texts = texts_of(comparison, request, fabric);
  std::string body =
      fmt::format("<p>Times are {}; {}.</p>\n", xml_escaped(texts.model), texts.optimum);
  if (has_times(comparison)) {
    body += "<div class=\"wide\">" + write_chart(chart_of(comparison, texts, width)) + "</div>\n";
  }
  body += fmt::format("<h2>{}</h2>\n{}", kAtOnce, html_table(texts.at_once));
  body += fmt::format("<h2>{}</h2>\n{}", kAlone, html_table(texts.alone));
  if (!texts.remarks.empty()) body += "<ul>\n";
  for (const std::string& remark : texts.remarks) {
    body += fmt::format("<li>{}</li>\n", xml_escaped(remark));
  }
  if (!texts.remarks.empty()) body += "</ul>\n";
  return html_page(texts.heading, body);
}

Json groups_to_json(const GroupsComparison& comparison, const GroupsRequest& request,
                    const Fabric& fabric) {
  Json groups = Json::array(), rows = Json::array();
  for (const auto& group : request.operation.groups) {
    groups.push_back(Json::array());
    for (const Rank rank : group) groups.back().push_back(rank.value);
  }
  for (const GroupsRow& row : comparison.rows) {
    Json json = {{"algorithm", row.algorithm}, {"title", row.title}, {"times", Json::array()}};
    for (const GroupsTime& time : row.times) {
      json["times"].push_back({{"bytes", time.bytes},
                               {"simulated_seconds", time.at_once},
                               {"simulated_algbw", algbw_of(time.bytes, time.at_once)}});
      if (!time.alone) continue;
      Json& sized = json["times"].back();
      sized["alone_simulated_seconds"] = *time.alone;
      sized["alone_simulated_algbw"] = algbw_of(time.bytes, *time.alone);
    }
    if (row.error) json["error"] = to_json(*row.error);
    rows.push_back(std::move(json));
  }
  Json report = {{"format", "forestcoll-compare-groups"},
                 {"version", 1},
                 {"topology", fabric.topology.name},
                 {"estimate", kModelNotMeasurement},
                 {"compute_nodes", fabric.topology.ranks.size()},
                 {"collective", to_string(request.operation.collective)},
                 {"groups", std::move(groups)},
                 {"relays", request.relays},
                 {"optimum", exact(comparison.optimum)},
                 {"parameters",
                  {{"name", request.parameters.name},
                   {"source", request.parameters.source},
                   {"chosen", request.gpu_chosen}}},
                 {"latencies", latencies_json(fabric.topology)},
                 {"algorithms", std::move(rows)}};
  if (request.operation.root) report["root_rank"] = *request.operation.root;
  return report;
}

}  // namespace forestcoll::cli
