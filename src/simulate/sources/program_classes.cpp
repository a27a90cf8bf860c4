#include "simulate/sources/program_classes.hpp"

#include <cstddef>
#include <utility>

#include "simulate/fabric/equitable_partition.hpp"
#include "simulate/sources/image_routes.hpp"

namespace forestcoll::simulate {
namespace {

using audit::StepGraph;

enum class Sort : std::uint64_t { block = 1, message = 3, room, dependency };

std::uint64_t label(Sort sort) {
  return static_cast<std::uint64_t>(sort);
}

// The vertices are threadblocks, the routes that they send over, and links, in this order.
class ProgramLabels {
 public:
  ProgramLabels(const StepGraph& steps, std::span<const std::int32_t> routes, const Ways& ways)
      : steps_(steps), routes_(routes), ways_(ways) {}

  [[nodiscard]] LabelledGraph labelled() {
    for (const StepGraph::Block& block : steps_.blocks) graph_.labels.push_back(label_of(block));
    FlowVertices flows(graph_, ways_);
    for (std::size_t b = 0; b < routes_.size(); ++b) {
      if (routes_[b] >= 0) flows.add(static_cast<std::int32_t>(b), routes_[b]);
    }
    first_link_ = flows.add_links();
    for (std::size_t b = 0; b < steps_.blocks.size(); ++b) add_waits(static_cast<std::int32_t>(b));
    return std::move(graph_);
  }

  [[nodiscard]] std::int32_t first_link() const { return first_link_; }

 private:
  // What its steps do, one after the other.
  [[nodiscard]] std::uint64_t label_of(const StepGraph::Block& block) const {
    std::uint64_t hash = label(Sort::block);
    for (std::int32_t s = block.begin; s < block.end; ++s) {
      const StepGraph::Node& node = steps_.node(s);
      const audit::Operation& does = *node.step->operation;
      std::uint64_t flags = 0;
      for (const bool flag : {does.is_nop(), does.reduces, node.message_to >= 0,
                              node.message_from >= 0, node.depends_on >= 0}) {
        flags = 2 * flags + (flag ? 1 : 0);
      }
      hash = mix(hash, mix(flags, bits(std::int64_t{node.step->count})));
    }
    return hash;
  }

  // The i-th send of a connection goes with its i-th receive: which these are, labels say.
  void add_waits(std::int32_t b) {
    const StepGraph::Block& block = steps_.blocks[index(b)];
    if (block.sends_to >= 0) {
      graph_.edges.push_back({b, block.sends_to, label(Sort::message)});
      graph_.edges.push_back({block.sends_to, b, label(Sort::room)});
    }
    for (std::int32_t s = block.begin; s < block.end; ++s) {
      const std::int32_t on = steps_.node(s).depends_on;
      if (on < 0) continue;
      const std::uint64_t at =
          mix(bits(std::int64_t{steps_.index(on)}), bits(std::int64_t{s - block.begin}));
      graph_.edges.push_back({steps_.node(on).threadblock, b, mix(label(Sort::dependency), at)});
    }
  }

  const StepGraph& steps_;
  std::span<const std::int32_t> routes_;
  const Ways& ways_;
  LabelledGraph graph_;
  std::int32_t first_link_ = 0;
};

FlowClasses coarsest(const StepGraph& steps, std::span<const std::int32_t> routes,
                     const Ways& ways) {
  ProgramLabels labels(steps, routes, ways);
  const std::vector<std::int32_t> names = equitable_partition(labels.labelled());
  const std::span all(names);
  return flow_classes(all.first(steps.blocks.size()), routes,
                      all.subspan(index(labels.first_link())), ways);
}

}  // namespace

std::optional<FlowClasses> classes_of_images(const StepGraph& steps,
                                             std::span<const std::int32_t> peers,
                                             const Images& images, Fabric& fabric,
                                             audit::Findings& findings) {
  ImageRoutes routes(images, fabric);
  std::vector<std::int32_t> pairs, flows;  // by threadblock; −1: sends nothing
  for (std::size_t b = 0; b < peers.size(); ++b) {
    const StepGraph::Block& block = steps.blocks[b];
    pairs.push_back(block.sends_to < 0 ? -1
                                       : routes.add(Rank(block.rank), Rank(peers[b]), findings));
    if (block.sends_to >= 0 && pairs.back() < 0) return std::nullopt;
    flows.push_back(pairs.back() < 0 ? -1 : static_cast<std::int32_t>(b));
  }
  const auto loads = routes.loads();
  if (!loads) return std::nullopt;
  // Threadblocks of the same pair need not be alike: with a way for each, classes are larger.
  const Ways ways = {[&](std::int32_t block) -> const SimulatedRoute& {
                       return loads->routes[index(pairs[index(block)])];
                     },
                     loads->capacity};
  return loads->in_fabric(coarsest(steps, flows, ways));
}

FlowClasses program_classes(const StepGraph& steps, std::span<const std::int32_t> routes,
                            const Fabric& fabric) {
  return coarsest(steps, routes, ways_of(fabric));
}

}  // namespace forestcoll::simulate
