// A SAX reader: a stack of what the text is inside of, and one function per kind of value.
#include "audit/flows/file.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <utility>

#include "audit/common/json_events.hpp"
#include "base/words.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMaxFlowPaths = 8'000'000;
constexpr std::size_t kMaxFlowNodes = 100'000'000;

enum class FlowsInside {
  nothing,
  file,
  fraction,
  ranks,
  pairs,
  pair,
  paths,
  path,
  nodes,
  rounds,
  skipped
};

class FlowsReader : public JsonEvents<FlowsReader, FlowsInside> {
 public:
  using JsonEvents::JsonEvents;

  FlowsFile take() { return std::move(flows_); }

  bool key(std::string_view value);
  bool number(std::int64_t value);
  bool number_float(std::string_view text);
  bool string(std::string_view value);
  bool start_object();
  bool start_array();
  static constexpr auto kFields = std::to_array<JsonField<FlowsInside>>({
      {FlowsInside::file, "version k rounds own_bytes", "an integer"},
      {FlowsInside::file, "format collective root", "a string"},
      {FlowsInside::file, "algbw algbw_in_rounds optimum", "an object with \"exact\""},
      {FlowsInside::file, "ranks pairs", "an array"},
      {FlowsInside::file, "topology", ""},
      {FlowsInside::fraction, "value", "a number"},
      {FlowsInside::fraction, "exact", "a string"},
      {FlowsInside::ranks, "", "a node's id"},
      {FlowsInside::pairs, "", "an object"},
      {FlowsInside::pair, "src dst", "a node's id"},
      {FlowsInside::pair, "bytes", "an integer"},
      {FlowsInside::pair, "paths", "an array"},
      {FlowsInside::paths, "", "an object"},
      {FlowsInside::path, "share", "a string"},
      {FlowsInside::path, "path rounds", "an array"},
      {FlowsInside::nodes, "", "a node's id"},
      {FlowsInside::rounds, "", "an integer"},
  });
  [[nodiscard]] std::string where() const {
    return flows_.pairs.empty() ? fmt::format("/{}", key_)
                                : fmt::format("pair {}", flows_.pairs.size() - 1);
  }
  [[nodiscard]] std::string location() const {
    return flows_.pairs.empty() ? "" : fmt::format(", in pair {}", flows_.pairs.size() - 1);
  }

 private:
  std::int64_t* integer();
  std::string* text();
  FlowsRate& rate();
  FlowNode intern(std::string_view id) {
    const auto [at, added] =
        nodes_.try_emplace(std::string(id), static_cast<FlowNode>(flows_.ids.size()));
    if (added) flows_.ids.emplace_back(id);
    return at->second;
  }
  bool add_node(std::vector<FlowNode>& list, std::string_view id) {
    if (++listed_ > kMaxFlowNodes) return refuse("too many nodes in paths");
    list.push_back(intern(id));
    return true;
  }

  FlowsFile flows_;
  std::string fraction_;
  std::unordered_map<std::string, FlowNode> nodes_;
  std::size_t listed_ = 0;
};

// Where an integer of this key goes, or null.
std::int64_t* FlowsReader::integer() {
  if (inside() == FlowsInside::file) {
    if (key_ == "version") return &flows_.version;
    if (key_ == "k") return &flows_.k;
    if (key_ == "rounds") return &flows_.rounds;
    if (key_ == "own_bytes") return &flows_.own_bytes.emplace();
  }
  if (inside() == FlowsInside::pair && key_ == "bytes") return &flows_.pairs.back().bytes.emplace();
  return nullptr;
}

// Where a text of this key goes, or null.
std::string* FlowsReader::text() {
  if (inside() == FlowsInside::file) {
    if (key_ == "format") return &flows_.format;
    if (key_ == "collective") return &flows_.collective;
    if (key_ == "root") return &flows_.root.emplace();
  }
  if (inside() == FlowsInside::path && key_ == "share") return &flows_.paths.back().share;
  return inside() == FlowsInside::fraction && key_ == "exact" ? &rate().exact.emplace() : nullptr;
}

// That of the object that is being read.
FlowsRate& FlowsReader::rate() {
  if (fraction_ == "algbw") return flows_.algbw;
  return fraction_ == "optimum" ? flows_.optimum : flows_.algbw_in_rounds;
}

bool FlowsReader::key(std::string_view value) {
  if (!JsonEvents::key(value)) return false;
  if (inside() != FlowsInside::skipped && known_field(value) == nullptr) {
    findings_.add(Rule::attribute, where(),
                  fmt::format("flows have no key \"{}\"", value.substr(0, 40)));
  }
  return true;
}

bool FlowsReader::number_float(std::string_view text) {
  const auto value = number_in<double>(text);
  const bool is_rate = inside() == FlowsInside::fraction && key_ == "value";
  if (!is_rate || !value) return other(text);
  rate().value = value;
  return true;
}

bool FlowsReader::number(std::int64_t value) {
  if (inside() == FlowsInside::fraction && key_ == "value") {
    rate().value = static_cast<double>(value);
  } else if (inside() == FlowsInside::rounds) {
    flows_.paths.back().rounds.push_back(value);
  } else if (std::int64_t* place = integer(); place != nullptr) {
    *place = value;
  } else {
    return other(std::to_string(value));
  }
  return true;
}

bool FlowsReader::string(std::string_view value) {
  if (inside() == FlowsInside::nodes) return add_node(flows_.paths.back().nodes, value);
  if (inside() == FlowsInside::ranks) return add_node(flows_.ranks, value);
  if (inside() == FlowsInside::pair && key_ == "src") {
    flows_.pairs.back().src = intern(value);
  } else if (inside() == FlowsInside::pair && key_ == "dst") {
    flows_.pairs.back().dst = intern(value);
  } else if (std::string* place = text(); place != nullptr) {
    *place = value;
  } else {
    return other(fmt::format("\"{}\"", value));
  }
  return true;
}

bool FlowsReader::start_object() {
  switch (inside()) {
    case FlowsInside::nothing:
      return push(FlowsInside::file);
    case FlowsInside::file:
      if (key_ != "algbw" && key_ != "algbw_in_rounds" && key_ != "optimum") break;
      fraction_ = key_;
      return push(FlowsInside::fraction);
    case FlowsInside::pairs:
      flows_.pairs.emplace_back();
      flows_.pairs.back().begin = flows_.pairs.back().end = flows_.paths.size();
      return push(FlowsInside::pair);
    case FlowsInside::paths:
      if (flows_.paths.size() == kMaxFlowPaths) return refuse("too many paths");
      flows_.paths.emplace_back();
      flows_.pairs.back().end = flows_.paths.size();
      return push(FlowsInside::path);
    default:
      break;
  }
  if (inside() != FlowsInside::skipped) other("an object");
  return push(FlowsInside::skipped);
}

bool FlowsReader::start_array() {
  switch (inside()) {
    case FlowsInside::nothing:
      return refuse("expected an object, found an array");
    case FlowsInside::file:
      if (key_ == "ranks") return push(FlowsInside::ranks);
      if (key_ == "pairs") return push(FlowsInside::pairs);
      break;
    case FlowsInside::pair:
      if (key_ == "paths") return push(FlowsInside::paths);
      break;
    case FlowsInside::path:
      if (key_ == "path") return push(FlowsInside::nodes);
      if (key_ == "rounds") return push(FlowsInside::rounds);
      break;
    default:
      break;
  }
  if (inside() != FlowsInside::skipped) other("an array");
  return push(FlowsInside::skipped);
}

}  // namespace

Expected<FlowsFile> read_flows(std::string_view text, std::string_view file, Findings& findings) {
  return read_json<FlowsReader>(text, file, findings);
}

}  // namespace forestcoll::audit
