#include "simulate/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/host.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/progress_bar.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kShownLinks = 3;

// Links, and what they share, in words, with the part of the time that each is busy; the busiest
// first, of equals limits and then links by name.
std::vector<std::pair<std::string, double>> by_use(const Simulation& simulation,
                                                   const Topology& topology) {
  std::vector<std::pair<std::string, double>> uses;
  const auto network = to_digraph(topology);
  for (const LimitUse& limit : simulation.limits) {
    uses.emplace_back(limit_in_words(topology, *network, limit.limit), limit.busy);
  }
  for (const LinkUse& link : simulation.links) {
    uses.emplace_back(fmt::format("{} -> {}", link.src, link.dst), link.busy);
  }
  std::ranges::stable_sort(uses, [](const auto& a, const auto& b) { return a.second > b.second; });
  return uses;
}

Json links_json(const Simulation& simulation) {
  Json links = Json::array();
  for (const LinkUse& link : simulation.links) {
    links.push_back({{"src", link.src}, {"dst", link.dst}, {"busy", link.busy}});
  }
  return links;
}

}  // namespace

Expected<Simulation> simulate(const Simulator& simulator, const std::vector<std::int64_t>& sizes,
                              const Figures& figures, const SimulateArguments& options,
                              const Console& console) {
  ProgressBar bar("simulating", console);
  SimulationOptions simulation;
  simulation.progress = [&](double fraction) { bar.update(fraction); };
  simulation.every_pass = options.every_pass;
  simulation.threads = options.threads;
  simulation.stop = stop_of_host();
  return simulator.run(sizes, figures.parameters, simulation);
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::string simulated_with(const Figures& figures) {
  return fmt::format("simulated ({}); GPU parameters: {} ({})", kModelLine, figures.parameters.name,
                     figures.chosen);
}

std::string busiest_lines(const Simulation& simulation, const Topology& topology) {
  std::string text;
  const auto uses = by_use(simulation, topology);
  const std::string head =
      simulation.limits.empty() ? "busiest links: " : "busiest links and limits: ";
  for (std::size_t i = 0; i < std::min(kShownLinks, uses.size()); ++i) {
    text += fmt::format("  {}{} is busy {:.1f} % of the time at the largest size\n",
                        i == 0 ? head : std::string(head.size(), ' '), uses[i].first,
                        uses[i].second * 100);
  }
  return text;
}

Json times_json(const Simulation& simulation) {
  Json times = Json::array();
  for (const SimulatedTime& time : simulation.times) {
    times.push_back({{"bytes", static_cast<std::int64_t>(time.bytes)},
                     {"simulated_seconds", time.seconds},
                     {"simulated_algbw", time.algbw},
                     {"simulated_busbw", time.busbw}});
  }
  return times;
}

void put_uses(Json& json, const Simulation& simulation, const Topology& topology) {
  json["links"] = links_json(simulation);
  if (topology.limits.empty()) return;
  const auto network = to_digraph(topology);
  json["shared_limits"] = Json::array();
  for (const LimitUse& limit : simulation.limits) {
    json["shared_limits"].push_back(limit_json(topology, *network, limit.limit));
    json["shared_limits"].back()["busy"] = limit.busy;
  }
}

Json json_of(const Figures& figures) {
  return {{"name", figures.parameters.name},
          {"source", figures.parameters.source},
          {"chosen", figures.chosen}};
}

}  // namespace forestcoll::cli
