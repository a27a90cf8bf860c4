#include "design/cluster/cluster_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "design/each_at_once.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/design.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll::cli {
namespace {

// A directory with a file per shape; nothing is kept where its name is empty.
class KeptFigures {
 public:
  explicit KeptFigures(std::string directory) : directory_(std::move(directory)) {}

  // Nothing where the shape was not computed by this version of the program. Errors: K05 where
  // its file cannot be understood.
  [[nodiscard]] Expected<std::optional<ClusterFigures>> find(const ClusterShape& shape) const;
  // Errors: those of writing.
  [[nodiscard]] Expected<void> keep(const ClusterShape& shape, const ClusterFigures& figures) const;

 private:
  [[nodiscard]] std::string path_of(const ClusterShape& shape) const;

  std::string directory_;
};

// All that the figures depend on.
std::string key_of(const ClusterShape& shape) {
  return fmt::format("{}x {}, {}", shape.boxes, shape.box, in_words(shape));
}

std::optional<Ratio> read_ratio(const Json& json, const char* name) {
  const Json value = json.value(name, Json());
  return value.is_string() ? parse_ratio(value.get<std::string>()) : std::nullopt;
}

std::string KeptFigures::path_of(const ClusterShape& shape) const {
  std::string name;
  for (const char c : key_of(shape)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || name.empty() || name.back() != '-') name += plain ? c : '-';
  }
  return directory_ + "/" + name + ".json";
}

Expected<std::optional<ClusterFigures>> KeptFigures::find(const ClusterShape& shape) const {
  const std::string path = path_of(shape);
  if (directory_.empty() || !std::filesystem::exists(path)) return std::optional<ClusterFigures>();
  const auto text = read_input(path);
  if (!text) return text.errors();
  const Json json = Json::parse(*text, nullptr, false);
  const bool is_ours = json.is_object() && json.value("format", Json()) == "forestcoll-cluster";
  if (is_ours && json.value("program", Json()) != std::string(kVersion)) {
    return std::optional<ClusterFigures>();
  }
  const Diagnostic unreadable =
      make_error(Code::K05, "these are no kept figures of this cluster",
                 "Remove the file, or name another directory.", {.file = path});
  if (!is_ours || json.value("cluster", Json()) != key_of(shape)) return unreadable;
  const auto allgather = read_ratio(json, "allgather"), allreduce = read_ratio(json, "allreduce");
  const auto least = read_ratio(json, "alltoall_least"), most = read_ratio(json, "alltoall_most");
  const auto left = read_ratio(json, "after_failure");
  const Json failed = json.value("failed", Json());
  if (!allgather || !allreduce || !least || !most || !left || !failed.is_string()) {
    return unreadable;
  }
  return std::optional(ClusterFigures{*allgather, *allreduce, {*least, *most}, *left, failed});
}

Expected<void> KeptFigures::keep(const ClusterShape& shape, const ClusterFigures& figures) const {
  if (directory_.empty()) return {};
  std::error_code problem;
  std::filesystem::create_directories(directory_, problem);
  const Json json = {{"format", "forestcoll-cluster"},
                     {"program", std::string(kVersion)},
                     {"cluster", key_of(shape)},
                     {"allgather", figures.allgather.to_string()},
                     {"allreduce", figures.allreduce.to_string()},
                     {"alltoall_least", figures.alltoall.least.to_string()},
                     {"alltoall_most", figures.alltoall.most.to_string()},
                     {"after_failure", figures.after_failure.to_string()},
                     {"failed", figures.failed}};
  return write_output(path_of(shape), to_text(json), false);
}

Expected<std::size_t> boxes_of(const ClusterRequest& request, const ClusterBox& box) {
  const std::size_t boxes = request.gpus / box.gpus;
  if (request.gpus % box.gpus == 0 && boxes >= 2) return boxes;
  return make_error(
      Code::K04,
      fmt::format("{} GPUs are not two or more whole boxes of {}", request.gpus, box.gpus),
      fmt::format("ask for a multiple of {}", box.gpus));
}

Ratio times(std::size_t count, const Ratio& price) {
  return Ratio(static_cast<std::int64_t>(count)) * price;
}

// Leaves, and the levels above them.
struct SwitchKinds {
  const SwitchPrice& leaf;
  const SwitchPrice& upper;
};

ClusterOffer offer_of(ClusterShape shape, const SwitchKinds& kinds, const ClusterCosts& costs) {
  const ClusterParts parts = parts_of(shape);
  ClusterOffer offer;
  offer.shape = std::move(shape);
  offer.leaf_switch = kinds.leaf.name;
  if (parts.above > 0) offer.upper_switch = kinds.upper.name;
  offer.parts = parts;
  offer.cost = times(parts.leaves, kinds.leaf.price) + times(parts.above, kinds.upper.price) +
               times(parts.box_cables, costs.box_cable) + times(parts.row_cables, costs.row_cable) +
               times(parts.hall_cables, costs.hall_cable);
  return offer;
}

// Leaves of each kind, with each kind above that has at least as many ports.
std::vector<SwitchKinds> kinds_of(const ClusterCosts& costs, const Ratio& bandwidth) {
  std::vector<SwitchKinds> all;
  for (const SwitchPrice& leaf : costs.switches) {
    for (const SwitchPrice& upper : costs.switches) {
      const bool fit = leaf.bandwidth == bandwidth && upper.bandwidth == bandwidth;
      if (fit && (&leaf == &upper || upper.ports > leaf.ports)) all.push_back({leaf, upper});
    }
  }
  return all;
}

// Every shape with every pair of kinds that it fits.
Expected<std::vector<ClusterOffer>> offers_of(const ClusterRequest& request,
                                              const ClusterCosts& costs) {
  const auto box = cluster_box(request.box);
  if (!box) return box.errors();
  const auto boxes = boxes_of(request, *box);
  if (!boxes) return boxes.errors();
  const auto kinds = kinds_of(costs, box->nic_bandwidth);
  if (kinds.empty()) {
    return make_error(Code::K03,
                      fmt::format("no switch of the costs has ports of {} GB/s, which a NIC of {} "
                                  "brings",
                                  number(box->nic_bandwidth), request.box),
                      "add one, or choose another --box");
  }
  std::vector<ClusterOffer> offers;
  for (const SwitchKinds& pair : kinds) {
    const ClusterPorts ports{pair.leaf.ports, pair.upper.ports};
    for (ClusterShape& shape : cluster_shapes(request.box, *boxes, ports)) {
      ClusterOffer offer = offer_of(std::move(shape), pair, costs);
      // What has no level above does not differ by it.
      if (offer.parts.above > 0 || &pair.leaf == &pair.upper) offers.push_back(std::move(offer));
    }
  }
  if (offers.empty()) {
    return make_error(Code::K04,
                      fmt::format("no fabric of at most three levels joins {} boxes with these "
                                  "switches",
                                  *boxes),
                      "add a switch with more ports");
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
