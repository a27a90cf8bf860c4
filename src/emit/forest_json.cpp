// Forest JSON. A large fabric has a million edges, so the text is put together directly from names
// that were quoted once.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "emit/forest_text.hpp"
#include "emit/phases.hpp"
#include "forest/symmetry.hpp"
#include "forestcoll/emit.hpp"
#include "topology/format/json_value.hpp"

namespace forestcoll {
namespace {

using emit::append_list;
using emit::append_tree;
using emit::Names;
using emit::quoted_names;
using emit::rate;

// Left out where all ranks own the same.
void append_weights(std::string& out, const IdVector<Rank, std::int64_t>& weights) {
  for (std::size_t r = 0; r < weights.size(); ++r) {
    out += r == 0 ? ",\n\"weights\":[" : ",";
    out += std::to_string(weights[Rank(r)]);
  }
  if (!weights.empty()) out += ']';
}

// Those that are written.
std::vector<TreeId> trees_of(const Forest& forest, bool symmetric) {
  if (symmetric) return forest.base_trees();
  std::vector<TreeId> all;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) all.emplace_back(t);
  return all;
}

// `lists` like this one, with about as many trees, make up the text.
void append_trees(std::string& out, std::string_view key, const Forest& forest, bool symmetric,
                  const Names& names, std::size_t lists) {
  fmt::format_to(std::back_inserter(out), ",\n\"{}\":[", key);
  const std::size_t begin = out.size();
  const std::vector<TreeId> trees = trees_of(forest, symmetric);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append_tree(out, forest, trees[i], names, symmetric && forest.has_images(trees[i]));
    // Trees are about as long as one another. To grow step by step, or from list to list, would
    // copy all several times, and leave as much memory behind.
    if (i == 0) out.reserve(begin + (out.size() - begin) * trees.size() * lists * 9 / 8);
  }
  out += "\n]";
}

// The cycles of more than one node, each from its least node, in the order of those.
void append_generator(std::string& out, const Symmetry::Generator& generator, const Names& names) {
  fmt::format_to(std::back_inserter(out), R"({{"order":{},"cycles":[)", generator.order);
  std::vector<bool> seen(generator.nodes.size(), false);
  std::vector<NodeId> cycle;
  bool first = true;
  for (std::size_t v = 0; v < seen.size(); ++v) {
    cycle.clear();
    for (NodeId at(v); !seen[at.index()]; at = generator.nodes[at]) {
      seen[at.index()] = true;
      cycle.push_back(at);
    }
    if (cycle.size() < 2) continue;
    if (!first) out += ',';
    first = false;
    append_list(out, cycle, names);
  }
  out += "]}";
}

void append_symmetry(std::string& out, std::string_view key, const Symmetry& symmetry,
                     const Names& names) {
  fmt::format_to(std::back_inserter(out), "\"{}\":[", key);
  bool first = true;
  for (const Symmetry::Generator& generator : symmetry.generators()) {
    out += first ? "\n" : ",\n";
    first = false;
    append_generator(out, generator, names);
  }
  out += "]";
}

std::string to_json(const CollectiveForest& forest, const Topology& topology, bool symmetric) {
  const Names names = quoted_names(topology);
  const auto ranks = emit::ranks_of(forest);
  std::string out = fmt::format(
      R"({{"format":"forestcoll-forest","version":{},"topology":{},"collective":"{}",)",
      symmetric ? 2 : 1, topology::quote_json(topology.name), to_string(forest.collective));
  if (forest.root) out += fmt::format(R"("root":{},)", names[ranks[forest.root->index()]]);
  out += fmt::format("\"k\":{},\n\"algbw\":{},\n\"optimum\":{},\n\"ranks\":", forest.k,
                     rate(forest.algbw), rate(forest.optimum));
  append_list(out, ranks, names);
  append_weights(out, forest.weight);
  const auto phases = emit::phases(forest);
  const auto key = [&](const emit::Phase& phase) {
    return phases.size() == 1 ? std::string_view("trees") : phase.name;
  };
  if (symmetric) {
    out += ",\n\"symmetry\":{";
    for (std::size_t i = 0; i < phases.size(); ++i) {
      if (i > 0) out += ',';
      append_symmetry(out, key(phases[i]), phases[i].forest->symmetry(), names);
    }
    out += '}';
  }
  for (std::size_t i = 0; i < phases.size(); ++i) {
    append_trees(out, key(phases[i]), *phases[i].forest, symmetric, names, phases.size() - i);
  }
  out += "}\n";
  return out;
}

void append_phase(std::string& out, std::string_view key, const std::vector<BranchingTrees>& phase,
                  const Names& names) {
  out += fmt::format(",\n\"{}\":[", key);
  std::string_view separator = "\n";
  for (const BranchingTrees& trees : phase) {
    for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
      out += separator;
      separator = ",\n";
      append_tree(out, trees.forest, TreeId(t), names, false);
    }
  }
  out += "\n]";
}

}  // namespace

std::string to_forest_json(const CollectiveForest& forest, const Topology& topology) {
  return to_json(forest, topology, false);
}

std::string to_symmetric_forest_json(const CollectiveForest& forest, const Topology& topology) {
  return to_json(forest, topology, true);
}

std::string to_forest_json(const BranchingForest& forest, const Topology& topology) {
  const Names names = quoted_names(topology);
  std::string out =
      fmt::format(R"({{"format":"forestcoll-forest","version":3,"topology":{},"collective":"{}",)"
                  "\"chunks\":{},\n\"algbw\":{},\n\"optimum\":{}",
                  topology::quote_json(topology.name), to_string(forest.collective), forest.chunks,
                  rate(forest.algbw), rate(forest.optimum));
  if (forest.root) {
    out += fmt::format(",\n\"root\":{}", names[forest.ranks[forest.root->index()]]);
  }
  out += ",\n\"ranks\":";
  append_list(out, forest.ranks, names);
  const bool two = forest.collective == Collective::allreduce;
  if (two || !forest.reduce.empty()) {
    append_phase(out, two ? "reduce" : "trees", forest.reduce, names);
  }
  if (two || !forest.broadcast.empty()) {
    append_phase(out, two ? "broadcast" : "trees", forest.broadcast, names);
  }
  return out + "}\n";
}

}  // namespace forestcoll
