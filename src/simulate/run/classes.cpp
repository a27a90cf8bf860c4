#include "simulate/run/classes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "simulate/fabric/equitable_partition.hpp"

namespace forestcoll::simulate {
namespace {

// With more classes than this part of the activities, they are not worth a graph of their own.
constexpr double kMostClasses = 0.75;

// The vertices are activities, kinds of flows and links, in this order.
class ClassFinder {
 public:
  ClassFinder(const EventGraph& graph, std::span<const double> capacity)
      : graph_(graph),
        links_of_fabric_(capacity.size()),
        capacity_(capacity.begin(), capacity.end()) {
    capacity_.insert(capacity_.end(), graph.workers.begin(), graph.workers.end());
  }

  std::optional<ClassGraph> find() {
    class_of_ = equitable_partition(labelled());
    number_classes();
    const double most = kMostClasses * static_cast<double>(graph_.activities.size());
    if (static_cast<double>(activities_.first.size()) > most) return std::nullopt;
    add_parts();
    add_activities();
    add_waits();
    for (const std::int32_t link : links_.first) {
      result_.capacity.push_back(capacity_[index(link)]);
    }
    links_.of.resize(links_of_fabric_);
    result_.of_link = std::move(links_.of);
    result_.is_coarsest = true;
    return std::move(result_);
  }

 private:
  // The classes of the vertices of one sort: which class each is in, and the first of each class.
  struct Classes {
    std::vector<std::int32_t> of, first;
  };
  // Of a kind's class, and how many activities of the class each kind has.
  using KindKey = std::pair<std::int32_t, std::int64_t>;

  [[nodiscard]] std::int32_t kind_vertex(std::int32_t kind) const {
    return static_cast<std::int32_t>(graph_.activities.size()) + kind;
  }
  [[nodiscard]] std::int32_t link_vertex(std::int32_t link) const {
    return kind_vertex(static_cast<std::int32_t>(graph_.kinds.size())) + link;
  }

  [[nodiscard]] LabelledGraph labelled() const {
    enum class Sort : std::uint64_t { activity = 1, kind, link, wait, flow, part };
    const auto label = [](Sort sort) { return static_cast<std::uint64_t>(sort); };
    LabelledGraph result;
    for (const Activity& each : graph_.activities) {
      std::uint64_t hash = mix(label(Sort::activity), bits(each.seconds));
      for (const double value : {each.bytes, each.weight, each.after})
        hash = mix(hash, bits(value));
      result.labels.push_back(mix(hash, bits(each.repeats)));
    }
    for (const FlowKind& kind : graph_.kinds) {
      result.labels.push_back(mix(label(Sort::kind), bits(kind.most)));
    }
    for (const double capacity : capacity_) {
      result.labels.push_back(mix(label(Sort::link), bits(capacity)));
    }
    const auto join = [&](std::int32_t a, std::int32_t b, std::uint64_t hash) {
      result.edges.push_back({a, b, hash});
      result.edges.push_back({b, a, hash});
    };
    for (const Wait& wait : graph_.waits) {
      std::uint64_t hash = mix(label(Sort::wait), bits(wait.delay));
      for (const std::int64_t value : {wait.initial, wait.produced, wait.consumed}) {
        hash = mix(hash, bits(value));
      }
      result.edges.push_back({wait.from, wait.to, hash});
    }
    for (std::size_t a = 0; a < graph_.activities.size(); ++a) {
      const std::int32_t kind = graph_.activities[a].kind;
      if (kind >= 0) join(static_cast<std::int32_t>(a), kind_vertex(kind), label(Sort::flow));
    }
    for (std::size_t k = 0; k < graph_.kinds.size(); ++k) {
      for (const LinkPart& part : graph_.kinds[k].route) {
        join(kind_vertex(static_cast<std::int32_t>(k)), link_vertex(part.link),
             mix(label(Sort::part), bits(part.part)));
      }
    }
    return result;
  }

  // In the order of their first vertices, so that what is simulated does not depend on hashes.
  [[nodiscard]] Classes classes_from(std::int32_t begin, std::size_t count) const {
    Classes classes;
    std::map<std::int32_t, std::int32_t> number;
    for (std::size_t i = 0; i < count; ++i) {
      const auto next = static_cast<std::int32_t>(classes.first.size());
      const auto [found, is_new] = number.emplace(class_of_[index(begin) + i], next);
      if (is_new) classes.first.push_back(static_cast<std::int32_t>(i));
      classes.of.push_back(found->second);
    }
    return classes;
  }

  void number_classes() {
    activities_ = classes_from(0, graph_.activities.size());
    kinds_ = classes_from(kind_vertex(0), graph_.kinds.size());
    links_ = classes_from(link_vertex(0), capacity_.size());
  }

  // What one flow on each kind of a class puts on one link of a class.
  void add_parts() {
    parts_.resize(kinds_.first.size());
    for (std::size_t k = 0; k < graph_.kinds.size(); ++k) {
      for (const LinkPart& part : graph_.kinds[k].route) {
        const std::int32_t link_class = links_.of[index(part.link)];
        if (links_.first[index(link_class)] != part.link) continue;
        parts_[index(kinds_.of[k])][link_class] += part.part;
      }
    }
  }

  void add_activities() {
    std::vector<std::int64_t> on_kind(activities_.first.size(), 0);
    for (std::size_t a = 0; a < graph_.activities.size(); ++a) {
      const std::int32_t number = activities_.of[a];
      const std::int32_t first = activities_.first[index(number)];
      on_kind[index(number)] += graph_.activities[a].kind == graph_.activities[index(first)].kind;
    }
    for (std::size_t c = 0; c < activities_.first.size(); ++c) {
      Activity activity = graph_.activities[index(activities_.first[c])];
      if (activity.kind >= 0)
        activity.kind = kind_of({kinds_.of[index(activity.kind)], on_kind[c]});
      result_.graph.add(activity);
    }
  }

  std::int32_t kind_of(const KindKey& key) {
    const auto next = static_cast<std::int32_t>(result_.graph.kinds.size());
    const auto [found, is_new] = by_key_.emplace(key, next);
    if (!is_new) return found->second;
    FlowKind kind;
    kind.most = graph_.kinds[index(kinds_.first[index(key.first)])].most;
    for (const auto& [link, part] : parts_[index(key.first)]) {
      kind.route.push_back({link, part * static_cast<double>(key.second)});
    }
    result_.graph.kinds.push_back(std::move(kind));
    return next;
  }

  // Of the first of each class; what comes from several of a class comes from all at once.
  void add_waits() {
    std::vector<Wait>& waits = result_.graph.waits;
    for (const Wait& wait : graph_.waits) {
      const std::int32_t to = activities_.of[index(wait.to)];
      if (activities_.first[index(to)] != wait.to) continue;
      waits.push_back(wait);
      waits.back().from = activities_.of[index(wait.from)];
      waits.back().to = to;
    }
    const auto key = [](const Wait& wait) {
      return std::tie(wait.from, wait.to, wait.delay, wait.initial, wait.produced, wait.consumed);
    };
    std::ranges::sort(waits, [&](const Wait& a, const Wait& b) { return key(a) < key(b); });
    const auto are_same = [&](const Wait& a, const Wait& b) { return key(a) == key(b); };
    waits.erase(std::unique(waits.begin(), waits.end(), are_same), waits.end());
  }

  const EventGraph& graph_;
  std::size_t links_of_fabric_;
  std::vector<double> capacity_;  // of links and workers
  std::vector<std::int32_t> class_of_;
  Classes activities_, kinds_, links_;
  std::vector<std::map<std::int32_t, double>> parts_;  // by class of kinds, of links
  std::map<KindKey, std::int32_t> by_key_;
  ClassGraph result_;
};

}  // namespace

std::optional<ClassGraph> class_graph(const EventGraph& graph, std::span<const double> capacity) {
  return ClassFinder(graph, capacity).find();
}

}  // namespace forestcoll::simulate
