// A topology file as it is written: entries with their ranges not yet expanded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"
#include "topology/format/host_list.hpp"
#include "topology/format/json_value.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// One element of a `nodes` array.
struct NodeEntry {
  std::size_t position = 0;  ///< in the array
  HostList ids;
  NodeType type = NodeType::compute;
  std::string box;
  bool multicast = false, reduce = false, echo = true, enabled = true;
  Ratio weight = 1;
};

/// One element of a `links` array.
struct LinkEntry {
  std::size_t position = 0;  ///< in the array
  HostList src, dst;
  bool zip = false;
  bool pair_given = false;       ///< in the file, whichever it is
  bool readable = true;          ///< false: its numbers are not, only its ends are of use
  Ratio single = 1;              ///< GB/s of one of its parallel links, when not degraded
  std::int64_t cables = 1;       ///< the file's count
  Ratio bandwidth = 1;           ///< GB/s: cables × derate × single
  std::string_view text;         ///< the bandwidth as it is written
  std::optional<Ratio> latency;  ///< µs
  bool full_duplex = true, enabled = true;
  std::string kind;

  /// True where a range is linked to itself: a full mesh, of each pair once.
  [[nodiscard]] bool is_mesh() const { return !zip && src.count() > 1 && src.equals(dst); }
  /// How many links it stands for.
  [[nodiscard]] std::size_t count() const;
};

/// One element of a `limits` array.
struct LimitEntry {
  struct Links {
    std::string_view text;  ///< "gpu[0-3]->sw", "a~b", "kind=pcie"
    Ratio weight = 1;
  };

  std::size_t position = 0;  ///< in the array
  std::string name;
  Ratio bandwidth = 1;  ///< GB/s
  std::vector<Links> links;
};

/// A set of nodes and links: the top level of the file, or a template.
struct Section {
  std::string pointer;  ///< "" or "/templates/NAME"
  std::string name;     ///< the template's
  std::vector<NodeEntry> nodes;
  std::vector<LinkEntry> links;
  std::vector<LimitEntry> limits;

  [[nodiscard]] std::string where(const NodeEntry& entry) const {
    return pointer + "/nodes/" + std::to_string(entry.position);
  }
  [[nodiscard]] std::string where(const LinkEntry& entry) const {
    return pointer + "/links/" + std::to_string(entry.position);
  }
  [[nodiscard]] std::string where(const LimitEntry& entry) const {
    return pointer + "/limits/" + std::to_string(entry.position);
  }
};

/// One element of `boxes`.
struct BoxEntry {
  std::size_t position = 0;
  HostList ids;
  std::size_t template_index = 0;

  [[nodiscard]] std::string where() const { return "/boxes/" + std::to_string(position); }
};

/// One element of `rank_order`.
struct RankEntry {
  std::size_t position = 0;
  HostList ids;
};

/// The whole file. It refers to the text of the JSON values that it was read from.
struct Document {
  std::string name, description;
  Section top;
  std::vector<Section> templates;
  std::vector<BoxEntry> boxes;
  std::vector<RankEntry> rank_order;
  bool has_rank_order = false;

  // What could be read; checks that need all of it are left out where it could not.
  bool nodes_complete = true;
  bool links_complete = true;
  bool rank_order_complete = true;
};

/// Reads the values of a topology file. What is wrong goes to `findings` (E02, E05, E10, E11, E12,
/// W06), and reading goes on with the rest; only a document of another format or version (E02) is
/// not read on. The result refers to `root`. Cost: O(values).
[[nodiscard]] Document read_document(const JsonValue& root, Findings& findings);

/// Reads the value of one template, in GB/s and µs; what is wrong goes to `findings`, as above.
/// `place` is for messages.
[[nodiscard]] Section read_template(const JsonValue& value, const Place& place, Findings& findings);

}  // namespace forestcoll::topology
