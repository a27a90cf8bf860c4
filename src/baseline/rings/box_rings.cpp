#include "baseline/rings/box_rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "baseline/boxes.hpp"
#include "baseline/rings/vendor_rings.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

/// What the search looks at: two boxes with the same have the same rings.
using Signature = std::vector<std::int64_t>;

Signature signature_of(const Network& network, const Boxes& boxes, std::size_t box) {
  std::map<NodeId, std::int64_t> number;
  Signature signature = {static_cast<std::int64_t>(boxes.members[box].size())};
  const auto number_of = [&](NodeId v) {
    const auto next = static_cast<std::int64_t>(number.size());
    return number.try_emplace(v, next).first->second;
  };
  for (const Rank r : boxes.members[box]) number_of(network.ranks[r.index()]);
  std::vector<NodeId> queue;
  for (const Rank r : boxes.members[box]) queue.push_back(network.ranks[r.index()]);
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const Digraph& graph = network.graph;
    for (ArcId a = graph.first_out(queue[at]); a != graph.last_out(queue[at]); ++a.value) {
      const NodeId head = graph.head(a);
      if (boxes.box_of[head] != static_cast<std::int32_t>(box)) continue;
      if (!number.contains(head)) queue.push_back(head);
      signature.insert(signature.end(),
                       {static_cast<std::int64_t>(at), number_of(head), network.capacity[a]});
    }
  }
  return signature;
}

Diagnostic misfit(const NcclGraph& graph, std::string message, std::string remedy) {
  return make_error(Code::B07, std::move(message), std::move(remedy), {.file = graph.file});
}

}  // namespace

std::vector<Rank> turned(const std::vector<Rank>& order, Rank first) {
  std::vector<Rank> result = order;
  std::rotate(result.begin(), std::find(result.begin(), result.end(), first), result.end());
  return result;
}

BoxRings::BoxRings(const Request& request, const Network& network)
    : network_(&network),
      through_gpus_(request.options.graph != nullptr ||
                    request.options.through_gpus != BaselineOptions::ThroughGpus::no),
      boxes_(std::make_unique<Boxes>(group_boxes(request.topology, network))),
      finder_(std::make_unique<PathFinder>(network, boxes_->box_of)) {}

Expected<BoxRings> BoxRings::make(const Request& request, const Network& network) {
  BoxRings rings(request, network);
  const auto done =
      request.options.graph != nullptr ? rings.take_graph(request) : rings.find_all(request);
  if (!done) return done.errors();
  return rings;
}

BoxRings::Found BoxRings::find(const Request& request, const std::vector<Rank>& box) const {
  const Network& network = request.network;
  const bool search = request.options.nccl_constants;
  if (auto vendor = search ? std::nullopt : vendor_rings(request.topology, network, box)) {
    return {std::move(vendor->rings),
            fmt::format("{}'s rings for {}", vendor->library, vendor->box)};
  }
  PathFinder finder(network, boxes_->box_of);
  return {search_rings(network, finder, box, request.options), "NCCL search"};
}

Expected<void> BoxRings::find_all(const Request& request) {
  const Network& network = request.network;
  std::map<Signature, Found> known;
  for (std::size_t b = 0; b < boxes_->size(); ++b) {
    const auto& box = boxes_->members[b];
    const auto [at, added] = known.try_emplace(signature_of(network, *boxes_, b));
    if (added) at->second = find(request, box);
    const RingOrders& rings = at->second.rings;
    if (rings.orders.empty()) {
      return make_error(
          Code::B01,
          fmt::format("no ring through the {} GPUs from {} on was found at any speed: the search "
                      "gives up after 16,384 steps per speed",
                      box.size(), name_of(request.topology, box.front())),
          "give NCCL's own rings with `nccl_graph`, or compare with another algorithm");
    }
    BoxOrders orders;
    for (const auto& positions : rings.orders) {
      orders.emplace_back();
      for (const std::int32_t i : positions) {
        orders.back().push_back(box[static_cast<std::size_t>(i)]);
      }
    }
    if (b == 0) {
      speed_ = rings.speed;
      origin_ = at->second.origin;
    }
    orders_.push_back(std::move(orders));
  }
  return {};
}

Expected<void> BoxRings::take_graph(const Request& request) {
  origin_ = "the graph file";
  const NcclGraph& graph = *request.options.graph;
  speed_ = graph.speed_intra;
  if (graph.channels.empty()) {
    return misfit(graph, fmt::format("the graph {} has no channels", graph.id),
                  "dump the rings of a run with NCCL_GRAPH_DUMP_FILE");
  }
  for (const auto& box : boxes_->members) {
    BoxOrders orders;
    for (std::size_t c = 0; c < graph.channels.size(); ++c) {
      std::vector<Rank> order;
      std::vector<bool> visited(box.size(), false);
      for (const std::int64_t gpu : graph.channels[c].gpus) {
        const bool known = gpu >= 0 && gpu < static_cast<std::int64_t>(box.size());
        if (!known || visited[static_cast<std::size_t>(gpu)]) {
          return misfit(
              graph,
              fmt::format("channel {} of the graph: device {} {}", c, gpu,
                          known ? "stands twice"
                                : fmt::format("is not among the {} GPUs of a box", box.size())),
              "give the graph of a machine like the boxes of this topology");
        }
        visited[static_cast<std::size_t>(gpu)] = true;
        order.push_back(box[static_cast<std::size_t>(gpu)]);
      }
      if (order.size() != box.size()) {
        return misfit(graph,
                      fmt::format("channel {} of the graph visits {} of the {} GPUs of a box", c,
                                  order.size(), box.size()),
                      "give the graph of a machine like the boxes of this topology");
      }
      orders.push_back(std::move(order));
    }
    orders_.push_back(std::move(orders));
  }
  return {};
}

std::vector<std::vector<Rank>> BoxRings::doors_by_rail() {
  return baseline::doors_by_rail(*boxes_, *finder_);
}

Path BoxRings::step(Rank from, Rank to) {
  Path path = finder_->take(from, to, Through::box);
  if (path.empty()) path = finder_->take(from, to, Through::switches);
  if (!path.empty() || !through_gpus_) return path;
  const std::int32_t box = boxes_->box_of[network_->ranks[from.index()]];
  return through_gpu(*network_, *finder_, boxes_->members[static_cast<std::size_t>(box)], from, to);
}

}  // namespace forestcoll::baseline
