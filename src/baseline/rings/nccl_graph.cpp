// A graph file says which rings NCCL takes in a box; between boxes it joins them itself. So what is
// to be found are orders of a box's GPUs. Several sets of them are made and each is judged as it is
// written, by what the links of the whole fabric allow, exactly, as everywhere in this folder.
#include "forestcoll/nccl_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "baseline/boxes.hpp"
#include "baseline/rings/box_rings.hpp"
#include "baseline/rings/pack_rings.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll {
namespace {

using baseline::Boxes;
using baseline::BoxLinks;
using baseline::BoxRings;
using baseline::RingOrders;

constexpr std::int64_t kRingPattern = 4, kTreePattern = 3;  // NCCL_TOPO_PATTERN_RING, …_TREE

// A set of rings by positions in the box.
struct RingSet {
  RingOrders rings;
  std::string origin;
};

// What every box has of each link, from position to position.
BoxLinks least_links(const Network& network, const Boxes& boxes) {
  const std::size_t n = boxes.members.front().size();
  BoxLinks links{n, std::vector<Capacity>(n * n, 0)};
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        const ArcId arc = network.graph.find(network.ranks[boxes.members[b][i].index()],
                                             network.ranks[boxes.members[b][j].index()]);
        const Capacity capacity = arc.valid() ? network.capacity[arc] : 0;
        Capacity& least = links.capacity[i * n + j];
        least = b == 0 ? capacity : std::min(least, capacity);
      }
    }
  }
  return links;
}

// The kind of the slowest way that GPUs of a box have to one another, as NCCL ranks them.
std::string type_of_links(const Topology& topology) {
  const auto boxes = boxes_of_nodes(topology);
  bool has_pcie = false, has_cpus = false, has_nvlink = false;
  for (const TopologyLink& link : topology.links) {
    if (!link.enabled || boxes[link.src] != boxes[link.dst]) continue;
    has_nvlink |= link.kind == "nvlink" || link.kind == "xgmi";
    has_pcie |= link.kind == "pcie";
    has_cpus |= link.kind == "cpu" || link.kind == "qpi" || link.kind == "upi";
  }
  if (has_nvlink || (!has_pcie && !has_cpus)) return "NVL";
  return has_cpus ? "SYS" : "PHB";
}

// The NICs of a box: its switches that send to something outside, as what a NIC receives may come
// to a node of its own. Where there are none, GPUs are linked to the network themselves, and each
// is counted as one.
std::vector<NodeId> nics_of(const Topology& topology, const Boxes& boxes, std::size_t box) {
  std::set<NodeId> nics;
  for (const TopologyLink& link : topology.links) {
    const auto number = static_cast<std::int32_t>(box);
    const bool leaves = boxes.box_of[link.src] == number && boxes.box_of[link.dst] != number;
    if (link.enabled && leaves) nics.insert(link.src);
  }
  return {nics.begin(), nics.end()};
}

Ratio exit_bandwidth(const Topology& topology, const Boxes& boxes) {
  Ratio sum = 0;
  for (const TopologyLink& link : topology.links) {
    if (!link.enabled || boxes.box_of[link.src] != 0 || boxes.box_of[link.dst] == 0) continue;
    sum = checked_add(sum, link.bandwidth).value_or(sum);
  }
  return sum;
}

class GraphMaker {
 public:
  GraphMaker(const Topology& topology, const Network& network, const BaselineOptions& options,
             bool is_hopper_or_later)
      : topology_(topology),
        network_(network),
        options_(options),
        most_of_channel_(is_hopper_or_later ? 40 : 25),
        boxes_(baseline::group_boxes(topology, network)) {
    options_.through_gpus = BaselineOptions::ThroughGpus::as_nccl;
  }

  Expected<NcclGraphs> make() {
    for (const auto& box : boxes_.members) {
      if (box.size() == boxes_.members.front().size()) continue;
      return make_error(Code::B02, "boxes of different sizes: a graph file is one for all boxes",
                        "take the boxes of one size alone, with `ranks`");
    }
    const auto own = judged(nullptr);
    std::optional<NcclGraphs> best;
    if (own) add_of_every_box(options_, best);
    add_packed(best);
    add_through_gpus(best);
    if (!best) return own.errors();
    if (own) {
      best->own_algbw = own->algbw;
      best->own = own->note;
    }
    return *std::move(best);
  }

 private:
  // On the given rings, or on those that NCCL takes.
  [[nodiscard]] Expected<BaselineResult> judged(const NcclGraph* given) {
    BaselineOptions options = options_;
    options.graph = given;
    return make_baseline("nccl-ring", topology_, network_, Collective::allgather, std::nullopt,
                         options);
  }

  void take_if_better(std::optional<NcclGraphs>& best, const RingSet& set) {
    NcclGraphs made = described(set);
    const auto result = judged(&made.graphs.front());
    if (!result) return;
    made.algbw = result->algbw;
    if (!best || made.algbw > best->algbw) best = std::move(made);
  }

  // NCCL's own for each kind of box; the first are its own wherever all boxes are alike.
  void add_of_every_box(const BaselineOptions& options, std::optional<NcclGraphs>& best,
                        std::string origin = {}) {
    const baseline::Request request{topology_, network_, Collective::allgather, std::nullopt,
                                    options};
    auto rings = BoxRings::make(request, network_);
    if (!rings) return;
    if (origin.empty()) origin = rings->origin();
    std::set<std::vector<std::vector<std::int32_t>>> known;
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      RingSet set{{}, origin};
      for (const auto& order : rings->orders(b)) {
        set.rings.orders.emplace_back();
        for (const Rank rank : order) set.rings.orders.back().push_back(position_of(rank, b));
      }
      // A GPU by itself is a ring that goes out and in.
      const Ratio speed =
          boxes_.members.front().size() > 1 ? rings->speed() : exit_bandwidth(topology_, boxes_);
      set.rings.speed = speed / network_.unit;
      if (known.insert(set.rings.orders).second) take_if_better(best, set);
    }
  }

  // NCCL takes such rings from a file, also where its own search would not have come to them.
  void add_through_gpus(std::optional<NcclGraphs>& best) {
    BaselineOptions options = options_;
    options.through_gpus = BaselineOptions::ThroughGpus::always;
    add_of_every_box(options, best, "rings through other GPUs");
  }

  void add_packed(std::optional<NcclGraphs>& best) {
    const BoxLinks links = least_links(network_, boxes_);
    RingOrders packed = baseline::pack_rings(links, static_cast<std::size_t>(kMostNcclChannels));
    if (packed.orders.empty()) return;
    take_if_better(best, {std::move(packed), "rings packed one by one"});
  }

  [[nodiscard]] std::int32_t position_of(Rank rank, std::size_t box) const {
    const auto& members = boxes_.members[box];
    return static_cast<std::int32_t>(std::ranges::find(members, rank) - members.begin());
  }

  [[nodiscard]] NcclGraphs described(const RingSet& set) {
    NcclGraphs made;
    made.origin = set.origin;
    made.gpus = boxes_.members.front().size();
    made.rings = static_cast<std::int64_t>(set.rings.orders.size());
    made.ring_speed = set.rings.speed * network_.unit;
    made.type_intra = goes_through_gpus(set.rings) ? "NVB" : type_of_links(topology_);
    made.type_inter = "PIX";
    NcclGraph rings{.id = 0, .pattern = kRingPattern, .file = "rings"};
    if (boxes_.size() > 1) {
      made.nics = nics_of(topology_, boxes_, 0).size();
      rings.pxn = made.gpus > 1;
      if (rings.pxn) made.type_inter = "PXN";
      add_rails(set, rings);
    } else {
      add_in_box(set, rings);
    }
    NcclGraph trees = rings;
    trees.id = 1;
    trees.pattern = kTreePattern;
    made.graphs = {std::move(rings), std::move(trees)};
    return made;
  }

  [[nodiscard]] bool goes_through_gpus(const RingOrders& rings) const {
    const std::vector<Rank>& box = boxes_.members.front();
    baseline::PathFinder finder(network_, boxes_.box_of);
    const auto has_way = [&](std::int32_t from, std::int32_t to) {
      return finder.arcs(box[static_cast<std::size_t>(from)], box[static_cast<std::size_t>(to)],
                         baseline::Through::switches) > 0;
    };
    return std::ranges::any_of(rings.orders, [&](const std::vector<std::int32_t>& order) {
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (order.size() > 1 && !has_way(order[i], order[(i + 1) % order.size()])) return true;
      }
      return false;
    });
  }

  // So many channels that one carries no more than a threadblock can.
  [[nodiscard]] std::int64_t copies_of(const RingOrders& rings) const {
    const Ratio parts = rings.speed * network_.unit / most_of_channel_;
    const std::int64_t wanted = (parts.num() + parts.den() - 1) / parts.den();
    const auto count = static_cast<std::int64_t>(rings.orders.size());
    return std::clamp<std::int64_t>(wanted, 1,
                                    std::max<std::int64_t>(1, kMostNcclChannels / count));
  }

  static NcclChannel channel_of(const std::vector<std::int32_t>& order) {
    NcclChannel channel;
    for (const std::int32_t gpu : order) channel.gpus.push_back(gpu);
    return channel;
  }

  void add_in_box(const RingSet& set, NcclGraph& graph) const {
    const std::int64_t copies = copies_of(set.rings);
    for (std::int64_t c = 0; c < copies; ++c) {
      for (const auto& order : set.rings.orders) graph.channels.push_back(channel_of(order));
    }
    graph.speed_intra = graph.speed_inter = set.rings.speed * network_.unit / Ratio(copies);
  }

  // Every ring and every rail is used as often, as far as there are channels.
  void add_rails(const RingSet& set, NcclGraph& graph) {
    baseline::PathFinder finder(network_, boxes_.box_of);
    const std::vector<Rank> doors = baseline::doors_of(boxes_, 0, finder);
    const std::vector<NodeId> nics = nics_of(topology_, boxes_, 0);
    const auto rings = static_cast<std::int64_t>(set.rings.orders.size());
    const auto rails = static_cast<std::int64_t>(doors.size());
    const std::int64_t wanted = std::max(rings * copies_of(set.rings), rails);
    std::int64_t each = std::lcm(rings, rails);
    if (each > kMostNcclChannels) each = rails;
    const std::int64_t count =
        std::min((wanted + each - 1) / each, std::max<std::int64_t>(1, kMostNcclChannels / each)) *
        each;
    for (std::int64_t c = 0; c < std::min(count, kMostNcclChannels); ++c) {
      const auto rail = static_cast<std::size_t>(c % rails);
      std::vector<std::int32_t> order = set.rings.orders[static_cast<std::size_t>(c % rings)];
      std::rotate(order.begin(), std::ranges::find(order, position_of(doors[rail], 0)),
                  order.end());
      NcclChannel channel = channel_of(order);
      channel.net_in = channel.net_out = nic_beside(doors[rail], rail, nics);
      graph.channels.push_back(std::move(channel));
    }
    const Ratio all = static_cast<std::int64_t>(graph.channels.size());
    graph.speed_intra = set.rings.speed * network_.unit * Ratio(rings) / all;
    graph.speed_inter = std::min(exit_bandwidth(topology_, boxes_) / all, graph.speed_intra);
  }

  // The NIC that is linked to the GPU, else that of its place.
  [[nodiscard]] std::int64_t nic_beside(Rank door, std::size_t rail,
                                        const std::vector<NodeId>& nics) const {
    const NodeId gpu = network_.ranks[door.index()];
    for (std::size_t i = 0; i < nics.size(); ++i) {
      const bool is_it = nics[i] == gpu || network_.graph.find(gpu, nics[i]).valid();
      if (is_it) return static_cast<std::int64_t>(i);
    }
    return static_cast<std::int64_t>(rail % std::max<std::size_t>(1, nics.size()));
  }

  const Topology& topology_;
  const Network& network_;
  BaselineOptions options_;
  const Ratio most_of_channel_;
  Boxes boxes_;
};

}  // namespace

Expected<NcclGraphs> make_nccl_graphs(const Topology& topology, const Network& network,
                                      const BaselineOptions& options, bool is_hopper_or_later) {
  return GraphMaker(topology, network, options, is_hopper_or_later).make();
}

}  // namespace forestcoll
