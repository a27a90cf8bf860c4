// What is in a picture of a fabric, before it is written down.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/convert.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"
#include "topology/draw/sheet.hpp"

namespace forestcoll::topology {

enum class ItemKind { gpu, switch_node, box };
enum class Side { sends, receives, divided };

/// One node of the picture: a node of the fabric, a box, or several of either that are linked
/// alike.
struct Item {
  ItemKind kind = ItemKind::gpu;
  std::vector<std::string> names;  ///< of the nodes or boxes that it stands for
  std::string cluster;             ///< the box around it; empty: none
  std::size_t gpus = 0;            ///< in one of them
  Side side = Side::receives;
  std::size_t level = 0;  ///< from bottom to top
  /// The names are so many sets, each linked to a set of its own at the other end: the boxes of 31
  /// leaves.
  std::size_t sets = 1;
  bool is_nic = false;   ///< a switch node that joins a box's GPUs to what is outside of it
  bool is_root = false;  ///< of the schedule that is shown
};

/// All links between two items, both directions. `a` < `b`.
struct Edge {
  std::size_t a = 0, b = 0;
  std::string kind;  ///< the widest link's
  std::size_t links = 0;
  Ratio there, back;  ///< GB/s, summed; nothing that does not fit is added
  bool crosses = false;
  std::vector<std::size_t> limits = {};  ///< marks of capacities that it shares, ascending
  /// In which round of the schedule that is shown data goes from `a` to `b`, and back.
  std::optional<std::size_t> round_there = {}, round_back = {};
};

struct Picture {
  std::vector<Item> items;
  std::vector<Edge> edges;
};

/// The bandwidths of links side by side; the first alone where the sum does not fit.
[[nodiscard]] Ratio summed(const Ratio& a, const Ratio& b);

[[nodiscard]] Picture make_picture(const Topology& topology, const DrawOptions& options);

/// Everything in its place: in rows where switches join what is below them, on circles where not.
[[nodiscard]] Sheet make_sheet(const Picture& picture, const Topology& topology,
                               const DrawOptions& options);

}  // namespace forestcoll::topology
