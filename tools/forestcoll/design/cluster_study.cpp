#include "design/cluster_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "design/each_at_once.hpp"
#include "design/kept_figures.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

Expected<std::size_t> boxes_of(const ClusterRequest& request, const ClusterBox& box) {
  const std::size_t boxes = request.gpus / box.gpus;
  if (request.gpus % box.gpus == 0 && boxes >= 2) return boxes;
  return make_error(
      "K04", fmt::format("{} GPUs are not two or more whole boxes of {}", request.gpus, box.gpus),
      fmt::format("ask for a multiple of {}", box.gpus));
}

Ratio times(std::size_t count, const Ratio& price) {
  return Ratio(static_cast<std::int64_t>(count)) * price;
}

Ratio cost_of(const ClusterParts& parts, const SwitchPrice& kind, const ClusterCosts& costs) {
  return times(parts.switches, kind.price) + times(parts.box_cables, costs.box_cable) +
         times(parts.row_cables, costs.row_cable) + times(parts.hall_cables, costs.hall_cable);
}

// Every shape with every switch that it fits.
Expected<std::vector<ClusterOffer>> offers_of(const ClusterRequest& request,
                                              const ClusterCosts& costs) {
  const auto box = cluster_box(request.box);
  if (!box) return box.errors();
  const auto boxes = boxes_of(request, *box);
  if (!boxes) return boxes.errors();
  std::vector<ClusterOffer> offers;
  bool any_fits = false;
  for (const SwitchPrice& kind : costs.switches) {
    if (kind.bandwidth != box->nic_bandwidth) continue;
    any_fits = true;
    for (ClusterShape& shape : cluster_shapes(request.box, *boxes, kind.ports)) {
      ClusterOffer offer;
      offer.shape = std::move(shape);
      offer.switch_name = kind.name;
      offer.parts = parts_of(offer.shape);
      offer.cost = cost_of(offer.parts, kind, costs);
      offers.push_back(std::move(offer));
    }
  }
  if (!any_fits) {
    return make_error("K03",
                      fmt::format("no switch of the costs has ports of {} GB/s, which a NIC of {} "
                                  "brings",
                                  number(box->nic_bandwidth), request.box),
                      "add one, or choose another --box");
  }
  if (offers.empty()) {
    return make_error("K04",
                      fmt::format("no fabric of at most three levels joins {} boxes with these "
                                  "switches",
                                  *boxes),
                      "add a switch with more ports, or ask for a number of boxes with divisors");
  }
  return offers;
}

// One shape's figures, kept or computed.
struct Solved {
  std::optional<Expected<ClusterFigures>> figures;
  bool kept = false;
};

Solved solved(const ClusterShape& shape, const KeptFigures& store) {
  auto known = store.find(shape);
  if (!known) return {known.errors(), false};
  if (*known) return {**known, true};
  auto figures = cluster_figures(shape);
  if (figures) {
    if (const auto done = store.keep(shape, *figures); !done) return {done.errors(), false};
  }
  return {std::move(figures), false};
}

bool dominates(const ClusterOffer& a, const ClusterOffer& b) {
  const auto& x = a.figures;
  const auto& y = b.figures;
  const bool as_good = a.cost <= b.cost && x.allgather >= y.allgather &&
                       x.allreduce >= y.allreduce && x.alltoall.least >= y.alltoall.least &&
                       x.after_failure >= y.after_failure;
  const bool alike = a.cost == b.cost && x.allgather == y.allgather && x.allreduce == y.allreduce &&
                     x.alltoall.least == y.alltoall.least && x.after_failure == y.after_failure;
  return as_good && !alike;
}

}  // namespace

Expected<ClusterStudy> study_clusters(const ClusterRequest& request, const ClusterCosts& costs,
                                      const Console& console) {
  auto offers = offers_of(request, costs);
  if (!offers) return offers.errors();
  // Shapes that several kinds of switches can build are solved once.
  std::map<std::string, std::size_t> number_of;
  std::vector<const ClusterShape*> shapes;
  for (const ClusterOffer& offer : *offers) {
    if (number_of.try_emplace(in_words(offer.shape), shapes.size()).second) {
      shapes.push_back(&offer.shape);
    }
  }
  const KeptFigures store(request.kept);
  std::vector<Solved> results(shapes.size());
  each_at_once(shapes.size(), request.threads, "solving", console,
               [&](std::size_t i) { results[i] = solved(*shapes[i], store); });
  ClusterStudy study{.box = request.box,
                     .gpus = request.gpus,
                     .currency = costs.currency,
                     .note = costs.note,
                     .shapes = shapes.size(),
                     .kept = 0,
                     .offers = {}};
  for (const Solved& result : results) {
    if (!*result.figures) return result.figures->errors();
    study.kept += result.kept ? 1 : 0;
  }
  for (ClusterOffer& offer : *offers) {
    offer.figures = **results[number_of.at(in_words(offer.shape))].figures;
  }
  std::ranges::stable_sort(*offers, {}, &ClusterOffer::cost);
  for (ClusterOffer& offer : *offers) {
    offer.on_front = std::ranges::none_of(
        *offers, [&](const ClusterOffer& other) { return dominates(other, offer); });
  }
  study.offers = *std::move(offers);
  return study;
}

}  // namespace forestcoll::cli
