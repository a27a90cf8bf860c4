#include "topology/format/misnamed_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace forestcoll::topology {
namespace {

// Names of networkx, D3, GraphML and of simulators, and what people write first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kForeignKeys = {
    {{"source", "src"},
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

constexpr std::size_t kMostMisnamed = 6;

// "a", "a" and "b", or "a", "b" and "c", in quotation marks.
std::string names_in_words(const std::vector<MisnamedKeys::Name>& names, bool as_written) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += quote(as_written ? std::string_view(names[i].written) : names[i].meant);
  }
  return text;
}

}  // namespace

std::string_view key_called(std::string_view name) {
  const auto* found = std::ranges::find(
      kForeignKeys, name, [](const auto& pair) -> std::string_view { return pair.first; });
  return found == kForeignKeys.end() ? std::string_view() : found->second;
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
  findings.error(Code::E02, first_,
                 fmt::format("unknown {} {}{}", names_.size() == 1 ? "key" : "keys",
                             names_in_words(names_, true), more),
                 fmt::format("Did you mean {}?", names_in_words(names_, false)));
}

}  // namespace forestcoll::topology
