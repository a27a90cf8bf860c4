#include "simulate/sources/forest_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "simulate/fabric/graph_maker.hpp"

namespace forestcoll::simulate {

using audit::Findings;
using audit::ForestFile;
using audit::Rule;

namespace {

// Of a tree, that a rank has been sent and has not passed on. Without an end to them, fast trees
// run far ahead of slow ones and rates never settle; with few, latencies hold them up.
constexpr std::int64_t kHeldPieces = 8;
constexpr std::int64_t kInFlight = 2;  // pieces of an edge: one flows, one is begun

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
  const bool sums = forest.collective == "reduce_scatter" || forest.collective == "reduce";
  for (const auto& [list, inward] :
       {std::pair(&forest.trees, sums), std::pair(&forest.reduce, true),
        std::pair(&forest.broadcast, false)}) {
    if (!list->present) continue;
    auto phase = read_phase(forest, *list, inward, topology, fabric);
    if (!phase) {
      findings.add(
          Rule::too_large, std::string("/symmetry"),
          fmt::format("the trees and their images have more than {} edges", kMaxFlowEdges));
      return;
    }
    phases_.push_back(*std::move(phase));
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
