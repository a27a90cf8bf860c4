// Slurm's topology.conf, the plugin topology/tree: which switch holds which nodes or switches. It
// has no bandwidths: those of the nodes' links are their NICs', those between switches the
// options'.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.hpp"
#include "topology/format/host_list.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {
namespace {

// A line with its continuations, without comments.
struct Logical {
  std::string text;
  std::size_t offset = 0;
};

std::vector<Logical> logical_lines(std::string_view text) {
  std::vector<Logical> lines;
  bool continues = false;
  for (const TextLine& line : lines_of(text)) {
    std::string_view content = line.text.substr(0, line.text.find('#'));
    content = content.substr(0, content.find_last_not_of(" \t") + 1);
    if (!continues) lines.push_back({.text = "", .offset = line.offset});
    continues = content.ends_with("\\");
    if (continues) content.remove_suffix(1);
    lines.back().text += content;
  }
  return lines;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return low(x) == low(y);
  });
}

// "Key=value", which may have blanks around = and quotation marks around the value.
struct Setting {
  std::string_view key, value;
};

// Nothing where the line is something else from some place on, which `rest` then is.
std::optional<std::vector<Setting>> settings_of(std::string_view line, std::string_view& rest) {
  std::vector<Setting> settings;
  for (rest = trimmed(line); !rest.empty(); rest = trimmed(rest)) {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view key = trimmed(rest.substr(0, equals));
    const std::string_view after = trimmed(rest.substr(equals + 1));
    if (key.empty() || words_of(key).size() != 1) return std::nullopt;
    const bool in_quotes = after.starts_with('"');
    const std::size_t end = in_quotes ? after.find('"', 1) : after.find_first_of(" \t");
    if (in_quotes && end == std::string_view::npos) return std::nullopt;
    // "Nodes= Switches=s0" lacks a value.
    if (after.substr(0, end).find('=') != std::string_view::npos) return std::nullopt;
    settings.push_back({.key = key, .value = after.substr(0, end).substr(in_quotes ? 1 : 0)});
    if (end == std::string_view::npos) break;
    rest = after.substr(end + (in_quotes ? 1 : 0));
  }
  return settings;
}

struct SwitchLine {
  std::vector<std::string> nodes, switches;
  std::size_t offset = 0;
};

class SlurmReader : FileReader {
 public:
  explicit SlurmReader(const Context& context) : FileReader(context) {}

  std::optional<ClusterNetwork> read() {
    for (const Logical& line : logical_lines(context_.text)) {
      read_line(line);
      if (failed_) return std::nullopt;
    }
    if (lines_.empty()) {
      fail(Code::I01, 0, "no line begins with SwitchName: this is not Slurm's topology.conf",
           "Give the topology.conf of the plugin topology/tree.");
    }
    for (std::size_t i = 0; i < lines_.size() && !failed_; ++i) connect(i);
    if (!failed_) refuse_cycles();
    if (failed_) return std::nullopt;
    return std::move(network_);
  }

 private:
  void unknown(const Logical& line, std::string_view found) {
    fail(Code::I02, line.offset,
         fmt::format("expected SwitchName=…, Nodes=… or Switches=…, found {}", quote(found)),
         "Only the tree plugin's topology.conf is read.");
  }

  void read_line(const Logical& line) {
    std::string_view rest;
    const auto settings = settings_of(line.text, rest);
    if (!settings) return unknown(line, rest);
    if (settings->empty()) return;
    std::vector<std::string> names;
    SwitchLine entry{.nodes = {}, .switches = {}, .offset = line.offset};
    for (const auto& [key, value] : *settings) {
      if (same_word(key, "SwitchName")) {
        names = expand(value, line.offset);
      } else if (same_word(key, "Nodes")) {
        entry.nodes = expand(value, line.offset);
      } else if (same_word(key, "Switches")) {
        entry.switches = expand(value, line.offset);
      } else if (same_word(key, "LinkSpeed")) {
        if (!speed_seen_) {
          context_.report.left_out.emplace_back("LinkSpeed: Slurm gives it no unit and ignores it");
        }
        speed_seen_ = true;
      } else {
        return unknown(line, key);
      }
    }
    if (failed_) return;
    if (names.empty())
      return fail(Code::I02, line.offset, "a line without SwitchName",
                  "Begin it with SwitchName=NAME.");
    for (std::string& name : names) {
      if (!switch_of_.emplace(name, lines_.size()).second) {
        return fail(Code::I02, line.offset,
                    fmt::format("a second switch is called {}", quote(name)),
                    "Describe each switch in one line.");
      }
      network_.switches.push_back({.id = name, .name = name});
      lines_.push_back(entry);
    }
  }

  std::vector<std::string> expand(std::string_view text, std::size_t offset) {
    std::vector<std::string> all;
    for (const std::string_view part : split_list(text)) {
      const auto list = topology::parse_host_list(part);
      if (!list) {
        fail(Code::I02, offset, list.errors().front().message,
             "Write names as Slurm does: dev[0-5,8].");
        return {};
      }
      expanded_ = topology::saturating_sum(expanded_, list->count());
      if (expanded_ > kMaxHosts) {
        fail(Code::I09, offset, "the file names too many switches and nodes",
             fmt::format("At most {} are read.", kMaxHosts));
        return {};
      }
      for (std::string& name : list->expand()) all.push_back(std::move(name));
    }
    return all;
  }

  void connect(std::size_t from) {
    const SwitchLine& line = lines_[from];
    for (const std::string& node : line.nodes) {
      const auto [first, is_new] = switch_of_host_.emplace(node, from);
      if (!is_new) return refuse_twice("node", node, first->second, from);
      network_.hosts.push_back(node);
      network_.cables.push_back({.from = from, .host = node});
    }
    std::set<std::string_view> met;
    for (const std::string& below : line.switches) {
      const auto found = switch_of_.find(below);
      if (found == switch_of_.end()) {
        return fail(Code::I02, line.offset,
                    fmt::format("no line describes the switch {}", quote(below)),
                    "Is the file cut off?");
      }
      if (!met.insert(below).second) return refuse_twice("switch", below, from, from);
      below_[from].push_back(found->second);
      const auto bandwidth = context_.options.uplink_bandwidth;
      if (!bandwidth) {
        return fail(Code::I05, line.offset,
                    "topology.conf does not say how fast the links between switches are",
                    "Give it: `uplink_bandwidth=50` (GB/s of one), with `uplinks=N` where there "
                    "are several between two switches.");
      }
      network_.cables.push_back({.from = from,
                                 .to = found->second,
                                 .bandwidth = bandwidth,
                                 .count = static_cast<std::int64_t>(context_.options.uplinks)});
    }
  }

  // Every NIC of a node would be cabled to either switch.
  void refuse_twice(std::string_view what, const std::string& name, std::size_t first,
                    std::size_t second) {
    const std::string both =
        first == second ? "twice under " + quote(network_.switches[first].name)
                        : fmt::format("under {} and under {}", quote(network_.switches[first].name),
                                      quote(network_.switches[second].name));
    fail(Code::I02, lines_[second].offset,
         fmt::format("the {} {} stands {} (the first at {})", what, quote(name), both,
                     context_.place(lines_[first].offset)),
         "topology.conf cannot say which of several cables goes where: name it once, or give "
         "ibnetdiscover's output instead.");
  }

  // Takes away switches that no other holds until none is left.
  void refuse_cycles() {
    std::vector<std::size_t> holders(lines_.size(), 0), open;
    for (const auto& [above, switches] : below_) {
      for (const std::size_t below : switches) ++holders[below];
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (holders[i] == 0) open.push_back(i);
    }
    for (std::size_t at = 0; at < open.size(); ++at) {
      const auto found = below_.find(open[at]);
      if (found == below_.end()) continue;
      for (const std::size_t below : found->second) {
        if (--holders[below] == 0) open.push_back(below);
      }
    }
    if (open.size() == lines_.size()) return;
    const auto in_cycle = static_cast<std::size_t>(
        std::ranges::find_if(holders, [](std::size_t n) { return n > 0; }) - holders.begin());
    fail(Code::I02, lines_[in_cycle].offset,
         fmt::format("the switch {} stands below itself", quote(network_.switches[in_cycle].name)),
         "Switches= names the switches below; leave the way back out, as a link is one for both "
         "directions.");
  }

  ClusterNetwork network_;
  std::vector<SwitchLine> lines_;  // of network_.switches
  std::map<std::string, std::size_t> switch_of_;
  std::map<std::size_t, std::vector<std::size_t>> below_;  // switches, by the one that holds them
  std::map<std::string, std::size_t> switch_of_host_;
  std::size_t expanded_ = 0;
  bool speed_seen_ = false;
};

}  // namespace

std::optional<ClusterNetwork> read_slurm(const Context& context) {
  return SlurmReader(context).read();
}

}  // namespace forestcoll::importing
