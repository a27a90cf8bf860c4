// What a piece of text on the command line names in a topology: nodes, links, ranks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::topology {

/// A link, and in which of its directions.
struct SelectedLink {
  LinkId link;
  bool forward = false, backward = false;  ///< src to dst, dst to src
};

/// The text of a link without the count of cables at its end, and that count: "A~B" and 2.
struct CableText {
  std::string_view link;
  std::optional<std::int64_t> cables;  ///< nothing: all of them
};

/// Answers questions about one topology, which must outlive it.
class NameLookup {
 public:
  /// Cost: O(n).
  explicit NameLookup(const Topology& topology);

  /// True where the text has the form of links rather than nodes: "A~B", "A->B", "kind=K".
  [[nodiscard]] static bool is_link(std::string_view text);

  /// True where a node is called just so.
  [[nodiscard]] bool is_id(std::string_view text) const;

  /// The nodes that an id, a range of ids or a box's name stands for, in that order; of a device
  /// that is two nodes, "nic3" of "nic_out3" and "nic_in3", both. Errors, whose place is `where`:
  /// D01, D02.
  [[nodiscard]] Expected<std::vector<NodeId>> nodes(std::string_view text,
                                                    std::string_view where) const;
  /// The enabled links between enabled nodes that a link's text stands for, at least one, in the
  /// order of the topology. Errors: D01, D02. Cost: O(m).
  [[nodiscard]] Expected<std::vector<SelectedLink>> links(std::string_view text,
                                                          std::string_view where) const;
  /// Takes "*2" off the end of a link's text, unless it belongs to the name of a kind that is
  /// there.
  [[nodiscard]] CableText cables(std::string_view text) const;
  /// Compute nodes from a list with commas, each once. Errors: D01, D02, D04.
  [[nodiscard]] Expected<std::vector<NodeId>> ranks(std::string_view list,
                                                    std::string_view where) const;

 private:
  [[nodiscard]] std::optional<std::array<NodeId, 2>> both_halves(std::string_view device) const;
  [[nodiscard]] Diagnostic unknown(std::string_view id, std::string_view where) const;
  [[nodiscard]] std::string suggest(std::string_view id) const;
  [[nodiscard]] Expected<std::vector<SelectedLink>> links_of_kind(std::string_view kind,
                                                                  std::string_view where) const;
  [[nodiscard]] bool is_in_use(const TopologyLink& link) const;
  [[nodiscard]] Expected<std::vector<NodeId>> ranks_of_item(std::string_view item,
                                                            std::string_view where) const;

  [[nodiscard]] std::vector<std::string_view> items_of(std::string_view list) const;

  const Topology& topology_;
  std::unordered_map<std::string_view, NodeId> node_of_;
  std::unordered_map<std::string_view, std::vector<NodeId>> box_of_;
  std::size_t longest_list_ = 0;  ///< bytes of the longest id that holds a comma
};

/// An error about one item of the command line.
[[nodiscard]] Diagnostic selection_error(Code code, std::string_view where, std::string message,
                                         std::string remedy);

}  // namespace forestcoll::topology
