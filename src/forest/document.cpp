// The events of a streaming JSON parser, told apart by the path of keys that leads to them: lists
// add nothing to the path, so an edge of any tree is at "trees/edges".
#include "forest/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::forest {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxEdges = 50'000'000;
constexpr std::size_t kMaxGenerators = 32;
constexpr std::size_t kMaxPathNodes = 500'000'000;

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  ForestDocument take() { return std::move(document_); }
  [[nodiscard]] Diagnostic error() const { return error_; }

  bool null() { return value(); }
  bool boolean(bool value) {
    if (place() == "/LIST[]/images") tree().images = value;
    return true;
  }
  bool number_integer(std::int64_t number) { return integer(number); }
  bool number_unsigned(std::uint64_t number) {
    if (number > static_cast<std::uint64_t>(INT64_MAX)) return refuse("is beyond 64 bits");
    return integer(static_cast<std::int64_t>(number));
  }
  bool number_float(double, const std::string&) { return value(); }
  bool binary(const std::vector<std::uint8_t>&) { return value(); }

  bool string(std::string& text) {
    const std::string_view at = place();
    if (at == "/format") {
      document_.format = std::move(text);
    } else if (at == "/collective") {
      document_.collective = std::move(text);
    } else if (at == "/algbw/exact") {
      document_.algbw = std::move(text);
    } else if (at == "/optimum/exact") {
      document_.optimum = std::move(text);
    } else if (at == "/root") {
      document_.root = intern(text);
    } else if (at == "/ranks[]") {
      document_.ranks.push_back(intern(text));
    } else if (at == "/LIST[]/root") {
      tree().root = intern(text);
    } else if (at == "/LIST[]/edges[]/path[]") {
      return path_node(text);
    } else if (at == "/symmetry/LIST[]/cycles[][]") {
      generator().cycles.back().push_back(intern(text));
    }
    return true;
  }

  bool start_object(std::size_t) { return open('{'); }
  bool key(std::string& key) {
    path_.resize(begins_.back());
    const bool top = begins_.size() == 1 || (begins_.size() == 2 && path_ == "/symmetry");
    const auto list = std::find(kListNames.begin(), kListNames.end(), key);
    if (top && list != kListNames.end()) {
      list_ = static_cast<std::size_t>(list - kListNames.begin());
      path_ += "/LIST";  // also below /symmetry
    } else {
      path_ += "/" + key;
    }
    return true;
  }
  bool end_object() {
    close();
    if (place() == "/LIST[]/edges[]") {
      document_.edge_begin.push_back(static_cast<std::uint32_t>(document_.path_nodes.size()));
      tree().edges_end = document_.edge_begin.size() - 1;
    }
    return true;
  }
  bool start_array(std::size_t) {
    if (path_.empty()) return refuse("expected an object, found an array");
    const bool trees = path_ == "/LIST";
    if (!open('[')) return false;
    path_ += "[]";
    if (trees) {
      if (document_.lists[list_]) return refuse("the list stands twice");
      document_.lists[list_].emplace();
    }
    return true;
  }
  bool end_array() {
    path_.resize(begins_.back());
    close();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    return refuse(fmt::format("no well-formed JSON at byte {}", position));
  }

 private:
  [[nodiscard]] std::string_view place() const { return path_; }

  bool open(char kind) {
    if (begins_.size() == kMaxDepth) return refuse("nested too deep");
    if (kind == '{' && path_ == "/LIST[]") {
      document_.lists[list_]->push_back({});
      tree().edges_begin = tree().edges_end = document_.edge_begin.size() - 1;
    }
    if (kind == '{' && path_ == "/symmetry/LIST[]") {
      if (document_.symmetry[list_].size() == kMaxGenerators) return refuse("too many generators");
      document_.symmetry[list_].emplace_back();
    }
    if (kind == '[' && path_ == "/symmetry/LIST[]/cycles[]") generator().cycles.emplace_back();
    if (kind == '{' && path_ == "/LIST[]/edges[]" && document_.edge_begin.size() > kMaxEdges) {
      return refuse("too many edges");
    }
    begins_.push_back(path_.size());
    return true;
  }
  // Back to the path at which the object or array stands.
  void close() {
    path_.resize(begins_.back());
    begins_.pop_back();
  }

  bool integer(std::int64_t number) {
    const std::string_view at = place();
    if (at == "/version") {
      document_.version = number;
    } else if (at == "/k") {
      document_.k = number;
    } else if (at == "/chunks") {
      document_.chunks = number;
    } else if (at == "/weights[]") {
      document_.weights.push_back(number);
    } else if (at == "/LIST[]/multiplicity") {
      tree().multiplicity = number;
    } else if (at == "/symmetry/LIST[]/order") {
      generator().order = number;
    }
    return true;
  }

  // Null, true, false and fractions mean nothing anywhere that matters.
  static bool value() { return true; }

  bool path_node(const std::string& name) {
    if (document_.path_nodes.size() == kMaxPathNodes) return refuse("too many nodes in paths");
    document_.path_nodes.push_back(intern(name));
    return true;
  }

  Name intern(const std::string& name) {
    const auto [at, added] = names_.try_emplace(name, static_cast<Name>(document_.names.size()));
    if (added) document_.names.push_back(name);
    return at->second;
  }

  DocumentGenerator& generator() { return document_.symmetry[list_].back(); }
  DocumentTree& tree() { return document_.lists[list_]->back(); }

  bool refuse(std::string message) {
    error_ = make_error(Code::F01, std::move(message), "give a file that `to_forest_json` wrote",
                        {.file = std::string(file_), .where = path_});
    return false;
  }

  std::string_view file_;
  ForestDocument document_;
  Diagnostic error_;
  std::string path_;
  std::vector<std::size_t> begins_;  ///< of the open objects and arrays: lengths of the path
  std::size_t list_ = 0;
  std::unordered_map<std::string, Name> names_;
};

}  // namespace

Expected<ForestDocument> read_forest_document(std::string_view text, std::string_view file) {
  Reader reader(file);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) return reader.error();
  return reader.take();
}

}  // namespace forestcoll::forest
