#include "solver/joint/portions.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "forestcoll/rate.hpp"
#include "solver/symmetry/fabric_group.hpp"

namespace forestcoll::solver {
namespace {

using MemberClasses = boost::disjoint_sets_with_storage<>;

// What a member of a commodity is, as a code beyond those of what switches can do.
std::vector<std::pair<NodeId, Capacity>> coded(const Commodity& commodity, std::size_t operation) {
  std::vector<std::pair<NodeId, Capacity>> nodes;
  const std::size_t n = commodity.members.size();
  const bool by_member = commodity.amounts.size() == n;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_root = by_member && commodity.amounts[i] > 0;
    nodes.emplace_back(commodity.members[i],
                       static_cast<Capacity>(16 * (2 * operation + (is_root ? 2 : 1))));
  }
  return nodes;
}

// Whether members that root something root as much, and all pairs have as much: then who is a
// member, and who a root, says all.
bool is_even(const Commodity& commodity) {
  const std::size_t n = commodity.members.size();
  std::set<std::int64_t> amounts;
  if (commodity.kind != Commodity::Kind::paths) {
    for (const std::int64_t amount : commodity.amounts) {
      if (amount > 0) amounts.insert(amount);
    }
    return amounts.size() == 1;
  }
  for (std::size_t i = 0; i < n * n; ++i) {
    if (i / n != i % n) amounts.insert(commodity.amounts[i]);
  }
  return amounts.size() == 1;
}

class PortionFinder {
 public:
  PortionFinder(const Network& network, const JointDemand& demand)
      : network_(network), demand_(demand) {
    for (std::size_t i = 0; i < demand.operations.size(); ++i) {
      for (const Commodity& commodity : demand.operations[i]) {
        for (std::size_t m = 0; m < commodity.members.size(); ++m) {
          number_[{i, commodity.members[m]}] = members_ + m;
        }
        commodities_.push_back({&commodity, i, members_});
        members_ += commodity.members.size();
      }
    }
  }

  Portions run() {
    auto generators = find_generators();
    MemberClasses classes(members_);
    for (const NodeImage& image : generators) {
      for (const auto& [key, number] : number_) {
        classes.union_set(number, number_.at({key.first, image[key.second]}));
      }
    }
    Portions found{{}, orbits_under(network_, generators).arcs, {}};
    add_limits(generators, found);
    std::map<std::size_t, std::size_t> known;  // portions, by class
    for (const Numbered& commodity : commodities_) {
      add_portions(commodity, classes, known, found.portions);
    }
    found.symmetries = std::move(generators);
    return found;
  }

 private:
  struct Numbered {
    const Commodity* of = nullptr;
    std::size_t operation = 0, first_member = 0;
  };

  [[nodiscard]] std::vector<NodeImage> find_generators() const {
    std::vector<MarkedSet> sets;
    for (const Numbered& commodity : commodities_) {
      if (!is_even(*commodity.of)) return {};
      sets.push_back({coded(*commodity.of, commodity.operation)});
    }
    return find_fabric_group(network_, {}, uniform_weights(network_), sets);
  }

  void add_limits(const std::vector<NodeImage>& generators, Portions& found) const {
    if (network_.limits.empty()) return;
    found.limits = limit_orbits(network_, generators);
    found.uses.assign(network_.graph.arc_count(), {});
    for (std::size_t l = 0; l < network_.limits.size(); ++l) {
      for (const auto& [arc, times] : network_.limits[l].uses) {
        found.uses[arc].push_back({found.arcs.count + found.limits.of[l], times});
      }
    }
  }

  // Of a class that is known, one more copy.
  static bool is_copy(std::size_t of_class, const std::map<std::size_t, std::size_t>& known,
                      std::vector<Portion>& portions) {
    const auto at = known.find(of_class);
    if (at == known.end()) return false;
    ++portions[at->second].copies;
    return true;
  }

  void add_portions(const Numbered& commodity, MemberClasses& classes,
                    std::map<std::size_t, std::size_t>& known, std::vector<Portion>& portions) {
    using Kind = Commodity::Kind;
    const Commodity& of = *commodity.of;
    const std::size_t n = of.members.size();
    const auto class_of = [&](std::size_t m) {
      return classes.find_set(commodity.first_member + m);
    };
    if (of.kind == Kind::allreduce) {
      std::map<std::size_t, std::size_t> roots;  // the first member of each class
      for (std::size_t m = 0; m < n; ++m) roots.emplace(class_of(m), m);
      if (is_copy(roots.begin()->first, known, portions)) return;
      for (const auto& root : roots) known[root.first] = portions.size();
      Portion portion{commodity.operation, of.amounts.front(), 1, 1, {}};
      for (const auto& root : roots) {
        portion.ways.push_back({{&of, root.second, false}, {&of, root.second, true}});
      }
      portions.push_back(std::move(portion));
      return;
    }
    for (std::size_t m = 0; m < n; ++m) {
      const bool paths = of.kind == Kind::paths;
      const std::int64_t amount = paths ? common_part(of, m) : of.amounts[m];
      if (amount == 0 || is_copy(class_of(m), known, portions)) continue;
      known[class_of(m)] = portions.size();
      std::int64_t parts = paths ? 0 : 1;
      for (std::size_t to = 0; paths && to < n; ++to) {
        if (to != m) parts += of.amounts[m * n + to] / amount;
      }
      portions.push_back(
          {commodity.operation, amount, parts, 1, {{{&of, m, of.kind == Kind::reduce}}}});
    }
  }

  const Network& network_;
  const JointDemand& demand_;
  std::map<std::pair<std::size_t, NodeId>, std::size_t> number_;  // of members, by operation
  std::vector<Numbered> commodities_;
  std::size_t members_ = 0;
};

}  // namespace

std::vector<Capacity> capacity_by_class(const Network& network, const Portions& portions) {
  std::vector<Capacity> capacity(portions.class_count(), 0);
  for (std::size_t a = 0; a < portions.arcs.of.size(); ++a) {
    capacity[portions.arcs.of[a]] += network.capacity[ArcId(a)];
  }
  for (std::size_t l = 0; l < portions.limits.of.size(); ++l) {
    capacity[portions.arcs.count + portions.limits.of[l]] += network.limits[l].capacity;
  }
  return capacity;
}

std::int64_t common_part(const Commodity& commodity, std::size_t member) {
  const std::size_t n = commodity.members.size();
  std::int64_t common = 0;
  for (std::size_t to = 0; to < n; ++to) {
    if (to != member) common = std::gcd(common, commodity.amounts[member * n + to]);
  }
  return common;
}

Portions portions_of(const Network& network, const JointDemand& demand) {
  return PortionFinder(network, demand).run();
}

}  // namespace forestcoll::solver
