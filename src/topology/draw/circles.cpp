#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <utility>

#include "topology/draw/placement.hpp"

namespace forestcoll::topology {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kCircleGap = 12;    // between neighbours on a circle
constexpr double kLeastRadius = 45;  // of one that carries links across
constexpr double kChordGap = 8;      // between a node and the link of its two neighbours
constexpr std::size_t kFewMembers = 8;
constexpr double kRay = 26;       // free length of the link to what stands outside
constexpr double kFrameGap = 30;  // between boxes

// Clockwise from the top.
Spot on_circle(const Spot& centre, double radius, double turns) {
  return {centre.x + radius * std::sin(turns * kTurn), centre.y + radius * std::cos(turns * kTurn)};
}

double extent(const Item& item) {
  const Size size = size_of(item);
  return std::hypot(size.width, size.height);
}

/// What a box holds: items on its circle, and beside each those that hang on it alone.
struct Box {
  std::vector<std::size_t> members;
  double inner = 0, outer = 0, radius = 0;
};

class Placer {
 public:
  explicit Placer(const Picture& picture)
      : picture_(picture), carrier_(picture.items.size()), hanging_(picture.items.size()) {
    circles_.items.resize(picture.items.size());
    find_carriers();
  }

  Circles place() {
    std::map<std::string, Box> boxes;
    for (std::size_t i = 0; i < picture_.items.size(); ++i) {
      if (carrier_[i] == i) boxes[picture_.items[i].cluster].members.push_back(i);
    }
    for (auto& [name, box] : boxes) measure(box);
    const auto middle = boxes.find("");
    const double inside = middle == boxes.end() ? 0 : middle->second.radius;
    if (middle != boxes.end()) set({}, middle->second);
    boxes.erase("");
    double widest = 0;
    for (const auto& [name, box] : boxes) widest = std::max(widest, box.radius);
    const auto count = static_cast<double>(boxes.size());
    const double apart = 2 * widest + kFrameGap;
    const double beside = boxes.size() > 1 ? apart / (2 * std::sin(kTurn / 2 / count)) : 0;
    const double radius = std::max(beside, inside > 0 ? inside + widest + kFrameGap : 0);
    double at = 0;
    for (const auto& [name, box] : boxes) {
      const Spot centre = on_circle({}, radius, at++ / count);
      circles_.frames.push_back({name, centre, box.radius});
      set(centre, box);
    }
    return std::move(circles_);
  }

 private:
  // Of what has one link, and that within its box: the other end. Of all others: themselves.
  void find_carriers() {
    std::vector<std::vector<std::size_t>> ends(picture_.items.size());
    for (const Edge& edge : picture_.edges) {
      ends[edge.a].push_back(edge.b);
      ends[edge.b].push_back(edge.a);
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      carrier_[i] = i;
      if (ends[i].size() != 1) continue;
      const std::size_t end = ends[i].front();
      const bool same_box = picture_.items[end].cluster == picture_.items[i].cluster;
      if (!same_box || (ends[end].size() == 1 && end > i)) continue;
      carrier_[i] = end;
      hanging_[end].push_back(i);
    }
  }

  // Of a few nodes, so large that a link between the neighbours of one passes beside it.
  static double radius_beside_chords(std::size_t members, double extent) {
    if (members < 5 || members > kFewMembers) return 0;
    return (extent / 2 + kChordGap) / (1 - std::cos(kTurn / static_cast<double>(members)));
  }

  void measure(Box& box) {
    double parts = 0, least = kLeastRadius, outside = 0, member_extent = 0, hanging_extent = 0;
    for (const std::size_t member : box.members) parts += parts_of(member);
    for (const std::size_t member : box.members) {
      const double room = extent(picture_.items[member]) + kCircleGap;
      least = std::max(least, room * parts / parts_of(member) / kTurn);
      member_extent = std::max(member_extent, extent(picture_.items[member]));
      for (const std::size_t i : hanging_[member]) {
        outside += extent(picture_.items[i]) + kCircleGap;
        hanging_extent = std::max(hanging_extent, extent(picture_.items[i]));
      }
    }
    least = std::max(least, radius_beside_chords(box.members.size(), member_extent));
    if (box.members.size() > 1) box.inner = least;
    box.radius = box.inner + member_extent / 2;
    if (hanging_extent > 0) {
      box.outer = std::max(box.radius + kRay + hanging_extent / 2, outside / kTurn);
      box.radius = box.outer + hanging_extent / 2;
    }
    box.radius += kCircleGap;
  }

  // Every member has as much of the circle as what hangs on it.
  [[nodiscard]] double parts_of(std::size_t member) const {
    return static_cast<double>(std::max<std::size_t>(1, hanging_[member].size()));
  }

  void set(const Spot& centre, const Box& box) {
    double parts = 0, before = 0;
    for (const std::size_t member : box.members) parts += parts_of(member);
    for (const std::size_t member : box.members) {
      const double middle = before + (parts_of(member) - 1) / 2;
      circles_.items[member] = on_circle(centre, box.inner, middle / parts);
      double at = before;
      for (const std::size_t i : hanging_[member]) {
        circles_.items[i] = on_circle(centre, box.outer, at++ / parts);
      }
      before += parts_of(member);
    }
  }

  const Picture& picture_;
  std::vector<std::size_t> carrier_;
  std::vector<std::vector<std::size_t>> hanging_;  ///< by carrier
  Circles circles_;
};

}  // namespace

Circles place_on_circles(const Picture& picture) {
  return Placer(picture).place();
}

}  // namespace forestcoll::topology
