#include "simulate/sources/program_classes.hpp"

#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "simulate/fabric/equitable_partition.hpp"

namespace forestcoll::simulate {
namespace {

using audit::StepGraph;

// The vertices are threadblocks, the routes that they send over, and links, in this order.
class ProgramLabels {
 public:
  ProgramLabels(const StepGraph& steps, std::span<const std::int32_t> routes, const Fabric& fabric)
      : steps_(steps), routes_(routes), fabric_(fabric) {}

  [[nodiscard]] LabelledGraph labelled() {
    for (const StepGraph::Block& block : steps_.blocks) graph_.labels.push_back(label_of(block));
    for (std::size_t b = 0; b < routes_.size(); ++b) {
      if (routes_[b] < 0) continue;
      join(static_cast<std::int32_t>(b), route_vertex(routes_[b]), mix(label(Sort::route)));
    }
    first_link_ = static_cast<std::int32_t>(graph_.labels.size());
    for (const double capacity : fabric_.capacity()) {
      graph_.labels.push_back(mix(label(Sort::link), bits(capacity)));
    }
    for (const auto& [route, vertex] : vertex_of_route_) {
      for (const LinkPart& part : fabric_.route(route).parts) {
        join(vertex, first_link_ + part.link, mix(label(Sort::link), bits(part.part)));
      }
    }
    for (std::size_t b = 0; b < steps_.blocks.size(); ++b) add_waits(static_cast<std::int32_t>(b));
    return std::move(graph_);
  }

  [[nodiscard]] std::int32_t first_link() const { return first_link_; }

 private:
  enum class Sort : std::uint64_t { block = 1, route, link, message, room, dependency };
  static std::uint64_t label(Sort sort) { return static_cast<std::uint64_t>(sort); }

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

  std::int32_t route_vertex(std::int32_t number) {
    const auto next = static_cast<std::int32_t>(graph_.labels.size());
    const auto [at, is_new] = vertex_of_route_.emplace(number, next);
    if (is_new) {
      const SimulatedRoute& route = fabric_.route(number);
      std::uint64_t hash = mix(label(Sort::route), bits(route.latency_us));
      for (const bool flag : {route.between_boxes, route.in_network})
        hash = mix(hash, flag ? 1 : 0);
      graph_.labels.push_back(mix(hash, bits(std::int64_t{route.hops})));
    }
    return at->second;
  }

  void join(std::int32_t a, std::int32_t b, std::uint64_t hash) {
    graph_.edges.push_back({a, b, hash});
    graph_.edges.push_back({b, a, hash});
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
  const Fabric& fabric_;
  LabelledGraph graph_;
  std::map<std::int32_t, std::int32_t> vertex_of_route_;
  std::int32_t first_link_ = 0;
};

// Numbers classes in the order of their first members, so that what is simulated does not depend on
// hashes.
class Numbering {
 public:
  // The number of the class, and whether this is its first member.
  std::pair<std::int32_t, bool> operator()(std::int32_t name) {
    const auto next = static_cast<std::int32_t>(numbers_.size());
    const auto [at, is_new] = numbers_.emplace(name, next);
    return {at->second, is_new};
  }

 private:
  std::map<std::int32_t, std::int32_t> numbers_;
};

// From the names of the classes of threadblocks and links.
class ClassMaker {
 public:
  ClassMaker(std::span<const std::int32_t> of_link, const Fabric& fabric)
      : of_link_(of_link), fabric_(fabric) {
    classes_.of_link.assign(of_link.size(), -1);
  }

  ProgramClasses make(std::span<const std::int32_t> of_block,
                      std::span<const std::int32_t> routes) {
    for (std::size_t b = 0; b < of_block.size(); ++b) {
      const auto [number, is_first] = blocks_(of_block[b]);
      classes_.of_block.push_back(number);
      if (is_first) {
        classes_.first.push_back(static_cast<std::int32_t>(b));
        parts_.emplace_back();
      }
      if (routes[b] >= 0) add_flow(number, fabric_.route(routes[b]));
    }
    for (const Parts& parts : parts_) classes_.route.push_back(parts.empty() ? -1 : route(parts));
    return std::move(classes_);
  }

 private:
  using Parts = std::map<std::int32_t, double>;  // by class of links, on one of them

  void add_flow(std::int32_t number, const SimulatedRoute& route) {
    for (const LinkPart& part : route.parts) {
      const auto [link, is_first] = links_(of_link_[index(part.link)]);
      if (is_first) {
        first_link_.push_back(part.link);
        classes_.capacity.push_back(fabric_.capacity()[index(part.link)]);
      }
      classes_.of_link[index(part.link)] = link;
      Parts& parts = parts_[index(number)];
      const auto at = parts.try_emplace(link, 0).first;
      if (first_link_[index(link)] == part.link) at->second += part.part;
    }
  }

  std::int32_t route(const Parts& parts) {
    const auto next = static_cast<std::int32_t>(classes_.routes.size());
    const auto [at, is_new] = known_.emplace(parts, next);
    if (!is_new) return at->second;
    classes_.routes.emplace_back();
    for (const auto& [link, part] : parts) classes_.routes.back().push_back({link, part});
    return next;
  }

  std::span<const std::int32_t> of_link_;
  const Fabric& fabric_;
  ProgramClasses classes_;
  Numbering blocks_, links_;
  std::vector<std::int32_t> first_link_;  // by class
  std::vector<Parts> parts_;              // by class, of all its flows
  std::map<Parts, std::int32_t> known_;   // which route has these parts
};

}  // namespace

ProgramClasses program_classes(const StepGraph& steps, std::span<const std::int32_t> routes,
                               const Fabric& fabric) {
  ProgramLabels labels(steps, routes, fabric);
  const std::vector<std::int32_t> names = equitable_partition(labels.labelled());
  const std::span all(names);
  return ClassMaker(all.subspan(index(labels.first_link())), fabric)
      .make(all.first(steps.blocks.size()), routes);
}

ProgramClasses each_by_itself(const StepGraph& steps, std::span<const std::int32_t> routes,
                              const Fabric& fabric) {
  std::vector<std::int32_t> blocks(steps.blocks.size()), links(fabric.capacity().size());
  std::iota(blocks.begin(), blocks.end(), 0);
  std::iota(links.begin(), links.end(), 0);
  return ClassMaker(links, fabric).make(blocks, routes);
}

}  // namespace forestcoll::simulate
