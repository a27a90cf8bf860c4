// ibdiagnet2.lst: a line for each cable, with both of its ends, as ibdm of ibutils reads it:
//   { CA Ports:01 SystemGUID:7cfe… NodeGUID:7cfe… PortGUID:7cfe… VenID:0002C9 DevID:1013 Rev:0000
//   {node1 HCA-1} LID:0032 PN:01 } { SW Ports:25 … {MF0;leaf1:CS7500/L17/U2} LID:00F9 PN:0C }
//   PHY=4x LOG=ACT SPD=25
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/words.hpp"
#include "topology/health/dumps.hpp"
#include "topology/health/lane_speeds.hpp"

namespace forestcoll::health {
namespace {

struct CableEnd {
  bool is_adapter = false;
  std::string_view name;
  std::pair<std::string_view, std::string_view> port;  ///< GUID of the node, number
};

// "{ CA … NodeGUID:… Rev:… {NAME} LID:… PN:… }" at the beginning of the text, which is then what
// follows it.
std::optional<CableEnd> take_end(std::string_view& text) {
  constexpr std::string_view kGuid = " NodeGUID:", kName = " {", kLid = "} LID:", kNumber = " PN:";
  text = trimmed(text);
  const std::size_t guid = text.find(kGuid), name = text.find(kName), lid = text.find(kLid, name),
                    number = text.find(kNumber, lid), end = text.find(" }", number);
  // Without a name, the first one would be that of the other end.
  if (!text.starts_with("{ ") || end == std::string_view::npos || guid > name ||
      text.find(" }") != end) {
    return std::nullopt;
  }
  const auto between = [&](std::size_t from, std::size_t to) {
    return text.substr(from, to - from);
  };
  const std::size_t guid_at = guid + kGuid.size();
  const CableEnd found{
      .is_adapter = text.substr(2).starts_with("CA "),
      .name = between(name + kName.size(), lid),
      .port = {between(guid_at, text.find(' ', guid_at)), between(number + kNumber.size(), end)}};
  text.remove_prefix(end + 2);
  return found;
}

// "PHY=4x LOG=ACT SPD=25": GB/s, 0 of a cable that is not active; nothing of what cannot be read.
std::optional<Ratio> cable_bandwidth(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() < 2 || !words[0].starts_with("PHY=") || !words[1].starts_with("LOG=")) {
    return std::nullopt;
  }
  if (words[1] != "LOG=ACT") return Ratio(0);
  if (words.size() < 3 || !words[0].ends_with("x")) return std::nullopt;
  const auto lanes = natural(words[0].substr(4, words[0].size() - 5));
  if (!lanes || *lanes < 1 || *lanes > 12) return std::nullopt;
  for (const LaneSpeed& speed : kLaneSpeeds) {
    if (words[2] == fmt::format("SPD={}", speed.listed)) {
      return Ratio(speed.tenths, 10) * Ratio(*lanes, 4);
    }
  }
  return std::nullopt;
}

class ListReader {
 public:
  explicit ListReader(const Dump& dump) : dump_(dump) {}

  std::optional<NetworkState> run() {
    for (const TextLine& each : lines_of(dump_.text)) {
      const std::string_view line = trimmed(each.text);
      if (!line.empty() && !line.starts_with("#") && !read_cable(line)) return std::nullopt;
    }
    return std::move(state_);
  }

 private:
  bool read_cable(std::string_view line) {
    std::string_view rest = line;
    const auto one = take_end(rest), other = one ? take_end(rest) : std::nullopt;
    const auto bandwidth = other ? cable_bandwidth(rest) : std::nullopt;
    if (!bandwidth) return refuse("a cable with both ends and its speed", line);
    const auto [at, is_new] = cables_.emplace(std::minmax(one->port, other->port), *bandwidth);
    if (!is_new) return at->second == *bandwidth || refuse("each cable at one speed", line);
    for (const CableEnd& end : {*one, *other}) {
      // "node4 mlx5_0"; adapters without a driver have other names.
      if (!end.is_adapter || words_of(end.name).size() != 2) continue;
      state_.ports.push_back({.node = std::string(end.name), .other = {}, .bandwidth = *bandwidth});
    }
    return true;
  }

  bool refuse(const char* expected, std::string_view line) {
    dump_.findings.error(Code::I02, "",
                         fmt::format("expected {}, found {}", expected, topology::quote(line)),
                         "Take ibdiagnet2.lst as it is, or better ibdiagnet2.db_csv.");
    return false;
  }

  const Dump& dump_;
  using Port = std::pair<std::string_view, std::string_view>;
  std::map<std::pair<Port, Port>, Ratio> cables_;
  NetworkState state_{"ibdiagnet2.lst"};
};

}  // namespace

std::optional<NetworkState> read_ibdiagnet_list(const Dump& dump) {
  return ListReader(dump).run();
}

}  // namespace forestcoll::health
