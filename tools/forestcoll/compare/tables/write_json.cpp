#include <string>

#include "common/report/allreduce_report.hpp"
#include "common/report/alltoall_report.hpp"
#include "common/report/flags.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/time_report.hpp"
#include "compare/tables/write.hpp"
#include "compare/words.hpp"

namespace forestcoll::cli {
namespace {

// `whose`: "simulated" or "measured".
Json time_json(const SimulatedTime& time, const std::string& whose) {
  return {{"bytes", static_cast<std::int64_t>(time.bytes)},
          {whose + "_seconds", time.seconds},
          {whose + "_algbw", time.algbw},
          {whose + "_busbw", time.busbw}};
}

Json reason(const Diagnostic& of_library) {
  const Diagnostic error = with_flags(of_library);
  return {{"code", name_of(error.code)},
          {"where", error.where},
          {"message", error.message},
          {"remedy", error.remedy}};
}

Json times_json(const std::vector<SimulatedTime>& times) {
  Json json = Json::array();
  for (const SimulatedTime& time : times) json.push_back(time_json(time, "simulated"));
  return json;
}

Json bounded_choice_json(const FastestChoice& choice) {
  Json json = choice_json(choice);
  json["is_at_least"] = choice.is_bound;
  put_least(json, choice.least);
  return json;
}

// A row that is a program alone has no routing, whose times `times` are.
void put_times(Json& json, const ComparedRow& row) {
  const bool is_program = row.simulated == Simulated::program;
  const auto& programs = is_program ? row.times : row.program_times;
  const auto& why_none = is_program ? row.times_error : row.program_times_error;
  if (!row.times.empty()) json["simulated"] = simulated(row.simulated);
  if (!is_program) json["times"] = times_json(row.times);
  if (!is_program && row.times_error) json["times_error"] = reason(*row.times_error);
  if (is_program || !programs.empty()) json["program_times"] = times_json(programs);
  if (why_none) json["program_times_error"] = reason(*why_none);
}

Json win_json(const Win& win) {
  return {{"simulated", simulated(win.kind)},
          {"against", win.against},
          {"min_bytes", win.min_bytes},
          {"max_bytes", win.max_bytes},
          {"algorithm", win.algorithm.empty() ? Json(nullptr) : Json(win.algorithm)},
          {"gain", win.gain}};
}

Json row_json(const ComparedRow& row, const Fabric& fabric, bool seconds) {
  Json json = {{"algorithm", row.algorithm}, {"title", row.title}};
  if (!row.source.empty()) json["source"] = row.source;
  if (row.error) {
    json["error"] = reason(*row.error);
    return json;
  }
  if (!row.note.empty()) json["note"] = row.note;
  json["algbw"] = exact(row.algbw);
  json["busbw"] = exact(row.busbw);
  json["optimum_fraction"] = row.optimum_fraction;
  if (row.shape) json["height"] = {{"max", row.shape->highest}, {"mean", row.shape->mean_height}};
  if (row.forest) json["k"] = row.forest->k;
  if (row.parts) json["k"] = *row.parts;
  if (row.shape) json["trees"] = row.shape->trees;
  if (row.program) {
    json["program_size"] = {{"chunks", row.program->chunks},
                            {"threadblocks", row.program->threadblocks},
                            {"channels", row.program->channels},
                            {"threadblock_steps", row.program->steps}};
  }
  if (row.program_error) json["program_error"] = reason(*row.program_error);
  if (const auto& link = row.busiest) {
    json["busiest_link"] = {{"src", link->src},
                            {"dst", link->dst},
                            {"load", exact(link->load)},
                            {"bandwidth", exact(link->bandwidth)},
                            {"busy", link->busy}};
  }
  if (const auto& limit = row.busiest_limit) {
    json["busiest_limit"] = limit_json(fabric.topology, fabric.links(), limit->limit);
    json["busiest_limit"]["busy"] = limit->busy;
  }
  put_times(json, row);
  for (const FastestChoice& choice : row.choices)
    json["choices"].push_back(bounded_choice_json(choice));
  if (seconds && row.seconds) json["seconds"] = {{"total", *row.seconds}};
  return json;
}

// Of an all-to-all, links with lengths, and where limits hold it up, these too; else a cut.
Json bottleneck_json(const Comparison& comparison) {
  const Fabric& fabric = *comparison.fabric;
  Json json;
  if (comparison.is_by_lengths) {
    json = to_json(*fabric.optimum, fabric.topology, fabric.links());
  } else if (const auto& limit = comparison.alltoall) {
    json["lengths"] =
        to_json(limit->proof, limit->demand, fabric.topology, fabric.network)["lengths"];
  } else {
    json = to_json(comparison.bottleneck, fabric.topology);
  }
  json["says"] = bottleneck_in_words(comparison);
  return json;
}

Json run_json(const MeasuredRun& run) {
  Json times = Json::array();
  for (const MeasuredTime& time : run.times) {
    Json entry = time_json(time.measured, "measured");
    if (time.wrong) entry["wrong"] = true;
    if (time.modelled) {
      entry["simulated_algbw"] = *time.modelled;
      if (!time.wrong) entry["achieved_fraction"] = time.measured.algbw / *time.modelled;
    }
    times.push_back(std::move(entry));
  }
  Json json = {{"file", run.file}, {"placement", run.placement}, {"algorithm", run.algorithm}};
  if (!run.origin.text.empty()) json["origin"] = in_words(run.origin);
  json["times"] = std::move(times);
  return json;
}

}  // namespace

Json to_json(const Comparison& comparison, bool seconds) {
  const Topology& topology = comparison.fabric->topology;
  Json json = {{"format", "forestcoll-compare"},
               {"version", 2},
               {"topology", topology.name},
               {"collective", comparison.collective_name},
               {"compute_nodes", topology.ranks.size()}};
  if (comparison.root) json["root"] = topology.nodes[topology.ranks[comparison.root->index()]].id;
  if (!comparison.fabric->changes.empty()) json["changes"] = comparison.fabric->changes;
  json["estimate"] = "model, not measurement";
  json["parameters"] = {{"name", comparison.gpu},
                        {"source", comparison.gpu_source},
                        {"chosen", comparison.gpu_chosen}};
  json["latencies"] = latencies_json(topology);
  put_figures(json, comparison.figures);
  json["optimum_name"] = optimum_name(comparison);
  if (const AllreduceFigures* known = comparison.allreduce(); known && known->two_phases) {
    json["two_phases"] = exact(*known->two_phases);
    json["allreduce_optimum"] = to_json(known->by_trees, *known->two_phases);
    if (known->in_network) {
      json["allreduce_in_network"] = to_json(*known->in_network, *known->two_phases);
    }
    json["optimum_says"] = optimum_in_words(comparison);
  }
  for (const RefusedSize& size : comparison.refused_sizes) {
    Json entry = reason(size.error);
    entry["size"] = size.text;
    json["refused_sizes"].push_back(std::move(entry));
  }
  json["bottleneck"] = bottleneck_json(comparison);
  json["who_wins"] = who_wins(comparison);
  json["wins"] = Json::array();
  for (const Win& win : wins(comparison)) json["wins"].push_back(win_json(win));
  json["rows"] = Json::array();
  for (const ComparedRow& row : comparison.rows)
    json["rows"].push_back(row_json(row, *comparison.fabric, seconds));
  if (!comparison.measured.empty()) {
    json["measured"] = Json::array();
    for (const MeasuredRun& run : comparison.measured) json["measured"].push_back(run_json(run));
  }
  return json;
}

}  // namespace forestcoll::cli
