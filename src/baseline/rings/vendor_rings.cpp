// RCCL carries a table of boxes (src/graph/rome_models.cc), each with its links and the rings to
// take on it, and looks for a numbering of the GPUs at hand under which their links are those of a
// row. The rows here are of MI250 and MI300X boxes: a box is recognised as RCCL does it, by its
// links, so however its GPUs are numbered, they get the rings that RCCL has for them.
#include "baseline/rings/vendor_rings.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace forestcoll::baseline {
namespace {

/// Links between two GPUs, as many in both directions.
struct Bundle {
  std::int32_t a, b;
  Capacity links;
};

/// A row of the table, in the library's own numbers.
struct KnownBox {
  std::string_view library, name;
  std::size_t gpus;
  std::span<const Bundle> bundles;
  std::span<const std::int32_t> rings;  ///< one after the other
  bool by_kind = false;                 ///< the links must be of the kind "xgmi", too
};

// Models 56, 59 and 65.
constexpr std::array<Bundle, 28> kEightModules = {{
    {0, 1, 4},   {2, 3, 4},  {4, 5, 4},  {6, 7, 4},  {8, 9, 4},   {10, 11, 4}, {12, 13, 4},
    {14, 15, 4}, {0, 4, 2},  {3, 7, 2},  {8, 12, 2}, {11, 15, 2}, {0, 2, 1},   {1, 2, 1},
    {1, 3, 1},   {1, 5, 1},  {2, 6, 1},  {4, 12, 1}, {5, 13, 1},  {5, 14, 1},  {6, 13, 1},
    {6, 14, 1},  {7, 15, 1}, {8, 10, 1}, {9, 10, 1}, {9, 11, 1},  {9, 13, 1},  {10, 14, 1},
}};
constexpr std::array<std::int32_t, 96> kRingsOfEightModules = {
    0, 1, 3,  2,  6,  7,  15, 14, 10, 11, 9,  8,  12, 13, 5, 4,  //
    0, 1, 2,  3,  7,  6,  13, 12, 8,  9,  10, 11, 15, 14, 5, 4,  //
    0, 2, 3,  7,  6,  14, 15, 11, 10, 8,  9,  13, 12, 4,  5, 1,  //
    4, 5, 13, 12, 8,  9,  11, 10, 14, 15, 7,  6,  2,  3,  1, 0,  //
    4, 5, 14, 15, 11, 10, 9,  8,  12, 13, 6,  7,  3,  2,  1, 0,  //
    1, 5, 4,  12, 13, 9,  8,  10, 11, 15, 14, 6,  7,  3,  2, 0};

// Models 71, 72 and 85.
constexpr std::array<Bundle, 12> kFourModules = {{
    {0, 1, 4},
    {2, 3, 4},
    {4, 5, 4},
    {6, 7, 4},
    {0, 6, 2},
    {2, 4, 2},
    {0, 2, 1},
    {1, 3, 1},
    {1, 5, 1},
    {3, 7, 1},
    {4, 6, 1},
    {5, 7, 1},
}};
constexpr std::array<std::int32_t, 32> kRingsOfFourModules = {0, 1, 3, 2, 4, 5, 7, 6,  //
                                                              6, 7, 5, 4, 2, 3, 1, 0,  //
                                                              0, 1, 5, 4, 2, 3, 7, 6,  //
                                                              6, 7, 3, 2, 4, 5, 1, 0};

// Model 79, without NICs. Models 81, 84 and 87, with NICs, have eight rings that fit the NICs and
// share links of the box; these here, two on every link, are the faster ones.
constexpr std::array<Bundle, 28> kEachWithEach = {{
    {0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}, {0, 5, 1}, {0, 6, 1}, {0, 7, 1},
    {1, 2, 1}, {1, 3, 1}, {1, 4, 1}, {1, 5, 1}, {1, 6, 1}, {1, 7, 1}, {2, 3, 1},
    {2, 4, 1}, {2, 5, 1}, {2, 6, 1}, {2, 7, 1}, {3, 4, 1}, {3, 5, 1}, {3, 6, 1},
    {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 1}, {5, 6, 1}, {5, 7, 1}, {6, 7, 1},
}};
constexpr std::array<std::int32_t, 112> kRingsOfEachWithEach = {0, 1, 2, 3, 4, 5, 6, 7,  //
                                                                0, 1, 2, 3, 4, 5, 7, 6,  //
                                                                0, 2, 4, 1, 3, 6, 5, 7,  //
                                                                0, 2, 4, 6, 1, 7, 3, 5,  //
                                                                0, 3, 1, 5, 2, 7, 4, 6,  //
                                                                0, 3, 5, 1, 6, 2, 7, 4,  //
                                                                0, 4, 1, 7, 3, 6, 2, 5,  //
                                                                7, 6, 5, 4, 3, 2, 1, 0,  //
                                                                6, 7, 5, 4, 3, 2, 1, 0,  //
                                                                7, 5, 6, 3, 1, 4, 2, 0,  //
                                                                5, 3, 7, 1, 6, 4, 2, 0,  //
                                                                6, 4, 7, 2, 5, 1, 3, 0,  //
                                                                4, 7, 2, 6, 1, 5, 3, 0,  //
                                                                5, 2, 6, 3, 7, 1, 4, 0};

constexpr std::array<KnownBox, 3> kKnownBoxes = {{
    {"RCCL", "a box of eight MI250 modules", 16, kEightModules, kRingsOfEightModules},
    {"RCCL", "a box of four MI250 modules", 8, kFourModules, kRingsOfFourModules},
    {"RCCL", "a box of eight MI300X", 8, kEachWithEach, kRingsOfEachWithEach, true},
}};

/// Links between the positions in a box.
using Links = std::map<std::pair<std::int32_t, std::int32_t>, Capacity>;

Links links_within(const Network& network, const std::vector<Rank>& box) {
  std::map<NodeId, std::int32_t> position;
  for (std::size_t i = 0; i < box.size(); ++i) {
    position.emplace(network.ranks[box[i].index()], static_cast<std::int32_t>(i));
  }
  Links links;
  const Digraph& graph = network.graph;
  for (const auto& [node, from] : position) {
    for (ArcId a = graph.first_out(node); a != graph.last_out(node); ++a.value) {
      const auto to = position.find(graph.head(a));
      if (to != position.end()) links[{from, to->second}] = network.capacity[a];
    }
  }
  return links;
}

Links links_of(const KnownBox& box) {
  Links links;
  for (const Bundle& bundle : box.bundles) {
    links[{bundle.a, bundle.b}] = bundle.links;
    links[{bundle.b, bundle.a}] = bundle.links;
  }
  return links;
}

// How many rings share a link, where most do. Widths are whole numbers of links.
std::int64_t most_on_a_link(const KnownBox& box, const Links& links) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> rings;
  for (std::size_t at = 0; at < box.rings.size(); at += box.gpus) {
    for (std::size_t i = 0; i < box.gpus; ++i) {
      ++rings[{box.rings[at + i], box.rings[at + (i + 1) % box.gpus]}];
    }
  }
  std::int64_t most = 1;
  for (const auto& [ends, count] : rings) {
    const Capacity width = links.at(ends);
    most = std::max(most, (count + width - 1) / width);
  }
  return most;
}

Capacity between(const Links& links, std::int32_t from, std::int32_t to) {
  const auto found = links.find({from, to});
  return found == links.end() ? 0 : found->second;
}

/// Numbers the GPUs of a box as those of a known one, with `unit` of capacity for a link.
class Numbering {
 public:
  Numbering(const Links& box, const Links& known, std::size_t gpus, Capacity unit)
      : box_(box), known_(known), unit_(unit), taken_(gpus, false) {}

  /// The position of each GPU of the known box, the first in lexicographic order; empty: none.
  std::vector<std::int32_t> find() {
    if (!extend()) position_.clear();
    return position_;
  }

 private:
  bool extend() {
    if (position_.size() == taken_.size()) return true;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i] || !fits(static_cast<std::int32_t>(i))) continue;
      taken_[i] = true;
      position_.push_back(static_cast<std::int32_t>(i));
      if (extend()) return true;
      position_.pop_back();
      taken_[i] = false;
    }
    return false;
  }

  // May it be the next GPU, as far as the links to those before it say?
  [[nodiscard]] bool fits(std::int32_t candidate) const {
    const auto next = static_cast<std::int32_t>(position_.size());
    for (std::int32_t before = 0; before < next; ++before) {
      const std::int32_t other = position_[static_cast<std::size_t>(before)];
      if (between(box_, candidate, other) != unit_ * between(known_, next, before) ||
          between(box_, other, candidate) != unit_ * between(known_, before, next)) {
        return false;
      }
    }
    return true;
  }

  const Links& box_;
  const Links& known_;
  Capacity unit_;
  std::vector<bool> taken_;
  std::vector<std::int32_t> position_;
};

// As many links of each width on both sides, or they are not alike.
bool may_be_alike(const Links& box, const Links& known, Capacity unit) {
  std::vector<Capacity> ours, theirs;
  for (const auto& [ends, capacity] : box) ours.push_back(capacity);
  for (const auto& [ends, links] : known) theirs.push_back(links * unit);
  std::sort(ours.begin(), ours.end());
  std::sort(theirs.begin(), theirs.end());
  return ours == theirs;
}

std::optional<RingOrders> rings_if_alike(const Network& network, const Links& links,
                                         const KnownBox& known) {
  const Links wanted = links_of(known);
  if (links.size() != wanted.size()) return std::nullopt;
  const auto narrowest = [](const auto& a, const auto& b) { return a.second < b.second; };
  const Capacity unit = std::min_element(links.begin(), links.end(), narrowest)->second;
  if (!may_be_alike(links, wanted, unit)) return std::nullopt;
  const auto position = Numbering(links, wanted, known.gpus, unit).find();
  if (position.empty()) return std::nullopt;
  RingOrders rings;
  rings.speed = Ratio(unit, most_on_a_link(known, wanted)) * network.unit;
  for (std::size_t at = 0; at < known.rings.size(); at += known.gpus) {
    rings.orders.emplace_back();
    for (const std::int32_t gpu : known.rings.subspan(at, known.gpus)) {
      rings.orders.back().push_back(position[static_cast<std::size_t>(gpu)]);
    }
  }
  return rings;
}

bool has_xgmi(const Topology& topology, const Network& network, const std::vector<Rank>& box) {
  const auto is_in_box = [&](NodeId node) {
    return std::find(box.begin(), box.end(), network.rank_of[node]) != box.end();
  };
  return std::any_of(topology.links.begin(), topology.links.end(), [&](const TopologyLink& link) {
    return link.enabled && link.kind == "xgmi" && is_in_box(link.src) && is_in_box(link.dst);
  });
}

}  // namespace

std::optional<VendorRings> vendor_rings(const Topology& topology, const Network& network,
                                        const std::vector<Rank>& box) {
  const auto has_size = [&](const KnownBox& known) { return known.gpus == box.size(); };
  if (std::none_of(kKnownBoxes.begin(), kKnownBoxes.end(), has_size)) return std::nullopt;
  const Links links = links_within(network, box);
  for (const KnownBox& known : kKnownBoxes) {
    if (!has_size(known) || (known.by_kind && !has_xgmi(topology, network, box))) continue;
    if (auto rings = rings_if_alike(network, links, known)) {
      return VendorRings{known.library, known.name, *std::move(rings)};
    }
  }
  return std::nullopt;
}

}  // namespace forestcoll::baseline
