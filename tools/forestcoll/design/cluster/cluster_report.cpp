#include <fmt/format.h>

#include <string>

#include "common/report/table.hpp"
#include "design/cluster/cluster_study.hpp"
#include "design/page.hpp"

namespace forestcoll::cli {
namespace {

std::string gigabytes(const Ratio& value) {
  return fmt::format("{:.3f}", value.to_double());
}

TableRow row_of(const ClusterOffer& offer) {
  const ClusterFigures& f = offer.figures;
  return {
      offer.on_front ? "*" : "",
      fmt::format("{:.0f}", offer.cost.to_double()),
      gigabytes(f.allgather),
      gigabytes(f.allreduce),
      (f.alltoall.is_exact() ? "" : ">= ") + gigabytes(f.alltoall.least),
      f.after_failure == Ratio(0) ? "disconnected" : gigabytes(f.after_failure),
      std::to_string(offer.parts.leaves + offer.parts.above),
      std::to_string(offer.parts.box_cables + offer.parts.row_cables + offer.parts.hall_cables),
      offer.upper_switch.empty() ? offer.leaf_switch : offer.leaf_switch + "/" + offer.upper_switch,
      in_words(offer.shape)};
}

Table offer_table(const ClusterStudy& study, bool front_only) {
  Table table{{"Pareto", "cost", "allgather", "allreduce", "all-to-all", "1 switch failed",
               "switches", "cables", "of", "fabric"}};
  for (const ClusterOffer& offer : study.offers) {
    if (!front_only || offer.on_front) table.rows.push_back(row_of(offer));
  }
  return table;
}

std::string offer_legend(const ClusterStudy& study) {
  return fmt::format(
      "Rates are exact optima, GB/s of algbw; \"1 switch failed\" is allgather after the "
      "costliest\n"
      "failure of one switch outside of boxes. Costs are in {}, without the boxes. {}\n",
      study.currency, study.note);
}

}  // namespace

std::string table_of(const ClusterStudy& study, bool front_only) {
  return fmt::format("{} in boxes of {}: {} of {}, {} kept from before\n",
                     counted(study.gpus, "GPU"), study.box, counted(study.offers.size(), "offer"),
                     counted(study.shapes, "fabric"), study.kept) +
         aligned(offer_table(study, front_only), 0, 1) + offer_legend(study);
}

Json to_json(const ClusterStudy& study) {
  Json offers = Json::array();
  for (const ClusterOffer& offer : study.offers) {
    const ClusterFigures& f = offer.figures;
    offers.push_back(
        {{"fabric", in_words(offer.shape)},
         {"layout", to_string(offer.shape.layout)},
         {"levels", offer.shape.levels},
         {"leaf_switch", offer.leaf_switch},
         {"upper_switch", offer.upper_switch.empty() ? Json() : Json(offer.upper_switch)},
         {"front", offer.on_front},
         {"cost", exact(offer.cost)},
         {"switch_counts", {{"leaves", offer.parts.leaves}, {"above", offer.parts.above}}},
         {"cable_counts",
          {{"box", offer.parts.box_cables},
           {"row", offer.parts.row_cables},
           {"hall", offer.parts.hall_cables}}},
         {"algbw",
          {{"allgather", exact(f.allgather)},
           {"allreduce", exact(f.allreduce)},
           {"alltoall",
            {{"at_least", exact(f.alltoall.least)}, {"at_most", exact(f.alltoall.most)}}}}},
         {"after_failure", exact(f.after_failure)},
         {"failed", f.failed}});
  }
  return {{"format", "forestcoll-design-cluster"},
          {"version", 2},
          {"box", study.box},
          {"compute_nodes", study.gpus},
          {"currency", study.currency},
          {"note", study.note},
          {"offers", std::move(offers)}};
}

std::string to_csv(const ClusterStudy& study) {
  std::string text =
      "fabric,leaf_switch,upper_switch,front,cost,leaves,above,box_cables,row_cables,hall_cables,"
      "allgather,allreduce,"
      "alltoall_least,alltoall_most,after_failure,failed\n";
  for (const ClusterOffer& o : study.offers) {
    const ClusterFigures& f = o.figures;
    text += fmt::format("\"{}\",\"{}\",\"{}\",{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                        in_words(o.shape), o.leaf_switch, o.upper_switch, o.on_front,
                        o.cost.to_string(), o.parts.leaves, o.parts.above, o.parts.box_cables,
                        o.parts.row_cables, o.parts.hall_cables, f.allgather.to_string(),
                        f.allreduce.to_string(), f.alltoall.least.to_string(),
                        f.alltoall.most.to_string(), f.after_failure.to_string(), f.failed);
  }
  return text;
}

namespace {

Scatter offer_scatter(const ClusterStudy& study) {
  Scatter scatter{.title = fmt::format("{} GPUs in boxes of {}", study.gpus, study.box),
                  .x_title = "cost, " + study.currency,
                  .y_title = "allgather, GB/s",
                  .points = {},
                  .more_is_better = true};
  for (const ClusterOffer& offer : study.offers) {
    scatter.points.push_back({.x = offer.cost.to_double(),
                              .y = offer.figures.allgather.to_double(),
                              .name = in_words(offer.shape),
                              .marked = offer.on_front});
  }
  return scatter;
}

}  // namespace

std::string chart_of(const ClusterStudy& study) {
  return to_svg(offer_scatter(study));
}

std::string page_of(const ClusterStudy& study) {
  const Scatter scatter = offer_scatter(study);
  return to_html({.title = "Clusters: " + scatter.title,
                  .scatter = scatter,
                  .table = offer_table(study, false),
                  .legend = offer_legend(study)});
}

}  // namespace forestcoll::cli
