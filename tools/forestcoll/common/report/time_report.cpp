#include "common/report/time_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/latency.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostKinds = 6;

std::string words_of(const TypicalLatency& typical) {
  return fmt::format("{} {} us", typical.kind.empty() ? "without a kind" : typical.kind,
                     number(typical.us));
}

bool is_runtime_known(const TimeBeside& time) {
  return !time.runtime_algorithm.empty();
}

// Less than "1.00x".
bool is_clearly_behind(const TimeBeside& time) {
  constexpr double kAsFast = 0.995;
  return is_runtime_known(time) && time.runtime_seconds < kAsFast * time.seconds;
}

// No more than "1.00x".
bool is_no_faster(const TimeBeside& time) {
  constexpr double kFaster = 1.005;
  return is_runtime_known(time) && time.runtime_seconds < kFaster * time.seconds;
}

// What is known of the runtime's own choice at the sizes of a window.
std::string beside_runtime(const std::vector<TimeBeside>& times) {
  if (std::ranges::none_of(times, is_runtime_known)) {
    return "where no other candidate is more than 10 % faster; the time of the runtime's own "
           "choice is not "
           "known";
  }
  const auto is_behind = [](const TimeBeside& time) {
    return is_runtime_known(time) && time.runtime_seconds < time.seconds;
  };
  if (std::ranges::all_of(times, is_behind)) {
    return "though the runtime's own choice is faster and needs no file";
  }
  if (std::ranges::any_of(times, is_behind)) {
    return "though the runtime's own choice is faster at some";
  }
  if (std::ranges::all_of(times, is_no_faster)) {
    return "where the runtime's own choice is as fast and needs no file";
  }
  return std::ranges::all_of(times, is_runtime_known)
             ? "where it is not slower than the runtime's own choice"
             : "where it is not slower than the runtime's own choice, as far as that is known";
}

}  // namespace

void report_latencies(const Topology& topology, const Console& console) {
  const LinkLatencies latencies = link_latencies(topology);
  if (latencies.typical.empty()) return;
  std::size_t without = 0;
  std::vector<std::string> taken;
  for (const TypicalLatency& typical : latencies.typical) {
    without += typical.links;
    if (taken.size() < kMostKinds) taken.push_back(words_of(typical));
  }
  if (latencies.typical.size() > kMostKinds) taken.emplace_back("…");
  note(console, fmt::format("{} of {} {} no latency: typical ones are used ({}); to change them: "
                            "\"latency\" in the file, or --latency KIND=US",
                            without, counted(latencies.links, "link"),
                            without == 1 ? "has" : "have", fmt::join(taken, ", ")));
}

Json latencies_json(const Topology& topology) {
  const LinkLatencies latencies = link_latencies(topology);
  Json typical = Json::array();
  for (const TypicalLatency& entry : latencies.typical) {
    typical.push_back(
        {{"kind", entry.kind}, {"us", entry.us.to_double()}, {"link_count", entry.links}});
  }
  return {{"link_count", latencies.links}, {"typical", std::move(typical)}};
}

Json choice_json(const FastestChoice& choice) {
  return {{"bytes", choice.bytes},
          {"algorithm", choice.algorithm},
          {"name", choice.name},
          {"protocol", choice.protocol},
          {"instances", choice.instances},
          {"buffer_bytes", choice.buffer_bytes},
          {"simulated_seconds", choice.seconds}};
}

void put_least(Json& json, const LeastTime& least) {
  json["least_seconds"] = least.seconds;
  json["least_by"] = least.by == LeastTime::By::latency ? "latency" : "links";
}

Json to_json(const std::vector<ConsideredTime>& considered) {
  Json rows = Json::array();
  for (const ConsideredTime& each : considered) {
    rows.push_back({{"algorithm", each.algorithm},
                    {"simulated_seconds", each.seconds},
                    {"is_at_least", each.is_bound}});
  }
  return rows;
}

Json to_json(const TimeCosts& costs) {
  return {{"links", costs.links},
          {"waiting", costs.waiting},
          {"latencies", costs.latencies},
          {"threadblocks", costs.threadblocks}};
}

Json to_json(const FastestChoice& choice) {
  Json json = choice_json(choice);
  json["selected"] = choice.is_selected;
  put_least(json, choice.least);
  if (choice.costs) json["costs_seconds"] = to_json(*choice.costs);
  json["estimate"] = "model, not measurement";
  json["considered"] = to_json(choice.considered);
  return json;
}

std::string time_in_words(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} us", seconds * 1e6)
                        : fmt::format("{:.2f} ms", seconds * 1e3);
}

std::string window_lines(const SizeWindow& window, const std::optional<FastestChoice>& choice) {
  std::string lines =
      fmt::format("  for buffers {}{}, {}:",
                  window.first == 0 ? "of any size" : "from " + size_in_words(window.first),
                  window.last         ? " up to " + size_in_words(*window.last)
                  : window.first == 0 ? ""
                                      : " on",
                  beside_runtime(window.times));
  for (const TimeBeside& time : window.times) {
    lines +=
        fmt::format("\n    {:>9} {:>9}", size_in_words(time.bytes), time_in_words(time.seconds));
    if (!is_runtime_known(time)) continue;
    lines += fmt::format("; runtime ({}) {} ({:.2f}x)", time.runtime_algorithm,
                         time_in_words(time.runtime_seconds), time.runtime_seconds / time.seconds);
  }
  if (choice && !choice->is_selected) {
    const bool is_known = std::ranges::any_of(window.times, is_runtime_known);
    lines += fmt::format(
        "\n  {} itself is not divisible by the file's chunks: the runtime's own choice runs "
        "there{}",
        size_in_words(choice->bytes), is_known ? ", as no file for that size is as fast" : "");
  }
  return lines;
}

std::string window_line(const SizeWindow& window, const std::optional<FastestChoice>& choice) {
  std::string line;
  for (const TimeBeside& time : window.times) {
    line += fmt::format("{}{}: {}", line.empty() ? "  " : "; ", size_in_words(time.bytes),
                        time_in_words(time.seconds));
    if (!is_runtime_known(time)) continue;
    line += fmt::format(", runtime {} ({:.2f}x)", time_in_words(time.runtime_seconds),
                        time.runtime_seconds / time.seconds);
  }
  if (std::ranges::none_of(window.times, is_runtime_known)) {
    line += "; runtime's own: not known";
  } else if (std::ranges::all_of(window.times, is_clearly_behind)) {
    line += "; the runtime is faster without a file";
  } else if (std::ranges::all_of(window.times, is_no_faster)) {
    line += "; the runtime is as fast without a file";
  }
  if (choice && !choice->is_selected) {
    line += fmt::format("; {} itself, not divisible by the file's chunks, runs without it",
                        size_in_words(choice->bytes));
  }
  return line;
}

Json to_json(const SizeWindow& window) {
  Json json = {
      {"min_bytes", window.first}, {"max_bytes", nullptr}, {"times", to_json(window.times)}};
  if (window.last) json["max_bytes"] = *window.last;
  return json;
}

Json to_json(const std::vector<TimeBeside>& times) {
  Json rows = Json::array();
  for (const TimeBeside& time : times) {
    Json row = {{"bytes", time.bytes}, {"simulated_seconds", time.seconds}, {"runtime", nullptr}};
    if (is_runtime_known(time)) {
      row["runtime"] = {{"algorithm", time.runtime_algorithm},
                        {"simulated_seconds", time.runtime_seconds}};
      row["ratio"] = time.seconds / time.runtime_seconds;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace forestcoll::cli
