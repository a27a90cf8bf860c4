// Each format has a table of what its keys were before. docs/json.md has the vocabulary that they
// are named by now.
#include "common/report/json_version.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace forestcoll::cli {
namespace {

constexpr int kFormer = 1;

// Keys on the way, with / between; * stands for every element of an array and every member of an
// object. Both paths of a row are the same up to and including the last *.
struct KeyChange {
  std::string_view now;            // empty: `constant` was there before, and is not now
  std::string_view former;         // empty: is new
  std::string_view unless = "";    // no change beside this key
  std::string_view constant = "";  // JSON
};

struct ReportFormat {
  std::string_view name;
  int version;  // now
  std::vector<KeyChange> changes;
};

using KeyChanges = std::vector<KeyChange>;

// The rows of several tables, one after the other.
KeyChanges joined(std::initializer_list<KeyChanges> tables) {
  KeyChanges all;
  for (const KeyChanges& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

KeyChanges former_latencies() {
  return {{"latencies/link_count", "latencies/links"},
          {"latencies/typical/*/link_count", "latencies/typical/*/links"}};
}

KeyChanges former_optima() {
  return {{"allreduce_optimum/at_least", "allreduce_optimum/reached"},
          {"allreduce_in_network/at_least", "allreduce_in_network/reached"},
          {"in_network/broadcast/at_least", "in_network/broadcast/reached"},
          {"in_network/reduce/at_least", "in_network/reduce/reached"}};
}

const std::vector<ReportFormat>& versioned_formats() {
  static const std::vector<ReportFormat> table = {
      {"forestcoll-batch",
       4,
       {{"items/*/asked_k", "items/*/k"},
        {"items/*/max_height", "items/*/height"},
        {"items/*/seconds/total", "items/*/seconds"},
        {"regressions/*/asked_k", "regressions/*/k"},
        {"regressions/*/before", ""},
        {"regressions/*/after", ""},
        {"regressions/*/change", ""},
        {"regressions/*/says", "regressions/*/change"},
        {"regressions/*/before_text", "regressions/*/before"},
        {"regressions/*/after_text", "regressions/*/now"},
        {"new_items", ""},
        {"other_differences", "changes"},
        {"changes/*/asked_k", "changes/*/k"},
        {"changes/*/before", ""},
        {"changes/*/after", ""},
        {"changes/*/change", ""},
        {"changes/*/says", "changes/*/change"},
        {"changes/*/before_text", "changes/*/before"},
        {"changes/*/after_text", "changes/*/now"}}},
      {"forestcoll-bound", 3,
       joined({former_optima(),
               {{"root", ""},
                {"bottlenecks", ""},
                {"bottleneck/shared_limits", ""},
                {"bottleneck/lengths/*/length/value", ""},
                {"bottleneck/lengths/*/length/exact", "bottleneck/lengths/*/length"},
                {"alltoall/shared_limits", ""},
                {"scatter/shared_limits", ""},
                {"gather/shared_limits", ""},
                {"alltoall/reached_seconds", "alltoall/seconds/reached"},
                {"alltoall/least_seconds", "alltoall/seconds/at_least"},
                {"alltoall/lengths/*/length/value", ""},
                {"alltoall/lengths/*/length/exact", "alltoall/lengths/*/length"},
                {"scatter/lengths/*/length/value", ""},
                {"scatter/lengths/*/length/exact", "scatter/lengths/*/length"},
                {"gather/lengths/*/length/value", ""},
                {"gather/lengths/*/length/exact", "gather/lengths/*/length"},
                {"failure/*/times/*/before_simulated_seconds", "failure/*/times/*/before"},
                {"failure/*/times/*/after_simulated_seconds", "failure/*/times/*/after"}}})},
      {"forestcoll-compare", 2,
       joined({former_latencies(),
               former_optima(),
               {{"parameters/name", "model/gpu"},
                {"parameters/source", "model/source"},
                {"parameters/chosen", "model/chosen"},
                {"estimate", "model/says"},
                {"", "model/measured", "", "false"},
                {"bottleneck/lengths/*/length/value", ""},
                {"bottleneck/lengths/*/length/exact", "bottleneck/lengths/*/length"},
                {"wins", ""},
                {"bottleneck/shared_limits", ""},
                {"rows/*/busiest_limit", ""},
                {"rows/*/program_size/threadblock_steps", "rows/*/program_size/steps"},
                {"rows/*/program_size", "rows/*/schedule"},
                {"rows/*/program_error", "rows/*/schedule_error"},
                {"rows/*/times/*/simulated_seconds", "rows/*/times/*/seconds"},
                {"rows/*/times/*/simulated_algbw", "rows/*/times/*/algbw"},
                {"rows/*/times/*/simulated_busbw", "rows/*/times/*/busbw"},
                {"rows/*/program_times/*/simulated_seconds", "rows/*/program_times/*/seconds"},
                {"rows/*/program_times/*/simulated_algbw", "rows/*/program_times/*/algbw"},
                {"rows/*/program_times/*/simulated_busbw", "rows/*/program_times/*/busbw"},
                // Rows that have no routing had the times of programs there.
                {"rows/*/program_times_error", "rows/*/times_error", "times"},
                {"rows/*/program_times", "rows/*/times", "times"},
                {"rows/*/choices/*/simulated_seconds", "rows/*/choices/*/seconds"},
                {"rows/*/choices/*/is_at_least", ""},
                {"rows/*/seconds/total", "rows/*/seconds"},
                {"measured/*/times/*/measured_seconds", "measured/*/times/*/seconds"},
                {"measured/*/times/*/measured_algbw", "measured/*/times/*/algbw"},
                {"measured/*/times/*/measured_busbw", "measured/*/times/*/busbw"},
                {"measured/*/times/*/simulated_algbw", "measured/*/times/*/modelled"},
                {"measured/*/times/*/achieved_fraction", "measured/*/times/*/achieved"}}})},
      {"forestcoll-comparisons", 2, {}},
      {"forestcoll-design-cluster",
       2,
       {{"compute_nodes", "gpus"},
        {"offers/*/switch_counts", "offers/*/switches"},
        {"offers/*/cable_counts", "offers/*/cables"},
        {"offers/*/algbw/allgather", "offers/*/allgather"},
        {"offers/*/algbw/allreduce", "offers/*/allreduce"},
        {"offers/*/algbw/alltoall/at_least", "offers/*/alltoall/least"},
        {"offers/*/algbw/alltoall/at_most", "offers/*/alltoall/most"}}},
      {"forestcoll-design-direct",
       2,
       {{"compute_nodes", "nodes"},
        {"wirings/*/link_count", "wirings/*/links"},
        {"wirings/*/step_count", "wirings/*/steps"},
        {"wirings/*/relative_time/allgather", "wirings/*/allgather"},
        {"wirings/*/relative_time/reduce_scatter", "wirings/*/reduce_scatter"},
        {"wirings/*/relative_time/allreduce/at_least", "wirings/*/allreduce/least"},
        {"wirings/*/relative_time/allreduce/at_most", "wirings/*/allreduce/most"},
        {"wirings/*/relative_time/alltoall/at_least", "wirings/*/alltoall/least"},
        {"wirings/*/relative_time/alltoall/at_most", "wirings/*/alltoall/most"},
        {"wirings/*/relative_time/after_failure/at_least", "wirings/*/after_failure/least"},
        {"wirings/*/relative_time/after_failure/at_most", "wirings/*/after_failure/most"},
        {"wirings/*/relative_time/after_failure", "wirings/*/after_failure"},
        {"wirings/*/relative_time/bfb", "wirings/*/bfb"},
        {"wirings/*/bisection/at_least", "wirings/*/bisection/least"},
        {"wirings/*/bisection/at_most", "wirings/*/bisection/most"},
        {"wirings/*/published/step_count", "wirings/*/published/steps"}}},
      {"forestcoll-design-formulas",
       2,
       {{"max_compute_nodes", "nodes"},
        {"wiring_count", "wirings"},
        {"constructions/*/wiring_count", "constructions/*/wirings"},
        {"constructions/*/step_verdicts", "constructions/*/steps"},
        {"constructions/*/time_verdicts", "constructions/*/time"},
        {"differences/*/compute_nodes", "differences/*/nodes"},
        {"differences/*/published/step_count", "differences/*/published/steps"},
        {"differences/*/step_count", "differences/*/steps"},
        {"differences/*/relative_time/bfb", "differences/*/bfb"},
        {"differences/*/relative_time/allgather", "differences/*/allgather"}}},
      // Figures of before and after.
      {"forestcoll-design-search",
       2,
       {{"compute_nodes", "nodes"},
        {"kept_moves", "kept"},
        {"*/link_count", "*/links"},
        {"*/step_count", "*/steps"},
        {"*/relative_time/allgather", "*/allgather"},
        {"*/relative_time/reduce_scatter", "*/reduce_scatter"},
        {"*/relative_time/allreduce/at_least", "*/allreduce/least"},
        {"*/relative_time/allreduce/at_most", "*/allreduce/most"},
        {"*/relative_time/alltoall/at_least", "*/alltoall/least"},
        {"*/relative_time/alltoall/at_most", "*/alltoall/most"},
        {"*/relative_time/after_failure/at_least", "*/after_failure/least"},
        {"*/relative_time/after_failure/at_most", "*/after_failure/most"},
        {"*/relative_time/after_failure", "*/after_failure"},
        {"*/relative_time/bfb", "*/bfb"},
        {"*/bisection/at_least", "*/bisection/least"},
        {"*/bisection/at_most", "*/bisection/most"}}},
      {"forestcoll-import",
       2,
       {{"topology", ""}, {"node_count", "nodes"}, {"link_count", "links"}}},
      {"forestcoll-nccl-graph",
       2,
       {{"compute_nodes_per_box", "gpus"}, {"nics_per_box", "nics"}, {"rings_per_box", "rings"}}},
      {"forestcoll-nccl-tuner",
       2,
       {{"box_count", "nodes"},
        {"compute_nodes", "ranks"},
        {"collectives/*/rules/*/simulated_seconds", "collectives/*/rules/*/seconds"},
        {"collectives/*/otherwise/*/simulated_seconds", "collectives/*/otherwise/*/seconds"},
        {"collectives/*/sizes/*/best/simulated_seconds", "collectives/*/sizes/*/best/seconds"},
        {"collectives/*/sizes/*/own/simulated_seconds", "collectives/*/sizes/*/own/seconds"}}},
      {"forestcoll-simulation", 2,
       joined({former_latencies(),
               {{"topology", ""},
                {"shared_limits", ""},
                {"estimate", "note"},
                {"compute_nodes", "ranks"},
                {"times/*/simulated_seconds", "times/*/seconds"},
                {"times/*/simulated_algbw", "times/*/algbw"},
                {"times/*/simulated_busbw", "times/*/busbw"}}})},
      {"forestcoll-simulation-job", 2,
       joined({former_latencies(),
               {{"topology", ""},
                {"steps/*/shared_limits", ""},
                {"estimate", "note"},
                {"compute_nodes", "ranks"},
                {"steps/*/rate/exact", ""},
                {"steps/*/rate/value", "steps/*/optimum"},
                {"steps/*/times/*/simulated_seconds", "steps/*/times/*/seconds"},
                {"steps/*/times/*/simulated_algbw", "steps/*/times/*/algbw"},
                {"steps/*/times/*/simulated_seconds_in_turn", "steps/*/times/*/in_turn"},
                {"steps/*/times/*/runtime_simulated_seconds", ""},
                {"steps/*/times/*/runtime_simulated_seconds_in_turn", ""}}})},
      {"forestcoll-synth", 3,
       joined({former_latencies(),
               {{"usable", ""},
                {"threadblock_steps", "steps"},
                {"simulated_seconds", "seconds_at_size"},
                {"trees_per_root/min", "trees_per_root/least"},
                {"trees_per_root/max", "trees_per_root/most"},
                {"made_by/algorithm", "made_by/name"},
                {"made_by", "algorithm"},
                {"stopped_early", "stopped"},
                {"given_up/max_height", "given_up/height"},
                {"tradeoff_by/by_height/*/max_height", "tradeoff_by/by_height/*/height"},
                {"failure/times/*/before_simulated_seconds", "failure/times/*/before"},
                {"failure/times/*/after_simulated_seconds", "failure/times/*/after"},
                {"fastest/simulated_seconds", "fastest/seconds"},
                {"fastest/least_seconds", "fastest/least/seconds"},
                {"fastest/least_by", "fastest/least/by"},
                {"fastest/considered/*/simulated_seconds", "fastest/considered/*/seconds"},
                {"fastest/considered/*/is_at_least", "fastest/considered/*/at_least"},
                {"window/times/*/simulated_seconds", "window/times/*/seconds"},
                {"window/times/*/runtime/simulated_seconds", "window/times/*/runtime/seconds"},
                {"beside_rings/rings_algbw", "beside_rings/rings"},
                {"beside_rings/algbw", "beside_rings/ours"},
                {"beside_rings/rings_simulated_seconds", "beside_rings/rings_seconds"},
                {"beside_rings/simulated_seconds", "beside_rings/our_seconds"}}})},
      {"forestcoll-topo-show",
       2,
       {{"compute_nodes", "gpus"},
        {"switch_count", "switches"},
        {"relay_count", "relays"},
        {"disabled_node_count", "disabled_nodes"},
        {"disabled_link_count", "disabled_links"},
        {"boxes/*/compute_nodes", "boxes/*/gpus"},
        {"boxes/*/switch_count", "boxes/*/switches"},
        {"link_kinds", "links"},
        {"limit_count", "limits"},
        {"shared_limits", ""},
        {"between_halves", "bisection"},
        {"algbw/allgather", "allgather"}}},
      {"forestcoll-tune", 2,
       joined(
           {former_latencies(),
            {{"files/*/usable", ""},
             {"files/*/switch_use", "files/*/switches"},
             {"files/*/trees_per_root/min", "files/*/trees_per_root/least"},
             {"files/*/trees_per_root/max", "files/*/trees_per_root/most"},
             {"files/*/simulated_seconds", "files/*/model_seconds"},
             {"files/*/least_seconds", "files/*/least/seconds"},
             {"files/*/least_by", "files/*/least/by"},
             {"files/*/considered/*/simulated_seconds", "files/*/considered/*/seconds"},
             {"files/*/considered/*/is_at_least", "files/*/considered/*/at_least"},
             {"files/*/times/*/simulated_seconds", "files/*/times/*/seconds"},
             {"files/*/times/*/runtime/simulated_seconds", "files/*/times/*/runtime/seconds"}}})},
      {"forestcoll-verify",
       2,
       {{"topology", ""},
        {"usable", ""},
        {"group_count", ""},
        {"compute_nodes", "ranks"},
        {"root_rank", "root"},
        {"threadblock_steps", "steps"},
        {"busiest_link", "busiest"},
        // What a file does not have was 0 or empty.
        {"row_count", "chunks"},
        {"", "collective", "collective", "\"\""},
        {"", "ranks", "ranks", "0"},
        {"", "chunks", "chunks", "0"},
        {"", "threadblocks", "threadblocks", "0"},
        {"", "channels", "channels", "0"},
        {"", "steps", "steps", "0"},
        {"", "usable_counts", "usable_counts", "\"\""}}},
      {"forestcoll-verify-job", 2, {{"operations/*/schedule_count", "operations/*/schedules"}}},
      {"forestcoll-verify-targets", 2, {}}};
  return table;
}

// Reports that hold others.
constexpr std::array<std::string_view, 2> kHolding = {"comparisons", "targets"};

std::vector<std::string> keys_of(std::string_view path) {
  std::vector<std::string> keys;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    keys.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return keys;
}

using Keys = std::span<const std::string>;

// Takes the value out of the object; objects that hold nothing else go with it. Null where there is
// none.
Json take(Json& object, Keys keys) {
  const auto found = object.is_object() ? object.find(keys.front()) : object.end();
  if (found == object.end()) return Json(Json::value_t::discarded);
  Json value = keys.size() == 1 ? std::move(*found) : take(*found, keys.subspan(1));
  const bool is_left = keys.size() > 1 && (value.is_discarded() || !found->empty());
  if (!is_left) object.erase(found);
  return value;
}

void put(Json& object, Keys keys, Json value) {
  if (keys.size() == 1) {
    object[keys.front()] = std::move(value);
  } else {
    put(object[keys.front()], keys.subspan(1), std::move(value));
  }
}

// A key in the place of another.
void rename(Json& object, const std::string& now, const std::string& former) {
  if (!object.is_object() || !object.contains(now)) return;
  Json renamed = Json::object();
  for (auto& [key, value] : object.items()) renamed[key == now ? former : key] = std::move(value);
  object = std::move(renamed);
}

void change(Json& object, Keys now, Keys former, const KeyChange& row) {
  if (!row.unless.empty() && object.is_object() && object.contains(row.unless)) return;
  if (now.size() == 1 && former.size() == 1) return rename(object, now.front(), former.front());
  Json value = now.empty() ? Json::parse(row.constant) : take(object, now);
  if (!value.is_discarded() && !former.empty()) put(object, former, std::move(value));
}

// Down to where the paths part.
void apply(Json& json, Keys now, Keys former, const KeyChange& row) {
  const bool goes_on = std::ranges::find(now, "*") != now.end();
  if (!goes_on) return change(json, now, former, row);
  const Keys rest = former.empty() ? former : former.subspan(1);
  if (now.front() == "*") {
    for (auto& each : json) apply(each, now.subspan(1), rest, row);
  } else if (json.is_object() && json.contains(now.front())) {
    apply(json[now.front()], now.subspan(1), rest, row);
  }
}

void make_former(Json& report) {
  for (const std::string_view holding : kHolding) {
    const auto found = report.find(holding);
    if (found == report.end()) continue;
    for (Json& each : *found) make_former(each);
  }
  const auto name = report.value("format", std::string());
  const auto format = std::ranges::find(versioned_formats(), name, &ReportFormat::name);
  if (format == versioned_formats().end()) return;
  report["version"] = format->version - 1;
  for (const KeyChange& row : format->changes) {
    const std::vector<std::string> now = keys_of(row.now), former = keys_of(row.former);
    apply(report, now, former, row);
  }
}

}  // namespace

Json in_json_version(Json report, int version) {
  if (version == kFormer) make_former(report);
  return report;
}

std::string report_text(Json report, const Console& console) {
  if (console.told != nullptr) console.told->has_report = true;
  return to_text(in_json_version(std::move(report), console.json_version));
}

}  // namespace forestcoll::cli
