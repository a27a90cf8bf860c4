// Topology files as text: the entries of a file to be written, with ranges, templates and boxes as
// a person would write them, and what a file says beside the fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// What reports call a limit: its name, or where it has none "on gpu0 -> sw, …" by its first link.
[[nodiscard]] std::string name_of(const SharedLimit& limit, const Topology& topology);

/// One element of `nodes`.
struct NodeText {
  std::string ids;  ///< with ranges: "gpu[0-7]"
  NodeType type = NodeType::compute;
  std::string box = {};
  bool multicast = false, reduce = false, echo = true, enabled = true;
  Ratio weight = 1;
};

/// One element of `links`. Keys that have their default are not written.
struct LinkText {
  std::string src, dst;   ///< ids, with ranges
  std::string bandwidth;  ///< "25", "1000/3" or with a unit "200 Gb/s"; a plain number is in GB/s
  std::string kind = {};
  bool zip = false;  ///< each with its counterpart instead of each with each
  std::int64_t count = 1;
  std::string latency = {};  ///< µs; empty: not written
  bool full_duplex = true, enabled = true;
  std::string derate = {};  ///< empty: 1
};

/// One element of `limits`.
struct LimitText {
  std::string name = {};
  std::vector<std::string> links;  ///< "gpu0->sw", "gpu[0-3]~sw", "kind=pcie"
  std::vector<Ratio> weights;      ///< of them; empty: 1 each
  std::string bandwidth;           ///< as of links
};

/// A set of nodes, links and limits: the top level of a file, or a template.
struct SectionText {
  std::vector<NodeText> nodes = {};
  std::vector<LinkText> links = {};
  std::vector<LimitText> limits = {};
};

struct TemplateText {
  std::string name;
  SectionText section;
};

/// One element of `boxes`: instances of a template.
struct BoxText {
  std::string ids;  ///< with ranges: "box[0-3]"
  std::string template_name;
};

/// A topology file.
struct TopologyDocument {
  std::string name = {}, description = {};
  std::vector<std::pair<std::string, std::string>> metadata =
      {};  ///< kept as it is, read by people
  std::vector<TemplateText> templates = {};
  std::vector<BoxText> boxes = {};
  SectionText top = {};
  std::vector<std::string> rank_order = {};  ///< empty: the order of appearance
};

/// The document as a topology file, version 1: keys in the format's order, an entry per line.
/// Nothing is checked; `parse_topology` of the result does that. Bytes that are not UTF-8 become
/// U+FFFD.
[[nodiscard]] std::string to_topology_json(const TopologyDocument& document);

/// The topology as a flat document: a node or link per entry, ranges and templates gone.
/// `parse_topology` gives the same topology again; only where the bandwidth of one of several
/// cables is too fine for a file do they become one of the same sum.
[[nodiscard]] TopologyDocument flat_document(const Topology& topology);

/// The shortest exact text of a number for a file: "25", "370.8", and "1000/3" where no decimal
/// number is exact.
[[nodiscard]] std::string exact_text(const Ratio& value);

/// Ids as a list with ranges: {"gpu0", "gpu1", "gpu2", "nic4"} gives {"gpu[0-2]", "nic4"}. Expanded
/// in turn, the results are `ids` in their order. Ids with brackets are left as they are.
[[nodiscard]] std::vector<std::string> compress_ids(const std::vector<std::string>& ids);

/// "gpu[0-7]", or "gpu0" where `count` is 1. REQUIRES: count ≥ 1.
[[nodiscard]] std::string id_range(std::string_view prefix, std::size_t count);

// What a topology file says beside the fabric.

/// What no solver reads of a topology file: notes, as JSON, every number as it is written.
struct Metadata {
  std::string metadata;                                    ///< the value of `metadata`; empty: none
  std::vector<std::string> templates = {};                 ///< the names of `templates`
  std::vector<std::pair<std::string, std::string>> notes;  ///< the top level's keys x-…, and values
  std::vector<std::string>
      inner_notes;  ///< JSON pointers of the keys x-… of nodes, links and so on
};

/// The notes of a topology file, in its order. A `metadata` object has a line per key, indented as
/// in the file's top level. Empty where the text is not JSON. Cost: O(text).
[[nodiscard]] Metadata metadata_of(std::string_view topology_file);

// Bandwidths as people write them.

/// GB/s of "25", "1000/3", "200 Gb/s" or "200Gbps"; nothing where it is no positive bandwidth, or
/// its exact value does not fit.
[[nodiscard]] std::optional<Ratio> parse_bandwidth(std::string_view text);

}  // namespace forestcoll
