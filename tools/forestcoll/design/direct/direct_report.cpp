#include "design/direct/direct_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <string_view>

#include "common/report/table.hpp"
#include "design/page.hpp"

namespace forestcoll::cli {
namespace {

std::string decimals(const Ratio& value) {
  return fmt::format("{:.4f}", value.to_double());
}

std::string decimals(const ProvedInterval& interval) {
  if (interval.is_exact()) return decimals(interval.least);
  return fmt::format("{:.4f} to {:.4f}", interval.least.to_double(), interval.most.to_double());
}

std::string whole(const ProvedInterval& interval) {
  if (interval.is_exact()) return interval.least.to_string();
  return interval.least.to_string() + " to " + interval.most.to_string();
}

std::string topologies(std::size_t count) {
  return fmt::format("{} direct-connect topolog{}", count, count == 1 ? "y" : "ies");
}

std::string_view name_of(DirectAim aim) {
  switch (aim) {
    case DirectAim::allgather:
      return "allgather";
    case DirectAim::bfb:
      return "bfb";
    case DirectAim::alltoall:
      return "alltoall";
    case DirectAim::all:
      return "all";
  }
  return "";
}

std::string mark_of(const StudiedWiring& wiring) {
  return std::string(wiring.on_front ? "*" : "") + (wiring.on_bfb_front ? "b" : "");
}

TableRow cells_of(const StudiedWiring& wiring) {
  const WiringFigures& f = wiring.figures;
  return {mark_of(wiring),
          std::to_string(f.steps),
          decimals(f.allgather),
          f.bfb ? decimals(*f.bfb) : "-",
          decimals(f.allreduce),
          decimals(f.alltoall),
          decimals(f.mean_distance),
          whole(f.bisection),
          f.after_failure ? decimals(*f.after_failure) : "disconnected",
          wiring.two_way ? "two-way" : "one-way",
          wiring.expression};
}

Table wiring_table(const DirectStudy& study, bool front_only) {
  Table table{{"Pareto", "steps", "allgather", "BFB", "allreduce", "all-to-all", "distance",
               "bisection", "1 link failed", "links", "topology"}};
  for (const StudiedWiring& wiring : study.wirings) {
    if (front_only && !wiring.on_front && !wiring.on_bfb_front) continue;
    table.rows.push_back(cells_of(wiring));
  }
  return table;
}

constexpr const char* kLegend =
    "Times are in M/B: the whole buffer over what the ports of a node send together. allgather is\n"
    "of the optimal forest, BFB of the breadth-first broadcast schedule, allreduce and all-to-all\n"
    "of the best schedules by trees and by flows; \"a to b\" is a proved interval. \"1 link "
    "failed\"\n"
    "is allgather after the costliest failure of one link. Steps are the diameter. Pareto: * is "
    "on\n"
    "the Pareto front of steps and the aim's time, b on that of steps and BFB's time. Links:\n"
    "two-way ones are ordinary cables. In one-way topologies nodes send to others than they "
    "receive\n"
    "from, which takes separate fibres for the two directions; --two-way leaves these out.\n";

Json interval_json(const ProvedInterval& interval) {
  return {{"at_least", exact(interval.least)}, {"at_most", exact(interval.most)}};
}

Json published_json(const ClosedForm& form) {
  Json json = Json::object();
  if (form.steps) json["step_count"] = *form.steps;
  if (form.bfb) json["bfb"] = exact(*form.bfb);
  return json;
}

}  // namespace

std::string in_words(const WiringFigures& f) {
  std::string text = fmt::format("{} of {}, {}\n", counted(f.nodes, "node"),
                                 counted(f.ports, "port"), counted(f.links, "one-way link"));
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("{:<32}{}\n", what, value);
  };
  line("steps (diameter)", std::to_string(f.steps));
  line("mean distance", number(f.mean_distance));
  line("allgather, optimal forest", number(f.allgather));
  line("allgather, BFB", f.bfb ? number(*f.bfb) : "more than 16 ports");
  line("allreduce", decimals(f.allreduce));
  line("all-to-all", decimals(f.alltoall));
  line("bisection, links one way", whole(f.bisection));
  line("allgather, 1 link failed", f.after_failure ? decimals(*f.after_failure) : "disconnected");
  return text;
}

std::string table_of(const DirectStudy& study, bool front_only) {
  const auto two_way =
      static_cast<std::size_t>(std::ranges::count(study.wirings, true, &StudiedWiring::two_way));
  return fmt::format("{} of {}: {}, {} of two-way links\n", counted(study.nodes, "node"),
                     counted(study.ports, "port"), topologies(study.wirings.size()), two_way) +
         aligned(wiring_table(study, front_only), 0, 1) + kLegend;
}

Json to_json(const WiringFigures& f) {
  return {{"link_count", f.links},
          {"step_count", f.steps},
          {"mean_distance", exact(f.mean_distance)},
          {"relative_time",
           {{"allgather", exact(f.allgather)},
            {"reduce_scatter", exact(f.reduce_scatter)},
            {"allreduce", interval_json(f.allreduce)},
            {"bfb", f.bfb ? exact(*f.bfb) : Json()},
            {"alltoall", interval_json(f.alltoall)},
            {"after_failure", f.after_failure ? interval_json(*f.after_failure) : Json()}}},
          {"bisection", interval_json(f.bisection)}};
}

Json to_json(const DirectStudy& study) {
  Json wirings = Json::array();
  for (const StudiedWiring& wiring : study.wirings) {
    Json one = {{"wiring", wiring.expression},
                {"front", wiring.on_front},
                {"bfb_front", wiring.on_bfb_front},
                {"two_way", wiring.two_way}};
    one.update(to_json(wiring.figures));
    one["published"] = published_json(wiring.published);
    wirings.push_back(std::move(one));
  }
  return {{"format", "forestcoll-design-direct"},
          {"version", 2},
          {"compute_nodes", study.nodes},
          {"ports", study.ports},
          {"aim", name_of(study.aim)},
          {"wirings", std::move(wirings)}};
}

std::string to_csv(const DirectStudy& study) {
  std::string text =
      "wiring,front,bfb_front,steps,mean_distance,allgather,reduce_scatter,allreduce_least,"
      "allreduce_most,bfb,alltoall_least,alltoall_most,bisection_least,bisection_most,"
      "after_failure_least,after_failure_most,two_way\n";
  for (const StudiedWiring& w : study.wirings) {
    const WiringFigures& f = w.figures;
    const auto failure = f.after_failure;
    text += fmt::format("\"{}\",{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", w.expression,
                        w.on_front, w.on_bfb_front, f.steps, f.mean_distance.to_string(),
                        f.allgather.to_string(), f.reduce_scatter.to_string(),
                        f.allreduce.least.to_string(), f.allreduce.most.to_string(),
                        f.bfb ? f.bfb->to_string() : "", f.alltoall.least.to_string(),
                        f.alltoall.most.to_string(), f.bisection.least.to_string(),
                        f.bisection.most.to_string(), failure ? failure->least.to_string() : "",
                        failure ? failure->most.to_string() : "", w.two_way);
  }
  return text;
}

namespace {

// Of ordinary cables nothing has as few steps in less time, or fewer in as little.
void mark_front_of_cables(std::vector<ScatterPoint>& points) {
  const auto is_better = [](const ScatterPoint& a, const ScatterPoint& b) {
    return !a.hollow && a.x <= b.x && a.y <= b.y && (a.x < b.x || a.y < b.y);
  };
  for (ScatterPoint& point : points) {
    const bool is_on_front = std::ranges::none_of(
        points, [&](const ScatterPoint& other) { return is_better(other, point); });
    if (!point.hollow && is_on_front) point.marked = true;
  }
}

// The time that the aim is about; all-to-all's where there are two.
Scatter scatter_of(const DirectStudy& study) {
  const bool bandwidth = study.aim == DirectAim::allgather || study.aim == DirectAim::bfb;
  Scatter scatter{.title = fmt::format("{} nodes of {} ports", study.nodes, study.ports),
                  .x_title = "steps",
                  .y_title = bandwidth ? "allgather, M/B" : "all-to-all, M/B",
                  .points = {}};
  for (const StudiedWiring& wiring : study.wirings) {
    const WiringFigures& f = wiring.figures;
    const Ratio time = bandwidth ? f.allgather : f.alltoall.most;
    scatter.points.push_back({.x = static_cast<double>(f.steps),
                              .y = time.to_double(),
                              .name = wiring.expression,
                              .marked = wiring.on_front,
                              .hollow = !wiring.two_way});
  }
  mark_front_of_cables(scatter.points);
  if (std::ranges::any_of(scatter.points, &ScatterPoint::hollow)) {
    scatter.filled_name = "two-way links";
    scatter.hollow_name = "one-way links";
  }
  return scatter;
}

}  // namespace

std::string chart_of(const DirectStudy& study) {
  return to_svg(scatter_of(study));
}

std::string page_of(const DirectStudy& study) {
  const Scatter scatter = scatter_of(study);
  return to_html({.title = "Direct-connect topologies: " + scatter.title,
                  .scatter = scatter,
                  .table = wiring_table(study, false),
                  .legend = kLegend});
}

}  // namespace forestcoll::cli
