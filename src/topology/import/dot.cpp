// Graphviz DOT, read by Boost.Graph. Its parser descends into subgraphs on the stack and multiplies
// out edges between them before anybody can object, so what could run away is refused beforehand.
#include <fmt/format.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <exception>
#include <memory>
#include <string>

#include "topology/import/readers.hpp"

namespace forestcoll::importing {
namespace {

struct Bundle {
  std::map<std::string, std::string> attributes;
};
template <class Direction>
using DotGraph = boost::adjacency_list<boost::vecS, boost::vecS, Direction, Bundle, Bundle, Bundle>;

// What a glance at the text tells: how deep it nests, and its edges' ends.
class Outline {
 public:
  explicit Outline(std::string_view text) : text_(text) {}

  // What would be unsafe to parse, and where.
  std::optional<std::pair<std::size_t, std::string>> refusal() {
    while (skip_blanks(), at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '{' && ++depth_ > kMaxDepth) {
        return std::pair(at_, fmt::format("braces nested deeper than {}", kMaxDepth));
      }
      if (c == '}' && depth_ > 0) --depth_;
      if (is_edge()) {
        const std::size_t edge = at_;
        const char before = last_;
        at_ += 2;
        skip_blanks();
        if (before == '}' || text_.substr(at_, 1) == "{" ||
            text_.substr(at_).starts_with("subgraph")) {
          return std::pair(edge, std::string("edges that begin or end at a whole subgraph"));
        }
        last_ = '-';
        continue;
      }
      last_ = c;
      if (c == '"') skip_string();
      if (c == '<' && !skip_html()) return std::pair(at_, std::string("an HTML text without end"));
      ++at_;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_edge() const {
    const std::string_view two = text_.substr(at_, 2);
    return two == "->" || two == "--";
  }

  // Blanks and comments.
  void skip_blanks() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("/*")) {
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      } else if (rest.starts_with("//") || (rest.starts_with("#") && at_line_start())) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\r\n\f\v").find(rest[0]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  [[nodiscard]] bool at_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
  }

  bool skip_html() {
    std::size_t depth = 0;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '<') ++depth;
      if (text_[at_] == '>' && --depth == 0) return true;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0, depth_ = 0;
  char last_ = ' ';
};

// A property map that keeps whatever attribute it is given, by its name.
template <class Key, class Graph>
class AnyAttribute : public boost::dynamic_property_map {
 public:
  AnyAttribute(Graph& graph, std::string name) : graph_(graph), name_(std::move(name)) {}
  boost::any get(const boost::any& key) override { return get_string(key); }
  std::string get_string(const boost::any& key) override {
    return graph_[boost::any_cast<Key>(key)].attributes[name_];
  }
  void put(const boost::any& key, const boost::any& value) override {
    graph_[boost::any_cast<Key>(key)].attributes[name_] = boost::any_cast<std::string>(value);
  }
  [[nodiscard]] const std::type_info& key() const override { return typeid(Key); }
  [[nodiscard]] const std::type_info& value() const override { return typeid(std::string); }

 private:
  Graph& graph_;
  std::string name_;
};

// The same for what is the whole graph's.
template <class Graph>
class GraphAttribute : public boost::dynamic_property_map {
 public:
  GraphAttribute(Graph& graph, std::string name) : graph_(graph), name_(std::move(name)) {}
  boost::any get(const boost::any& key) override { return get_string(key); }
  std::string get_string(const boost::any&) override {
    return graph_[boost::graph_bundle].attributes[name_];
  }
  void put(const boost::any&, const boost::any& value) override {
    graph_[boost::graph_bundle].attributes[name_] = boost::any_cast<std::string>(value);
  }
  [[nodiscard]] const std::type_info& key() const override { return typeid(Graph*); }
  [[nodiscard]] const std::type_info& value() const override { return typeid(std::string); }

 private:
  Graph& graph_;
  std::string name_;
};

constexpr const char* kNodeName = "node name";  // no attribute of DOT can be called so

template <class Direction>
void parse(const std::string& text, DotGraph<Direction>& graph) {
  using Graph = DotGraph<Direction>;
  using Vertex = typename boost::graph_traits<Graph>::vertex_descriptor;
  using Edge = typename boost::graph_traits<Graph>::edge_descriptor;
  using Map = boost::shared_ptr<boost::dynamic_property_map>;
  boost::dynamic_properties properties(
      [&graph](const std::string& name, const boost::any& key, const boost::any&) -> Map {
        if (key.type() == typeid(Vertex)) {
          return boost::make_shared<AnyAttribute<Vertex, Graph>>(graph, name);
        }
        if (key.type() == typeid(Edge)) {
          return boost::make_shared<AnyAttribute<Edge, Graph>>(graph, name);
        }
        return boost::make_shared<GraphAttribute<Graph>>(graph, name);
      });
  boost::read_graphviz(text, graph, properties, kNodeName);
}

Attributes attributes_of(const Bundle& bundle) {
  return {bundle.attributes.begin(), bundle.attributes.end()};
}

template <class Direction>
std::optional<Graph> read(const Context& context, bool directed) {
  DotGraph<Direction> graph;
  parse(std::string(context.text), graph);
  GraphBuilder builder(context);
  const auto where = [] { return std::string(); };
  const auto name = [&](auto vertex) { return graph[vertex].attributes[kNodeName]; };
  for (std::size_t v = 0; v < num_vertices(graph); ++v) {
    builder.add_node(name(v), attributes_of(graph[v]), where);
  }
  const auto [first, last] = edges(graph);
  for (auto edge = first; edge != last; ++edge) {
    builder.add_link(name(source(*edge, graph)), name(target(*edge, graph)),
                     attributes_of(graph[*edge]), directed, where);
  }
  auto& own = graph[boost::graph_bundle].attributes;
  const std::string label = own.contains("name") ? own["name"] : own["label"];
  return builder.finish(label, own["comment"]);
}

}  // namespace

std::optional<Graph> read_dot(const Context& context) {
  if (const auto refusal = Outline(context.text).refusal()) {
    context.findings.error("I02", context.place(refusal->first),
                           fmt::format("not read from DOT: {}", refusal->second),
                           "Give every edge between two nodes a line of its own.");
    return std::nullopt;
  }
  try {
    try {
      return read<boost::bidirectionalS>(context, true);
    } catch (const boost::undirected_graph_error&) {
      return read<boost::undirectedS>(context, false);
    }
  } catch (const boost::bad_graphviz_syntax& error) {
    context.findings.error("I02", "", fmt::format("not DOT: {}", error.errmsg),
                           "Does `dot -Tcanon` accept the file?");
  } catch (const std::exception& error) {
    context.findings.error("I02", "", fmt::format("not DOT: {}", error.what()),
                           "Does `dot -Tcanon` accept the file?");
  }
  return std::nullopt;
}

}  // namespace forestcoll::importing
