#include "topology/format/misnamed_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/words.hpp"

namespace forestcoll::topology {
namespace {

using KeyName = std::pair<std::string_view, std::string_view>;

// Names of networkx, D3, GraphML and of simulators, and what people write first.
constexpr std::array<KeyName, 26> kForeignKeys = {{{"source", "src"},
                                                   {"from", "src"},
                                                   {"start", "src"},
                                                   {"a", "src"},
                                                   {"u", "src"},
                                                   {"target", "dst"},
                                                   {"destination", "dst"},
                                                   {"dest", "dst"},
                                                   {"to", "dst"},
                                                   {"end", "dst"},
                                                   {"b", "dst"},
                                                   {"v", "dst"},
                                                   {"bw", "bandwidth"},
                                                   {"capacity", "bandwidth"},
                                                   {"speed", "bandwidth"},
                                                   {"rate", "bandwidth"},
                                                   {"throughput", "bandwidth"},
                                                   {"name", "id"},
                                                   {"node", "id"},
                                                   {"role", "type"},
                                                   {"kind", "type"},
                                                   {"delay", "latency"},
                                                   {"lat", "latency"},
                                                   {"edges", "links"},
                                                   {"vertices", "nodes"},
                                                   {"gpus", "nodes"}}};

// Of keys such as "bandwidth_gbps", in small letters and without marks.
constexpr std::array<std::string_view, 12> kUnits = {"gbps", "gbs", "gbits", "gibs", "mbps", "mbs",
                                                     "tbps", "tbs", "gb",    "us",   "ns",   "ms"};

constexpr std::string_view kBandwidth = "bandwidth", kLatency = "latency";

constexpr std::size_t kMostMisnamed = 6;

// "a", "a" and "b", or "a", "b" and "c", in quotation marks.
std::string names_in_words(const std::vector<MisnamedKeys::Name>& names, bool as_written) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += quote(as_written ? names[i].written : names[i].meant);
  }
  return text;
}

std::string_view foreign_key(std::string_view name) {
  const auto* found = std::ranges::find(kForeignKeys, name, &KeyName::first);
  return found == kForeignKeys.end() ? std::string_view() : found->second;
}

// The key that has a unit at the end of its name: "bandwidth" of "bandwidthGbps", "bw_gb_s".
std::string_view key_with_unit(std::string_view name) {
  std::string letters = lower_case(name);
  std::erase_if(letters, [](char c) { return !is_letter(c); });
  for (const std::string_view unit : kUnits) {
    if (!letters.ends_with(unit)) continue;
    const auto stem = std::string_view(letters).substr(0, letters.size() - unit.size());
    for (const std::string_view key : {kBandwidth, kLatency}) {
      if (stem == key || foreign_key(stem) == key) return key;
    }
  }
  return {};
}

}  // namespace

std::string_view key_called(std::string_view name) {
  const std::string_view key = foreign_key(name);
  return key.empty() ? key_with_unit(name) : key;
}

std::string unit_remedy(std::string_view name) {
  const std::string_view key = key_with_unit(name);
  if (key.empty()) return "";
  return fmt::format(" The unit stands with the number: {}.",
                     key == kLatency ? R"("latency": "700 ns")"
                                     : R"("bandwidth": "200 Gb/s" for bits, "25 GB/s" for bytes)");
}

void MisnamedKeys::add(const Place& entry, const std::vector<Name>& names) {
  if (count_++ == 0) {
    first_ = names.size() == 1 ? Place(entry, names.front().written).pointer() : entry.pointer();
  }
  for (const Name& name : names) {
    if (names_.size() < kMostMisnamed && std::ranges::find(names_, name) == names_.end()) {
      names_.push_back(name);
    }
  }
}

void MisnamedKeys::report(std::string_view entries, Findings& findings) const {
  if (count_ == 0) return;
  const std::string more =
      count_ == 1 ? "" : fmt::format(", in this and {} more of the {}", count_ - 1, entries);
  const auto with_unit = std::ranges::find_if(
      names_, [](const Name& name) { return !unit_remedy(name.written).empty(); });
  findings.error(Code::E02, first_,
                 fmt::format("unknown {} {}{}", names_.size() == 1 ? "key" : "keys",
                             names_in_words(names_, true), more),
                 fmt::format("Did you mean {}?{}", names_in_words(names_, false),
                             with_unit == names_.end() ? "" : unit_remedy(with_unit->written)));
}

}  // namespace forestcoll::topology
