#include "topology/format/type_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/nearest.hpp"

namespace forestcoll::topology {
namespace {

using TypeWord = std::pair<std::string_view, NodeType>;

constexpr std::array<TypeWord, 5> kTypeWords = {{{"compute", NodeType::compute},
                                                 {"switch", NodeType::switch_node},
                                                 {"relay", NodeType::relay},
                                                 {"gpu", NodeType::compute},
                                                 {"nic", NodeType::switch_node}}};

// What other tools and people write. Each has one meaning here, but is not of the format.
constexpr std::array<TypeWord, 24> kOtherTypeWords = {
    {{"accelerator", NodeType::compute},  {"device", NodeType::compute},
     {"gcd", NodeType::compute},          {"npu", NodeType::compute},
     {"rank", NodeType::compute},         {"tpu", NodeType::compute},
     {"xpu", NodeType::compute},          {"bridge", NodeType::switch_node},
     {"core", NodeType::switch_node},     {"cpu", NodeType::switch_node},
     {"hca", NodeType::switch_node},      {"hub", NodeType::switch_node},
     {"leaf", NodeType::switch_node},     {"nvsw", NodeType::switch_node},
     {"nvswitch", NodeType::switch_node}, {"pcie", NodeType::switch_node},
     {"plx", NodeType::switch_node},      {"rail", NodeType::switch_node},
     {"root", NodeType::switch_node},     {"router", NodeType::switch_node},
     {"spine", NodeType::switch_node},    {"sw", NodeType::switch_node},
     {"tor", NodeType::switch_node},      {"proxy", NodeType::relay}}};

// A machine is no node: it may stand for its GPUs, for its CPU, or for all that it holds.
constexpr std::array<std::string_view, 6> kMachineWords = {"host",    "server", "node",
                                                           "machine", "box",    "chassis"};

}  // namespace

std::optional<NodeType> node_type_called(std::string_view word) {
  const auto* found = std::ranges::find(kTypeWords, word, &TypeWord::first);
  if (found == kTypeWords.end()) return std::nullopt;
  return found->second;
}

std::string remedy_of_type(std::string_view word) {
  const std::string lower = lower_case(word);
  if (std::ranges::find(kMachineWords, lower) != kMachineWords.end()) {
    return "Write \"compute\" for what has a rank, such as a GPU, and \"switch\" for what only "
           "passes "
           "data on, such as a CPU; which machine a node is in stands in its \"box\".";
  }
  auto type = node_type_called(lower);
  const auto* other = std::ranges::find(kOtherTypeWords, lower, &TypeWord::first);
  if (other != kOtherTypeWords.end()) type = other->second;
  if (type) return fmt::format("Write \"{}\".", to_string(*type));
  NearestText nearest(lower);
  for (const auto& [name, meant] : kTypeWords) nearest.offer(name);
  return nearest.best().empty()
             ? "Write \"compute\" for what has a rank, \"switch\" for what only passes data on, "
               "\"relay\" for a GPU outside of the process group."
             : fmt::format("Did you mean \"{}\"?", nearest.best());
}

}  // namespace forestcoll::topology
