#include <fmt/format.h>

#include <utility>

#include "baseline/makers.hpp"
#include "baseline/rings/box_rings.hpp"
#include "baseline/rings/rails.hpp"
#include "baseline/rings/rings.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

Expected<std::vector<Ring>> rings_in_box(const Request& request, BoxRings& boxes) {
  std::vector<Ring> rings;
  for (const auto& order : boxes.orders(0)) {
    Ring ring{order, {}};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Rank to = order[(i + 1) % order.size()];
      ring.paths.push_back(boxes.step(order[i], to));
      if (!ring.paths.back().empty()) continue;
      return make_error(
          Code::B08,
          fmt::format("no switches lead from {} to {}, its neighbour on a ring",
                      name_of(request.topology, order[i]), name_of(request.topology, to)),
          "give rings that follow the links of this topology");
    }
    rings.push_back(std::move(ring));
  }
  return rings;
}

std::string describe(const BoxRings& boxes, std::size_t rings) {
  const std::size_t in_box = boxes.orders(0).size();
  std::string note =
      fmt::format("{}: {} of {} GB/s in a box", boxes.origin(), in_box, boxes.speed().to_string());
  if (boxes.boxes().size() > 1) note += fmt::format(", {} over the boxes", rings);
  return note;
}

}  // namespace

Expected<BaselineResult> nccl_ring(const Request& request) {
  auto boxes = BoxRings::make(request, request.network);
  if (!boxes) return boxes.errors();
  const auto rings =
      boxes->boxes().size() == 1 ? rings_in_box(request, *boxes) : join_boxes(request, *boxes);
  if (!rings) return rings.errors();
  return carry_out_on_rings(request, *rings, describe(*boxes, rings->size()));
}

}  // namespace forestcoll::baseline
