// A box is named by what its GPUs' ids have in common, as a box of a template would be: so the same
// fabric, written with templates and without, has the same boxes.
#include "topology/check/infer_boxes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "topology/model/findings.hpp"

namespace forestcoll::topology {
namespace {

// The longest prefix that two ids of nodes, of which one is given by its prefix, have in common.
std::string_view common_prefix(std::string_view prefix, std::string_view id) {
  while (!prefix.empty() &&
         !(id.starts_with(prefix) && id.substr(prefix.size()).starts_with('/'))) {
    const std::size_t slash = prefix.rfind('/');
    prefix = prefix.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  return prefix;
}

class Inference {
 public:
  Inference(Topology& topology, BoxProposal proposal)
      : topology_(topology),
        proposal_(std::move(proposal)),
        gpus_(gpus_of(topology)),
        names_(proposal_.gpus.parts()) {}

  InferredBoxes run() {
    InferredBoxes result{.names = {}, .evidence = "", .doubt = proposal_.doubt};
    take_declared(result.doubt);
    if (proposal_.gpus.parts() == 1 && taken_.empty()) return result;
    take_ids();
    name_the_rest();
    result.names = assign();
    if (!result.names.empty()) result.evidence = std::move(proposal_.evidence);
    return result;
  }

 private:
  // The parts with nodes of declared boxes. A part with those of several stays without a name.
  void take_declared(std::optional<BoxDoubt>& doubt) {
    open_.assign(names_.size(), true);
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      const TopologyNode& node = topology_.nodes[NodeId(i)];
      if (node.box.empty()) continue;
      taken_.insert(node.box);
      const std::size_t part = proposal_.part_of[i];
      if (part == BoxProposal::kOutside || names_[part] == node.box) continue;
      if (open_[part]) {
        names_[part] = node.box;
        open_[part] = false;
      } else if (!names_[part].empty()) {
        doubt =
            BoxDoubt{NodeId(i), fmt::format("{} is joined to GPUs of box {} as if they were in "
                                            "one box, and is declared to be in {}",
                                            quote(node.id), quote(names_[part]), quote(node.box))};
        names_[part].clear();
      }
    }
  }

  // By what the ids of a part's GPUs, and of no other's, have in common.
  void take_ids() {
    std::vector<std::string_view> prefixes(names_.size()), stems(names_.size());
    std::vector<bool> met(names_.size());
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      const std::string_view id = topology_.nodes[gpus_[g]].id;
      const std::size_t part = proposal_.gpus.part[g];
      if (!met[part]) {
        prefixes[part] = prefix_of(id, std::string_view::npos);
        stems[part] = stem_of(id);
      } else {
        prefixes[part] = common_prefix(prefixes[part], id);
        if (stems[part] != stem_of(id)) stems[part] = {};
      }
      met[part] = true;
    }
    std::unordered_map<std::string_view, std::size_t> parts_with;
    for (std::size_t p = 0; p < names_.size(); ++p) {
      if (prefixes[p].empty()) prefixes[p] = stems[p];
      ++parts_with[prefixes[p]];
    }
    for (std::size_t p = 0; p < names_.size(); ++p) {
      const std::string name(prefixes[p]);
      if (!open_[p] || name.empty() || parts_with[prefixes[p]] > 1 || taken_.contains(name)) {
        continue;
      }
      names_[p] = name;
      taken_.insert(name);
      open_[p] = false;
    }
  }

  // "box0", "box1", …
  void name_the_rest() {
    if (std::ranges::find(open_, true) == open_.end()) return;
    for (const TopologyNode& node : topology_.nodes) taken_.insert(node.id);
    std::size_t number = 0;
    for (std::size_t p = 0; p < names_.size(); ++p) {
      if (!open_[p]) continue;
      do {
        names_[p] = fmt::format("box{}", number++);
      } while (!taken_.insert(names_[p]).second);
      open_[p] = false;
    }
  }

  // The names of the boxes that GPUs were put in.
  std::vector<std::string> assign() {
    std::vector<bool> used(names_.size());
    std::unordered_map<std::string_view, std::size_t> part_named;
    for (std::size_t p = 0; p < names_.size(); ++p) part_named.emplace(names_[p], p);
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      TopologyNode& node = topology_.nodes[NodeId(i)];
      if (!node.box.empty()) continue;
      std::size_t part = proposal_.part_of[i];
      if (part == BoxProposal::kOutside) {
        const auto named = part_named.find(prefix_of(node.id, std::string_view::npos));
        if (named == part_named.end()) continue;
        part = named->second;
      }
      node.box = names_[part];
      if (node.type == NodeType::compute && !node.box.empty()) used[part] = true;
    }
    std::vector<std::string> names;
    for (std::size_t p = 0; p < names_.size(); ++p) {
      if (used[p]) names.push_back(names_[p]);
    }
    return names;
  }

  Topology& topology_;
  BoxProposal proposal_;
  std::vector<NodeId> gpus_;
  std::vector<std::string> names_;  // of the parts; empty: none, or not yet
  std::vector<bool> open_;          // the parts that shall get one
  std::unordered_set<std::string> taken_;
};

}  // namespace

InferredBoxes infer_boxes(Topology& topology) {
  const bool all_declared = std::ranges::all_of(topology.nodes, [](const TopologyNode& node) {
    return node.type != NodeType::compute || !node.box.empty();
  });
  if (all_declared) return {};
  auto proposal = propose_boxes(topology);
  if (proposal) return Inference(topology, *std::move(proposal)).run();
  return {.names = {}, .evidence = "", .doubt = unconfirmed_prefixes(topology)};
}

}  // namespace forestcoll::topology
