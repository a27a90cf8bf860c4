#include "common/report/latency_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "forestcoll/latency.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostKinds = 6;

std::string in_words(const TypicalLatency& typical) {
  return fmt::format("{} {} us", typical.kind.empty() ? "without a kind" : typical.kind,
                     number(typical.us));
}

}  // namespace

void report_latencies(const Topology& topology, const Console& console) {
  const LinkLatencies latencies = link_latencies(topology);
  if (latencies.typical.empty()) return;
  std::size_t without = 0;
  std::vector<std::string> taken;
  for (const TypicalLatency& typical : latencies.typical) {
    without += typical.links;
    if (taken.size() < kMostKinds) taken.push_back(in_words(typical));
  }
  if (latencies.typical.size() > kMostKinds) taken.emplace_back("…");
  note(
      console,
      fmt::format("{} of {} {} no latency: typical ones are taken ({}); \"latency\" in the file or "
                  "--latency KIND=US says others",
                  without, counted(latencies.links, "link"), without == 1 ? "has" : "have",
                  fmt::join(taken, ", ")));
}

Json latencies_json(const Topology& topology) {
  const LinkLatencies latencies = link_latencies(topology);
  Json typical = Json::array();
  for (const TypicalLatency& entry : latencies.typical) {
    typical.push_back({{"kind", entry.kind}, {"us", entry.us.to_double()}, {"links", entry.links}});
  }
  return {{"links", latencies.links}, {"typical", std::move(typical)}};
}

}  // namespace forestcoll::cli
