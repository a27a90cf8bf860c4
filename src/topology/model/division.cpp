#include "topology/model/division.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/words.hpp"

namespace forestcoll::topology {
namespace {

template <class Key, class KeyOf>
Division divide_by(const std::vector<NodeId>& gpus, KeyOf key_of) {
  Division division;
  std::unordered_map<Key, std::size_t> parts;
  for (const NodeId gpu : gpus) {
    const auto [at, is_new] = parts.try_emplace(key_of(gpu), division.size.size());
    if (is_new) division.size.push_back(0);
    division.part.push_back(at->second);
    ++division.size[at->second];
  }
  return division;
}

// By what `name_of` takes from an id, where every GPU has such a name.
template <class NameOf>
void add_division(const Topology& topology, const std::vector<NodeId>& gpus, NameOf name_of,
                  std::vector<Division>& divisions) {
  const auto of_gpu = [&](NodeId gpu) -> std::string_view {
    return name_of(topology.nodes[gpu].id);
  };
  if (std::ranges::any_of(gpus, [&](NodeId gpu) { return of_gpu(gpu).empty(); })) return;
  divisions.push_back(divide_by<std::string_view>(gpus, of_gpu));
}

}  // namespace

bool Division::none_alone() const {
  return std::ranges::find(size, std::size_t{1}) == size.end();
}

std::vector<NodeId> gpus_of(const Topology& topology) {
  std::vector<NodeId> gpus;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (topology.nodes[NodeId(i)].type == NodeType::compute) gpus.emplace_back(i);
  }
  return gpus;
}

Division divide(const std::vector<NodeId>& gpus, graph::JoinedItems& groups) {
  return divide_by<std::size_t>(gpus, [&](NodeId gpu) { return groups.first(gpu.index()); });
}

std::string_view prefix_of(std::string_view id, std::size_t depth) {
  std::size_t end = 0;
  for (std::size_t at = id.find('/'); at != std::string_view::npos && depth > 0; --depth) {
    end = at;
    at = id.find('/', at + 1);
  }
  return id.substr(0, end);
}

std::string_view stem_of(std::string_view id) {
  if (id.find('/') != std::string_view::npos) return {};
  const auto strip = [&](auto matches) {
    while (!id.empty() && matches(id.back())) id.remove_suffix(1);
  };
  strip(is_digit);
  strip(is_letter);
  strip([](char c) { return !is_digit(c) && !is_letter(c); });
  return !id.empty() && is_digit(id.back()) ? id : std::string_view();
}

IdDivisions::IdDivisions(const Topology& topology, const std::vector<NodeId>& gpus) {
  std::size_t deepest = 0;
  for (const NodeId gpu : gpus) {
    const auto slashes = std::ranges::count(topology.nodes[gpu].id, '/');
    deepest = std::max(deepest, static_cast<std::size_t>(slashes));
  }
  for (std::size_t depth = 1; depth <= deepest; ++depth) {
    const auto prefix = [depth](std::string_view id) { return prefix_of(id, depth); };
    add_division(topology, gpus, prefix, by_depth_);
  }
  add_division(topology, gpus, stem_of, by_stem_);
}

bool IdDivisions::has_prefixes() const {
  return std::ranges::any_of(by_depth_, [](const Division& named) { return named.parts() > 1; });
}

bool IdDivisions::agree(const Division& division) const {
  const auto is_it = [&](const Division& named) { return named == division; };
  return division.parts() > 1 &&
         (std::ranges::any_of(by_depth_, is_it) || std::ranges::any_of(by_stem_, is_it));
}

}  // namespace forestcoll::topology
