#include "stress/reference_packer.hpp"

#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "forestcoll/ratio.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::stress {
namespace {

using Matrix = std::vector<std::vector<std::int64_t>>;

constexpr std::int64_t kEndless = std::int64_t{1} << 60;

// A digraph for one maximum flow.
class FlowProblem {
 public:
  explicit FlowProblem(const Matrix& capacity) : capacity_(graph_) {
    for (std::size_t v = 0; v < capacity.size(); ++v) add_node();
    for (std::size_t u = 0; u < capacity.size(); ++u) {
      for (std::size_t v = 0; v < capacity.size(); ++v) {
        if (capacity[u][v] > 0) add_arc(u, v, capacity[u][v]);
      }
    }
  }
  std::size_t add_node() {
    nodes_.push_back(graph_.addNode());
    return nodes_.size() - 1;
  }
  void add_arc(std::size_t tail, std::size_t head, std::int64_t capacity) {
    capacity_[graph_.addArc(nodes_[tail], nodes_[head])] = capacity;
  }
  std::int64_t value(std::size_t source, std::size_t sink) {
    Flow flow(graph_, capacity_, nodes_[source], nodes_[sink]);
    flow.runMinCut();
    return flow.flowValue();
  }

 private:
  using Graph = lemon::SmartDigraph;
  using Flow = lemon::Preflow<Graph, Graph::ArcMap<std::int64_t>>;
  Graph graph_;
  Graph::ArcMap<std::int64_t> capacity_;
  std::vector<Graph::Node> nodes_;
};

// Can every one of the first `ranks` nodes receive k units from each of them? (Edmonds' condition.)
bool carries(const Matrix& capacity, std::size_t ranks, std::int64_t k) {
  FlowProblem problem(capacity);
  const std::size_t source = problem.add_node();
  for (std::size_t r = 0; r < ranks; ++r) problem.add_arc(source, r, k);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (problem.value(source, r) < k * static_cast<std::int64_t>(ranks)) return false;
  }
  return true;
}

void split(Matrix& capacity, std::size_t u, std::size_t w, std::size_t t, std::int64_t amount) {
  capacity[u][w] -= amount;
  capacity[w][t] -= amount;
  if (u != t) capacity[u][t] += amount;
}

// As much of (u, w), (w, t) as the demand allows becomes an arc (u, t).
void split_pair(Matrix& capacity, std::size_t ranks, std::int64_t k, std::size_t u, std::size_t w,
                std::size_t t) {
  const auto allows = [&](std::int64_t amount) {
    Matrix after = capacity;
    split(after, u, w, t, amount);
    return carries(after, ranks, k);
  };
  std::int64_t low = 0, high = std::min(capacity[u][w], capacity[w][t]);
  if (high == 0) return;
  if (allows(high)) low = high;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (allows(middle) ? low : high) = middle;
  }
  split(capacity, u, w, t, low);
}

// Switches come after the ranks; the last one goes first. False where one cannot be split off.
bool split_switches(Matrix& capacity, std::size_t ranks, std::int64_t k) {
  while (capacity.size() > ranks) {
    const std::size_t w = capacity.size() - 1;
    // A pair that is blocked stays so: one pass will do, with the way back to where it came from
    // last.
    for (const bool back : {false, true}) {
      for (std::size_t u = 0; u < w; ++u) {
        for (std::size_t t = 0; t < w; ++t) {
          if ((u == t) == back) split_pair(capacity, ranks, k, u, w, t);
        }
      }
    }
    for (std::size_t u = 0; u < w; ++u) {
      if (capacity[u][w] != 0 || capacity[w][u] != 0) return false;
      capacity[u].pop_back();
    }
    capacity.pop_back();
  }
  return true;
}

// Trees that have grown alike so far.
struct Bundle {
  ReferenceTree tree;
  std::vector<std::size_t> members;  ///< in the order in which they were reached
  [[nodiscard]] bool has(std::size_t v) const { return tree.parent[v] != kNone; }
  static constexpr auto kNone = std::numeric_limits<std::size_t>::max();
};

class TreePacker {
 public:
  TreePacker(Matrix capacity, std::int64_t k) : capacity_(std::move(capacity)) {
    const std::size_t n = capacity_.size();
    for (std::size_t r = 0; r < n; ++r) {
      Bundle bundle{{r, k, std::vector<std::size_t>(n, Bundle::kNone)}, {r}};
      bundle.tree.parent[r] = r;
      unfinished_.push_back(std::move(bundle));
    }
  }

  std::optional<std::vector<ReferenceTree>> run() {
    std::vector<ReferenceTree> trees;
    while (!unfinished_.empty()) {
      Bundle bundle = std::move(unfinished_.back());
      unfinished_.pop_back();
      if (!grow(bundle)) return std::nullopt;
      trees.push_back(std::move(bundle.tree));
    }
    return trees;
  }

 private:
  // Breadth first; an edge that is blocked stays so as the tree grows.
  bool grow(Bundle& bundle) {
    for (std::size_t i = 0; i < bundle.members.size(); ++i) {
      const std::size_t x = bundle.members[i];
      for (std::size_t y = 0; y < capacity_.size(); ++y) {
        if (bundle.has(y) || capacity_[x][y] == 0) continue;
        const std::int64_t amount = safe_amount(bundle, x, y);
        if (amount > 0) add_edge(bundle, x, y, amount);
      }
    }
    return bundle.members.size() == capacity_.size();
  }

  // How many of the bundle's trees may take x → y: every set X with y and some member, but not x,
  // must keep room for the unfinished trees that have no node in it.
  std::int64_t safe_amount(const Bundle& bundle, std::size_t x, std::size_t y) const {
    FlowProblem problem(capacity_);
    std::int64_t demand = 0;
    for (const Bundle& other : unfinished_) {
      demand += other.tree.multiplicity;
      const std::size_t start = problem.add_node();
      problem.add_arc(x, start, other.tree.multiplicity);
      for (const std::size_t member : other.members) problem.add_arc(start, member, kEndless);
    }
    return std::min({bundle.tree.multiplicity, capacity_[x][y], problem.value(x, y) - demand});
  }

  void add_edge(Bundle& bundle, std::size_t x, std::size_t y, std::int64_t amount) {
    if (amount < bundle.tree.multiplicity) {
      unfinished_.push_back(bundle);
      unfinished_.back().tree.multiplicity -= amount;
      bundle.tree.multiplicity = amount;
    }
    bundle.tree.parent[y] = x;
    bundle.members.push_back(y);
    capacity_[x][y] -= amount;
  }

  Matrix capacity_;
  std::vector<Bundle> unfinished_;
};

// The least k for which k/x* times every capacity is whole.
std::int64_t least_k(const Network& network, const Ratio& inverse) {
  std::int64_t k = 1;
  for (const Capacity b : network.capacity) {
    k = std::lcm(k, (inverse * Ratio(b)).den());
  }
  return k;
}

}  // namespace

std::optional<ReferencePacking> reference_pack(const Network& network) {
  const Ratio inverse =
      rate_by_bisection(network, IdVector<Rank, std::int64_t>(network.ranks.size(), 1));
  ReferencePacking packing;
  packing.k = least_k(network, inverse);
  const Ratio scale = inverse * Ratio(packing.k);
  if (scale.den() != 1) return std::nullopt;
  packing.scale = scale.num();
  const std::size_t nodes = network.graph.node_count(), ranks = network.ranks.size();
  // Ranks first, in rank order, then the switches.
  std::vector<std::size_t> position(nodes);
  std::size_t next = ranks;
  for (std::size_t v = 0; v < nodes; ++v) {
    position[v] = network.is_compute(NodeId(v)) ? network.rank_of[NodeId(v)].index() : next++;
  }
  Matrix capacity(nodes, std::vector<std::int64_t>(nodes, 0));
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    capacity[position[network.graph.tail(ArcId(a)).index()]]
            [position[network.graph.head(ArcId(a)).index()]] +=
        network.capacity[ArcId(a)] * packing.scale;
  }
  if (!split_switches(capacity, ranks, packing.k)) return std::nullopt;
  packing.capacity = capacity;
  auto trees = TreePacker(std::move(capacity), packing.k).run();
  if (!trees) return std::nullopt;
  packing.trees = std::move(*trees);
  return packing;
}

bool is_complete(const ReferencePacking& packing) {
  const std::size_t n = packing.capacity.size();
  Matrix left = packing.capacity;
  std::vector<std::int64_t> rooted(n, 0);
  for (const ReferenceTree& tree : packing.trees) {
    if (tree.multiplicity < 1 || tree.parent[tree.root] != tree.root) return false;
    rooted[tree.root] += tree.multiplicity;
    for (std::size_t v = 0; v < n; ++v) {
      std::size_t at = v;
      for (std::size_t steps = 0; at != tree.root; ++steps) {
        if (steps == n || tree.parent[at] >= n) return false;
        at = tree.parent[at];
      }
      if (v != tree.root) left[tree.parent[v]][v] -= tree.multiplicity;
    }
  }
  const auto holds = [](std::int64_t room) { return room >= 0; };
  for (const auto& row : left) {
    if (!std::all_of(row.begin(), row.end(), holds)) return false;
  }
  return std::all_of(rooted.begin(), rooted.end(),
                     [&](std::int64_t count) { return count == packing.k; });
}

}  // namespace forestcoll::stress
