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

enum class Sort : std::uint64_t { block = 1, route, link, message, room, dependency };

std::uint64_t label(Sort sort) {
  return static_cast<std::uint64_t>(sort);
}

std::uint64_t route_label(const SimulatedRoute& route) {
  std::uint64_t hash = mix(label(Sort::route), bits(route.latency_us));
  for (const bool flag : {route.between_boxes, route.in_network}) hash = mix(hash, flag ? 1 : 0);
  return mix(hash, bits(std::int64_t{route.hops}));
}

std::uint64_t link_label(double capacity) {
  return mix(label(Sort::link), bits(capacity));
}

void join(LabelledGraph& graph, std::int32_t a, std::int32_t b, std::uint64_t hash) {
  graph.edges.push_back({a, b, hash});
  graph.edges.push_back({b, a, hash});
}

// Routes and the links that they load: a fabric's, or those of classes of links.
struct Ways {
  std::function<const SimulatedRoute&(std::int32_t)> route;
  std::span<const double> capacity;
};

Ways ways_of(const Fabric& fabric) {
  return {[&fabric](std::int32_t number) -> const SimulatedRoute& { return fabric.route(number); },
          fabric.capacity()};
}

// The vertices are threadblocks, the routes that they send over, and links, in this order.
class ProgramLabels {
 public:
  ProgramLabels(const StepGraph& steps, std::span<const std::int32_t> routes, const Ways& ways)
      : steps_(steps), routes_(routes), ways_(ways) {}

  [[nodiscard]] LabelledGraph labelled() {
    for (const StepGraph::Block& block : steps_.blocks) graph_.labels.push_back(label_of(block));
    for (std::size_t b = 0; b < routes_.size(); ++b) {
      if (routes_[b] < 0) continue;
      join(graph_, static_cast<std::int32_t>(b), route_vertex(routes_[b]), mix(label(Sort::route)));
    }
    first_link_ = static_cast<std::int32_t>(graph_.labels.size());
    for (const double capacity : ways_.capacity) {
      graph_.labels.push_back(link_label(capacity));
    }
    for (const auto& [route, vertex] : vertex_of_route_) {
      for (const LinkPart& part : ways_.route(route).parts) {
        join(graph_, vertex, first_link_ + part.link, mix(label(Sort::link), bits(part.part)));
      }
    }
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

  std::int32_t route_vertex(std::int32_t number) {
    const auto next = static_cast<std::int32_t>(graph_.labels.size());
    const auto [at, is_new] = vertex_of_route_.emplace(number, next);
    if (is_new) graph_.labels.push_back(route_label(ways_.route(number)));
    return at->second;
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
  ClassMaker(std::span<const std::int32_t> of_link, const Ways& ways)
      : of_link_(of_link), ways_(ways) {
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
      if (routes[b] >= 0) add_flow(number, ways_.route(routes[b]));
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
        classes_.capacity.push_back(ways_.capacity[index(part.link)]);
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
  const Ways& ways_;
  ProgramClasses classes_;
  Numbering blocks_, links_;
  std::vector<std::int32_t> first_link_;  // by class
  std::vector<Parts> parts_;              // by class, of all its flows
  std::map<Parts, std::int32_t> known_;   // which route has these parts
};

ProgramClasses coarsest(const StepGraph& steps, std::span<const std::int32_t> routes,
                        const Ways& ways) {
  ProgramLabels labels(steps, routes, ways);
  const std::vector<std::int32_t> names = equitable_partition(labels.labelled());
  const std::span all(names);
  return ClassMaker(all.subspan(index(labels.first_link())), ways)
      .make(all.first(steps.blocks.size()), routes);
}

// The vertices are pairs of ranks, of which those of one number are to be alike, the routes between
// them, and links, in this order.
class PairLabels {
 public:
  explicit PairLabels(const Fabric& fabric) : fabric_(fabric) {}

  // `route`: between the two.
  void add(std::int32_t number, std::int32_t route) {
    graph_.labels.push_back(mix(bits(std::int64_t{number}), route_label(fabric_.route(route))));
    routes_.push_back(route);
  }

  [[nodiscard]] std::vector<std::int32_t> partition() {
    const auto first_link = static_cast<std::int32_t>(graph_.labels.size());
    for (const double capacity : fabric_.capacity()) graph_.labels.push_back(link_label(capacity));
    for (std::size_t p = 0; p < routes_.size(); ++p) {
      for (const LinkPart& part : fabric_.route(routes_[p]).parts) {
        join(graph_, static_cast<std::int32_t>(p), first_link + part.link, bits(part.part));
      }
    }
    return equitable_partition(graph_);
  }

 private:
  const Fabric& fabric_;
  LabelledGraph graph_;
  std::vector<std::int32_t> routes_;
};

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
  [[nodiscard]] std::optional<ProgramClasses> make() const {
    PairLabels labels(fabric_);
    for (std::size_t r = 0; r < routes_.size(); ++r) {
      labels.add(static_cast<std::int32_t>(r / images_.count), routes_[r]);
    }
    const std::vector<std::int32_t> names = labels.partition();
    for (std::size_t r = 0; r < routes_.size(); ++r) {
      if (names[r] != names[r - r % images_.count]) return std::nullopt;
    }
    return joined(of_each(std::span(names).subspan(routes_.size())));
  }

 private:
  using Ends = std::pair<std::int32_t, std::int32_t>;

  [[nodiscard]] Ends ends(std::size_t block) const {
    return {steps_.blocks[block].rank, peers_[block]};
  }

  // Each threadblock by itself, with the routes of all its images.
  [[nodiscard]] ProgramClasses of_each(std::span<const std::int32_t> of_link) const {
    std::vector<std::int32_t> blocks, routes;
    for (std::size_t b = 0; b < peers_.size(); ++b) {
      const bool sends = steps_.blocks[b].sends_to >= 0;
      const std::size_t first = sends ? first_[index(pairs_.at(ends(b)))] : 0;
      for (std::size_t i = 0; i < (sends ? images_.count : 1); ++i) {
        blocks.push_back(static_cast<std::int32_t>(b));
        routes.push_back(sends ? routes_[first + i] : -1);
      }
    }
    return ClassMaker(of_link, ways_of(fabric_)).make(blocks, routes);
  }

  // Of these, what does the same in one program: its images load one link of each class alike.
  [[nodiscard]] ProgramClasses joined(const ProgramClasses& each) const {
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
    ProgramClasses classes = coarsest(steps_, routes, ways);
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

std::optional<ProgramClasses> classes_of_images(const StepGraph& steps,
                                                std::span<const std::int32_t> peers,
                                                const Images& images, Fabric& fabric,
                                                audit::Findings& findings) {
  ImageClasses classes(steps, peers, images, fabric);
  if (!classes.find_routes(findings)) return std::nullopt;
  return classes.make();
}

ProgramClasses program_classes(const StepGraph& steps, std::span<const std::int32_t> routes,
                               const Fabric& fabric) {
  return coarsest(steps, routes, ways_of(fabric));
}

ProgramClasses each_by_itself(const StepGraph& steps, std::span<const std::int32_t> routes,
                              const Fabric& fabric) {
  std::vector<std::int32_t> blocks(steps.blocks.size()), links(fabric.capacity().size());
  std::iota(blocks.begin(), blocks.end(), 0);
  std::iota(links.begin(), links.end(), 0);
  return ClassMaker(links, ways_of(fabric)).make(blocks, routes);
}

}  // namespace forestcoll::simulate
