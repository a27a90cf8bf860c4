#include <string>

#include "common/report/allreduce_report.hpp"
#include "common/report/alltoall_report.hpp"
#include "common/report/flags.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/time_report.hpp"
#include "compare/tables/write.hpp"
#include "compare/words.hpp"

namespace forestcoll::cli {
namespace {

Json time_json(const SimulatedTime& time) {
  return {{"bytes", time.bytes},
          {"seconds", time.seconds},
          {"algbw", time.algbw},
          {"busbw", time.busbw}};
}

// Sizes are whole numbers wherever they come from.
Json whole_bytes(Json time) {
  time["bytes"] = static_cast<std::int64_t>(time["bytes"].get<double>());
  return time;
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
  for (const SimulatedTime& time : times) json.push_back(whole_bytes(time_json(time)));
  return json;
}

Json bounded_choice_json(const FastestChoice& choice) {
  Json json = choice_json(choice);
  json["least_seconds"] = choice.least.seconds;
  json["least_by"] = bounding(choice.least);
  return json;
}

Json row_json(const ComparedRow& row, bool seconds) {
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
    json["schedule"] = {{"chunks", row.program->chunks},
                        {"threadblocks", row.program->threadblocks},
                        {"channels", row.program->channels},
                        {"steps", row.program->steps}};
  }
  if (row.program_error) json["schedule_error"] = reason(*row.program_error);
  if (const auto& link = row.busiest) {
    json["busiest_link"] = {{"src", link->src},
                            {"dst", link->dst},
                            {"load", exact(link->load)},
                            {"bandwidth", exact(link->bandwidth)},
                            {"busy", link->busy}};
  }
  if (!row.times.empty()) json["simulated"] = simulated(row);
  json["times"] = times_json(row.times);
  if (row.times_error) json["times_error"] = reason(*row.times_error);
  if (!row.program_times.empty()) json["program_times"] = times_json(row.program_times);
  for (const FastestChoice& choice : row.choices)
    json["choices"].push_back(bounded_choice_json(choice));
  if (row.program_times_error) json["program_times_error"] = reason(*row.program_times_error);
  if (seconds && row.seconds) json["seconds"] = *row.seconds;
  return json;
}

// Of an all-to-all, links with lengths; of other collectives, a cut.
Json bottleneck_json(const Comparison& comparison) {
  const Fabric& fabric = *comparison.fabric;
  Json json;
  if (const auto& limit = comparison.alltoall) {
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
    Json entry = whole_bytes(time_json(time.measured));
    if (time.wrong) entry["wrong"] = true;
    if (time.modelled) {
      entry["modelled"] = *time.modelled;
      if (!time.wrong) entry["achieved"] = time.measured.algbw / *time.modelled;
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
               {"version", 1},
               {"topology", topology.name},
               {"collective", comparison.collective_name},
               {"compute_nodes", topology.ranks.size()}};
  if (comparison.root) json["root"] = topology.nodes[topology.ranks[comparison.root->index()]].id;
  if (!comparison.fabric->changes.empty()) json["changes"] = comparison.fabric->changes;
  json["model"] = {{"measured", false},
                   {"gpu", comparison.gpu},
                   {"source", comparison.gpu_source},
                   {"chosen", comparison.gpu_chosen},
                   {"says", "model, not measurement"}};
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
  for (const BindingLimit& limit : comparison.fabric->binding_limits) {
    json["binding_limits"].push_back({{"name", limit.name},
                                      {"bandwidth", exact(limit.bandwidth)},
                                      {"directions", limit.directions}});
  }
  json["who_wins"] = who_wins(comparison);
  json["rows"] = Json::array();
  for (const ComparedRow& row : comparison.rows) json["rows"].push_back(row_json(row, seconds));
  if (!comparison.measured.empty()) {
    json["measured"] = Json::array();
    for (const MeasuredRun& run : comparison.measured) json["measured"].push_back(run_json(run));
  }
  return json;
}

}  // namespace forestcoll::cli
