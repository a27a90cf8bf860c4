// The study of `design cluster`: every fabric that can be bought, with its cost and its figures.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/report/report.hpp"
#include "design/cluster/costs.hpp"
#include "forestcoll/design.hpp"
#include "forestcoll/generate.hpp"

namespace forestcoll::cli {

/// A shape built of one kind of switch, or of two.
struct ClusterOffer {
  ClusterShape shape;
  std::string leaf_switch;
  std::string upper_switch;  ///< of the levels above; empty where there are none
  ClusterParts parts;
  Ratio cost;
  ClusterFigures figures;
  bool on_front = false;  ///< no other costs as little and is as good in all rates
};

struct ClusterStudy {
  std::string box;
  std::size_t gpus = 0;
  std::string currency, note;
  std::size_t shapes = 0, kept = 0;  ///< different fabrics; those computed before
  std::vector<ClusterOffer> offers;  ///< the cheapest first
};

struct ClusterRequest {
  std::string box = "dgx-h100";
  std::size_t gpus = 0;
  std::string kept;  ///< a directory for figures; empty: none
  int threads = 0;
};

/// Errors: G01, K03 where no switch has ports of the NICs' bandwidth, K04 where the GPUs fill no
/// boxes or no switch is large enough; those of `cluster_figures` and of `KeptFigures`.
[[nodiscard]] Expected<ClusterStudy> study_clusters(const ClusterRequest& request,
                                                    const ClusterCosts& costs,
                                                    const Console& console);

/// A table for people; with `front_only`, of the front alone.
[[nodiscard]] std::string table_of(const ClusterStudy& study, bool front_only);
/// The format forestcoll-design-cluster, version 1.
[[nodiscard]] Json to_json(const ClusterStudy& study);
/// A line per offer, after a line of titles.
[[nodiscard]] std::string to_csv(const ClusterStudy& study);
/// Allgather over cost, as SVG.
[[nodiscard]] std::string chart_of(const ClusterStudy& study);
/// A page of HTML that needs nothing else: the chart and the table.
[[nodiscard]] std::string page_of(const ClusterStudy& study);

}  // namespace forestcoll::cli
