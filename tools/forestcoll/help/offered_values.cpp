#include <algorithm>
#include <array>
#include <utility>

#include "common/options/collective_option.hpp"
#include "common/options/schedule_options.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"
#include "help/texts.hpp"

namespace forestcoll::cli {
namespace {

using NameList = std::vector<std::string>;

// "a, b" as two names.
NameList at_commas(const std::string& list) {
  NameList names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return names;
}

template <class Rows>
void add_names(const Rows& rows, NameList& names) {
  for (const auto& row : rows) {
    const std::string name(row.name);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
}

NameList algorithms() {
  NameList names = {"forestcoll"};
  add_names(baselines(), names);
  add_names(exchanges(), names);
  add_names(alltoall_baselines(), names);
  return names;
}

NameList compared_algorithms() {
  NameList names = algorithms();
  names.insert(names.begin(), "all");
  names.insert(names.end(), {kNcclPick, kMscclppPick});
  return names;
}

NameList fabrics() {
  NameList names;
  add_names(generators(), names);
  return names;
}

NameList code_names() {
  NameList names;
  add_names(codes(), names);
  return names;
}

using List = NameList (*)();
constexpr std::array<std::pair<std::string_view, List>, 11> kLists = {
    {{"--collective", [] { return at_commas(names_of_collectives()); }},
     {"--target", [] { return at_commas(names_of_targets()); }},
     {"--algorithm", algorithms},
     {"--algorithms", compared_algorithms},
     {"--gpu", simulation_gpus},
     {"--box", fabrics},
     {"--mesh-order",
      [] {
        return NameList{"megatron", "device-mesh"};
      }},
     {"--fabric",
      [] {
        return NameList{"single", "odd-even", "rail", "rail-spine", "fat-tree"};
      }},
     {"--fail-on",
      [] {
        return NameList{"worse", "missing", "changed", "better", "none"};
      }},
     {"topo gen NAME", fabrics},
     {"explain CODE", code_names}}};

}  // namespace

std::vector<std::string> offered_values(std::string_view option) {
  const auto* found = std::ranges::find(
      kLists, option, [](const auto& list) -> std::string_view { return list.first; });
  return found == kLists.end() ? NameList() : found->second();
}

}  // namespace forestcoll::cli
