#include "topology/draw/labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kLongestName = 40;

// "box[0-31]", or "n1, … n97" where that is too long.
std::string joined(const std::vector<std::string>& names) {
  const auto lists = compress_ids(names);
  std::string all = fmt::format("{}", fmt::join(lists, ", "));
  if (all.size() <= kLongestName) return all;
  return fmt::format("{}, … {}", names.front(), names.back());
}

// The ids within the box, as the box stands around them.
std::vector<std::string> short_names(const Item& item) {
  std::vector<std::string> names = item.names;
  const std::string prefix = item.cluster + "/";
  for (std::string& name : names) {
    if (!item.cluster.empty() && name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return names;
}

std::string what(const Item& item, std::size_t count) {
  const bool one = count == 1;
  switch (item.kind) {
    case ItemKind::gpu:
      return one ? "GPU" : "GPUs";
    case ItemKind::switch_node:
      if (item.is_nic) return one ? "NIC" : "NICs";
      return one ? "switch" : "switches";
    case ItemKind::box:
      break;
  }
  return fmt::format("box{} of {} GPU{}", one ? "" : "es", item.gpus, item.gpus == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> label_of(const Item& item) {
  const std::size_t count = item.names.size(), each = count / item.sets;
  auto names = short_names(item);
  if (count == 1) {
    if (item.kind != ItemKind::box) return names;
    return {names.front(), fmt::format("{} GPU{}", item.gpus, item.gpus == 1 ? "" : "s")};
  }
  // One of each set is no set.
  const bool apart = item.sets > 1 && (each > 1 || item.kind == ItemKind::box);
  return {apart ? fmt::format("{} times {} {}", item.sets, each, what(item, each))
                : fmt::format("{} {}", count, what(item, count)),
          joined(names)};
}

bool has_label(const Edge& edge) {
  return edge.links > 1 || edge.there != edge.back;
}

std::string bandwidth_of(const Edge& edge, std::size_t from) {
  const Ratio &there = from == edge.a ? edge.there : edge.back,
              &back = from == edge.a ? edge.back : edge.there;
  const bool one_way = there == Ratio(0) || back == Ratio(0);
  if (one_way || there == back) return short_number(std::max(there, back));
  return fmt::format("{} / {}", short_number(there), short_number(back));
}

std::string label_of(const Edge& edge, std::size_t from) {
  const std::string bandwidth = bandwidth_of(edge, from);
  return edge.links > 1 ? fmt::format("{} links, {} GB/s", edge.links, bandwidth) : bandwidth;
}

std::string short_number(const Ratio& value) {
  return fmt::format("{:.6g}", value.to_double());
}

}  // namespace forestcoll::topology
