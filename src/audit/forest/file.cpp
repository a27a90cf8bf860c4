// A SAX reader: a stack of what the text is inside of, and one function per place where a value can
// stand. A tree of a million edges never exists as a JSON document in memory.
#include "audit/forest/file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "audit/common/json_events.hpp"
#include "audit/common/plain_text.hpp"
#include "audit/forest/name_table.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMaxPathNodes = 100'000'000;
constexpr std::size_t kMaxGenerators = 64;

// Of an edge of two short names, about.
constexpr std::size_t kBytesPerEdge = 50;

enum class Inside {
  nothing,
  file,
  fraction,
  ranks,
  weights,
  symmetry,
  generators,
  generator,
  cycles,
  cycle,
  trees,
  tree,
  edges,
  edge,
  path,
  skipped
};

class ForestReader : public JsonEvents<ForestReader, Inside> {
 public:
  ForestReader(std::string_view text, std::string_view file, Findings& findings)
      : JsonEvents(text, file, findings) {
    // Room that is not used is never touched, and what is held is never moved.
    forest_.edges.reserve(text.size() / kBytesPerEdge);
    forest_.path_nodes.reserve(2 * forest_.edges.capacity());
  }

  ForestFile take() { return std::move(forest_); }

  // Events that differ from the others'.
  bool boolean(bool value) {
    if (inside() != Inside::tree || key_ != "images") return other(value ? "true" : "false");
    tree().images = value;
    return true;
  }
  bool string(std::string_view value);
  bool start_object();
  bool start_array();
  bool end_array();
  std::size_t whole_value(std::string_view text);

  bool number(std::int64_t value);
  static constexpr auto kFields = std::to_array<JsonField<Inside>>({
      {Inside::file, "version k chunks", "an integer"},
      {Inside::file, "format collective", "a string"},
      {Inside::file, "algbw optimum", "an object with \"exact\" and \"value\""},
      {Inside::file, "ranks weights trees reduce broadcast", "an array"},
      {Inside::file, "symmetry", "an object"},
      {Inside::fraction, "exact", "a string"},
      {Inside::ranks, "", "a node's id"},
      {Inside::weights, "", "an integer"},
      {Inside::symmetry, "", "an array"},
      {Inside::generators, "", "an object"},
      {Inside::generator, "order", "an integer"},
      {Inside::generator, "cycles", "an array"},
      {Inside::cycles, "", "an array"},
      {Inside::cycle, "", "a node's id"},
      {Inside::trees, "", "an object"},
      {Inside::tree, "multiplicity height", "an integer"},
      {Inside::tree, "root", "a node's id"},
      {Inside::tree, "images", "true or false"},
      {Inside::tree, "edges", "an array"},
      {Inside::edges, "", "an object"},
      {Inside::edge, "src dst", "a node's id"},
      {Inside::edge, "path", "an array"},
      {Inside::path, "", "a node's id"},
  });
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::string location() const {
    return list_ == nullptr || list_->trees.empty() ? "" : ", in " + where();
  }

 private:
  Name intern(std::string_view name) { return names_.number_of(name); }
  Name intern_source(std::string_view name);
  Name intern_in_path(std::string_view name);
  std::optional<Name> take_name(PlainText& text, Name likely);
  bool take_path(PlainText& text, const ForestEdge& edge);
  // Compared for every edge: by a number of bytes that the compiler knows.
  template <std::size_t Size>
  [[nodiscard]] bool is_key(const char (&name)[Size]) const {
    return key_.size() == Size - 1 && std::memcmp(key_.data(), name, Size - 1) == 0;
  }
  TreeList* list_of(std::string_view key);

  ForestTree& tree() { return list_->trees.back(); }
  Generator& generator() { return symmetric_list_->symmetry.back(); }

  ForestFile forest_;
  std::string fraction_key_, list_key_;
  TreeList* list_ = nullptr;
  TreeList* symmetric_list_ = nullptr;  ///< whose symmetry is being read
  NameTable names_{forest_.names};
};

std::string ForestReader::where() const {
  if (list_ == nullptr || list_->trees.empty()) return fmt::format("/{}", key_);
  std::string text = fmt::format("{} tree {}", list_key_, list_->trees.size() - 1);
  if (inside() == Inside::edge || inside() == Inside::path) {
    text += fmt::format(", edge {}", forest_.edges.size() - list_->trees.back().edges_begin - 1);
  }
  return text;
}

// A node's edges follow one another, mostly.
Name ForestReader::intern_source(std::string_view name) {
  const std::size_t edges = forest_.edges.size();
  const Name likely = edges > 1 ? forest_.edges[edges - 2].src : -1;
  return likely >= 0 && names_.is(likely, name) ? likely : intern(name);
}

// A path begins and ends with the names of its edge, mostly.
Name ForestReader::intern_in_path(std::string_view name) {
  const ForestEdge& edge = forest_.edges.back();
  const bool first = edge.path_begin == forest_.path_nodes.size();
  const Name likely = first ? edge.src : edge.dst;
  return likely >= 0 && names_.is(likely, name) ? likely : intern(name);
}

TreeList* ForestReader::list_of(std::string_view key) {
  if (key == "trees") return &forest_.trees;
  if (key == "reduce") return &forest_.reduce;
  if (key == "broadcast") return &forest_.broadcast;
  return nullptr;
}

bool ForestReader::number(std::int64_t value) {
  if (inside() == Inside::file && key_ == "version") {
    forest_.version = value;
  } else if (inside() == Inside::file && key_ == "k") {
    forest_.k = value;
  } else if (inside() == Inside::file && key_ == "chunks") {
    forest_.chunks = value;
  } else if (inside() == Inside::tree && key_ == "multiplicity") {
    tree().multiplicity = value;
  } else if (inside() == Inside::tree && key_ == "height") {
    tree().height = value;
  } else if (inside() == Inside::generator && key_ == "order") {
    generator().order = value;
  } else if (inside() == Inside::weights) {
    forest_.weights.push_back(value);
  } else {
    return other(std::to_string(value));
  }
  return true;
}

bool ForestReader::string(std::string_view value) {
  if (inside() == Inside::path) {
    if (forest_.path_nodes.size() == kMaxPathNodes) return refuse("too many nodes in paths");
    forest_.path_nodes.push_back(intern_in_path(value));
  } else if (inside() == Inside::edge && is_key("src")) {
    forest_.edges.back().src = intern_source(value);
  } else if (inside() == Inside::edge && is_key("dst")) {
    forest_.edges.back().dst = intern(value);
  } else if (inside() == Inside::tree && key_ == "root") {
    tree().root = intern(value);
  } else if (inside() == Inside::ranks) {
    forest_.ranks.push_back(intern(value));
  } else if (inside() == Inside::cycle) {
    generator().cycles.back().push_back(intern(value));
  } else if (inside() == Inside::fraction && key_ == "exact") {
    (fraction_key_ == "algbw" ? forest_.algbw : forest_.optimum) = value;
  } else if (inside() == Inside::file && key_ == "root") {
    forest_.root = intern(value);
  } else if (inside() == Inside::file && key_ == "format") {
    forest_.format = value;
  } else if (inside() == Inside::file && key_ == "collective") {
    forest_.collective = value;
  } else {
    return other(fmt::format("\"{}\"", value));
  }
  return true;
}

bool ForestReader::start_object() {
  switch (inside()) {
    case Inside::nothing:
      return push(Inside::file);
    case Inside::file:
      if (key_ == "symmetry") return push(Inside::symmetry);
      if (key_ != "algbw" && key_ != "optimum") break;
      fraction_key_ = key_;
      return push(Inside::fraction);
    case Inside::generators:
      if (symmetric_list_->symmetry.size() == kMaxGenerators) return refuse("too many generators");
      symmetric_list_->symmetry.emplace_back();
      return push(Inside::generator);
    case Inside::trees: {
      ForestTree next;
      next.edges_begin = next.edges_end = forest_.edges.size();
      list_->trees.push_back(next);
      return push(Inside::tree);
    }
    case Inside::edges: {
      if (forest_.edges.size() == static_cast<std::size_t>(kMaxForestEdges))
        return refuse("too many edges");
      ForestEdge edge;
      edge.path_begin = edge.path_end = static_cast<std::uint32_t>(forest_.path_nodes.size());
      forest_.edges.push_back(edge);
      tree().edges_end = forest_.edges.size();
      return push(Inside::edge);
    }
    default:
      break;
  }
  if (inside() != Inside::skipped) other("an object");
  return push(Inside::skipped);
}

bool ForestReader::start_array() {
  switch (inside()) {
    case Inside::nothing:
      return refuse("expected an object, found an array");
    case Inside::file:
      if (key_ == "ranks") return push(Inside::ranks);
      if (key_ == "weights") {
        forest_.has_weights = true;
        return push(Inside::weights);
      }
      if (TreeList* list = list_of(key_); list != nullptr) {
        if (list->present) {
          findings_.add(Rule::attribute, fmt::format("/{}", key_), "the list stands twice");
        }
        list->present = true;
        list_ = list;
        list_key_ = key_;
        return push(Inside::trees);
      }
      break;
    case Inside::symmetry:
      symmetric_list_ = list_of(key_);
      if (symmetric_list_ == nullptr) break;
      return push(Inside::generators);
    case Inside::generator:
      if (key_ == "cycles") return push(Inside::cycles);
      break;
    case Inside::cycles:
      generator().cycles.emplace_back();
      return push(Inside::cycle);
    case Inside::tree:
      if (key_ == "edges") return push(Inside::edges);
      break;
    case Inside::edge:
      if (is_key("path")) return push(Inside::path);
      break;
    default:
      break;
  }
  if (inside() != Inside::skipped) other("an array");
  return push(Inside::skipped);
}

// The next name, up to its quote; nothing where it has escapes.
std::optional<Name> ForestReader::take_name(PlainText& text, Name likely) {
  const auto expected = likely >= 0 ? names_.as_written(likely) : std::nullopt;
  if (expected && text.take_quoted(*expected)) return likely;
  const auto name = text.take_quoted();
  return name ? std::optional(intern(*name)) : std::nullopt;
}

// From the first name to the last bracket.
bool ForestReader::take_path(PlainText& text, const ForestEdge& edge) {
  Name likely = edge.src;
  do {
    const auto node = take_name(text, likely);
    if (!node || forest_.path_nodes.size() == kMaxPathNodes) return false;
    forest_.path_nodes.push_back(*node);
    likely = edge.dst;
  } while (text.take(",\""));
  return text.take("]}");
}

// An edge as this program writes it; any other, and one too many, is left to the events.
std::size_t ForestReader::whole_value(std::string_view text) {
  if (inside() != Inside::edges) return 0;
  if (forest_.edges.size() == static_cast<std::size_t>(kMaxForestEdges)) return 0;
  PlainText rest(text);
  if (!rest.take(R"({"src":")")) return 0;
  const auto src = take_name(rest, forest_.edges.empty() ? -1 : forest_.edges.back().src);
  if (!src || !rest.take(R"(,"dst":")")) return 0;
  const auto dst = take_name(rest, -1);
  if (!dst || !rest.take(R"(,"path":[")")) return 0;
  const std::size_t begin = forest_.path_nodes.size();
  ForestEdge edge{*src, *dst, static_cast<std::uint32_t>(begin), 0};
  if (!take_path(rest, edge)) {
    forest_.path_nodes.resize(begin);
    return 0;
  }
  edge.path_end = static_cast<std::uint32_t>(forest_.path_nodes.size());
  forest_.edges.push_back(edge);
  tree().edges_end = forest_.edges.size();
  return rest.taken();
}

bool ForestReader::end_array() {
  if (inside() == Inside::path) {
    forest_.edges.back().path_end = static_cast<std::uint32_t>(forest_.path_nodes.size());
  }
  if (inside() == Inside::trees) list_ = nullptr;
  pop();
  return true;
}

}  // namespace

Expected<ForestFile> read_forest_json(std::string_view text, std::string_view file,
                                      Findings& findings) {
  return read_json<ForestReader>(text, file, findings);
}

}  // namespace forestcoll::audit
