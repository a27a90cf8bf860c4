// Graphs of other tools: named nodes and edges with attributes, made into a topology.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/topology_text.hpp"
#include "topology/readers/context.hpp"
#include "topology/readers/links.hpp"

namespace forestcoll::importing {

struct GraphNode {
  std::string id;
  NodeType type = NodeType::compute;
  std::string box = {};
  Ratio weight = 1;
  std::optional<std::int64_t> rank = {};
  bool multicast = false, reduce = false, echo = true, enabled = true;
};

struct GraphLink {
  FlatLink link;
  bool enabled = true;
};

struct Graph {
  std::string name = {}, description = {};
  std::vector<GraphNode> nodes;
  std::vector<GraphLink> links;
  std::vector<LimitText> limits = {};
};

/// The names and values of a node's or an edge's attributes.
using Attributes = std::map<std::string, std::string, std::less<>>;
/// True for the attributes that are read, of nodes and of edges.
[[nodiscard]] bool is_read(std::string_view attribute);
/// Where in the file something stands; asked for only where that is to be told.
using Where = std::function<std::string()>;

/// Makes a graph of nodes and edges with attributes:
///   nodes: type (compute or switch), box, rank, weight, multicast, reduce, echo, enabled
///   edges: bandwidth (or capacity, or weight: GB/s, or with a unit), cables (that the bandwidth is
///          the sum of), count (that multiplies both), latency (µs), kind, duplex (full or
///          simplex), enabled
/// Other attributes are ignored.
class GraphBuilder {
 public:
  explicit GraphBuilder(const Context& context) : context_(context) {}

  /// Declares a node, which edges may have named before. Twice is an error.
  void add_node(const std::string& id, const Attributes& attributes, const Where& where);
  /// Adds to what is known of a node, where a file says it piece by piece. An error where it says
  /// the contrary of what it said before.
  void add_to_node(const std::string& id, const Attributes& attributes, const Where& where);
  /// An error where no node of this id has been declared.
  void require_node(const std::string& id, const Where& where);
  /// `directed`: one way, unless its attribute `duplex` says otherwise.
  void add_link(const std::string& src, const std::string& dst, const Attributes& attributes,
                bool directed, const Where& where);

  /// A one-way link of so many GB/s.
  void add_sized_link(const std::string& src, const std::string& dst, const Ratio& bandwidth);

  /// Nothing where something was wrong, or where some nodes have a type and others have none.
  /// Control characters of the two texts become blanks.
  [[nodiscard]] std::optional<Graph> finish(const std::string& name,
                                            const std::string& description);

 private:
  std::optional<std::size_t> node(const std::string& id, const Where& where);
  void read_node(std::size_t index, const Attributes& attributes, const Where& where);
  std::optional<Ratio> bandwidth_of(const std::string& src, const std::string& dst,
                                    const Attributes& attributes, const Where& where);
  bool read_counts(const Attributes& attributes, FlatLink& link, const Where& where);
  bool truth(const Attributes& attributes, std::string_view key, bool otherwise,
             const Where& where);
  bool is_plain(std::string_view key, const std::string& label, const Where& where);
  void fail(Code code, const Where& where, std::string message, std::string remedy);
  bool decide_types();

  const Context& context_;
  Graph graph_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<bool> typed_, declared_;      // of graph_.nodes
  std::map<std::size_t, Attributes> said_;  // piece by piece, of graph_.nodes
  bool weight_is_bandwidth_ = false;
  bool failed_ = false;
};

/// The graph as a topology file, with ranges where the ids allow them.
[[nodiscard]] TopologyDocument to_document(const Graph& graph);

/// True where `id` is as `pattern` says, in which * stands for any text and ? for any byte.
/// Cost: O(pattern × id).
[[nodiscard]] bool matches(std::string_view pattern, std::string_view id);

}  // namespace forestcoll::importing
