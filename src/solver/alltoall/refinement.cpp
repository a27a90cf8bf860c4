#include "solver/alltoall/refinement.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mix.hpp"

namespace forestcoll::solver::alltoall {
namespace {

using base::mix;
using Colours = std::vector<std::uint64_t>;

// Classes are counted once in so many rounds.
constexpr int kRoundsBetweenCounts = 4;

// Marks that tell the places of a variable in its rows apart.
constexpr std::uint64_t kHead = 0x5bf03635, kTail = 0x9c24e1a7, kCapacity = 0x1f83d9ab;

class Refiner {
 public:
  explicit Refiner(const Instance& instance)
      : instance_(instance),
        arcs_(instance.network.graph.arc_count()),
        nodes_(instance.network.graph.node_count()),
        flow_(instance.sources.size() * arcs_, 1),
        capacity_(instance.orbits.arcs.count) {
    for (std::size_t a = 0; a < arcs_; ++a) {
      const std::size_t orbit = instance.orbits.arcs.of[a];
      capacity_[orbit] = mix(static_cast<std::uint64_t>(instance.network.capacity[ArcId(a)] *
                                                        instance.arc_members[orbit]));
    }
    for (const Source& source : instance.sources) {
      const auto needs = instance.needs(source.rank);
      for (const std::int64_t need : needs) node_.push_back(mix(static_cast<std::uint64_t>(need)));
      // The source itself has no equation.
      node_[node_.size() - nodes_ + instance.network.ranks[source.rank.index()].index()] = 0;
    }
  }

  std::optional<Refinement> run(std::size_t max_classes) {
    if (begins_with_more_than(max_classes)) return std::nullopt;
    for (std::size_t known = 0;;) {
      for (int round = 0; round < kRoundsBetweenCounts; ++round) recolour();
      const std::size_t flows = count(flow_);
      if (flows > max_classes) return std::nullopt;
      const std::size_t now = flows + count(node_) + count(capacity_);
      if (now == known) return Refinement{classes(flow_), classes(node_), classes(capacity_)};
      known = now;
    }
  }

 private:
  // Classes are only ever divided: flows that look different at once are so in the end. Where all
  // demands differ, a few sources show it.
  bool begins_with_more_than(std::size_t max_classes) {
    std::unordered_set<std::uint64_t> seen;
    for (std::size_t i = 0; i < instance_.sources.size(); ++i) {
      recolour_flows(i);
      const auto first = flow_.begin() + static_cast<std::ptrdiff_t>(i * arcs_);
      seen.insert(first, first + static_cast<std::ptrdiff_t>(arcs_));
      if (seen.size() > max_classes) return true;
    }
    return false;
  }

  void recolour() {
    for (std::size_t i = 0; i < instance_.sources.size(); ++i) recolour_flows(i);
    for (std::uint64_t& colour : node_) colour = colour == 0 ? 0 : mix(colour);
    for (std::uint64_t& colour : capacity_) colour = mix(colour);
    for (std::size_t i = 0; i < instance_.sources.size(); ++i) recolour_rows(i);
  }

  void recolour_flows(std::size_t i) {
    const auto& arcs = instance_.network.graph.arcs();
    const std::uint64_t* node = node_.data() + i * nodes_;
    const auto members = static_cast<std::uint64_t>(instance_.sources[i].members);
    for (std::size_t a = 0; a < arcs_; ++a) {
      flow_[i * arcs_ + a] =
          mix(mix(flow_[i * arcs_ + a]) + mix(node[arcs[a].head.index()] + kHead) +
              mix(node[arcs[a].tail.index()] + kTail) +
              mix(capacity_[instance_.orbits.arcs.of[a]] + members * kCapacity));
    }
  }

  void recolour_rows(std::size_t i) {
    const auto& arcs = instance_.network.graph.arcs();
    std::uint64_t* node = node_.data() + i * nodes_;
    const auto members = static_cast<std::uint64_t>(instance_.sources[i].members);
    for (std::size_t a = 0; a < arcs_; ++a) {
      const std::uint64_t flow = flow_[i * arcs_ + a];
      if (auto& head = node[arcs[a].head.index()]; head != 0) head += mix(flow + kHead);
      if (auto& tail = node[arcs[a].tail.index()]; tail != 0) tail += mix(flow + kTail);
      capacity_[instance_.orbits.arcs.of[a]] += mix(flow + members * kCapacity);
    }
  }

  static std::size_t count(Colours colours) {
    std::ranges::sort(colours);
    return static_cast<std::size_t>(std::unique(colours.begin(), colours.end()) - colours.begin());
  }

  // Numbered in the order in which they first appear.
  static Partition classes(const Colours& colours) {
    std::unordered_map<std::uint64_t, std::size_t> numbers;
    Partition classes;
    for (const std::uint64_t colour : colours) {
      classes.of.push_back(numbers.emplace(colour, numbers.size()).first->second);
    }
    classes.count = numbers.size();
    return classes;
  }

  const Instance& instance_;
  std::size_t arcs_, nodes_;
  Colours flow_, node_, capacity_;
};

}  // namespace

std::optional<Refinement> refine(const Instance& instance, std::size_t max_classes) {
  return Refiner(instance).run(max_classes);
}

}  // namespace forestcoll::solver::alltoall
