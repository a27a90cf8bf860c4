#include "solver/joint/shares.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace forestcoll::solver {
namespace {

using BigWhole = boost::multiprecision::cpp_int;

// Shares are exact with numbers below this, and rounded down to so many parts otherwise.
constexpr int kShareBits = 40;

// A commodity, by its number, and an arc.
using Pair = std::pair<std::size_t, ArcId>;

// The commodities of all operations in one list, and where symmetries take them.
class Numbering {
 public:
  Numbering(const Network& network, const JointDemand& demand) {
    for (std::size_t i = 0; i < demand.operations.size(); ++i) {
      auto& of_operation = at_.emplace_back(network.graph.node_count(), 0);
      for (const Commodity& commodity : demand.operations[i]) {
        for (const NodeId v : commodity.members) of_operation[v] = all_.size();
        number_[&commodity] = all_.size();
        all_.push_back({i, commodity.members.front()});
      }
    }
  }

  [[nodiscard]] std::size_t of(const Commodity& commodity) const { return number_.at(&commodity); }
  [[nodiscard]] std::size_t image(std::size_t commodity, const NodeImage& symmetry) const {
    const auto& [operation, member] = all_[commodity];
    return at_[operation][symmetry[member]];
  }

 private:
  std::vector<std::pair<std::size_t, NodeId>> all_;  // the operation, and a member
  std::vector<IdVector<NodeId, std::size_t>> at_;    // by operation and member
  std::map<const Commodity*, std::size_t> number_;
};

// All pairs that the symmetries exchange for this one.
std::vector<Pair> orbit_of(const Pair& first, const Network& network, const Portions& portions,
                           const Numbering& numbering) {
  std::vector<Pair> orbit{first};
  std::set<Pair> known{first};
  for (std::size_t i = 0; i < orbit.size(); ++i) {
    const auto [commodity, arc] = orbit[i];
    for (const NodeImage& symmetry : portions.symmetries) {
      const Pair image{
          numbering.image(commodity, symmetry),
          network.graph.find(symmetry[network.graph.tail(arc)], symmetry[network.graph.head(arc)])};
      if (known.insert(image).second) orbit.push_back(image);
    }
  }
  return orbit;
}

// num / den, or a little less.
Ratio no_more_than(BigWhole num, BigWhole den) {
  const BigWhole common = gcd(num, den);
  num /= common;
  den /= common;
  constexpr std::int64_t kMost = std::int64_t{1} << kShareBits;
  if (num > kMost || den > kMost) {
    num = (num << kShareBits) / den;
    den = kMost;
  }
  return {static_cast<std::int64_t>(num), static_cast<std::int64_t>(den)};
}

}  // namespace

LinkShares shares_of(const Network& network, const JointDemand& demand, const Portions& portions,
                     std::span<const Column> columns, const Mixture& mixture) {
  const Numbering numbering(network, demand);
  std::map<Pair, BigWhole> carried;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (mixture.weights[i] == 0) continue;
    const Column& column = columns[i];
    const Piece& piece = portions.portions[column.portion].ways[column.way][column.piece];
    for (const auto& [arc, parts] : column.crossing.arcs) {
      carried[{numbering.of(*piece.of), arc}] += mixture.weights[i] * parts;
    }
  }
  std::map<Pair, Ratio> shares;
  for (const auto& entry : carried) {
    if (shares.contains(entry.first)) continue;
    const auto orbit = orbit_of(entry.first, network, portions, numbering);
    BigWhole all = 0;
    for (const Pair& pair : orbit) {
      if (const auto at = carried.find(pair); at != carried.end()) all += at->second;
    }
    const Ratio share =
        no_more_than(all, mixture.parts * orbit.size() * network.capacity[entry.first.second]);
    for (const Pair& pair : orbit) shares.emplace(pair, share);
  }
  LinkShares by_operation;
  for (const auto& commodities : demand.operations) {
    auto& of_operation = by_operation.emplace_back();
    for (const Commodity& commodity : commodities) {
      auto& of_group = of_operation.emplace_back();
      const std::size_t number = numbering.of(commodity);
      for (auto at = shares.lower_bound({number, ArcId(0)});
           at != shares.end() && at->first.first == number; ++at) {
        if (at->second > Ratio(0)) of_group.push_back({at->first.second, at->second});
      }
    }
  }
  return by_operation;
}

}  // namespace forestcoll::solver
