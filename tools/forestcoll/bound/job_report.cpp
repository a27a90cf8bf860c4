#include "bound/job_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/report/alltoall_report.hpp"
#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

constexpr double kBytesPerSecond = 1e9;  ///< of a GB/s
constexpr double kInPercent = 100;

// A step with its answer, in numbers.
class StepFigures {
 public:
  StepFigures(const JobStep& step, const StepBound& bound) : step_(step), bound_(bound) {}

  [[nodiscard]] bool has_bytes() const { return buffer(0) > 0; }

  // Bytes of an operation's buffer; of a demand, what a member sends on the average; 0: not given.
  [[nodiscard]] double buffer(std::size_t i) const {
    const JobOperation& operation = step_.operations[i];
    if (operation.bytes) return static_cast<double>(*operation.bytes);
    if (!operation.demand) return 0;
    double total = 0;
    const std::size_t n = operation.demand->ranks();
    for (std::size_t s = 0; s < n; ++s) {
      for (std::size_t t = 0; t < n; ++t) {
        total += static_cast<double>((*operation.demand)(Rank(s), Rank(t)));
      }
    }
    return total / static_cast<double>(n);
  }

  [[nodiscard]] double whole() const {
    double most = 0;
    for (std::size_t i = 0; i < step_.operations.size(); ++i) most = std::max(most, buffer(i));
    return most;
  }

  [[nodiscard]] double seconds(const Ratio& rate, double bytes) const {
    return bytes / (rate.to_double() * kBytesPerSecond);
  }
  [[nodiscard]] double seconds_at_once() const { return seconds(bound_.together.reached, whole()); }
  [[nodiscard]] double seconds_in_turn() const { return seconds(bound_.in_turn, whole()); }
  [[nodiscard]] double seconds_alone(std::size_t i) const {
    return seconds(bound_.alone[i].reached, buffer(i));
  }

  // GB/s of an operation where the largest has `rate`; as near as 40 bits where that does not fit.
  [[nodiscard]] Ratio part_of(const Ratio& rate, std::size_t i) const {
    const Ratio part(bound_.demand.buffers[i], bound_.demand.whole());
    if (const auto exact = checked_mul(rate, part)) return *exact;
    constexpr std::int64_t kDenominator = std::int64_t{1} << 40;
    const double near = rate.to_double() * part.to_double() * static_cast<double>(kDenominator);
    return {std::llround(near), kDenominator};
  }
  [[nodiscard]] bool is_exact(std::size_t i) const {
    const Ratio part(bound_.demand.buffers[i], bound_.demand.whole());
    return bound_.together.is_exact() && checked_mul(bound_.together.reached, part).has_value();
  }

 private:
  const JobStep& step_;
  const StepBound& bound_;
};

// The labels of the links that each arc stands for.
IdVector<ArcId, std::string> kinds_of_arcs(const Fabric& fabric) {
  IdVector<ArcId, std::set<std::string>> kinds(fabric.network.graph.arc_count());
  for (const TopologyLink& link : fabric.topology.links) {
    const ArcId there = fabric.network.graph.find(link.src, link.dst);
    const ArcId back = fabric.network.graph.find(link.dst, link.src);
    if (there.valid()) kinds[there].insert(link.kind);
    if (back.valid() && link.full_duplex) kinds[back].insert(link.kind);
  }
  IdVector<ArcId, std::string> joined;
  for (const auto& of_arc : kinds) {
    std::string text;
    for (const std::string& kind : of_arc) text += (text.empty() ? "" : "+") + kind;
    joined.push_back(std::move(text));
  }
  return joined;
}

// What part an operation takes of all links of a kind.
std::map<std::string, double> shares_by_kind(const StepBound& bound, std::size_t operation,
                                             const Fabric& fabric) {
  std::map<std::string, double> load, capacity;
  const auto kinds = kinds_of_arcs(fabric);
  for (std::size_t a = 0; a < kinds.size(); ++a) {
    const auto room = static_cast<double>(fabric.network.capacity[ArcId(a)]);
    load[kinds[ArcId(a)]] += room * bound.together.loads[operation][ArcId(a)];
    capacity[kinds[ArcId(a)]] += room;
  }
  for (auto& [kind, share] : load) share /= capacity[kind];
  return load;
}

std::string shares_in_words(const std::map<std::string, double>& shares) {
  std::string text;
  for (const auto& [kind, share] : shares) {
    if (share <= 0) continue;
    text += fmt::format("{}{} {:.3g} %", text.empty() ? "" : ", ", kind.empty() ? "links" : kind,
                        kInPercent * share);
  }
  return text;
}

std::string groups_in_words(const Groups& groups) {
  const auto [least, most] = std::ranges::minmax(groups, {}, &std::vector<Rank>::size);
  if (least.size() == most.size()) return fmt::format("{} of {}", groups.size(), least.size());
  return fmt::format("{} of {} to {}", groups.size(), least.size(), most.size());
}

std::string rate_in_words(const Ratio& reached, bool is_exact) {
  return is_exact ? number(reached) : number(reached.to_double());
}

// Links of one kind, length and capacity that the same operations fill.
struct BindingLinks {
  std::string kind;
  std::int64_t length = 0;
  Capacity capacity = 0;
  std::vector<std::size_t> operations;
  auto operator<=>(const BindingLinks&) const = default;
};

std::string binding_in_words(const JobStep& step, const StepBound& bound, const Fabric& fabric) {
  const Network& network = fabric.network;
  const auto kinds = kinds_of_arcs(fabric);
  std::map<BindingLinks, std::vector<ArcId>> found;
  for (std::size_t a = 0; a < kinds.size(); ++a) {
    const ArcId arc(a);
    if (bound.together.lengths[arc] == 0) continue;
    BindingLinks links{kinds[arc], bound.together.lengths[arc], network.capacity[arc], {}};
    for (std::size_t i = 0; i < bound.together.loads.size(); ++i) {
      if (bound.together.loads[i][arc] > 0) links.operations.push_back(i);
    }
    found[links].push_back(arc);
  }
  std::string text;
  for (const auto& [links, arcs] : found) {
    std::string names;
    for (const std::size_t i : links.operations) {
      names += (names.empty() ? "" : ", ") + step.operations[i].name;
    }
    const auto bandwidth = checked_mul(Ratio(links.capacity), network.unit);
    text += fmt::format(
        "  {} of {}{}{} GB/s, {} -> {}{}: length {}{}{}\n", counted(arcs.size(), "link"),
        links.kind, links.kind.empty() ? "" : " ", number(bandwidth.value_or(Ratio(0))),
        fabric.topology.nodes[network.graph.tail(arcs.front())].id,
        fabric.topology.nodes[network.graph.head(arcs.front())].id, arcs.size() > 1 ? ", …" : "",
        links.length, names.empty() ? "" : ", filled by ", names);
  }
  return "what binds, as lengths of links: all data together covers at least as much as these "
         "carry\n" +
         text;
}

std::string step_in_words(const JobStep& step, const StepBound& bound, const Fabric& fabric) {
  const StepFigures figures(step, bound);
  Table table{{"operation", "groups", "at once GB/s", "alone GB/s"}};
  if (figures.has_bytes()) table.head.emplace_back("alone");
  table.head.emplace_back("links");
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const JobOperation& operation = step.operations[i];
    TableRow row{operation.name, groups_in_words(operation.groups),
                 rate_in_words(figures.part_of(bound.together.reached, i), figures.is_exact(i)),
                 rate_in_words(bound.alone[i].reached, bound.alone[i].is_exact())};
    if (figures.has_bytes()) row.push_back(time_in_words(figures.seconds_alone(i)));
    row.push_back(shares_in_words(shares_by_kind(bound, i, fabric)));
    table.rows.push_back(std::move(row));
  }
  std::string text = fmt::format("{}{}\n", step.name,
                                 step.repeat > 1 ? fmt::format(", {} times", step.repeat) : "");
  text += aligned(table, 2, 1);
  const std::string largest = step.operations.size() > 1 ? " of the largest" : "";
  const auto with_time = [&](double seconds) {
    return figures.has_bytes() ? ", " + time_in_words(seconds) : std::string();
  };
  text += fmt::format("at once: {} GB/s{}{}\n",
                      rate_in_words(bound.together.reached, bound.together.is_exact()), largest,
                      with_time(figures.seconds_at_once()));
  if (!bound.together.is_exact()) {
    text += fmt::format("  proved so far; at most {} GB/s\n", number(bound.together.at_most));
  }
  if (step.operations.size() > 1) {
    text += fmt::format("one after the other: {} GB/s{}{}\n", number(bound.in_turn), largest,
                        with_time(figures.seconds_in_turn()));
  }
  return text + binding_in_words(step, bound, fabric);
}

bool all_have_bytes(const Job& job, const std::vector<StepBound>& bounds) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!StepFigures(job.steps[i], bounds[i]).has_bytes()) return false;
  }
  return true;
}

double seconds_of(const Job& job, const std::vector<StepBound>& bounds) {
  double seconds = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    seconds += static_cast<double>(job.steps[i].repeat) *
               StepFigures(job.steps[i], bounds[i]).seconds_at_once();
  }
  return seconds;
}

bool has_able_switches(const Fabric& fabric) {
  return !switch_roles(fabric.topology).empty();
}

Json rate_json(const JointOptimum& optimum) {
  Json json = {{"rate", exact_or_reached(optimum.reached, optimum.is_exact())}};
  if (!optimum.is_exact()) json["at_most"] = exact(optimum.at_most);
  return json;
}

Json groups_json(const Groups& groups) {
  Json list = Json::array();
  for (const auto& group : groups) {
    Json ranks = Json::array();
    for (const Rank r : group) ranks.push_back(r.value);
    list.push_back(std::move(ranks));
  }
  return list;
}

Json operation_json(const JobOperation& operation, const StepBound& bound, std::size_t i,
                    const StepFigures& figures, const Fabric& fabric) {
  Json json = {{"name", operation.name},
               {"collective", to_string(operation.collective)},
               {"groups", groups_json(operation.groups)}};
  if (operation.bytes) json["bytes"] = *operation.bytes;
  if (operation.root) json["root"] = *operation.root;
  json["rate"] = exact_or_reached(figures.part_of(bound.together.reached, i), figures.is_exact(i));
  Json kinds = Json::array();
  for (const auto& [kind, share] : shares_by_kind(bound, i, fabric)) {
    if (share > 0) kinds.push_back({{"kind", kind}, {"share", share}});
  }
  json["links"] = std::move(kinds);
  return json;
}

Json lengths_json(const JointOptimum& optimum, const Fabric& fabric) {
  Json list = Json::array();
  for (std::size_t a = 0; a < optimum.lengths.size(); ++a) {
    const std::int64_t length = optimum.lengths[ArcId(a)];
    if (length == 0) continue;
    const Arc& arc = fabric.network.graph.arcs()[a];
    list.push_back({{"src", fabric.topology.nodes[arc.tail].id},
                    {"dst", fabric.topology.nodes[arc.head].id},
                    {"length", length}});
  }
  return list;
}

Json step_json(const JobStep& step, const StepBound& bound, const Fabric& fabric) {
  const StepFigures figures(step, bound);
  const bool timed = figures.has_bytes();
  Json json = {{"name", step.name}, {"repeat", step.repeat}};
  json.update(rate_json(bound.together));
  if (timed) json["seconds"] = figures.seconds_at_once();
  Json alone = Json::array(), operations = Json::array();
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    Json one = {{"name", step.operations[i].name}};
    one.update(rate_json(bound.alone[i]));
    if (timed) one["seconds"] = figures.seconds_alone(i);
    alone.push_back(std::move(one));
    operations.push_back(operation_json(step.operations[i], bound, i, figures, fabric));
  }
  json["alone"] = std::move(alone);
  json["in_turn"] = {{"rate", exact(bound.in_turn)}};
  if (timed) json["in_turn"]["seconds"] = figures.seconds_in_turn();
  json["operations"] = std::move(operations);
  json["lengths"] = lengths_json(bound.together, fabric);
  return json;
}

}  // namespace

std::string job_in_words(const Job& job, const std::vector<StepBound>& bounds,
                         const Fabric& fabric) {
  std::string text = fmt::format("{}: {}, the others of a group {}\n", fabric.topology.name,
                                 counted(fabric.network.ranks.size(), "GPU"),
                                 bounds.front().demand.relays ? "relay" : "do not relay");
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    text += "\n" + step_in_words(job.steps[i], bounds[i], fabric);
  }
  if (job.steps.size() > 1 && all_have_bytes(job, bounds)) {
    text += fmt::format("\nall steps: {}\n", time_in_words(seconds_of(job, bounds)));
  }
  if (has_able_switches(fabric)) {
    text +=
        "These rates are of trees and paths through GPUs: what this fabric's switches copy and "
        "combine\nis not used, and may be faster.\n";
  }
  return text;
}

Json job_to_json(const Job& job, const std::vector<StepBound>& bounds, const Fabric& fabric,
                 const BoundArguments& options) {
  Json json = {{"format", "forestcoll-job"},
               {"version", 1},
               {"topology", fabric.topology.name},
               {"compute_nodes", fabric.network.ranks.size()},
               {"relays", bounds.front().demand.relays}};
  if (has_able_switches(fabric)) json["without_switch_copies"] = true;
  Json steps = Json::array();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    steps.push_back(step_json(job.steps[i], bounds[i], fabric));
  }
  json["steps"] = std::move(steps);
  if (all_have_bytes(job, bounds)) json["seconds"] = seconds_of(job, bounds);
  if (!fabric.changes.empty()) json["changes"] = fabric.changes;
  if (options.check) json["checked"] = true;
  if (!options.reading.quantize.empty()) json["quantize_change"] = exact(fabric.quantize_change);
  return json;
}

}  // namespace forestcoll::cli
