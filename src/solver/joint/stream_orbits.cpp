#include "solver/joint/stream_orbits.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <tuple>
#include <utility>

#include "solver/symmetry/fabric_group.hpp"

namespace forestcoll::solver {
namespace {

// With fewer arcs of streams a simplex takes less time than the search for symmetries.
constexpr std::size_t kFewArcs = 600;

using Classes = boost::disjoint_sets_with_storage<>;

// What a member of a commodity is, as a code; nothing where members are not of a few kinds.
std::vector<std::pair<NodeId, Capacity>> coded(const Commodity& commodity, std::size_t operation) {
  std::vector<std::pair<NodeId, Capacity>> nodes;
  const std::size_t n = commodity.members.size();
  const bool by_member = commodity.amounts.size() == n && n > 1;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_root = by_member && commodity.amounts[i] > 0;
    // Beyond the codes of what switches can do.
    nodes.emplace_back(commodity.members[i],
                       static_cast<Capacity>(16 * (2 * operation + (is_root ? 2 : 1))));
  }
  return nodes;
}

// Whether all members that root something root as much, and all pairs have as much or nothing and
// do so for every member alike.
bool is_even(const Commodity& commodity) {
  const std::size_t n = commodity.members.size();
  if (commodity.kind != Commodity::Kind::paths) {
    std::int64_t amount = 0;
    for (const std::int64_t next : commodity.amounts) {
      if (next > 0 && amount > 0 && next != amount) return false;
      amount = std::max(amount, next);
    }
    return true;
  }
  const std::int64_t amount = commodity.amounts[1];
  for (std::size_t i = 0; i < n * n; ++i) {
    if (commodity.amounts[i] != (i / n == i % n ? 0 : amount)) return false;
  }
  return true;
}

class OrbitFinder {
 public:
  OrbitFinder(const Network& network, const JointDemand& demand, std::span<const Stream> streams)
      : network_(network), streams_(streams) {
    for (std::size_t i = 0; i < demand.operations.size(); ++i) {
      for (const Commodity& commodity : demand.operations[i]) {
        for (const NodeId v : commodity.members) at_[{i, v}] = commodities_.size();
        commodities_.push_back({&commodity, i, roots_});
        roots_ += commodity.members.size();
      }
    }
    for (std::size_t s = 0; s < streams.size(); ++s) {
      first_arc_.push_back(arcs_);
      arcs_ += streams[s].arcs.size();
      number_[key(s, streams[s].commodity, streams[s].origin)] = s;
    }
  }

  StreamOrbits run() {
    Classes of_streams(streams_.size()), of_arcs(arcs_), of_roots(roots_);
    for (const NodeImage& image : generators()) {
      for (std::size_t s = 0; s < streams_.size(); ++s) join(s, image, of_streams, of_arcs);
      for (std::size_t c = 0; c < commodities_.size(); ++c) {
        for (std::size_t i = 0; i < commodities_[c].of->members.size(); ++i) {
          of_roots.union_set(commodities_[c].first_root + i, root_image(c, i, image));
        }
      }
    }
    return numbered(of_streams, of_arcs, of_roots);
  }

 private:
  struct Numbered {
    const Commodity* of = nullptr;
    std::size_t operation = 0, first_root = 0;
  };
  using Key = std::tuple<std::size_t, bool, NodeId>;

  [[nodiscard]] Key key(std::size_t s, std::size_t commodity, NodeId origin) const {
    return {commodity, streams_[s].turned, origin};
  }

  [[nodiscard]] std::vector<NodeImage> generators() const {
    if (arcs_ <= kFewArcs) return {};
    std::vector<MarkedSet> sets;
    for (const Numbered& commodity : commodities_) {
      if (!is_even(*commodity.of)) return {};
      sets.push_back({coded(*commodity.of, commodity.operation)});
    }
    return find_fabric_group(network_, {}, uniform_weights(network_), sets);
  }

  // Groups of an operation share no member, so a member tells the group.
  [[nodiscard]] std::size_t commodity_image(std::size_t c, const NodeImage& image) const {
    const Numbered& commodity = commodities_[c];
    return at_.at({commodity.operation, image[commodity.of->members.front()]});
  }

  [[nodiscard]] std::size_t root_image(std::size_t c, std::size_t i, const NodeImage& image) const {
    const Numbered& to = commodities_[commodity_image(c, image)];
    const auto at = std::ranges::find(to.of->members, image[commodities_[c].of->members[i]]);
    return to.first_root + static_cast<std::size_t>(at - to.of->members.begin());
  }

  void join(std::size_t s, const NodeImage& image, Classes& of_streams, Classes& of_arcs) const {
    const Stream& from = streams_[s];
    const NodeId origin = from.origin.valid() ? image[from.origin] : NodeId();
    const std::size_t t = number_.at(key(s, commodity_image(from.commodity, image), origin));
    of_streams.union_set(s, t);
    for (std::size_t i = 0; i < from.arcs.size(); ++i) {
      const ArcId a = from.arcs[i];
      const ArcId to =
          network_.graph.find(image[network_.graph.tail(a)], image[network_.graph.head(a)]);
      const auto at = std::ranges::lower_bound(streams_[t].arcs, to) - streams_[t].arcs.begin();
      of_arcs.union_set(first_arc_[s] + i, first_arc_[t] + static_cast<std::size_t>(at));
    }
  }

  // Classes in the order of their first parts.
  static std::size_t number_of(std::size_t representative,
                               std::map<std::size_t, std::size_t>& numbers) {
    return numbers.emplace(representative, numbers.size()).first->second;
  }

  StreamOrbits numbered(Classes& of_streams, Classes& of_arcs, Classes& of_roots) const {
    StreamOrbits orbits;
    std::map<std::size_t, std::size_t> streams, arcs, roots;
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      const std::size_t known = streams.size();
      orbits.is_first.push_back(number_of(of_streams.find_set(s), streams) == known);
      auto& classes = orbits.of_arcs.emplace_back();
      for (std::size_t i = 0; i < streams_[s].arcs.size(); ++i) {
        classes.push_back(number_of(of_arcs.find_set(first_arc_[s] + i), arcs));
      }
    }
    for (const Numbered& commodity : commodities_) {
      auto& classes = orbits.of_roots.emplace_back();
      for (std::size_t i = 0; i < commodity.of->members.size(); ++i) {
        classes.push_back(number_of(of_roots.find_set(commodity.first_root + i), roots));
      }
    }
    orbits.arc_classes = arcs.size();
    orbits.root_classes = roots.size();
    return orbits;
  }

  const Network& network_;
  std::span<const Stream> streams_;
  std::map<std::pair<std::size_t, NodeId>, std::size_t>
      at_;  // commodities, by operation and member
  std::vector<Numbered> commodities_;
  std::map<Key, std::size_t> number_;  // of streams
  std::vector<std::size_t> first_arc_;
  std::size_t arcs_ = 0, roots_ = 0;
};

}  // namespace

StreamOrbits find_stream_orbits(const Network& network, const JointDemand& demand,
                                std::span<const Stream> streams) {
  return OrbitFinder(network, demand, streams).run();
}

}  // namespace forestcoll::solver
