// The output of ibnetdiscover: every switch and adapter, with a line for each port in use:
//   Switch  40 "S-b8599f03001a2b3c"    # "leaf1" enhanced port 0 lid 3 lmc 0
//   [22]    "H-0c42a10300aabbcc"[1](c42a10300aabbcc)    # "node4 mlx5_0" lid 9 4xHDR
// A cable stands at both of its ends; the switch's is read. The adapter's description says whose it
// is: the host, and the device on it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "topology/import/readers.hpp"
#include "topology/import/words.hpp"

namespace forestcoll::importing {
namespace {

// GB/s of data on four lanes, by InfiniBand's names of its speeds.
struct Speed {
  std::string_view name;
  std::int64_t tenths;
};
constexpr std::array<Speed, 9> kSpeeds = {{{"SDR", 10},
                                           {"DDR", 20},
                                           {"QDR", 40},
                                           {"FDR10", 50},
                                           {"FDR", 68},
                                           {"EDR", 125},
                                           {"HDR", 250},
                                           {"NDR", 500},
                                           {"XDR", 1000}}};

// "4xHDR"
std::optional<Ratio> parse_speed(std::string_view word) {
  const std::size_t x = word.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto lanes = natural(word.substr(0, x));
  const auto speed = std::ranges::find(kSpeeds, word.substr(x + 1), &Speed::name);
  if (!lanes || *lanes < 1 || *lanes > 16 || speed == kSpeeds.end()) return std::nullopt;
  return Ratio(speed->tenths, 10) * Ratio(*lanes, 4);
}

// The next text in quotation marks from `at` on, which moves behind it.
std::optional<std::string_view> quoted(std::string_view line, std::size_t& at) {
  const std::size_t open = line.find('"', at);
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = line.find('"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  at = close + 1;
  return line.substr(open + 1, close - open - 1);
}

// "S-…" names a switch, "H-…" an adapter, "R-…" a router.
bool is_guid(std::string_view name) {
  return name.starts_with("S-") || name.starts_with("H-") || name.starts_with("R-");
}

// "[22]", maybe followed by "(guid)".
std::optional<std::int64_t> port_number(std::string_view text) {
  if (!text.starts_with("[")) return std::nullopt;
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return std::nullopt;
  return natural(text.substr(1, close - 1));
}

struct Port {
  std::string guid;
  std::int64_t number = 0;
  auto operator<=>(const Port&) const = default;
};

// A cable as a switch states it.
struct Cable {
  Port here, there;
  std::string description;
  Ratio bandwidth;
  std::size_t offset = 0;
};

class Reader {
 public:
  explicit Reader(const Context& context) : context_(context) {}

  std::optional<ClusterNetwork> read() {
    for (const Line& line : lines_of(context_.text)) read_line(line);
    if (network_.switches.empty()) {
      fail("I01", 0, "no line begins with Switch: this is not ibnetdiscover's output",
           "Run ibnetdiscover on a host of the fabric, as root.");
    }
    if (!failed_) connect();
    if (failed_) return std::nullopt;
    order_hosts();
    return std::move(network_);
  }

 private:
  void fail(std::string_view code, std::size_t offset, std::string message, std::string remedy) {
    context_.findings.error(code, context_.place(offset), std::move(message), std::move(remedy));
    failed_ = true;
  }
  void malformed(const Line& line, std::string_view expected) {
    fail("I02", line.offset, fmt::format("expected {}, found {}", expected, quote(line.text)),
         "Is the file cut off? Run ibnetdiscover anew.");
  }

  void read_line(const Line& line) {
    const auto words = words_of(line.text);
    if (words.empty() || words[0].starts_with("#")) return;
    if (words[0] == "Switch" || words[0] == "Ca" || words[0] == "Rt") {
      read_node(line, words[0]);
    } else if (words[0].starts_with("[")) {
      if (in_switch_) read_port(line);
    } else if (words[0].find('=') == std::string_view::npos &&
               !words[0].ends_with("guid")) {  // vendid=…, caguid=…
      malformed(line, "a switch, an adapter or a port");
    }
  }

  void read_node(const Line& line, std::string_view type) {
    std::size_t at = 0;
    const auto guid = quoted(line.text, at);
    if (!guid || !is_guid(*guid)) {
      return malformed(line, "the name of the switch or adapter in quotation marks");
    }
    in_switch_ = type == "Switch";
    if (!in_switch_) return;
    guid_ = *guid;
    const auto description = quoted(line.text, at);
    if (!switch_of_.emplace(guid_, network_.switches.size()).second) {
      return fail("I02", line.offset, fmt::format("a second switch is called {}", quote(guid_)),
                  "Run ibnetdiscover anew.");
    }
    network_.switches.push_back({.id = fmt::format("sw{}", network_.switches.size()),
                                 .name = std::string(description.value_or(*guid))});
  }

  void read_port(const Line& line) {
    const auto here = port_number(line.text);
    std::size_t at = 0;
    const auto guid = quoted(line.text, at);
    const auto there = guid ? port_number(line.text.substr(at)) : std::nullopt;
    if (!here || !there || !is_guid(*guid)) {
      return malformed(line, "a port such as [22] \"H-…\"[1] # \"host mlx5_0\" lid 9 4xHDR");
    }
    const auto description = quoted(line.text, at);
    const auto words = words_of(line.text.substr(at));
    std::optional<Ratio> bandwidth;
    for (const std::string_view word : words) {
      if (const auto speed = parse_speed(word)) bandwidth = speed;
    }
    if (!bandwidth) return malformed(line, "the speed of the cable, such as 4xHDR");
    cables_.push_back({.here = {guid_, *here},
                       .there = {std::string(*guid), *there},
                       .description = std::string(description.value_or("")),
                       .bandwidth = *bandwidth,
                       .offset = line.offset});
  }

  // Parallel cables of one speed are one entry with a count.
  void connect() {
    std::set<std::pair<Port, Port>> seen;
    for (const Cable& cable : cables_) {
      if (!seen.insert(std::minmax({cable.here, cable.there})).second) continue;
      const std::size_t from = switch_of_.at(cable.here.guid);
      const auto other = switch_of_.find(cable.there.guid);
      if (other != switch_of_.end()) {
        add({.from = from, .to = other->second, .bandwidth = cable.bandwidth});
      } else if (cable.there.guid.starts_with("S-")) {
        fail("I02", cable.offset,
             fmt::format("a cable leads to the switch {}, which the file does not have",
                         quote(cable.there.guid)),
             "Is the file cut off? Run ibnetdiscover anew.");
      } else {
        connect_adapter(from, cable);
      }
    }
  }

  void connect_adapter(std::size_t from, const Cable& cable) {
    const auto words = words_of(cable.description);
    if (words.size() != 2) {
      skipped_.push_back(quote(cable.description));
      return;
    }
    add({.from = from,
         .host = std::string(words[0]),
         .nic = std::string(words[1]),
         .bandwidth = cable.bandwidth});
  }

  void add(NetworkCable cable) {
    const auto key = std::tuple(std::minmax({cable.from, cable.to.value_or(cable.from)}),
                                cable.host, cable.nic, *cable.bandwidth);
    const auto [at, is_new] = index_.emplace(key, network_.cables.size());
    if (is_new) {
      if (!cable.host.empty()) network_.hosts.push_back(cable.host);
      network_.cables.push_back(std::move(cable));
    } else {
      ++network_.cables[at->second].count;
    }
  }

  // node2 before node10.
  void order_hosts() {
    const auto key = [](const std::string& host) {
      const std::size_t digits = host.find_last_not_of("0123456789") + 1;
      const auto number = natural(std::string_view(host).substr(digits));
      return std::tuple(host.substr(0, digits), number.value_or(-1), host);
    };
    auto& hosts = network_.hosts;
    std::ranges::sort(hosts, {}, key);
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    if (skipped_.empty()) return;
    context_.report.left_out.push_back(
        fmt::format("{} whose description is not \"host device\": {}",
                    counted(skipped_.size(), "adapter"), listed(skipped_)));
  }

  using Key = std::tuple<std::pair<std::size_t, std::size_t>, std::string, std::string, Ratio>;
  const Context& context_;
  ClusterNetwork network_;
  std::map<std::string, std::size_t> switch_of_;  // by guid
  std::vector<Cable> cables_;
  std::map<Key, std::size_t> index_;
  std::vector<std::string> skipped_;
  std::string guid_;  // of the switch whose ports are read
  bool in_switch_ = false;
  bool failed_ = false;
};

}  // namespace

std::optional<ClusterNetwork> read_ibnetdiscover(const Context& context) {
  return Reader(context).read();
}

}  // namespace forestcoll::importing
