#include "simulate/sources/forest_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "simulate/fabric/graph_maker.hpp"
#include "simulate/sources/branching_phase.hpp"

namespace forestcoll::simulate {

using audit::Findings;
using audit::ForestEdge;
using audit::ForestFile;
using audit::ForestTree;
using audit::Name;
using audit::Rule;
using audit::TreeList;

namespace {

// Of a tree, that a rank has been sent and has not passed on. Without an end to them, fast trees
// run far ahead of slow ones and rates never settle; with few, latencies hold them up.
constexpr std::int64_t kHeldPieces = 8;
constexpr std::int64_t kInFlight = 2;  // pieces of an edge: one flows, one is begun
constexpr std::size_t kMaxEdges = 8'000'000;

using Permutation = std::vector<Name>;

// All products π₁^a₁ … π_d^a_d; nothing where they are more than `most`.
std::vector<Permutation> products(const ForestFile& forest, const TreeList& list,
                                  std::size_t most) {
  Permutation identity(forest.names.size());
  for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<Name>(i);
  std::vector<Permutation> all = {identity};
  for (std::size_t g = list.symmetry.size(); g-- > 0;) {
    Permutation image = identity;
    for (const auto& cycle : list.symmetry[g].cycles) {
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        image[static_cast<std::size_t>(cycle[i])] = cycle[(i + 1) % cycle.size()];
      }
    }
    const auto order = static_cast<std::size_t>(list.symmetry[g].order);
    if (order > most / all.size()) return {};
    std::vector<Permutation> longer;
    for (Permutation product : all) {
      for (std::size_t a = 0; a < order; ++a) {
        longer.push_back(product);
        for (Name& name : product) name = image[static_cast<std::size_t>(name)];
      }
    }
    all = std::move(longer);
  }
  return all;
}

class PhaseReader {
 public:
  PhaseReader(const ForestFile& forest, const Topology& topology, Fabric& fabric)
      : forest_(forest), fabric_(fabric), node_of_(nodes_with_ids(topology, forest.names)) {}

  // False where the images are too many.
  bool read(const TreeList& list, bool inward, FlowPhase& phase) {
    phase.inward = inward;
    inward_ = inward;
    std::size_t plain = 0, moved = 0;
    for (const ForestTree& tree : list.trees) {
      (tree.images ? moved : plain) += tree.edges_end - tree.edges_begin;
    }
    if (plain > kMaxEdges) return false;
    std::vector<Permutation> images;
    if (moved > 0) {
      const std::size_t names = std::max<std::size_t>(1, forest_.names.size());
      images =
          products(forest_, list, std::min((kMaxEdges - plain) / moved, 4 * kMaxEdges / names));
      if (images.empty()) return false;
    }
    for (const ForestTree& tree : list.trees) {
      if (!tree.images) {
        add_tree(tree, nullptr, phase);
        continue;
      }
      for (const Permutation& image : images) add_tree(tree, &image, phase);
    }
    return true;
  }

 private:
  struct RankEdge {
    std::int32_t up = -1, down = -1;  // `up` is nearer to the root
    std::int32_t route = -1;          // down, or up where the phase is inward
  };

  static Name moved(Name name, const Permutation* image) {
    return image == nullptr ? name : (*image)[static_cast<std::size_t>(name)];
  }
  [[nodiscard]] std::int32_t rank_of(Name name) const {
    return fabric_.network().rank_of[node_of_[static_cast<std::size_t>(name)]].value;
  }

  void add_tree(const ForestTree& tree, const Permutation* image, FlowPhase& phase) {
    FlowTree added;
    added.root = rank_of(moved(tree.root, image));
    added.multiplicity = static_cast<double>(tree.multiplicity);
    added.begin = phase.edges.size();
    std::vector<RankEdge> edges;
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      const ForestEdge& edge = forest_.edges[e];
      const std::int32_t src = rank_of(moved(edge.src, image));
      const std::int32_t dst = rank_of(moved(edge.dst, image));
      edges.push_back({inward_ ? dst : src, inward_ ? src : dst, route_of(edge, image)});
    }
    sort_from_root(edges, added.root, phase);
    added.end = phase.edges.size();
    phase.trees.push_back(added);
  }

  std::int32_t route_of(const ForestEdge& edge, const Permutation* image) {
    std::vector<NodeId> path;
    for (std::uint32_t i = edge.path_begin; i < edge.path_end; ++i) {
      path.push_back(node_of_[static_cast<std::size_t>(moved(forest_.path_nodes[i], image))]);
    }
    return fabric_.along(path);
  }

  void sort_from_root(const std::vector<RankEdge>& edges, std::int32_t root, FlowPhase& phase) {
    below_.resize(fabric_.network().ranks.size());
    for (std::size_t e = 0; e < edges.size(); ++e) {
      below_[static_cast<std::size_t>(edges[e].up)].push_back(e);
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> queue = {{root, -1}};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const auto [rank, above] = queue[at];
      for (const std::size_t e : below_[static_cast<std::size_t>(rank)]) {
        const RankEdge& edge = edges[e];
        queue.emplace_back(edge.down, static_cast<std::int32_t>(phase.edges.size()));
        phase.edges.push_back({inward_ ? edge.down : edge.up, above, edge.route});
      }
      below_[static_cast<std::size_t>(rank)].clear();
    }
  }

  const ForestFile& forest_;
  Fabric& fabric_;
  std::vector<NodeId> node_of_;  // by name
  std::vector<std::vector<std::size_t>> below_;
  bool inward_ = false;
};

class ForestGraph {
 public:
  ForestGraph(GraphMaker& maker, const std::vector<std::int32_t>& sends, double threadblocks,
              double unit_bytes, double thickest)
      : maker_(maker),
        pieces_(passes_for(unit_bytes * thickest, maker.protocol().pass_bytes)),
        unit_bytes_(unit_bytes / static_cast<double>(pieces_)),
        step_kind_(sends.size(), -1) {
    for (std::size_t r = 0; r < sends.size(); ++r) {
      if (maker.step() > 0 && sends[r] > threadblocks)
        step_kind_[r] = maker.work_kind(threadblocks);
    }
  }

  void add(const FlowPhase& phase) {
    edges_.clear();
    for (const FlowTree& tree : phase.trees) {
      for (std::size_t e = tree.begin; e < tree.end; ++e) {
        edges_.push_back(edge_of(phase.edges[e], tree));
      }
    }
    for (const FlowTree& tree : phase.trees) {
      if (phase.inward) {
        add_up(phase, tree);
      } else {
        add_down(phase, tree);
      }
    }
  }

  // From here on, roots pass on what has been reduced to them.
  void begin_broadcast(const FlowPhase& reduce) {
    for (const FlowTree& tree : reduce.trees) {
      const auto [gate, is_new] = reduced_.try_emplace(tree.root);
      if (is_new) gate->second = point();
    }
    for (std::size_t t = 0; t < reduce.trees.size(); ++t) {
      const std::int32_t gate = reduced_.at(reduce.trees[t].root);
      for (const Edge& edge : into_root_[t]) {
        maker_.graph.wait(edge.flow, gate, 0, edge.delay);
        give_room(gate, edge);
      }
    }
  }

 private:
  // What a piece goes through on its way: a step, then the flow; one activity where a step takes no
  // time. The step of a piece is done while the piece before it flows.
  struct Edge {
    std::int32_t step, flow;
    double delay;  // until it has arrived
  };

  // Takes no time.
  std::int32_t point() {
    Activity activity;
    activity.repeats = pieces_;
    return maker_.graph.add(activity);
  }

  Edge edge_of(const FlowEdge& edge, const FlowTree& tree) {
    Edge made{-1, point(), maker_.delay(edge.route)};
    made.step = made.flow;
    Activity& flow = maker_.graph.activities.back();
    flow.kind = maker_.kind(edge.route, std::numeric_limits<double>::infinity());
    flow.bytes = maker_.on_route(edge.route, unit_bytes_);
    flow.weight = tree.multiplicity;
    flow.after = made.delay;
    if (maker_.step() <= 0 || edge.worker < 0) return made;
    made.step = point();
    Activity& step = maker_.graph.activities.back();
    step.kind = step_kind_[static_cast<std::size_t>(edge.worker)];
    (step.kind < 0 ? step.seconds : step.bytes) = maker_.step();
    maker_.graph.wait(made.step, made.flow);
    maker_.graph.wait(made.flow, made.step, kInFlight);
    return made;
  }

  void give_room(std::int32_t passing_on, const Edge& sender) {
    maker_.graph.wait(passing_on, sender.step, kHeldPieces);
  }

  void add_down(const FlowPhase& phase, const FlowTree& tree) {
    for (std::size_t e = tree.begin; e < tree.end; ++e) {
      const Edge& self = edges_[e];
      if (const std::int32_t up = phase.edges[e].above; up >= 0) {
        const Edge& above = edges_[static_cast<std::size_t>(up)];
        maker_.graph.wait(above.flow, self.step, 0, above.delay);
        give_room(self.flow, above);
      } else if (const auto gate = reduced_.find(tree.root); gate != reduced_.end()) {
        maker_.graph.wait(gate->second, self.step);
        maker_.graph.wait(self.flow, gate->second, kHeldPieces);
      }
    }
  }

  void add_up(const FlowPhase& phase, const FlowTree& tree) {
    into_root_.emplace_back();
    for (std::size_t e = tree.begin; e < tree.end; ++e) {
      const Edge& self = edges_[e];
      if (const std::int32_t up = phase.edges[e].above; up >= 0) {
        const Edge& above = edges_[static_cast<std::size_t>(up)];
        maker_.graph.wait(self.flow, above.step, 0, self.delay);
        give_room(above.flow, self);
      } else {
        into_root_.back().push_back(self);
      }
    }
  }

  GraphMaker& maker_;
  std::int64_t pieces_;
  double unit_bytes_;                             // of a piece of a tree of multiplicity 1
  std::vector<Edge> edges_;                       // of the phase
  std::map<std::int32_t, std::int32_t> reduced_;  // by root: what its broadcast waits for
  std::vector<std::int32_t> step_kind_;       // by rank; −1: a threadblock for each of its edges
  std::vector<std::vector<Edge>> into_root_;  // of every tree of the inward phase
};

}  // namespace

ForestSource::ForestSource(const ForestFile& forest, const Topology& topology, std::int64_t units,
                           Fabric& fabric, Findings& findings)
    : units_(static_cast<double>(units)), sends_(fabric.network().ranks.size(), 0) {
  PhaseReader reader(forest, topology, fabric);
  const bool sums = forest.collective == "reduce_scatter" || forest.collective == "reduce";
  for (const auto& [list, inward] :
       {std::pair(&forest.trees, sums), std::pair(&forest.reduce, true),
        std::pair(&forest.broadcast, false)}) {
    if (!list->present) continue;
    if (forest.version == 3) {
      phases_.push_back(read_branching_phase(forest, *list, inward, topology, fabric));
      continue;
    }
    phases_.emplace_back();
    if (reader.read(*list, inward, phases_.back())) continue;
    findings.add(Rule::too_large, std::string("/symmetry"),
                 fmt::format("the trees and their images have more than {} edges", kMaxEdges));
    return;
  }
  for (const FlowPhase& phase : phases_) {
    for (const FlowTree& tree : phase.trees) thickest_ = std::max(thickest_, tree.multiplicity);
    for (const FlowEdge& edge : phase.edges) {
      if (edge.worker >= 0) ++sends_[static_cast<std::size_t>(edge.worker)];
    }
  }
}

double ForestSource::full_pass(const SimulationParameters& parameters) const {
  return parameters.simple.pass_bytes / thickest_ * units_;
}

EventGraph ForestSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                              double bytes) const {
  GraphMaker maker(fabric, parameters, parameters.simple);
  ForestGraph graph(maker, sends_, parameters.threadblocks, bytes / units_, thickest_);
  for (std::size_t p = 0; p < phases_.size(); ++p) {
    if (p > 0) graph.begin_broadcast(phases_[p - 1]);
    graph.add(phases_[p]);
  }
  return std::move(maker.graph);
}

}  // namespace forestcoll::simulate
