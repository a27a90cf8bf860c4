// A rank of weight w roots w·k trees, so the buffer has W·k equal shares, W the sum of all weights
// (1 where there is one root). A tree of multiplicity m carries m of them over each of its edges,
// and an edge loads every arc of its path. So a phase whose most loaded arc takes load ℓ, in
// multiplicities, at bandwidth b moves the buffer at W·k·b/ℓ. Allreduce is two phases one after the
// other. All of it is exact.
#include "audit/forest_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "audit/fabric_load.hpp"
#include "audit/forest_images.hpp"
#include "audit/tree_shape.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMaxTotal = std::int64_t{1} << 60;

struct Phase {
  const char* name;  // the list's key
  const TreeList* list;
  bool inward;  // edges go from child to parent
};

class ForestCheck {
 public:
  ForestCheck(const ForestFile& forest, const Topology* topology, Findings& findings,
              Verdict& verdict)
      : forest_(forest), topology_(topology), findings_(findings), verdict_(verdict) {}

  void run() {
    if (!check_header()) return;
    if (topology_ != nullptr && !map_topology()) return;
    for (const Phase& phase : phases_) check_phase(phase);
    if (!findings_.blocked() && network_) check_claim();
    compare_optimum();
  }

 private:
  void field(const char* name, std::string message) {
    findings_.add(Code::attribute, std::string("/") + name, std::move(message));
  }

  bool check_header() {
    const std::size_t before = findings_.count();
    if (forest_.version != 1 && forest_.version != 2) {
      field("version", fmt::format("expected 1 or 2, found {}", forest_.version));
    }
    const auto collective = parse_collective(forest_.collective);
    if (!collective) {
      field("collective", fmt::format("expected allgather, reduce_scatter, allreduce, broadcast or "
                                      "reduce, found \"{}\"",
                                      forest_.collective.substr(0, 40)));
    }
    if (forest_.k < 1) field("k", fmt::format("expected a positive integer, found {}", forest_.k));
    if (!forest_.algbw) field("algbw", "expected an object with \"exact\"");
    claimed_ = read_rate("algbw", forest_.algbw);
    optimum_ = read_rate("optimum", forest_.optimum);
    check_ranks();
    if (findings_.count() > before) return false;
    verdict_.collective = *collective;
    verdict_.ranks = static_cast<std::int64_t>(forest_.ranks.size());
    if (!check_weights()) return false;
    verdict_.chunks = forest_.k * (is_rooted(*collective) ? 1 : total_weight());
    choose_phases();
    return findings_.count() == before;
  }

  std::optional<Ratio> read_rate(const char* key, const std::optional<std::string>& text) {
    const auto rate = text ? parse_ratio(*text) : std::nullopt;
    if (text && !rate) {
      field(key, fmt::format("exact: expected a number such as 25 or 1040/3, found \"{}\"",
                             text->substr(0, 40)));
    }
    return rate;
  }

  void check_ranks() {
    if (forest_.ranks.size() < 2) {
      field("ranks", fmt::format("expected at least 2 nodes, found {}", forest_.ranks.size()));
    }
    rank_of_.assign(forest_.names.size(), -1);
    for (std::size_t r = 0; r < forest_.ranks.size(); ++r) {
      std::int32_t& rank = rank_of_[static_cast<std::size_t>(forest_.ranks[r])];
      if (rank >= 0) field("ranks", fmt::format("{} stands twice", name(forest_.ranks[r])));
      rank = static_cast<std::int32_t>(r);
    }
    const std::int64_t ranks = std::max<std::int64_t>(1, std::int64_t(forest_.ranks.size()));
    if (forest_.k > kMaxTotal / ranks) {
      field("k", fmt::format("{} trees per root are more than exact arithmetic holds", forest_.k));
    }
  }

  // REQUIRES: the ranks are right. What a rank owns is 1 where the file names no weights.
  bool check_weights() {
    const std::size_t before = findings_.count();
    weight_.assign(forest_.ranks.size(), 1);
    if (!forest_.has_weights) return true;
    if (is_rooted(verdict_.collective)) {
      field("weights", fmt::format("do not belong to a {}: its root owns everything",
                                   forestcoll::to_string(verdict_.collective)));
    }
    if (forest_.weights.size() != forest_.ranks.size()) {
      field("weights", fmt::format("expected one per rank, {} in all, found {}",
                                   forest_.ranks.size(), forest_.weights.size()));
      return false;
    }
    weight_ = forest_.weights;
    std::int64_t left = kMaxTotal / forest_.k;
    for (std::size_t r = 0; r < weight_.size(); ++r) {
      if (weight_[r] >= 0 && weight_[r] <= left) {
        left -= weight_[r];
        continue;
      }
      field("weights", fmt::format("{} has {}: expected integers from 0 on whose sum times k "
                                   "exact arithmetic holds",
                                   name(forest_.ranks[r]), weight_[r]));
      return false;
    }
    if (total_weight() == 0) field("weights", "no rank owns anything");
    return findings_.count() == before;
  }

  [[nodiscard]] std::int64_t total_weight() const {
    return std::accumulate(weight_.begin(), weight_.end(), std::int64_t{0});
  }

  void choose_phases() {
    const Collective c = verdict_.collective;
    if (c == Collective::allreduce) {
      phases_ = {{"reduce", &forest_.reduce, true}, {"broadcast", &forest_.broadcast, false}};
    } else {
      const bool inward = c == Collective::reduce_scatter || c == Collective::reduce;
      phases_ = {{"trees", &forest_.trees, inward}};
    }
    for (const Phase& phase : phases_) {
      if (!phase.list->present) {
        field(phase.name,
              fmt::format("the list of trees of a {} is missing", forestcoll::to_string(c)));
      }
    }
    const bool two = phases_.size() == 2;
    for (const auto& [key, list, wanted] :
         {std::tuple("trees", &forest_.trees, !two), std::tuple("reduce", &forest_.reduce, two),
          std::tuple("broadcast", &forest_.broadcast, two)}) {
      if (list->present && !wanted) {
        field(key, fmt::format("does not belong to a {}", forestcoll::to_string(c)));
      }
    }
  }

  bool map_topology() {
    auto network = to_digraph(*topology_);
    if (!network) {
      findings_.add(Code::fabric, std::string("/topology"),
                    "the topology has no exact digraph: " + network.errors().front().message);
      return false;
    }
    network_ = *std::move(network);
    std::unordered_map<std::string_view, NodeId> ids;
    for (std::size_t v = 0; v < topology_->nodes.size(); ++v) {
      ids.emplace(topology_->nodes[NodeId(v)].id, NodeId(v));
    }
    node_of_.assign(forest_.names.size(), NodeId());
    for (std::size_t i = 0; i < forest_.names.size(); ++i) {
      const auto found = ids.find(forest_.names[i]);
      if (found != ids.end()) node_of_[i] = found->second;
    }
    return check_rank_order();
  }

  bool check_rank_order() {
    if (forest_.ranks.size() != network_->ranks.size()) {
      findings_.add(Code::fabric, std::string("/ranks"),
                    fmt::format("the file has {} ranks, the topology {}", forest_.ranks.size(),
                                network_->ranks.size()),
                    "give the topology that the forest was made for");
      return false;
    }
    for (std::size_t r = 0; r < forest_.ranks.size(); ++r) {
      const NodeId expected = network_->ranks[r];
      if (node_of_[static_cast<std::size_t>(forest_.ranks[r])] == expected) continue;
      findings_.add(Code::fabric, std::string("/ranks"),
                    fmt::format("rank {} is {} in the file and {} in the topology", r,
                                name(forest_.ranks[r]), topology_->nodes[expected].id),
                    "give the topology that the forest was made for");
      return false;
    }
    return check_shares();
  }

  bool check_shares() {
    if (is_rooted(verdict_.collective)) return true;
    const auto& shares = network_->weight;
    for (std::size_t r = 0; r < weight_.size(); ++r) {
      const std::int64_t expected = shares.empty() ? 1 : shares[Rank(r)];
      if (weight_[r] == expected) continue;
      findings_.add(Code::fabric, std::string("/weights"),
                    fmt::format("{} owns {} units of the data in the file and {} in the topology",
                                name(forest_.ranks[r]), weight_[r], expected),
                    "give the topology that the forest was made for");
      return false;
    }
    return true;
  }

  [[nodiscard]] const std::string& name(Name n) const {
    return forest_.names[static_cast<std::size_t>(n)];
  }
  [[nodiscard]] std::int32_t rank_of(Name n) const {
    return n < 0 ? -1 : rank_of_[static_cast<std::size_t>(n)];
  }

  void check_phase(const Phase& phase) {
    std::vector<std::int64_t> per_root(forest_.ranks.size(), 0), per_moved_root = per_root;
    load_.assign(network_ ? network_->graph.arc_count() : 0, 0);
    moved_load_ = load_;
    std::int64_t total = 0;
    for (std::size_t t = 0; t < phase.list->trees.size(); ++t) {
      const ForestTree& tree = phase.list->trees[t];
      const std::string where = fmt::format("{} tree {}", phase.name, t);
      const std::int32_t root = rank_of(tree.root);
      if (root < 0) {
        findings_.add(Code::tree, where,
                      tree.root < 0 ? "no root is named"
                                    : fmt::format("the root {} is not a rank", name(tree.root)));
        continue;
      }
      if (tree.multiplicity < 1 || tree.multiplicity > kMaxTotal - total) {
        findings_.add(
            Code::multiplicity, where,
            fmt::format("multiplicity: expected a positive integer, found {}", tree.multiplicity));
        continue;
      }
      total += tree.multiplicity;
      if (tree.images && forest_.version == 1) {
        findings_.add(Code::attribute, where, "images: belong to version 2 of the format");
      }
      (tree.images ? per_moved_root : per_root)[static_cast<std::size_t>(root)] +=
          tree.multiplicity;
      check_tree(phase, tree, root, where);
      check_paths(tree, where);
    }
    add_images(phase, per_moved_root, per_root);
    check_per_root(phase, per_root);
    loads_.push_back(load_);
  }

  // What the images of trees do: an automorphism takes a spanning tree to a spanning tree, and
  // routes to routes, so that only roots and loads need to be added up.
  void add_images(const Phase& phase, const std::vector<std::int64_t>& moved_roots,
                  std::vector<std::int64_t>& per_root) {
    const std::size_t before = findings_.count();
    const Images images(forest_, *phase.list, phase.name, findings_);
    if (findings_.count() > before || !check_automorphisms(phase, images)) return;
    const auto rank_image = [&](std::size_t g, std::size_t rank) {
      return static_cast<std::size_t>(rank_of(images.apply(g, forest_.ranks[rank])));
    };
    const auto arc_image = [&](std::size_t g, std::size_t arc) {
      return arc_image_[g][arc].index();
    };
    const auto roots = images.spread(moved_roots, rank_image);
    const auto loads = images.spread(moved_load_, arc_image);
    const auto add = [&](const std::vector<std::int64_t>& more, std::vector<std::int64_t>& all) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (more[i] > kMaxTotal - all[i]) return false;
        all[i] += more[i];
      }
      return true;
    };
    if (roots && loads && add(*roots, per_root) && add(*loads, load_)) return;
    findings_.add(Code::too_large, std::string(phase.name),
                  "the images of the trees are more than exact arithmetic holds");
  }

  // Ranks go to ranks and, with a topology, links to links of the same bandwidth.
  bool check_automorphisms(const Phase& phase, const Images& images) {
    arc_image_.assign(images.generators(), {});
    for (std::size_t g = 0; g < images.generators(); ++g) {
      const std::string where = fmt::format("/symmetry/{}/{}", phase.name, g);
      for (const Name rank : forest_.ranks) {
        if (rank_of(images.apply(g, rank)) >= 0) continue;
        findings_.add(Code::attribute, where,
                      fmt::format("takes the rank {} to {}, which is none", name(rank),
                                  name(images.apply(g, rank))));
        return false;
      }
      if (network_ && !map_arcs(images, g, where)) return false;
    }
    return true;
  }

  bool map_arcs(const Images& images, std::size_t g, const std::string& where) {
    const Digraph& graph = network_->graph;
    std::vector<NodeId> image(graph.node_count());
    for (std::size_t v = 0; v < image.size(); ++v) image[v] = NodeId(v);
    for (std::size_t i = 0; i < forest_.names.size(); ++i) {
      const Name to = images.apply(g, static_cast<Name>(i));
      if (to == static_cast<Name>(i)) continue;
      const NodeId from = node_of_[i], there = node_of_[static_cast<std::size_t>(to)];
      if (!from.valid() || !there.valid()) {
        findings_.add(Code::fabric, where,
                      fmt::format("{} is not a node of the topology",
                                  from.valid() ? name(to) : forest_.names[i]));
        return false;
      }
      image[from.index()] = there;
    }
    for (std::size_t a = 0; a < graph.arc_count(); ++a) {
      const NodeId tail = graph.tail(ArcId(a)), head = graph.head(ArcId(a));
      const ArcId to = find_arc(image[tail.index()], image[head.index()]);
      arc_image_[g].push_back(to);
      if (to.valid() && capacity(to.index()) == capacity(a)) continue;
      findings_.add(Code::fabric, where,
                    fmt::format("takes the link from {} to {} to no link of the same bandwidth",
                                topology_->nodes[tail].id, topology_->nodes[head].id));
      return false;
    }
    return true;
  }

  // One edge into (out of) every rank but the root, and all of them hang on the root.
  void check_tree(const Phase& phase, const ForestTree& tree, std::int32_t root,
                  const std::string& where) {
    const std::size_t ranks = forest_.ranks.size();
    std::vector<std::int32_t> parent(ranks, -1);
    bool sound = true;
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      const ForestEdge& edge = forest_.edges[e];
      const std::int32_t up = rank_of(phase.inward ? edge.dst : edge.src);
      const std::int32_t down = rank_of(phase.inward ? edge.src : edge.dst);
      const auto fail = [&](std::string message) {
        findings_.add(Code::tree, edge_place(where, tree, e), std::move(message));
        sound = false;
      };
      if (up < 0 || down < 0) {
        fail("both ends of an edge must be ranks");
      } else if (down == root) {
        fail(fmt::format("leads {} the root {}: the edges of this list go from {}",
                         phase.inward ? "out of" : "into", name(tree.root),
                         phase.inward ? "child to parent" : "parent to child"));
      } else if (parent[static_cast<std::size_t>(down)] >= 0) {
        fail(fmt::format("a second edge {} {}", phase.inward ? "out of" : "into",
                         name(forest_.ranks[static_cast<std::size_t>(down)])));
      } else {
        parent[static_cast<std::size_t>(down)] = up;
      }
    }
    if (!sound) return;
    const std::int64_t height = measure(parent, root, where);
    if (height >= 0 && height != tree.height) {
      findings_.add(Code::height, where,
                    fmt::format("height is {}, but the longest way to the root has {} edges",
                                tree.height, height));
    }
  }

  // The longest way to the root; −1, and a finding, where some rank does not reach it.
  std::int64_t measure(const std::vector<std::int32_t>& parent, std::int32_t root,
                       const std::string& where) {
    const TreeShape shape = measure_tree(parent, root);
    if (shape.stray < 0) return shape.height;
    const std::string& rank = name(forest_.ranks[static_cast<std::size_t>(shape.stray)]);
    findings_.add(Code::tree, where,
                  shape.circular ? fmt::format("the edges at {} go in a circle", rank)
                                 : fmt::format("{} is not connected to the root", rank));
    return -1;
  }

  [[nodiscard]] std::string edge_place(const std::string& where, const ForestTree& tree,
                                       std::size_t e) const {
    const ForestEdge& edge = forest_.edges[e];
    const auto text = [&](Name n) { return n < 0 ? std::string("?") : name(n); };
    return fmt::format("{}, edge {} ({} to {})", where, e - tree.edges_begin, text(edge.src),
                       text(edge.dst));
  }

  void check_paths(const ForestTree& tree, const std::string& where) {
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      const ForestEdge& edge = forest_.edges[e];
      const Name* begin = forest_.path_nodes.data() + edge.path_begin;
      const std::size_t length = edge.path_end - edge.path_begin;
      const auto fail = [&](std::string message) {
        findings_.add(Code::path, edge_place(where, tree, e), std::move(message));
      };
      if (length < 2 || begin[0] != edge.src || begin[length - 1] != edge.dst) {
        fail("the path must begin at src and end at dst");
        continue;
      }
      for (std::size_t i = 1; i + 1 < length; ++i) {
        if (rank_of(begin[i]) < 0) continue;
        fail(fmt::format("the path passes through {}, a compute node", name(begin[i])));
        break;
      }
      if (network_) follow(begin, length, tree, fail);
    }
  }

  template <class Fail>
  void follow(const Name* path, std::size_t length, const ForestTree& tree, const Fail& fail) {
    for (std::size_t i = 0; i + 1 < length; ++i) {
      const NodeId from = node_of_[static_cast<std::size_t>(path[i])];
      const NodeId to = node_of_[static_cast<std::size_t>(path[i + 1])];
      if (!from.valid() || !to.valid()) {
        fail(fmt::format("{} is not a node of the topology", name(path[from.valid() ? i + 1 : i])));
        return;
      }
      const ArcId arc = find_arc(from, to);
      if (!arc.valid()) {
        fail(fmt::format("no link leads from {} to {}", name(path[i]), name(path[i + 1])));
        return;
      }
      std::int64_t& load = (tree.images ? moved_load_ : load_)[arc.index()];
      if (load > kMaxTotal - tree.multiplicity) {
        fail("the load is more than exact arithmetic holds");
        return;
      }
      load += tree.multiplicity;
    }
  }

  [[nodiscard]] ArcId find_arc(NodeId from, NodeId to) const {
    const Digraph& graph = network_->graph;
    std::int32_t low = graph.first_out(from).value;
    std::int32_t high = graph.last_out(from).value;
    const std::int32_t end = high;
    while (low < high) {  // the arcs that leave a node are sorted by head
      const std::int32_t mid = low + (high - low) / 2;
      if (graph.head(ArcId(mid)) < to) {
        low = mid + 1;
      } else {
        high = mid;
      }
    }
    return low < end && graph.head(ArcId(low)) == to ? ArcId(low) : ArcId();
  }

  void check_per_root(const Phase& phase, const std::vector<std::int64_t>& per_root) {
    const bool rooted = is_rooted(verdict_.collective);
    std::size_t roots = 0;
    for (std::size_t r = 0; r < per_root.size(); ++r) {
      if (per_root[r] > 0) ++roots;
      const std::int64_t owed = forest_.k * weight_[r];
      if (per_root[r] == owed || (rooted && per_root[r] == 0)) continue;
      findings_.add(Code::multiplicity, std::string(phase.name),
                    fmt::format("the trees rooted at {} have multiplicity {} together; k is {}{}",
                                name(forest_.ranks[r]), per_root[r], forest_.k,
                                weight_[r] == 1 ? "" : fmt::format(", its weight {}", weight_[r])));
    }
    if (rooted && roots != 1) {
      findings_.add(Code::multiplicity, std::string(phase.name),
                    fmt::format("a {} has one root; the trees have {}",
                                forestcoll::to_string(verdict_.collective), roots));
    }
  }

  // Seconds per GB of buffer, summed over the phases; nothing where that does not fit.
  void check_claim() {
    const Ratio shares(verdict_.chunks);
    std::optional<Ratio> time = Ratio(0);
    IdVector<ArcId, Ratio> sum(network_->graph.arc_count(), Ratio(0));
    for (const std::vector<std::int64_t>& load : loads_) {
      std::size_t worst = 0;
      for (std::size_t a = 1; a < load.size(); ++a) {
        if (Int128{load[a]} * capacity(worst) > Int128{load[worst]} * capacity(a)) worst = a;
      }
      const auto bandwidth = checked_mul(Ratio(capacity(worst)), network_->unit);
      const auto rate = bandwidth ? checked_mul(*bandwidth, shares) : std::nullopt;
      const auto phase = rate ? checked_div(Ratio(load[worst]), *rate) : std::nullopt;
      time = time && phase ? checked_add(*time, *phase) : std::nullopt;
      for (std::size_t a = 0; a < load.size(); ++a) {
        const auto share = checked_div(Ratio(load[a]), shares);
        const auto both = share ? checked_add(sum[ArcId(a)], *share) : std::nullopt;
        if (!both) time.reset();
        if (both) sum[ArcId(a)] = *both;
      }
    }
    const auto algbw = time ? checked_div(Ratio(1), *time) : std::nullopt;
    if (!algbw) {
      findings_.add(Code::too_large, std::string("/algbw"),
                    "the rate that the forest reaches does not fit exact arithmetic");
      return;
    }
    report_loads(*topology_, *network_, sum, verdict_);
    verdict_.algbw = algbw;
    compare_claim(*algbw);
  }

  [[nodiscard]] Capacity capacity(std::size_t arc) const { return network_->capacity[ArcId(arc)]; }

  void compare_claim(const Ratio& reached) {
    if (*claimed_ == reached) return;
    findings_.add(
        Code::claim, std::string("/algbw"),
        fmt::format("the file claims {} GB/s; its trees reach {} GB/s{}", claimed_->to_string(),
                    reached.to_string(),
                    verdict_.busiest ? fmt::format(", held up by the link from {} to {}",
                                                   verdict_.busiest->src, verdict_.busiest->dst)
                                     : ""));
  }

  // Needs no topology: no forest is faster than the best one.
  void compare_optimum() {
    if (!optimum_ || *claimed_ <= *optimum_) return;
    findings_.add(Code::claim, std::string("/algbw"),
                  fmt::format("the file claims {} GB/s, above the {} GB/s that it names as the "
                              "optimum",
                              claimed_->to_string(), optimum_->to_string()));
  }

  const ForestFile& forest_;
  const Topology* topology_;
  Findings& findings_;
  Verdict& verdict_;
  std::optional<Ratio> claimed_,
      optimum_;  // of the file; once the header is right, claimed_ is set
  std::vector<Phase> phases_;
  std::optional<Network> network_;
  std::vector<NodeId> node_of_;        // by name
  std::vector<std::int32_t> rank_of_;  // by name
  std::vector<std::int64_t> weight_;   // by rank
  // Of the phase at hand, by arc: of trees, and of those whose images are still to be added.
  std::vector<std::int64_t> load_, moved_load_;
  std::vector<std::vector<ArcId>> arc_image_;  // by generator
  std::vector<std::vector<std::int64_t>> loads_;
};

}  // namespace

void check_forest(const ForestFile& forest, const Topology* topology, Findings& findings,
                  Verdict& verdict) {
  ForestCheck(forest, topology, findings, verdict).run();
}

}  // namespace forestcoll::audit
