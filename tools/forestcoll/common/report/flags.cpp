#include "common/report/flags.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace forestcoll::cli {
namespace {

// Flags that are called as the setting is, with dashes for underscores.
constexpr auto kFlags = std::to_array<std::string_view>({"a100",
                                                         "b200",
                                                         "bandwidth",
                                                         "bandwidths",
                                                         "baseline",
                                                         "box",
                                                         "boxes",
                                                         "boxes-per-leaf",
                                                         "compute",
                                                         "degree",
                                                         "demand",
                                                         "derate",
                                                         "diameter",
                                                         "dimensions",
                                                         "dims",
                                                         "drop",
                                                         "fabric",
                                                         "force-simple",
                                                         "format",
                                                         "global",
                                                         "gpu",
                                                         "h100",
                                                         "host",
                                                         "hosts",
                                                         "instances",
                                                         "latency",
                                                         "levels",
                                                         "max-bytes",
                                                         "max-height",
                                                         "max-nodes",
                                                         "measured",
                                                         "members",
                                                         "memory",
                                                         "nccl-graph",
                                                         "nic-bandwidth",
                                                         "nodes",
                                                         "offsets",
                                                         "oversubscription",
                                                         "pcie-p2p",
                                                         "ports",
                                                         "quantize",
                                                         "ranks",
                                                         "relays",
                                                         "routers",
                                                         "seed",
                                                         "sharp",
                                                         "size",
                                                         "spines",
                                                         "switches",
                                                         "target",
                                                         "threadblocks",
                                                         "time-limit",
                                                         "topology",
                                                         "tune",
                                                         "uplink-bandwidth",
                                                         "uplinks"});

struct Spelling {
  std::string_view setting;  ///< with "=" at its end: before any value
  std::string_view text;
  bool takes_file = false;  ///< a command; what the finding is about stands at its end
};

// What the program calls otherwise.
constexpr auto kSpellings = std::to_array<Spelling>({
    {"k", "-k"},
    {"max_threadblocks", "--sms"},
    {"nvswitch", "--nvlink"},
    {"nvswitch=", "--nvlink nvswitch="},
    {"placement=in_place", "--inplace"},
    {"placement=out_of_place", "--outofplace"},
    {"protocol", "--proto"},
    {"split_nvswitch", "--nvswitch split"},
    // Functions of the library, and the commands that do as they do.
    {"alltoall_optimum", "`bound -c alltoall`"},
    {"boxes=N, fabric=NAME", "`topo import --boxes N --fabric NAME`"},
    {"generate", "`topo gen`"},
    {"generate()", "`forestcoll topo gen`"},
    {"generators", "`topo gen --list`"},
    {"generators()", "`forestcoll topo gen --list`"},
    {"import_topology()", "`forestcoll topo import`"},
    {"import_topology(source)", "`forestcoll topo import FORMAT FILE`"},
    {"make_alltoall_baseline()", "`forestcoll compare -c alltoall`"},
    {"make_baseline()", "`forestcoll compare`"},
    {"summarize()", "`forestcoll topo show`"},
    {"to_forest_json", "`forestcoll synth --format forest`"},
    {"verify()", "`forestcoll verify`", true},
});

std::optional<std::string> spelling_of(std::string_view setting, std::string_view file) {
  const auto* spelling = std::ranges::find(kSpellings, setting, &Spelling::setting);
  if (spelling == kSpellings.end()) return std::nullopt;
  std::string text(spelling->text);
  if (spelling->takes_file && !file.empty()) {
    text.insert(text.size() - 1, " " + std::string(file));
  }
  return text;
}

std::optional<std::string> flag_of(std::string_view setting, std::string_view file = {}) {
  if (auto spelling = spelling_of(setting, file)) return spelling;
  if (const std::size_t equals = setting.find('='); equals != std::string_view::npos) {
    const std::string value(setting.substr(equals + 1));
    if (const auto before = spelling_of(setting.substr(0, equals + 1), file)) {
      return *before + value;
    }
    const auto flag = flag_of(setting.substr(0, equals));
    return flag ? std::optional(*flag + " " + value) : std::nullopt;
  }
  std::string name(setting);
  std::ranges::replace(name, '_', '-');
  if (std::ranges::find(kFlags, name) == kFlags.end()) return std::nullopt;
  return "--" + name;
}

// `file` is what the text is about; `around` stands around flags, but not around commands, which
// have backquotes of their own.
std::string rendered(std::string_view text, std::string_view file, std::string_view around) {
  std::string result;
  bool is_input = false;  // within quotation marks
  while (!text.empty()) {
    std::size_t length = 1;
    const std::size_t end =
        text.front() == '`' && !is_input ? text.find('`', 1) : std::string_view::npos;
    if (end != std::string_view::npos) length = end + 1;
    const auto flag = length > 1 ? flag_of(text.substr(1, length - 2), file) : std::nullopt;
    if (flag && flag->starts_with('`')) {
      result.append(*flag);
    } else if (flag) {
      result.append(around).append(*flag).append(around);
    } else {
      result.append(text.substr(0, length));
    }
    if (text.front() == '"') is_input = !is_input;
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace

std::string with_flags(std::string_view text) {
  return rendered(text, "", "");
}

std::string with_flags_in_markdown(std::string_view text) {
  return rendered(text, "", "`");
}

Diagnostic with_flags(Diagnostic finding) {
  for (std::string* text : {&finding.where, &finding.message, &finding.remedy}) {
    *text = rendered(*text, finding.file, "");
  }
  return finding;
}

Diagnostics with_flags(Diagnostics findings) {
  for (Diagnostic& finding : findings) finding = with_flags(std::move(finding));
  return findings;
}

bool is_setting(std::string_view name) {
  return flag_of(name).has_value();
}

}  // namespace forestcoll::cli
