// Slurm's topology.conf, the plugin topology/tree: which switch holds which nodes or switches. It
// has no bandwidths: those of the nodes' links are their NICs', those between switches the
// options'.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/host_list.hpp"
#include "topology/import/readers.hpp"
#include "topology/import/words.hpp"

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
  for (const Line& line : lines_of(text)) {
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

// "a[0-3],b" at the commas that are outside of brackets.
std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at < list.size() && list[at] == '[') inside = true;
    if (at < list.size() && list[at] == ']') inside = false;
    if (at < list.size() && (list[at] != ',' || inside)) continue;
    parts.push_back(list.substr(begin, at - begin));
    begin = at + 1;
  }
  return parts;
}

struct SwitchLine {
  std::vector<std::string> nodes, switches;
  std::size_t offset = 0;
};

class Reader {
 public:
  explicit Reader(const Context& context) : context_(context) {}

  std::optional<ClusterNetwork> read() {
    for (const Logical& line : logical_lines(context_.text)) {
      read_line(line);
      if (failed_) return std::nullopt;
    }
    if (lines_.empty()) {
      fail("I01", 0, "no line begins with SwitchName: this is not Slurm's topology.conf",
           "Give the topology.conf of the plugin topology/tree.");
    }
    for (std::size_t i = 0; i < lines_.size() && !failed_; ++i) connect(i);
    if (failed_) return std::nullopt;
    return std::move(network_);
  }

 private:
  void fail(std::string_view code, std::size_t offset, std::string message, std::string remedy) {
    context_.findings.error(code, context_.place(offset), std::move(message), std::move(remedy));
    failed_ = true;
  }

  void read_line(const Logical& line) {
    const auto words = words_of(line.text);
    if (words.empty()) return;
    std::vector<std::string> names;
    SwitchLine entry{.nodes = {}, .switches = {}, .offset = line.offset};
    for (const std::string_view word : words) {
      const std::size_t equals = word.find('=');
      const std::string_view key = word.substr(0, equals);
      const bool known = equals != std::string_view::npos;
      const std::string_view value = known ? word.substr(equals + 1) : "";
      if (known && same_word(key, "SwitchName")) {
        names = expand(value, line.offset);
      } else if (known && same_word(key, "Nodes")) {
        entry.nodes = expand(value, line.offset);
      } else if (known && same_word(key, "Switches")) {
        entry.switches = expand(value, line.offset);
      } else if (known && same_word(key, "LinkSpeed")) {
        if (!speed_seen_) {
          context_.report.left_out.emplace_back("LinkSpeed: Slurm gives it no unit and ignores it");
        }
        speed_seen_ = true;
      } else {
        return fail(
            "I02", line.offset,
            fmt::format("expected SwitchName=…, Nodes=… or Switches=…, found {}", quote(word)),
            "Only the tree plugin's topology.conf is read.");
      }
    }
    if (failed_) return;
    if (names.empty())
      return fail("I02", line.offset, "a line without SwitchName",
                  "Begin it with SwitchName=NAME.");
    for (std::string& name : names) {
      if (!switch_of_.emplace(name, lines_.size()).second) {
        return fail("I02", line.offset, fmt::format("a second switch is called {}", quote(name)),
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
        fail("I02", offset, list.errors().front().message,
             "Write names as Slurm does: dev[0-5,8].");
        return {};
      }
      expanded_ = topology::saturating_sum(expanded_, list->count());
      if (expanded_ > kMaxHosts) {
        fail("I09", offset, "the file names too many switches and nodes",
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
      if (hosts_.insert(node).second) network_.hosts.push_back(node);
      network_.cables.push_back({.from = from, .host = node});
    }
    for (const std::string& below : line.switches) {
      const auto found = switch_of_.find(below);
      if (found == switch_of_.end()) {
        return fail("I02", line.offset,
                    fmt::format("no line describes the switch {}", quote(below)),
                    "Is the file cut off?");
      }
      const auto bandwidth = context_.options.uplink_bandwidth;
      if (!bandwidth) {
        return fail("I05", line.offset,
                    "topology.conf does not say how fast the links between switches are",
                    "Give it: --uplink-bandwidth 50 (GB/s of one), with --uplinks N where there "
                    "are several between two switches.");
      }
      network_.cables.push_back({.from = from,
                                 .to = found->second,
                                 .bandwidth = bandwidth,
                                 .count = static_cast<std::int64_t>(context_.options.uplinks)});
    }
  }

  const Context& context_;
  ClusterNetwork network_;
  std::vector<SwitchLine> lines_;  // of network_.switches
  std::map<std::string, std::size_t> switch_of_;
  std::set<std::string> hosts_;
  std::size_t expanded_ = 0;
  bool speed_seen_ = false;
  bool failed_ = false;
};

}  // namespace

std::optional<ClusterNetwork> read_slurm(const Context& context) {
  return Reader(context).read();
}

}  // namespace forestcoll::importing
