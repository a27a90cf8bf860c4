// Ranks as points of a grid.
#include <fmt/format.h>

#include <algorithm>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/job.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

bool is_axis_name(std::string_view name) {
  const auto begins_name = [](char c) { return is_letter(c) || c == '_'; };
  return !name.empty() && begins_name(name.front()) && name != "all" &&
         std::ranges::all_of(name, [&](char c) { return begins_name(c) || is_digit(c); });
}

Diagnostic no_mesh(std::string_view text, const ErrorPlace& place) {
  return make_error(Code::O06,
                    fmt::format("expected axes with sizes, found {}", topology::quote(text)),
                    "write a mesh such as \"tp=8,dp=4\": names of letters, each once, and sizes "
                    "of 1 or more",
                    place);
}

}  // namespace

std::optional<MeshOrder> parse_mesh_order(std::string_view name) {
  if (name == "megatron") return MeshOrder::megatron;
  if (name == "device-mesh") return MeshOrder::device_mesh;
  return std::nullopt;
}

std::size_t Mesh::points() const {
  std::size_t points = 1;
  for (const MeshAxis& axis : axes) points *= static_cast<std::size_t>(axis.size);
  return points;
}

Expected<Mesh> parse_mesh(std::string_view text, MeshOrder order, std::size_t ranks,
                          const ErrorPlace& place, MeshFit fit) {
  Mesh mesh;
  Int128 points = 1;
  for (const std::string_view part : parts_between(text, ',')) {
    const auto sides = parts_between(part, '=');
    const auto size = sides.size() == 2 ? parse_whole(sides[1]) : std::nullopt;
    if (!size || *size == 0 || !is_axis_name(sides[0]) ||
        std::ranges::count(mesh.axes, sides[0], &MeshAxis::name) > 0) {
      return no_mesh(text, place);
    }
    mesh.axes.push_back({std::string(sides[0]), *size});
    points = std::min<Int128>(points * *size, Int128{1} << 62);
  }
  const bool may_be_fewer = fit == MeshFit::some_ranks;
  if (may_be_fewer ? points > static_cast<Int128>(ranks) : points != static_cast<Int128>(ranks)) {
    return make_error(Code::O06,
                      fmt::format("the mesh {} has {} points, and the fabric {} ranks",
                                  topology::quote(text), static_cast<std::int64_t>(points), ranks),
                      fmt::format("give sizes whose product is the number of ranks{}",
                                  may_be_fewer ? ", or less" : ""),
                      place);
  }
  if (order == MeshOrder::device_mesh) std::ranges::reverse(mesh.axes);
  return mesh;
}

}  // namespace forestcoll
