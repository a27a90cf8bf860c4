#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stop_token>
#include <utility>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/design.hpp"
#include "forestcoll/rate.hpp"
#include "solver/design/distances.hpp"
#include "solver/design/figures.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kMostLinks = std::size_t{1} << 20;
// Linear programs of allreduce beyond so many arcs take longer than the rest together.
constexpr std::size_t kMostAllreduceArcs = 256;
constexpr std::size_t kMostAlltoallVariables = 9'000;
// Of all-to-all both ways, which bounds the bisection alone.
constexpr std::size_t kMostBisectionFlows = 600'000;

std::int64_t signed_count(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

Ratio of(std::size_t count) {
  return Ratio(signed_count(count));
}

// As exactly as the size allows: never by a clock, so that the answer is always the same.
Expected<AlltoallOptimum> solved_alltoall(const Network& network, std::size_t most_flows) {
  AlltoallOptions options{.variables = kMostAlltoallVariables};
  const std::size_t sources = solver::find_node_orbits(network, uniform_weights(network)).count;
  std::stop_source stopped;
  if (sources * network.graph.arc_count() > most_flows) stopped.request_stop();
  options.stop = stopped.get_token();
  return alltoall_optimum(network, Demand::uniform(network.ranks.size()), options);
}

// With every link turned around besides.
Wiring both_ways(Wiring wiring) {
  for (std::size_t i = 0, count = wiring.links.size(); i < count; ++i) {
    const Arc link = wiring.links[i];
    wiring.links.push_back({link.head, link.tail});
  }
  std::ranges::sort(wiring.links, {}, [](const Arc& a) { return std::pair(a.tail, a.head); });
  return wiring;
}

class Study {
 public:
  Study(const Wiring& wiring, const WiringFiguresOptions& options)
      : wiring_(wiring),
        options_(options),
        neighbours_(wiring),
        network_(network_of(wiring)),
        // A rate of 1 link per root takes N blocks of M/N at B/ports.
        second_(of(wiring.ports) / of(wiring.nodes)) {}

  Expected<WiringFigures> run(const WiringDistances& distances) {
    figures_.nodes = wiring_.nodes;
    figures_.ports = wiring_.ports;
    figures_.links = wiring_.links.size();
    figures_.steps = distances.steps;
    const std::int64_t n = signed_count(wiring_.nodes);
    figures_.mean_distance = Ratio(distances.sum, n * (n - 1));
    rates();
    allreduce();
    figures_.bfb = solver::bfb_time(neighbours_, wiring_.ports);
    if (const auto done = alltoall(); !done) return done.errors();
    bisection();
    return figures_;
  }

 private:
  // Links per root, of a rate in the network's units.
  [[nodiscard]] Ratio per_link(const Ratio& inverse) const { return inverse / network_.unit; }

  // Both ways, and what the worst failure leaves of allgather.
  void rates() {
    const Rate rate = optimal_rate(network_, uniform_weights(network_));
    figures_.allgather = second_ * per_link(rate.inverse);
    const Network back = reversed(network_);
    figures_.reduce_scatter = second_ * per_link(optimal_rate(back, uniform_weights(back)).inverse);
    // The narrowest cut has the first rank on its one side or on its other.
    const auto narrowest = [](const Network& network) {
      return network.unit / optimal_rate(network, single_root(network, Rank(0))).inverse;
    };
    const Ratio links = std::min(narrowest(network_), narrowest(back));
    const Ratio exit = Ratio(rate.bottleneck.exit) * network_.unit;
    // Who is alone behind one link is cut off with it.
    if (links == Ratio(1) || exit == Ratio(1)) return;
    const auto slower = [&](const Ratio& of_cut) {
      return figures_.allgather * (of_cut / (of_cut - Ratio(1)));
    };
    figures_.after_failure = {slower(exit), slower(links)};
  }

  // Every schedule by trees takes each of the N blocks over N − 1 links to a root and N − 1 back.
  void allreduce() {
    const Ratio n = of(wiring_.nodes);
    const Ratio count = Ratio(2) * (n - Ratio(1)) * of(wiring_.ports) / of(wiring_.links.size());
    figures_.allreduce = {count, figures_.allgather + figures_.reduce_scatter};
    if (figures_.allreduce.is_exact() || network_.graph.arc_count() > kMostAllreduceArcs) return;
    const auto best = allreduce_optimum(network_);
    if (!best) return;
    const auto time = [&](const Ratio& algbw) { return of(wiring_.ports) / algbw; };
    figures_.allreduce.least = std::max(count, time(best->upper));
    if (best->split) {
      figures_.allreduce.most = std::min(figures_.allreduce.most, time(best->split->algbw));
    }
  }

  Expected<void> alltoall() {
    const auto best = solved_alltoall(network_, options_.alltoall_flows);
    if (!best) return best.errors();
    across_ = best->proof.reached;
    const auto least = checked_div(second_, best->proof.at_most);
    const auto most = checked_div(second_, best->proof.reached);
    if (!least || !most) {
      return make_error(Code::E14, wiring_.name + ": the time of all-to-all does not fit 64 bits",
                        "Choose a smaller topology.");
    }
    figures_.alltoall = {*least, *most};
    return {};
  }

  void bisection() {
    if (wiring_.nodes <= solver::kMostHalvedNodes) {
      const Ratio fewest(solver::narrowest_halves(neighbours_));
      figures_.bisection = {fewest, fewest};
      return;
    }
    const std::size_t half = wiring_.nodes / 2;
    const auto across = checked_mul(links_per_pair(), of(half) * of(wiring_.nodes - half));
    const Ratio least = across ? Ratio((across->num() - 1) / across->den() + 1) : Ratio(1);
    figures_.bisection = {least, Ratio(solver::narrow_halves(neighbours_))};
  }

  // At least so many links lead from a set of nodes to the rest for every pair of one of it and one
  // of the rest. Where as many links enter each node as leave it, as many enter a set as leave it:
  // then what flows have both ways counts half, and their ways are shorter.
  [[nodiscard]] Ratio links_per_pair() const {
    if (is_two_way(wiring_) || !solver::is_balanced(neighbours_)) return across_;
    const auto best = solved_alltoall(network_of(both_ways(wiring_)), kMostBisectionFlows);
    return best ? std::max(across_, best->proof.reached / Ratio(2)) : across_;
  }

  const Wiring& wiring_;
  const WiringFiguresOptions& options_;
  solver::Neighbours neighbours_;
  Network network_;
  Ratio second_;
  Ratio across_;  ///< links that every pair has for itself in an all-to-all
  WiringFigures figures_;
};

}  // namespace

Network network_of(const Wiring& wiring) {
  std::vector<Arc> arcs;
  std::vector<Capacity> counts;
  for (const Arc& link : wiring.links) {
    if (!arcs.empty() && arcs.back() == link) {
      ++counts.back();
    } else {
      arcs.push_back(link);
      counts.push_back(1);
    }
  }
  Capacity divisor = 0;
  for (const Capacity count : counts) divisor = std::gcd(divisor, count);
  Network network;
  std::vector<std::size_t> order;
  network.graph = Digraph(wiring.nodes, arcs, &order);
  network.unit = Ratio(std::max<Capacity>(1, divisor));
  for (const std::size_t at : order) network.capacity.push_back(counts[at] / divisor);
  for (std::size_t v = 0; v < wiring.nodes; ++v) {
    network.ranks.emplace_back(v);
    network.rank_of.push_back(Rank(v));
  }
  return network;
}

Ratio allgather_time(const Wiring& wiring) {
  const Network network = network_of(wiring);
  const Ratio per_link = optimal_rate(network, uniform_weights(network)).inverse / network.unit;
  return of(wiring.ports) / of(wiring.nodes) * per_link;
}

Expected<WiringFigures> wiring_figures(const Wiring& wiring, const WiringFiguresOptions& options) {
  if (wiring.nodes > kMostStudiedNodes || wiring.links.size() > kMostLinks) {
    return make_error(
        Code::K01,
        fmt::format("{}: {} nodes with {} links", wiring.name, wiring.nodes, wiring.links.size()),
        fmt::format("At most {} nodes are studied; `generate` and `bound` take larger ones.",
                    kMostStudiedNodes));
  }
  const auto distances = distances_of(wiring);
  if (!distances || wiring.nodes < 2) {
    return make_error(Code::K01, wiring.name + ": the nodes do not all reach one another",
                      "Choose another topology.");
  }
  return Study(wiring, options).run(*distances);
}

}  // namespace forestcoll
