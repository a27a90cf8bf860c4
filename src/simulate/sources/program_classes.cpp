#include "simulate/sources/program_classes.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "simulate/fabric/equitable_partition.hpp"

namespace forestcoll::simulate {
namespace {

using audit::StepGraph;

enum class Sort : std::uint64_t { block = 1, pair, message, room, dependency };

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

// The vertices are pairs of ranks, of which those of one number are to be alike, the routes between
// them, and links.
std::vector<std::int32_t> partition_of_pairs(std::span<const std::int32_t> numbers,
                                             std::span<const std::int32_t> routes,
                                             const Fabric& fabric, std::int32_t& first_link) {
  LabelledGraph graph;
  for (const std::int32_t number : numbers) {
    graph.labels.push_back(mix(label(Sort::pair), bits(std::int64_t{number})));
  }
  const Ways ways = ways_of(fabric);
  FlowVertices flows(graph, ways);
  for (std::size_t p = 0; p < routes.size(); ++p)
    flows.add(static_cast<std::int32_t>(p), routes[p]);
  first_link = flows.add_links();
  return equitable_partition(graph);
}

// Threadblocks of some ranks with all their images.
class ImageClasses {
 public:
  ImageClasses(const StepGraph& steps, std::span<const std::int32_t> peers, const Images& images,
               Fabric& fabric)
      : steps_(steps), peers_(peers), images_(images), fabric_(fabric) {}

  // False: somewhere no route leads.
  bool find_routes(audit::Findings& findings) {
    for (std::size_t b = 0; b < peers_.size(); ++b) {
      if (steps_.blocks[b].sends_to < 0) continue;
      const auto next = static_cast<std::int32_t>(first_.size());
      if (!pairs_.emplace(ends(b), next).second) continue;
      first_.push_back(routes_.size());
      for (std::size_t i = 0; i < images_.count; ++i) {
        const auto [from, to] = ends(b);
        routes_.push_back(
            fabric_.between(images_.of(i, Rank(from)), images_.of(i, Rank(to)), findings));
        if (routes_.back() < 0) return false;
      }
    }
    return true;
  }

  // None where the images of a pair are not in one class.
  [[nodiscard]] std::optional<FlowClasses> make() const {
    std::vector<std::int32_t> numbers;
    for (std::size_t r = 0; r < routes_.size(); ++r) {
      numbers.push_back(static_cast<std::int32_t>(r / images_.count));
    }
    std::int32_t first_link = 0;
    const std::vector<std::int32_t> names =
        partition_of_pairs(numbers, routes_, fabric_, first_link);
    for (std::size_t r = 0; r < routes_.size(); ++r) {
      if (names[r] != names[r - r % images_.count]) return std::nullopt;
    }
    return joined(of_each(std::span(names).subspan(index(first_link))));
  }

 private:
  using Ends = std::pair<std::int32_t, std::int32_t>;

  [[nodiscard]] Ends ends(std::size_t block) const {
    return {steps_.blocks[block].rank, peers_[block]};
  }

  // Each threadblock by itself, with the routes of all its images.
  [[nodiscard]] FlowClasses of_each(std::span<const std::int32_t> of_link) const {
    std::vector<std::int32_t> blocks, routes;
    for (std::size_t b = 0; b < peers_.size(); ++b) {
      const bool sends = steps_.blocks[b].sends_to >= 0;
      const std::size_t first = sends ? first_[index(pairs_.at(ends(b)))] : 0;
      for (std::size_t i = 0; i < (sends ? images_.count : 1); ++i) {
        blocks.push_back(static_cast<std::int32_t>(b));
        routes.push_back(sends ? routes_[first + i] : -1);
      }
    }
    return flow_classes(blocks, routes, of_link, ways_of(fabric_));
  }

  // Of these, what does the same in one program: its images load one link of each class alike.
  [[nodiscard]] FlowClasses joined(const FlowClasses& each) const {
    std::vector<SimulatedRoute> loads;
    std::vector<std::int32_t> routes;
    for (std::size_t b = 0; b < peers_.size(); ++b) {
      routes.push_back(-1);
      if (each.route[b] < 0) continue;
      routes.back() = static_cast<std::int32_t>(loads.size());
      loads.push_back(fabric_.route(routes_[first_[index(pairs_.at(ends(b)))]]));
      loads.back().parts = each.routes[index(each.route[b])];
    }
    const Ways ways = {
        [&](std::int32_t number) -> const SimulatedRoute& { return loads[index(number)]; },
        each.capacity};
    FlowClasses classes = coarsest(steps_, routes, ways);
    const std::vector<std::int32_t> of_class = std::move(classes.of_link);
    classes.of_link.clear();
    for (const std::int32_t link : each.of_link) {
      classes.of_link.push_back(link < 0 ? -1 : of_class[index(link)]);
    }
    return classes;
  }

  const StepGraph& steps_;
  std::span<const std::int32_t> peers_;
  const Images& images_;
  Fabric& fabric_;
  std::map<Ends, std::int32_t> pairs_;  // of ranks that threadblocks join, numbered
  std::vector<std::size_t> first_;      // by number, the first of its routes
  std::vector<std::int32_t> routes_;    // of all images of each
};

}  // namespace

std::optional<FlowClasses> classes_of_images(const StepGraph& steps,
                                             std::span<const std::int32_t> peers,
                                             const Images& images, Fabric& fabric,
                                             audit::Findings& findings) {
  ImageClasses classes(steps, peers, images, fabric);
  if (!classes.find_routes(findings)) return std::nullopt;
  return classes.make();
}

FlowClasses program_classes(const StepGraph& steps, std::span<const std::int32_t> routes,
                            const Fabric& fabric) {
  return coarsest(steps, routes, ways_of(fabric));
}

}  // namespace forestcoll::simulate
