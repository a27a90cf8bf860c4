// iblinkinfo: a section for each adapter and switch, a line for each port:
//   CA: node4 mlx5_0:
//         0x0c42a10300aabbcc   9   1[  ] ==( 4X   53.125 Gbps Active/  LinkUp)==>   3  22[  ]
//         "MF0;leaf1:MQM8700/U1" ( )
//   Switch: 0xb8599f03001a2b3c MF0;leaf1:MQM8700/U1:
//              3   23[  ] ==(                Down/ Polling)==>             [  ] "" ( )
// or, with -l, all of it on one line: 0xGUID "NAME" LID PORT[ ] ==( … )==> 0xGUID LID PORT[ ]
// "NAME".
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

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

class IblinkinfoReader {
 public:
  explicit IblinkinfoReader(const Dump& dump) : dump_(dump) {}

  std::optional<NetworkState> run() {
    for (const auto& each : lines_of(dump_.text)) {
      const std::string_view line = trimmed(each.text);
      const std::size_t open = line.find("==("), close = line.find(")==>");
      if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
        if (!read_port(line, open, close)) return std::nullopt;
      } else if (const auto name = section_name(line)) {
        if (!end_section()) return std::nullopt;
        section_ = *name;
        heading_ = line;
      }
    }
    if (!end_section()) return std::nullopt;
    const bool all_down = std::ranges::all_of(
        state_.ports, [](const PortState& port) { return port.bandwidth == Ratio(0); });
    if (!all_down) return std::move(state_);
    // Whoever is not in such a list is up.
    refuse("no port that is up", "Take the output of iblinkinfo without --down.");
    return std::nullopt;
  }

 private:
  bool read_port(std::string_view line, std::size_t open, std::size_t close) {
    const std::string_view before = line.substr(0, open), after = line.substr(close + 4);
    const std::string_view here = quoted_part(before).first;
    const auto [other, rest] = quoted_part(after);
    const auto bandwidth = bandwidth_of(line.substr(open + 3, close - open - 3));
    const std::string_view name = here.empty() ? section_ : here;
    const bool is_whole = rest.data() != nullptr;
    if (name.empty() || !bandwidth || !is_whole) return refuse(topology::quote(line));
    if (!seen_.emplace(here.empty() ? heading_ : std::string_view(), before).second) {
      return refuse("the port " + topology::quote(before) + " a second time",
                    "Give dumps of several times as files of their own.");
    }
    is_empty_ = false;
    state_.ports.push_back(
        {.node = std::string(name), .other = std::string(other), .bandwidth = *bandwidth});
    if (const std::string more = could_be(rest); !more.empty()) {
      state_.doubts.push_back(
          fmt::format("{} to {}: {}", topology::quote(name), topology::quote(other), more));
    }
    return true;
  }

  // iblinkinfo writes a heading where ports follow; one without is where a file was cut off.
  bool end_section() {
    const bool is_cut_off = !heading_.empty() && is_empty_;
    is_empty_ = true;
    return !is_cut_off || refuse("no port below " + topology::quote(heading_));
  }

  bool refuse(const std::string& found,
              const char* remedy =
                  "Take the output of iblinkinfo as it is, headings and all, or "
                  "that of iblinkinfo -l.") {
    dump_.findings.error(
        Code::I02, "",
        fmt::format("expected a port of a named switch or adapter with its speed, found {}", found),
        remedy);
    return false;
  }

  const Dump& dump_;
  NetworkState state_{"iblinkinfo"};
  std::string_view section_, heading_;
  bool is_empty_ = true;  // the section
  // By the heading, if any, and what stands before the state: GUID, name, LID and number.
  std::set<std::pair<std::string_view, std::string_view>> seen_;
};

}  // namespace

std::optional<NetworkState> read_iblinkinfo(const Dump& dump) {
  return IblinkinfoReader(dump).run();
}

}  // namespace forestcoll::health
