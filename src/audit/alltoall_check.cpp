#include <fmt/format.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <boost/pending/disjoint_sets.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using Integer = boost::multiprecision::cpp_int;
using Classes = boost::disjoint_sets_with_storage<>;
using Fabric = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                     boost::property<boost::edge_weight_t, std::int64_t>>;

// rate · den ≤ num, where a rate is in GB/s.
bool is_at_most(const Ratio& rate, const Integer& num, const Integer& den) {
  return Integer(rate.num()) * den <= num * rate.den();
}

class Checker {
 public:
  Checker(const Network& network, const Demand& demand, const AlltoallProof& proof)
      : network_(network),
        demand_(demand),
        proof_(proof),
        rank_orbits_(network.ranks.size()),
        arc_orbits_(network.graph.arc_count()) {}

  std::string run() {
    for (const auto& image : proof_.flows.symmetries) {
      if (auto flaw = symmetry_flaw(image); !flaw.empty()) return flaw;
    }
    if (auto flaw = flow_flaw(); !flaw.empty()) return flaw;
    return proof_.cut.empty() ? length_flaw() : cut_flaw();
  }

 private:
  using Image = IdVector<NodeId, NodeId>;

  [[nodiscard]] std::optional<std::size_t> arc(NodeId tail, NodeId head) const {
    const ArcId found = network_.graph.find(tail, head);
    if (!found.valid()) return std::nullopt;
    return found.index();
  }

  // Takes the orbits together.
  std::string symmetry_flaw(const Image& image) {
    std::vector<bool> hit(network_.graph.node_count(), false);
    if (image.size() != hit.size()) return "a symmetry is not of this fabric";
    for (const NodeId v : image) {
      if (!v.valid() || v.index() >= hit.size() || hit[v.index()]) {
        return "a symmetry is no permutation of the nodes";
      }
      hit[v.index()] = true;
    }
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
      const Arc& from = network_.graph.arcs()[a];
      const auto to = arc(image[from.tail], image[from.head]);
      if (!to || network_.capacity[ArcId(*to)] != network_.capacity[ArcId(a)]) {
        return "a symmetry does not map the links onto themselves";
      }
      arc_orbits_.union_set(a, *to);
    }
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      const Rank to = network_.rank_of[image[network_.ranks[r]]];
      if (!to.valid()) return "a symmetry maps a rank to a switch";
      rank_orbits_.union_set(r, to.index());
    }
    return demand_flaw(image);
  }

  [[nodiscard]] std::string demand_flaw(const Image& image) const {
    if (demand_.is_uniform()) return {};
    const auto moved = [&](std::size_t r) { return network_.rank_of[image[network_.ranks[r]]]; };
    for (std::size_t s = 0; s < demand_.ranks(); ++s) {
      for (std::size_t t = 0; t < demand_.ranks(); ++t) {
        if (demand_(Rank(s), Rank(t)) != demand_(moved(s), moved(t))) {
          return "a symmetry does not map the demand onto itself";
        }
      }
    }
    return {};
  }

  std::string flow_flaw() {
    std::map<std::size_t, Integer> members;  // by orbit of ranks
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) ++members[rank_orbits_.find_set(r)];
    std::map<std::size_t, bool> has_flow;
    std::vector<Integer> load(network_.graph.arc_count(), 0);  // by orbit's first arc
    for (const SourceFlow& source : proof_.flows.sources) {
      const std::size_t orbit = rank_orbits_.find_set(source.source.index());
      if (std::exchange(has_flow[orbit], true)) return "an orbit of sources has two flows";
      if (auto flaw = balance_flaw(source); !flaw.empty()) return flaw;
      for (std::size_t a = 0; a < load.size(); ++a) {
        load[arc_orbits_.find_set(a)] += members[orbit] * source.flow[ArcId(a)];
      }
    }
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      if (!has_flow[rank_orbits_.find_set(r)] && sends(Rank(r))) {
        return fmt::format("rank {} has something to send, and no flow", r);
      }
    }
    return load_flaw(load);
  }

  [[nodiscard]] bool sends(Rank s) const {
    for (std::size_t t = 0; t < demand_.ranks(); ++t) {
      if (demand_(s, Rank(t)) > 0) return true;
    }
    return false;
  }

  [[nodiscard]] std::string balance_flaw(const SourceFlow& source) const {
    std::vector<Integer> stays(network_.graph.node_count(), 0);
    if (source.flow.size() != network_.graph.arc_count()) return "a flow is not of this fabric";
    for (std::size_t a = 0; a < source.flow.size(); ++a) {
      const std::int64_t amount = source.flow[ArcId(a)];
      if (amount < 0) return fmt::format("the flow of rank {} is negative", source.source.value);
      stays[network_.graph.arcs()[a].head.index()] += amount;
      stays[network_.graph.arcs()[a].tail.index()] -= amount;
    }
    const NodeId at = network_.ranks[source.source.index()];
    for (std::size_t v = 0; v < stays.size(); ++v) {
      if (NodeId(v) == at) continue;
      const Rank rank = network_.rank_of[NodeId(v)];
      const Integer need = rank.valid() ? demand_(source.source, rank) : 0;
      // Parts are of units of demand.
      if (stays[v] * proof_.flows.unit != need * proof_.flows.parts) {
        return fmt::format("of the flow of rank {}, node {} does not get what it is to get",
                           source.source.value, v);
      }
    }
    return {};
  }

  // Symmetries spread what an orbit's arcs carry together evenly.
  std::string load_flaw(const std::vector<Integer>& load) {
    std::vector<Integer> capacity(load.size(), 0);
    for (std::size_t a = 0; a < load.size(); ++a) {
      capacity[arc_orbits_.find_set(a)] += network_.capacity[ArcId(a)];
    }
    for (std::size_t a = 0; a < load.size(); ++a) {
      const Integer room = capacity[a] * network_.unit.num() * proof_.flows.parts;
      const Integer used = load[a] * network_.unit.den() * proof_.flows.unit;
      if (used > 0 && !is_at_most(proof_.reached, room, used)) {
        return fmt::format("arc {} carries more than it can", a);
      }
    }
    return {};
  }

  // Capacity over demand is no more than `at_most`.
  [[nodiscard]] std::string bound_flaw(const Integer& capacity, const Integer& demand) const {
    const Integer num = capacity * network_.unit.num(), den = demand * network_.unit.den();
    const bool proved =
        den > 0 && num * proof_.at_most.den() <= Integer(proof_.at_most.num()) * den;
    return proved ? "" : "the lengths do not prove the bound";
  }

  [[nodiscard]] std::string cut_flaw() const {
    std::vector<bool> inside(network_.graph.node_count(), false);
    for (const NodeId v : proof_.cut) inside[v.index()] = true;
    Integer capacity = 0, crossing = 0;
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
      const Arc& arc = network_.graph.arcs()[a];
      const bool leaves = inside[arc.tail.index()] && !inside[arc.head.index()];
      if (leaves) capacity += network_.capacity[ArcId(a)];
      if (proof_.lengths[ArcId(a)] != (leaves ? 1 : 0)) return "the lengths are not of the cut";
    }
    for (std::size_t s = 0; s < network_.ranks.size(); ++s) {
      if (!inside[network_.ranks[s].index()]) continue;
      for (std::size_t t = 0; t < network_.ranks.size(); ++t) {
        if (!inside[network_.ranks[t].index()]) crossing += demand_(Rank(s), Rank(t));
      }
    }
    return bound_flaw(capacity, crossing);
  }

  // Demand times distance of all that a rank sends.
  [[nodiscard]] Integer covered_by(Rank s, const Fabric& fabric) const {
    std::vector<std::int64_t> distance(network_.graph.node_count());
    boost::dijkstra_shortest_paths(fabric, network_.ranks[s.index()].index(),
                                   boost::distance_map(distance.data()));
    Integer covered = 0;
    for (std::size_t t = 0; t < network_.ranks.size(); ++t) {
      const std::int64_t amount = demand_(s, Rank(t));
      if (amount > 0) covered += Integer(amount) * distance[network_.ranks[t].index()];
    }
    return covered;
  }

  std::string length_flaw() {
    Fabric fabric(network_.graph.node_count());
    Integer capacity = 0;
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
      const Arc& arc = network_.graph.arcs()[a];
      const std::int64_t length = proof_.lengths[ArcId(a)];
      if (length < 0) return "a length is negative";
      if (length != proof_.lengths[ArcId(arc_orbits_.find_set(a))]) {
        return "arcs that symmetries exchange have different lengths";
      }
      boost::add_edge(arc.tail.index(), arc.head.index(), length, fabric);
      capacity += Integer(network_.capacity[ArcId(a)]) * length;
    }
    Integer covered = 0;
    std::map<std::size_t, Integer> of_orbit;
    for (std::size_t s = 0; s < network_.ranks.size(); ++s) {
      const auto [known, is_new] = of_orbit.emplace(rank_orbits_.find_set(s), 0);
      if (is_new) known->second = covered_by(Rank(s), fabric);
      covered += known->second;
    }
    return bound_flaw(capacity, covered);
  }

  const Network& network_;
  const Demand& demand_;
  const AlltoallProof& proof_;
  Classes rank_orbits_, arc_orbits_;
};

}  // namespace

std::string find_alltoall_flaw(const Network& network, const Demand& demand,
                               const AlltoallProof& proof) {
  return Checker(network, demand, proof).run();
}

}  // namespace forestcoll
