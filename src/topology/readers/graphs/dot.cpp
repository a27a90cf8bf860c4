// Graphviz DOT, read by Boost.Graph. Its parser descends into subgraphs on the stack and multiplies
// out edges between them before anybody can object, so what could run away is refused beforehand.
// What is legal and beyond that parser (keywords in capitals, HTML texts, names in UTF-8) becomes
// what it knows.
#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/words.hpp"
#include "topology/format/quote_dot.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {
namespace {

struct Bundle {
  std::map<std::string, std::string> attributes;
};
template <class Direction>
using DotGraph = boost::adjacency_list<boost::vecS, boost::vecS, Direction, Bundle, Bundle, Bundle>;

bool is_blank(char c) {
  return std::string_view(" \t\r\n\f\v").find(c) != std::string_view::npos;
}

bool is_of_word(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u >= 0x80 || u == '_' || (u >= '0' && u <= '9') || (u >= 'a' && u <= 'z') ||
         (u >= 'A' && u <= 'Z');
}

struct Refusal {
  std::size_t offset = 0;
  std::string reason;
};

// Rewrites the text word by word, and looks how deep it nests, and at its edges' ends.
class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text) {}

  // What would be unsafe to parse, and where.
  std::optional<Refusal> refusal() {
    while (!refusal_ && (skip_blanks(), at_ < text_.size())) {
      const char c = text_[at_];
      if (c == '"') {
        string();
      } else if (c == '<') {
        html();
      } else if (is_of_word(c)) {
        word();
      } else if (text_.substr(at_, 2) == "->" || text_.substr(at_, 2) == "--") {
        edge();
      } else {
        mark();
      }
    }
    return refusal_;
  }

  // A graph that says so has every edge once at most.
  [[nodiscard]] bool is_strict() const { return strict_; }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  void refuse(std::size_t offset, std::string reason) {
    refusal_ = Refusal{offset, std::move(reason)};
  }

  // Blanks and comments.
  void skip_blanks() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("/*")) {
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      } else if (rest.starts_with("//") || (rest.starts_with("#") && at_line_start())) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (is_blank(rest[0])) {
        ++at_;
      } else {
        return;
      }
      out_ += ' ';
    }
  }

  [[nodiscard]] bool at_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }

  // A backslash before the end of a line continues the text on the next.
  void string() {
    const std::size_t begin = at_;
    out_ += '"';
    for (++at_; at_ < text_.size() && text_[at_] != '"';) {
      const std::string_view two = text_.substr(at_, text_[at_] == '\\' ? 2 : 1);
      if (two != "\\\n") out_ += two;
      at_ += two.size();
    }
    if (at_ >= text_.size()) return refuse(begin, "a text without end");
    out_ += text_[at_++];
    last_ = '"';
  }

  void html() {
    const std::size_t begin = at_;
    std::size_t depth = 0;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '<') ++depth;
      if (text_[at_] == '>' && --depth == 0) break;
    }
    if (at_ == text_.size()) return refuse(begin, "an HTML text without end");
    out_ += topology::quote_dot(text_.substr(begin + 1, at_ - begin - 1));
    ++at_;
    last_ = '"';
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const std::string low = lower_case(word);
    last_ = 'a';
    if (low == "strict" && !strict_ && depth_ == 0) {
      strict_ = true;
    } else if (low == "graph" || low == "digraph" || low == "subgraph" || low == "node" ||
               low == "edge" || low == "strict") {
      out_ += low;
    } else if (std::ranges::any_of(word, [](char c) { return (c & 0x80) != 0; })) {
      out_ += topology::quote_dot(word);
    } else {
      out_ += word;
    }
  }

  void edge() {
    const std::size_t begin = at_;
    const char before = last_;
    out_ += text_.substr(at_, 2);
    at_ += 2;
    skip_blanks();
    const std::string_view next = text_.substr(at_);
    if (before == '}' || next.starts_with("{") || lower_case(next.substr(0, 8)) == "subgraph") {
      refuse(begin, "edges that begin or end at a whole subgraph");
    }
    last_ = '-';
  }

  void mark() {
    const char c = text_[at_];
    if (c == '{' && ++depth_ > kMaxDepth) {
      return refuse(at_, fmt::format("braces nested deeper than {}", kMaxDepth));
    }
    if (c == '}' && depth_ > 0) --depth_;
    out_ += c;
    last_ = c;
    ++at_;
  }

  std::string_view text_;
  std::string out_;
  std::optional<Refusal> refusal_;
  std::size_t at_ = 0, depth_ = 0;
  char last_ = ' ';
  bool strict_ = false;
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

// Graphviz draws edges of a digraph with an arrow at their heads and others with none, unless
// `dir` says otherwise.
bool is_one_way(const Attributes& attributes, bool directed) {
  const auto dir = attributes.find("dir");
  if (dir == attributes.end()) return directed;
  return dir->second == "forward" || dir->second == "back";
}

template <class Direction>
std::optional<Graph> read(const Context& context, const Rewriter& rewritten, bool directed) {
  DotGraph<Direction> graph;
  parse(rewritten.text(), graph);
  GraphBuilder builder(context);
  const auto where = [] { return std::string(); };
  const auto name = [&](auto vertex) { return graph[vertex].attributes[kNodeName]; };
  for (std::size_t v = 0; v < num_vertices(graph); ++v) {
    builder.add_node(name(v), attributes_of(graph[v]), where);
  }
  std::set<std::pair<std::string, std::string>> met;
  const auto [first, last] = edges(graph);
  for (auto edge = first; edge != last; ++edge) {
    std::string src = name(source(*edge, graph)), dst = name(target(*edge, graph));
    const auto ends =
        directed ? std::pair(src, dst) : std::pair<std::string, std::string>(std::minmax(src, dst));
    if (rewritten.is_strict() && !met.insert(ends).second) {
      context.findings.error(
          Code::I02, "",
          fmt::format("a second edge from {} to {} in a strict graph", quote(src), quote(dst)),
          "Leave one of them out, or the word strict, for links beside each other.");
      return std::nullopt;
    }
    const Attributes attributes = attributes_of(graph[*edge]);
    const auto dir = attributes.find("dir");
    if (dir != attributes.end() && dir->second == "back") std::swap(src, dst);
    builder.add_link(src, dst, attributes, is_one_way(attributes, directed), where);
  }
  auto& own = graph[boost::graph_bundle].attributes;
  const std::string label = own.contains("name") ? own["name"] : own["label"];
  return builder.finish(label, own["comment"]);
}

}  // namespace

std::optional<Graph> read_dot(const Context& context) {
  Rewriter rewritten(context.text);
  if (const auto refusal = rewritten.refusal()) {
    context.findings.error(Code::I02, context.place(refusal->offset),
                           fmt::format("not read from DOT: {}", refusal->reason),
                           "Give every edge between two nodes a line of its own.");
    return std::nullopt;
  }
  try {
    try {
      return read<boost::bidirectionalS>(context, rewritten, true);
    } catch (const boost::undirected_graph_error&) {
      return read<boost::undirectedS>(context, rewritten, false);
    }
  } catch (const boost::bad_graphviz_syntax& error) {
    context.findings.error(Code::I02, "", fmt::format("not DOT: {}", error.errmsg),
                           "Does `dot -Tcanon` accept the file?");
  } catch (const std::exception& error) {
    context.findings.error(Code::I02, "", fmt::format("not DOT: {}", error.what()),
                           "Does `dot -Tcanon` accept the file?");
  }
  return std::nullopt;
}

}  // namespace forestcoll::importing
