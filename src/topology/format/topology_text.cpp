// The layout of the bundled files: an entry per line, keys in the order in which the format's table
// names them, defaults left out.
#include "forestcoll/topology_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "topology/format/json_value.hpp"
#include "topology/format/with_metadata.hpp"

namespace forestcoll {
namespace {

// A number may stand without quotes only where JSON has such a number.
bool is_json_number(const std::string& text) {
  return nlohmann::json::accept(text) &&
         text.find_first_not_of("0123456789+-.eE") == std::string::npos;
}

std::string number_or_text(const std::string& text) {
  return is_json_number(text) ? text : topology::quote_json(text);
}

// One object on one line.
class Line {
 public:
  void text(std::string_view key, const std::string& value) {
    raw(key, topology::quote_json(value));
  }
  void text_unless_empty(std::string_view key, const std::string& value) {
    if (!value.empty()) text(key, value);
  }
  void number(std::string_view key, const std::string& value) { raw(key, number_or_text(value)); }
  void flag_unless(bool standard, std::string_view key, bool value) {
    if (value != standard) raw(key, value ? "true" : "false");
  }
  void raw(std::string_view key, std::string_view value) {
    body_ += fmt::format("{}\"{}\": {}", body_.empty() ? "" : ", ", key, value);
  }
  [[nodiscard]] std::string str() const { return "{ " + body_ + " }"; }

 private:
  std::string body_;
};

std::string line_of(const NodeText& node) {
  Line line;
  line.text("id", node.ids);
  line.text("type", std::string(to_string(node.type)));
  line.text_unless_empty("box", node.box);
  line.flag_unless(false, "multicast", node.multicast);
  line.flag_unless(false, "reduce", node.reduce);
  if (node.multicast || node.reduce) line.flag_unless(true, "echo", node.echo);
  if (node.weight != Ratio(1)) line.number("weight", exact_text(node.weight));
  line.flag_unless(true, "enabled", node.enabled);
  return line.str();
}

std::string line_of(const LinkText& link) {
  Line line;
  line.text("src", link.src);
  line.text("dst", link.dst);
  if (link.zip) line.text("pair", "zip");
  line.number("bandwidth", link.bandwidth);
  if (link.count != 1) line.number("count", std::to_string(link.count));
  if (!link.full_duplex) line.text("duplex", "simplex");
  if (!link.latency.empty()) line.number("latency", link.latency);
  line.text_unless_empty("kind", link.kind);
  line.flag_unless(true, "enabled", link.enabled);
  if (!link.derate.empty() && link.derate != "1") line.number("derate", link.derate);
  return line.str();
}

template <class Items>
std::string list_of(const Items& items) {
  return "[" + listed(items) + "]";
}

std::string line_of(const LimitText& limit) {
  Line line;
  line.text_unless_empty("name", limit.name);
  std::vector<std::string> links, weights;
  for (const std::string& link : limit.links) links.push_back(topology::quote_json(link));
  for (const Ratio& weight : limit.weights) weights.push_back(number_or_text(exact_text(weight)));
  line.raw("links", list_of(links));
  line.number("bandwidth", limit.bandwidth);
  if (!weights.empty()) line.raw("weights", list_of(weights));
  return line.str();
}

std::string line_of(const BoxText& box) {
  Line line;
  line.text("id", box.ids);
  line.text("template", box.template_name);
  return line.str();
}

std::string line_of(const std::string& ids) {
  return topology::quote_json(ids);
}

template <class Entry>
std::string array_of(const std::vector<Entry>& entries, const std::string& indent) {
  if (entries.empty()) return "[]";
  if (entries.size() == 1) return "[" + line_of(entries.front()) + "]";
  std::string text = "[\n";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    text += indent + "  " + line_of(entries[i]) + (i + 1 < entries.size() ? ",\n" : "\n");
  }
  return text + indent + "]";
}

// Items of an object, one per line.
std::string join(const std::vector<std::string>& items, const std::string& indent) {
  std::string text = "{\n";
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += indent + "  " + items[i] + (i + 1 < items.size() ? ",\n" : "\n");
  }
  return text + indent + "}";
}

std::string templates_of(const std::vector<TemplateText>& templates) {
  std::vector<std::string> items;
  items.reserve(templates.size());
  for (const TemplateText& one : templates) {
    std::vector<std::string> parts = {"\"nodes\": " + array_of(one.section.nodes, "      "),
                                      "\"links\": " + array_of(one.section.links, "      ")};
    if (!one.section.limits.empty()) {
      parts.push_back("\"limits\": " + array_of(one.section.limits, "      "));
    }
    items.push_back(topology::quote_json(one.name) + ": " + join(parts, "    "));
  }
  return join(items, "  ");
}

std::string metadata_text(const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::vector<std::string> items;
  items.reserve(metadata.size());
  for (const auto& [key, value] : metadata)
    items.push_back(topology::quote_json(key) + ": " + topology::quote_json(value));
  return join(items, "  ");
}

// The digits of num / 10^places.
std::string decimal(std::int64_t num, int places) {
  std::string digits = std::to_string(num < 0 ? -num : num);
  const auto width = static_cast<std::size_t>(places) + 1;
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  if (places > 0) digits.insert(digits.size() - static_cast<std::size_t>(places), ".");
  return (num < 0 ? "-" : "") + digits;
}

// GB/s of one of a link's cables; nothing where no file can say it exactly.
std::optional<Ratio> of_one_cable(const TopologyLink& link) {
  const auto single = checked_div(link.bandwidth, Ratio(link.count));
  return single && parse_ratio(exact_text(*single)) == single ? single : std::nullopt;
}

using Directions = std::set<std::pair<NodeId, NodeId>>;

// Those that the text of a limit may name.
Directions directions_of(const Topology& topology) {
  Directions directions;
  for (const TopologyLink& link : topology.links) {
    directions.emplace(link.src, link.dst);
    if (link.full_duplex) directions.emplace(link.dst, link.src);
  }
  return directions;
}

// A link that was dropped in one direction has no entry in it.
LimitText text_of(const SharedLimit& limit, const Topology& topology,
                  const Directions& directions) {
  LimitText text{limit.name, {}, {}, exact_text(limit.bandwidth)};
  bool is_plain = true;
  for (const SharedLimit::Use& use : limit.uses) {
    if (!directions.contains({use.src, use.dst})) continue;
    text.links.push_back(topology.nodes[use.src].id + "->" + topology.nodes[use.dst].id);
    text.weights.push_back(use.weight);
    is_plain &= use.weight == Ratio(1);
  }
  if (is_plain) text.weights.clear();
  return text;
}

// Where an id is a prefix and a plain number at its end: both.
struct Numbered {
  std::string_view prefix;
  std::uint64_t index = 0;
};

std::optional<Numbered> numbered(std::string_view id) {
  if (id.find_first_of("[]") != std::string_view::npos) return std::nullopt;
  const std::size_t last = id.find_last_not_of("0123456789");
  const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
  const std::string_view digits = id.substr(begin);
  const bool padded = digits.size() > 1 && digits.front() == '0';
  if (digits.empty() || digits.size() > 9 || padded) return std::nullopt;
  return Numbered{id.substr(0, begin), *number_in<decltype(Numbered::index)>(digits)};
}

// Indices of one prefix, in the order met.
class Run {
 public:
  explicit Run(const Numbered& first) : prefix_(first.prefix) { add(first.index); }
  [[nodiscard]] bool takes(const Numbered& next) const { return next.prefix == prefix_; }
  void add(std::uint64_t index) {
    if (!ranges_.empty() && ranges_.back().second + 1 == index) {
      ranges_.back().second = index;
    } else {
      ranges_.emplace_back(index, index);
    }
  }
  [[nodiscard]] std::string str() const {
    std::string text;
    for (const auto& [first, last] : ranges_) {
      if (!text.empty()) text += ',';
      text += first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    }
    const bool single = ranges_.size() == 1 && ranges_[0].first == ranges_[0].second;
    return std::string(prefix_) + (single ? text : "[" + text + "]");
  }

 private:
  std::string_view prefix_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
};

}  // namespace

std::string topology::to_topology_json(const TopologyDocument& document, const Metadata& metadata) {
  std::vector<std::string> items = {"\"format\": \"forestcoll-topology\"", "\"version\": 1"};
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty())
      items.push_back(fmt::format("\"{}\": {}", key, topology::quote_json(value)));
  };
  text("name", document.name);
  text("description", document.description);
  if (!metadata.metadata.empty()) {
    items.push_back(fmt::format("\"metadata\": {}", metadata.metadata));
  }
  for (const auto& [key, value] : metadata.notes) {
    items.push_back(fmt::format("{}: {}", topology::quote_json(key), value));
  }
  items.emplace_back(R"("units": { "bandwidth": "GB/s", "latency": "us" })");
  if (!document.templates.empty()) {
    items.push_back("\"templates\": " + templates_of(document.templates));
  }
  const auto array = [&](const char* key, const auto& entries) {
    if (!entries.empty()) items.push_back(fmt::format("\"{}\": {}", key, array_of(entries, "  ")));
  };
  array("boxes", document.boxes);
  array("nodes", document.top.nodes);
  array("links", document.top.links);
  array("limits", document.top.limits);
  array("rank_order", document.rank_order);
  return join(items, "") + "\n";
}

std::string to_topology_json(const TopologyDocument& document) {
  Metadata metadata;
  if (!document.metadata.empty()) metadata.metadata = metadata_text(document.metadata);
  return topology::to_topology_json(document, metadata);
}

TopologyDocument flat_document(const Topology& topology) {
  TopologyDocument document{.name = topology.name, .description = topology.description};
  std::vector<std::string> by_appearance;
  for (const TopologyNode& node : topology.nodes) {
    document.top.nodes.push_back({.ids = node.id,
                                  .type = node.type,
                                  .box = node.box,
                                  .multicast = node.multicast,
                                  .reduce = node.reduce,
                                  .echo = node.echo,
                                  .enabled = node.enabled,
                                  .weight = node.weight});
    if (node.type == NodeType::compute && node.enabled) by_appearance.push_back(node.id);
  }
  for (const TopologyLink& link : topology.links) {
    const auto single = of_one_cable(link);
    document.top.links.push_back({.src = topology.nodes[link.src].id,
                                  .dst = topology.nodes[link.dst].id,
                                  .bandwidth = exact_text(single.value_or(link.bandwidth)),
                                  .kind = link.kind,
                                  .count = single ? link.count : 1,
                                  .latency = link.latency ? exact_text(*link.latency) : "",
                                  .full_duplex = link.full_duplex,
                                  .enabled = link.enabled});
  }
  if (!topology.limits.empty()) {
    const Directions directions = directions_of(topology);
    for (const SharedLimit& limit : topology.limits) {
      LimitText text = text_of(limit, topology, directions);
      if (!text.links.empty()) document.top.limits.push_back(std::move(text));
    }
  }
  std::vector<std::string> ranks;
  ranks.reserve(topology.ranks.size());
  for (const NodeId node : topology.ranks) ranks.push_back(topology.nodes[node].id);
  if (ranks != by_appearance) document.rank_order = compress_ids(ranks);
  return document;
}

std::string exact_text(const Ratio& value) {
  // A fraction is a decimal number exactly if its denominator has no factors but 2 and 5.
  std::int64_t den = value.den();
  int twos = 0, fives = 0;
  for (; den % 2 == 0; den /= 2) ++twos;
  for (; den % 5 == 0; den /= 5) ++fives;
  const int places = std::max(twos, fives);
  if (den != 1) return value.to_string();
  std::optional<Ratio> scaled = value;
  for (int i = 0; i < places && scaled; ++i) scaled = checked_mul(*scaled, Ratio(10));
  // The parser reads decimals of 18 digits, and fractions of more.
  constexpr std::int64_t kMostDigits = 1'000'000'000'000'000'000;
  const bool is_short = scaled && std::abs(scaled->num()) < kMostDigits && places < 18;
  return is_short ? decimal(scaled->num(), places) : value.to_string();
}

std::vector<std::string> compress_ids(const std::vector<std::string>& ids) {
  std::vector<std::string> lists;
  std::optional<Run> run;
  const auto close = [&] {
    if (run) lists.push_back(run->str());
    run.reset();
  };
  for (const std::string& id : ids) {
    const auto next = numbered(id);
    if (next && run && run->takes(*next)) {
      run->add(next->index);
      continue;
    }
    close();
    if (next) {
      run.emplace(*next);
    } else {
      lists.push_back(id);
    }
  }
  close();
  return lists;
}

std::string id_range(std::string_view prefix, std::size_t count) {
  return count == 1 ? fmt::format("{}0", prefix) : fmt::format("{}[0-{}]", prefix, count - 1);
}

}  // namespace forestcoll
