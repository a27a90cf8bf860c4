// iblinkinfo: a section for each adapter and switch, a line for each port:
//   CA: node4 mlx5_0:
//         0x0c42a10300aabbcc   9   1[  ] ==( 4X   53.125 Gbps Active/  LinkUp)==>   3  22[  ]
//         "MF0;leaf1:MQM8700/U1" ( )
//   Switch: 0xb8599f03001a2b3c MF0;leaf1:MQM8700/U1:
//              3   23[  ] ==(                Down/ Polling)==>             [  ] "" ( )
// or, with -l, all of it on one line: 0xGUID "NAME" LID PORT[ ] ==( … )==> 0xGUID LID PORT[ ]
// "NAME".
#include <fmt/format.h>

#include "base/words.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/health/dumps.hpp"
#include "topology/health/lane_speeds.hpp"

namespace forestcoll::health {
namespace {

// "4X 25.78125 Gbps Active/ LinkUp": GB/s, 0 of a port that is not active; nothing of what cannot
// be read.
std::optional<Ratio> bandwidth_of(std::string_view state) {
  if (state.find("Active/") == std::string_view::npos) return Ratio(0);
  const auto words = words_of(state);
  if (words.size() < 3 || !words[0].ends_with("X")) return std::nullopt;
  const auto lanes = natural(words[0].substr(0, words[0].size() - 1));
  if (!lanes || *lanes < 1 || *lanes > 12) return std::nullopt;
  const auto signalled = parse_bandwidth(words[1]);
  if (!signalled) return std::nullopt;
  const bool is_fdr10 = state.find("(FDR10)") != std::string_view::npos;
  for (const LaneSpeed& speed : kLaneSpeeds) {
    if (parse_bandwidth(speed.signalled) != signalled) continue;
    return Ratio(is_fdr10 ? 50 : speed.tenths, 10) * Ratio(*lanes, 4);
  }
  return std::nullopt;
}

// What stands between the first two quotation marks, and behind them.
std::pair<std::string_view, std::string_view> quoted_part(std::string_view text) {
  const std::size_t open = text.find('"');
  const std::size_t close = text.find('"', open == std::string_view::npos ? open : open + 1);
  if (close == std::string_view::npos) return {};
  return {trimmed(text.substr(open + 1, close - open - 1)), text.substr(close + 1)};
}

// "CA: node4 mlx5_0:", "Switch: 0x… NAME:"; nothing of other lines.
std::optional<std::string_view> section_name(std::string_view line) {
  for (const std::string_view word : {"CA: ", "Switch: ", "Router: "}) {
    if (!line.starts_with(word) || !line.ends_with(":")) continue;
    std::string_view name = trimmed(line.substr(word.size()));
    name.remove_suffix(1);
    if (word == "Switch: " && name.starts_with("0x")) {
      name.remove_prefix(std::min(name.find(' '), name.size()));
    }
    return trimmed(name);
  }
  return std::nullopt;
}

// "(Could be 4X Could be 25.78125 Gbps)" behind the name of the other end.
std::string could_be(std::string_view rest) {
  const std::size_t open = rest.find('('), close = rest.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(trimmed(rest.substr(open + 1, close - open - 1)));
}

}  // namespace

std::optional<NetworkState> read_iblinkinfo(const Dump& dump) {
  NetworkState state{"iblinkinfo"};
  std::string_view section;
  for (const auto& each : lines_of(dump.text)) {
    const std::string_view line = trimmed(each.text);
    if (const auto name = section_name(line)) section = *name;
    const std::size_t open = line.find("==("), close = line.find(")==>");
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
    const std::string_view here = quoted_part(line.substr(0, open)).first;
    const auto [other, rest] = quoted_part(line.substr(close + 4));
    const auto bandwidth = bandwidth_of(line.substr(open + 3, close - open - 3));
    const std::string_view name = here.empty() ? section : here;
    if (name.empty() || !bandwidth) {
      dump.findings.error(
          Code::I02, "",
          fmt::format("expected a port of a named switch or adapter with its speed, found {}",
                      topology::quote(line)),
          "Take the output of iblinkinfo as it is, headings and all, or that of iblinkinfo -l.");
      return std::nullopt;
    }
    state.ports.push_back(
        {.node = std::string(name), .other = std::string(other), .bandwidth = *bandwidth});
    if (const std::string more = could_be(rest); !more.empty()) {
      state.doubts.push_back(
          fmt::format("{} to {}: {}", topology::quote(name), topology::quote(other), more));
    }
  }
  return state;
}

}  // namespace forestcoll::health
