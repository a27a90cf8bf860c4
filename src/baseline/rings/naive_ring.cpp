#include <utility>

#include "base/check.hpp"
#include "baseline/boxes.hpp"
#include "baseline/makers.hpp"
#include "baseline/rings/rings.hpp"

namespace forestcoll::baseline {
namespace {

Ring in_rank_order(const Request& request) {
  const Network& network = request.network;
  const Boxes boxes = group_boxes(request.topology, network);
  PathFinder finder(network, boxes.box_of);
  const std::size_t n = network.ranks.size();
  Ring ring;
  for (std::size_t r = 0; r < n; ++r) {
    const Rank from(r), to((r + 1) % n);
    Path path = finder.take(from, to, Through::switches);
    if (path.empty()) path = finder.take(from, to, Through::ranks);
    FORESTCOLL_CHECK(!path.empty(), "all ranks reach one another");
    ring.order.push_back(from);
    ring.paths.push_back(std::move(path));
  }
  return ring;
}

}  // namespace

Expected<BaselineResult> naive_ring(const Request& request) {
  return carry_out_on_rings(request, {in_rank_order(request)}, "");
}

}  // namespace forestcoll::baseline
