// The routes of ranks that stand for others, with those of all their images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "audit/common/findings.hpp"
#include "forestcoll/id.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/flow_classes.hpp"
#include "simulate/sources/images.hpp"

namespace forestcoll::simulate {

/// What pairs of ranks load together with all their images, in classes of links.
struct ImageLoads {
  std::vector<SimulatedRoute> routes;  ///< by pair: as its own, but what one link of each class has
  std::vector<double> capacity;        ///< by class
  std::vector<std::int32_t> of_link;   ///< the class of each link of the fabric; −1: not loaded

  /// By pair. REQUIRES: this outlives the result.
  [[nodiscard]] Ways ways() const;
  /// Classes of what goes these ways, in which links of the fabric are known.
  [[nodiscard]] FlowClasses in_fabric(FlowClasses classes) const;
};

class ImageRoutes {
 public:
  /// Both must outlive this.
  ImageRoutes(const Images& images, Fabric& fabric) : images_(images), fabric_(fabric) {}

  /// Finds the routes from one rank to the other and between their images; returns the pair's
  /// number, from 0 on. −1, and a finding, where there is none.
  std::int32_t add(Rank from, Rank to, audit::Findings& findings);
  /// The fabric's number of a pair's own route.
  [[nodiscard]] std::int32_t own(std::int32_t pair) const;
  /// The pair whose own route has that number. REQUIRES: there is one.
  [[nodiscard]] std::int32_t pair_of(std::int32_t route) const { return of_route_.at(route); }
  /// None where routes of images are not as alike as the images. Cost: O(n log n) in routes' parts.
  [[nodiscard]] std::optional<ImageLoads> loads() const;

 private:
  const Images& images_;
  Fabric& fabric_;
  std::map<std::pair<Rank, Rank>, std::int32_t> pairs_;
  std::map<std::int32_t, std::int32_t> of_route_;  // the pair
  std::vector<std::int32_t> routes_;  // of all images of each pair, one pair after the other
};

}  // namespace forestcoll::simulate
