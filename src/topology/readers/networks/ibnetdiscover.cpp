// The output of ibnetdiscover: every switch and adapter, with a line for each port in use:
//   Switch  40 "S-b8599f03001a2b3c"    # "leaf1" enhanced port 0 lid 3 lmc 0
//   [22]    "H-0c42a10300aabbcc"[1](c42a10300aabbcc)    # "node4 mlx5_0" lid 9 4xHDR
// A cable stands at both of its ends, which must agree: so a file that is cut off is told from a
// smaller fabric. The adapter's description says whose it is: the host, and the device on it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/words.hpp"
#include "forestcoll/text.hpp"
#include "topology/readers/readers.hpp"

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

// A cable as one of its ends states it.
struct Cable {
  Port here, there;
  std::string description;  // of what is there
  Ratio bandwidth;
  std::string speed;  // "4xHDR"
  std::size_t offset = 0;
};

// An adapter, by its description.
struct Adapter {
  std::string guid;
  std::size_t offset = 0;
};

class IbnetdiscoverReader : FileReader {
 public:
  explicit IbnetdiscoverReader(const Context& context) : FileReader(context) {}

  std::optional<ClusterNetwork> read() {
    for (const TextLine& line : lines_of(context_.text)) read_line(line);
    if (network_.switches.empty()) {
      fail(Code::I01, 0, "no line begins with Switch: this is not ibnetdiscover's output",
           "Run ibnetdiscover on a host of the fabric, as root.");
    }
    if (!failed_) check_ends();
    if (!failed_) connect();
    if (failed_) return std::nullopt;
    order_hosts();
    report_left_out();
    return std::move(network_);
  }

 private:
  void malformed(const TextLine& line, std::string_view expected) {
    fail(Code::I02, line.offset, fmt::format("expected {}, found {}", expected, quote(line.text)),
         "Is the file cut off? Run ibnetdiscover anew.");
  }

  void read_line(const TextLine& line) {
    const auto words = words_of(line.text);
    if (words.empty() || words[0].starts_with("#")) return;
    if (words[0] == "Switch" || words[0] == "Ca" || words[0] == "Rt") {
      read_node(line, words[0]);
    } else if (words[0].starts_with("[")) {
      if (!guid_.empty()) read_port(line);
    } else if (words[0].find('=') == std::string_view::npos &&
               !words[0].ends_with("guid")) {  // vendid=…, caguid=…
      malformed(line, "a switch, an adapter or a port");
    }
  }

  void read_node(const TextLine& line, std::string_view type) {
    std::size_t at = 0;
    const auto guid = quoted(line.text, at);
    if (!guid || !is_guid(*guid)) {
      return malformed(line, "the name of the switch or adapter in quotation marks");
    }
    guid_ = *guid;
    if (!sections_.insert(guid_).second) {
      return fail(Code::I02, line.offset, fmt::format("a second section of {}", quote(guid_)),
                  "Run ibnetdiscover anew.");
    }
    if (type != "Switch") return;
    const auto description = quoted(line.text, at);
    switch_of_.emplace(guid_, network_.switches.size());
    network_.switches.push_back({.id = fmt::format("sw{}", network_.switches.size()),
                                 .name = std::string(description.value_or(*guid))});
  }

  void read_port(const TextLine& line) {
    const auto here = port_number(line.text);
    std::size_t at = 0;
    const auto guid = quoted(line.text, at);
    const auto there = guid ? port_number(line.text.substr(at)) : std::nullopt;
    if (!here || !there || !is_guid(*guid)) {
      return malformed(line, "a port such as [22] \"H-…\"[1] # \"host mlx5_0\" lid 9 4xHDR");
    }
    const auto description = quoted(line.text, at);
    const auto words = words_of(line.text.substr(at));
    const auto speed = std::ranges::find_if(
        words, [](std::string_view word) { return parse_speed(word).has_value(); });
    if (speed == words.end()) return malformed(line, "the speed of the cable, such as 4xHDR");
    const Port port{guid_, *here};
    if (!cable_at_.emplace(port, cables_.size()).second) {
      return fail(Code::I02, line.offset,
                  fmt::format("a second line of port {} of {}", *here, quote(guid_)),
                  "Run ibnetdiscover anew.");
    }
    cables_.push_back({.here = port,
                       .there = {std::string(*guid), *there},
                       .description = std::string(description.value_or("")),
                       .bandwidth = *parse_speed(*speed),
                       .speed = std::string(*speed),
                       .offset = line.offset});
  }

  void check_ends() {
    for (const Cable& cable : cables_) {
      check_other_end(cable);
      if (failed_) return;
    }
  }

  void check_other_end(const Cable& cable) {
    constexpr const char* kRemedy = "Is the file cut off? Run ibnetdiscover anew.";
    const Port& there = cable.there;
    if (!sections_.contains(there.guid)) {
      return fail(
          Code::I02, cable.offset,
          fmt::format("a cable leads to {}, of which the file has no section", quote(there.guid)),
          kRemedy);
    }
    const auto found = cable_at_.find(there);
    if (found == cable_at_.end()) {
      return fail(Code::I02, cable.offset,
                  fmt::format("a cable leads to port {} of {}, of which the file has no line",
                              there.number, quote(there.guid)),
                  kRemedy);
    }
    const Cable& back = cables_[found->second];
    if (back.there != cable.here) {
      return fail(Code::I02, cable.offset,
                  fmt::format("the cable's other end leads elsewhere, as {} says",
                              context_.place(back.offset)),
                  kRemedy);
    }
    if (back.bandwidth != cable.bandwidth) {
      fail(Code::I02, cable.offset,
           fmt::format("the cable has {} here and {} at its other end, {}", cable.speed, back.speed,
                       context_.place(back.offset)),
           "A link has one speed at a time: run ibnetdiscover anew.");
    }
  }

  // Parallel cables of one speed are one entry with a count.
  void connect() {
    for (const Cable& cable : cables_) {
      const auto here = switch_of_.find(cable.here.guid), there = switch_of_.find(cable.there.guid);
      if (here == switch_of_.end()) {
        if (there == switch_of_.end() && cable.here < cable.there) ++without_switch_;
      } else if (there == switch_of_.end()) {
        connect_adapter(here->second, cable);
        if (failed_) return;
      } else if (cable.here < cable.there) {  // the cable's other end is the same cable
        add({.from = here->second, .to = there->second, .bandwidth = cable.bandwidth});
      }
    }
  }

  void connect_adapter(std::size_t from, const Cable& cable) {
    const auto words = words_of(cable.description);
    if (words.size() != 2 || !cable.there.guid.starts_with("H-")) {
      skipped_.push_back(quote(cable.description));
      return;
    }
    const std::string host(words[0]), nic(words[1]);
    if (is_machine(context_.options, host)) check_name(host, cable);
    if (failed_) return;
    const auto given = context_.overridden("nic");
    add({.from = from, .host = host, .nic = nic, .bandwidth = given ? given : cable.bandwidth});
  }

  void check_name(const std::string& host, const Cable& cable) {
    if (host.find_first_of("[]") != std::string::npos) {
      return fail(Code::I03, cable.offset, fmt::format("a host is called {}", quote(host)),
                  "Names of hosts have no brackets, which stand for ranges. Correct the adapter's "
                  "description.");
    }
    const Adapter adapter{cable.there.guid, cable.offset};
    const auto [first, is_new] = adapters_.emplace(cable.description, adapter);
    if (is_new || first->second.guid == adapter.guid) return;
    fail(Code::I02, cable.offset,
         fmt::format("the adapters {} and {} (at {}) are both called {}", quote(adapter.guid),
                     quote(first->second.guid), context_.place(first->second.offset),
                     quote(cable.description)),
         "Give every host a name of its own in the description of its adapters (rdma-ndd does so), "
         "and run ibnetdiscover anew.");
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
  }

  void report_left_out() {
    if (!skipped_.empty()) {
      context_.report.left_out.push_back(
          fmt::format("{} whose description is not \"host device\": {}",
                      counted(skipped_.size(), "adapter"), listed(skipped_)));
    }
    if (without_switch_ > 0) {
      context_.report.left_out.push_back(
          fmt::format("{} from adapter to adapter", counted(without_switch_, "cable")));
    }
  }

  using Key = std::tuple<std::pair<std::size_t, std::size_t>, std::string, std::string, Ratio>;
  ClusterNetwork network_;
  std::map<std::string, std::size_t> switch_of_;  // by guid
  std::set<std::string> sections_;                // the guids of what has one
  std::vector<Cable> cables_;
  std::map<Port, std::size_t> cable_at_;
  std::map<std::string, Adapter> adapters_;  // by description
  std::map<Key, std::size_t> index_;
  std::vector<std::string> skipped_;
  std::size_t without_switch_ = 0;
  std::string guid_;  // of the section that is read
};

}  // namespace

std::optional<ClusterNetwork> read_ibnetdiscover(const Context& context) {
  return IbnetdiscoverReader(context).read();
}

}  // namespace forestcoll::importing
