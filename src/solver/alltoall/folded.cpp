#include "solver/alltoall/folded.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace forestcoll::solver::alltoall {
namespace {

constexpr std::size_t kNoClass = Folded::kNone;

// The only neighbour of `v` among nodes that are not folded; invalid where it has none or several.
NodeId only_neighbour(const Digraph& graph, const IdVector<NodeId, NodeId>& into, NodeId v) {
  NodeId only;
  const auto meets = [&](NodeId w) {  // false: a second one
    if (into[w].valid()) return true;
    if (only.valid() && only != w) return false;
    only = w;
    return true;
  };
  for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
    if (!meets(graph.head(a))) return {};
  }
  for (const ArcId a : graph.in(v)) {
    if (!meets(graph.tail(a))) return {};
  }
  return only;
}

struct Folds {
  IdVector<NodeId, NodeId> into;  // the neighbour that a node is folded into; invalid: it stays
  std::vector<NodeId> order;      // in which they were folded
};

Folds find_folds(const Network& network) {
  const std::size_t n = network.graph.node_count();
  Folds folds{IdVector<NodeId, NodeId>(n), {}};
  std::vector<NodeId> pending;
  for (std::size_t v = n; v-- > 0;) pending.push_back(NodeId(v));
  while (!pending.empty()) {
    const NodeId v = pending.back();
    pending.pop_back();
    if (folds.into[v].valid()) continue;
    const NodeId u = only_neighbour(network.graph, folds.into, v);
    if (!u.valid()) continue;
    folds.into[v] = u;
    folds.order.push_back(v);
    pending.push_back(u);
  }
  return folds;
}

class Folder {
 public:
  explicit Folder(const Instance& instance)
      : instance_(instance),
        network_(instance.network),
        folds_(find_folds(network_)),
        load_(network_.graph.arc_count(), 0) {}

  Folded run() {
    number_nodes();
    add_arcs();
    for (std::size_t i = 0; i < instance_.sources.size(); ++i) add_source(i);
    find_most_loaded();
    return std::move(folded_);
  }

 private:
  void number_nodes() {
    const std::size_t n = network_.graph.node_count();
    number_.assign(n, kNoClass);
    std::size_t nodes = 0;
    for (std::size_t v = 0; v < n; ++v) {
      if (!folds_.into[NodeId(v)].valid()) number_[v] = nodes++;
    }
    for (auto v = folds_.order.rbegin(); v != folds_.order.rend(); ++v) {
      number_[v->index()] = number_[folds_.into[*v].index()];
    }
    nodes_ = nodes;
  }

  void add_arcs() {
    std::vector<Arc> arcs;
    std::vector<ArcId> origin;
    std::vector<std::size_t> row_of(instance_.orbits.arcs.count, kNoClass);
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
      const Arc& arc = network_.graph.arcs()[a];
      if (folds_.into[arc.tail].valid() || folds_.into[arc.head].valid()) continue;
      arcs.push_back({NodeId(number_[arc.tail.index()]), NodeId(number_[arc.head.index()])});
      origin.emplace_back(a);
      std::size_t& row = row_of[instance_.orbits.arcs.of[a]];
      if (row == kNoClass) {
        row = folded_.capacity.size();
        folded_.capacity.push_back(0);
      }
      folded_.capacity[row] += static_cast<double>(network_.capacity[ArcId(a)]);
    }
    std::vector<std::size_t> order;
    folded_.graph = Digraph(nodes_, arcs, &order);
    for (const std::size_t i : order) {
      folded_.arcs.push_back(origin[i]);
      folded_.row.push_back(row_of[instance_.orbits.arcs.of[origin[i].index()]]);
    }
  }

  void add_source(std::size_t i) {
    const Source& source = instance_.sources[i];
    const NodeId at = network_.ranks[source.rank.index()];
    const auto needs = instance_.needs(source.rank);
    std::vector<double> folded(nodes_, 0), amounts(needs.size());
    for (std::size_t v = 0; v < needs.size(); ++v) {
      amounts[v] = static_cast<double>(needs[NodeId(v)]) * static_cast<double>(source.members);
      if (number_[v] != number_[at.index()]) folded[number_[v]] += amounts[v];
    }
    add_fixed_loads(at, std::move(amounts));
    folded_.source_of.push_back(kNoClass);
    if (std::ranges::all_of(folded, [](double need) { return need == 0; })) return;
    const auto known = std::ranges::find(folded_.source, number_[at.index()]);
    const auto place = static_cast<std::size_t>(known - folded_.source.begin());
    folded_.source_of.back() = place;
    if (known == folded_.source.end()) {
      folded_.source.push_back(number_[at.index()]);
      folded_.needs.push_back(std::move(folded));
    } else {
      for (std::size_t v = 0; v < nodes_; ++v) folded_.needs[place][v] += folded[v];
    }
  }

  // What one source puts on the links of folded nodes. On the way in: all that the nodes behind
  // need; on the way out, where the source is behind: all that the others need.
  void add_fixed_loads(NodeId source, std::vector<double> amounts) {
    const double all = std::accumulate(amounts.begin(), amounts.end(), 0.0);
    std::vector<bool> holds(amounts.size(), false);
    holds[source.index()] = true;
    for (const NodeId v : folds_.order) {
      const NodeId u = folds_.into[v];
      if (holds[v.index()]) {
        load_[network_.graph.find(v, u)] += all - amounts[v.index()];
        holds[u.index()] = true;
      } else if (amounts[v.index()] > 0) {
        load_[network_.graph.find(u, v)] += amounts[v.index()];
      }
      amounts[u.index()] += amounts[v.index()];
    }
  }

  void find_most_loaded() {
    std::vector<double> load(instance_.orbits.arcs.count, 0), capacity(load.size(), 0);
    for (std::size_t a = 0; a < load_.size(); ++a) {
      const std::size_t orbit = instance_.orbits.arcs.of[a];
      load[orbit] += load_[ArcId(a)];
      capacity[orbit] += static_cast<double>(network_.capacity[ArcId(a)]);
    }
    for (std::size_t orbit = 0; orbit < load.size(); ++orbit) {
      if (load[orbit] * folded_.fixed_capacity <= folded_.fixed_load * capacity[orbit]) continue;
      folded_.fixed_load = load[orbit];
      folded_.fixed_capacity = capacity[orbit];
      folded_.fixed_orbit = orbit;
    }
  }

  const Instance& instance_;
  const Network& network_;
  Folds folds_;
  IdVector<ArcId, double> load_;  // of links of folded nodes
  std::vector<std::size_t> number_;
  std::size_t nodes_ = 0;
  Folded folded_;
};

}  // namespace

Folded fold(const Instance& instance) {
  return Folder(instance).run();
}

}  // namespace forestcoll::solver::alltoall
