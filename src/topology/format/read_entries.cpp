#include "topology/format/read_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "forestcoll/nearest.hpp"
#include "forestcoll/text.hpp"
#include "topology/format/fields.hpp"

namespace forestcoll::topology {
namespace {

// Labels are repeated on every node and link that an entry stands for.
constexpr std::size_t kMaxLabel = 64;

using TypeWord = std::pair<std::string_view, NodeType>;

constexpr std::array<TypeWord, 5> kTypeWords = {{{"compute", NodeType::compute},
                                                 {"switch", NodeType::switch_node},
                                                 {"relay", NodeType::relay},
                                                 {"gpu", NodeType::compute},
                                                 {"nic", NodeType::switch_node}}};

// What other tools and people write. Each has one meaning here, but is not of the format.
constexpr std::array<TypeWord, 24> kOtherTypeWords = {
    {{"accelerator", NodeType::compute},  {"device", NodeType::compute},
     {"gcd", NodeType::compute},          {"npu", NodeType::compute},
     {"rank", NodeType::compute},         {"tpu", NodeType::compute},
     {"xpu", NodeType::compute},          {"bridge", NodeType::switch_node},
     {"core", NodeType::switch_node},     {"cpu", NodeType::switch_node},
     {"hca", NodeType::switch_node},      {"hub", NodeType::switch_node},
     {"leaf", NodeType::switch_node},     {"nvsw", NodeType::switch_node},
     {"nvswitch", NodeType::switch_node}, {"pcie", NodeType::switch_node},
     {"plx", NodeType::switch_node},      {"rail", NodeType::switch_node},
     {"root", NodeType::switch_node},     {"router", NodeType::switch_node},
     {"spine", NodeType::switch_node},    {"sw", NodeType::switch_node},
     {"tor", NodeType::switch_node},      {"proxy", NodeType::relay}}};

// A machine is no node: it may stand for its GPUs, for its CPU, or for all that it holds.
constexpr std::array<std::string_view, 6> kMachineWords = {"host",    "server", "node",
                                                           "machine", "box",    "chassis"};

// The type that a file means by a word: the format's own, "gpu", which is "compute", or "nic",
// which is "switch"; nothing for any other.
std::optional<NodeType> node_type_called(std::string_view word) {
  const auto* found = std::ranges::find(kTypeWords, word, &TypeWord::first);
  if (found == kTypeWords.end()) return std::nullopt;
  return found->second;
}

// What to write in place of another word: "switch" for "leaf"; empty where nothing is known of it.
std::string remedy_of_type(std::string_view word) {
  const std::string lower = lower_case(word);
  if (std::ranges::find(kMachineWords, lower) != kMachineWords.end()) {
    return "Write \"compute\" for what has a rank, such as a GPU, and \"switch\" for what only "
           "passes "
           "data on, such as a CPU; which machine a node is in stands in its \"box\".";
  }
  auto type = node_type_called(lower);
  const auto* other = std::ranges::find(kOtherTypeWords, lower, &TypeWord::first);
  if (other != kOtherTypeWords.end()) type = other->second;
  if (type) return fmt::format("Write \"{}\".", to_string(*type));
  const auto name_of_type = [](const TypeWord& each) { return each.first; };
  const std::string meant = nearest_word(lower, kTypeWords, name_of_type);
  return meant.empty()
             ? "Write \"compute\" for what has a rank, \"switch\" for what only passes data on, "
               "\"relay\" for a GPU outside of the process group."
             : fmt::format("Did you mean \"{}\"?", meant);
}

bool read_type(const Fields& fields, NodeEntry& entry) {
  const JsonValue* written = fields.find("type");
  const bool is_text = written != nullptr && written->kind == JsonValue::Kind::string;
  const auto type = is_text ? node_type_called(written->text) : std::nullopt;
  if (!type) {
    fields.wrong("type", "\"compute\", \"switch\" or \"relay\"",
                 is_text ? remedy_of_type(written->text) : "");
    return false;
  }
  entry.type = *type;
  return true;
}

void read_weight(const Fields& fields, NodeEntry& entry, Findings& findings) {
  const JsonValue* written = fields.find("weight");
  if (written == nullptr) return;
  const auto weight = fields.quantity("weight", Quantity::number, 1);
  if (!weight || *weight < 0) {
    findings.error(
        Code::E05, fields.pointer("weight"),
        fmt::format("expected a weight such as 1, 0 or \"1/3\", found {}", describe(*written)),
        "A weight is a number or a fraction, not negative.");
  } else if (entry.type != NodeType::compute) {
    fields.ignored(
        "weight",
        entry.type == NodeType::relay ? "a relay has no weight" : "a switch has no weight",
        "Remove it; only compute nodes own data.");
  } else {
    entry.weight = *weight;
  }
}

// E12, and W06 for an echo of nothing.
void check_roles(const Fields& fields, const NodeEntry& entry, Findings& findings) {
  if (fields.find("echo") != nullptr && !entry.multicast && !entry.reduce) {
    fields.ignored("echo", "only a switch with \"multicast\" or \"reduce\" has an echo",
                   "Remove it, or say what the switch can do.");
  }
  if (entry.type == NodeType::switch_node) return;
  const std::array roles = {std::pair("multicast", entry.multicast),
                            std::pair("reduce", entry.reduce)};
  for (const auto& [key, value] : roles) {
    if (!value) continue;
    findings.error(Code::E12, fields.pointer(key),
                   fmt::format("\"{}\" on a {}", key,
                               entry.type == NodeType::relay ? "relay" : "compute node"),
                   "Only a switch copies or aggregates in the network; did you mean \"type\": "
                   "\"switch\"?");
  }
}

void read_latency(const Fields& fields, const Ratio& unit, LinkEntry& entry, Findings& findings) {
  const JsonValue* written = fields.find("latency");
  if (written == nullptr) return;
  const auto latency = fields.quantity("latency", Quantity::latency, unit);
  if (latency && *latency >= 0) {
    entry.latency = *latency;
    return;
  }
  findings.error(
      Code::E05, fields.pointer("latency"),
      fmt::format("expected a latency such as 0.7 or \"700 ns\", found {}", describe(*written)),
      fmt::format("It is not negative and has at most 18 digits; known units: {}.",
                  known_units(Quantity::latency)));
}

// How many parallel links there are: nothing, and E05, where that is out of range.
std::optional<std::int64_t> read_count(const Fields& fields, Findings& findings) {
  const JsonValue* written = fields.find("count");
  if (written == nullptr) return 1;
  const auto count = fields.quantity("count", Quantity::number, 1);
  const bool is_number = written->kind == JsonValue::Kind::number;
  if (is_number && count && *count > 0 && count->den() == 1) return count->num();
  findings.error(Code::E05, fields.pointer("count"),
                 fmt::format("expected a positive whole number, found {}", describe(*written)),
                 "Use \"enabled\": false to take a link out.");
  return std::nullopt;
}

std::optional<Ratio> read_derate(const Fields& fields, Findings& findings) {
  const JsonValue* written = fields.find("derate");
  if (written == nullptr) return Ratio(1);
  const auto derate = fields.quantity("derate", Quantity::number, 1);
  if (derate && *derate > 0 && *derate <= 1) return derate;
  findings.error(
      Code::E05, fields.pointer("derate"),
      fmt::format("expected a number above 0 and at most 1, found {}", describe(*written)),
      "It multiplies the bandwidth: 1 is healthy, 0.5 is half.");
  return std::nullopt;
}

void report_bandwidth(const Fields& fields, const Place& place, Findings& findings) {
  const JsonValue* written = fields.find("bandwidth");
  findings.error(Code::E05, written == nullptr ? place.pointer() : fields.pointer("bandwidth"),
                 fmt::format("expected a bandwidth such as 25 or \"200 Gb/s\", found {}",
                             written == nullptr ? "none" : describe(*written)),
                 remedy_of_bandwidth(written == nullptr ? "" : written->text));
}

// The links that a limit names. Nothing, and E02, where that is no list of texts.
std::optional<std::vector<LimitEntry::Links>> read_limited(const Fields& fields,
                                                           Findings& findings) {
  constexpr const char* kRemedy =
      "Write each link as a text: A->B, A~B for both directions, or kind=K.";
  const JsonValue* list = fields.find("links");
  if (list == nullptr || list->kind != JsonValue::Kind::array || list->items.empty()) {
    fields.wrong("links", "an array of links such as [\"gpu[0-3]->sw\", \"kind=pcie\"]", kRemedy);
    return std::nullopt;
  }
  std::vector<LimitEntry::Links> links;
  for (const JsonValue& item : list->items) {
    if (item.kind != JsonValue::Kind::string) {
      findings.error(Code::E02, fmt::format("{}/{}", fields.pointer("links"), links.size()),
                     fmt::format("expected a link such as \"gpu0->sw\", found {}", describe(item)),
                     kRemedy);
      return std::nullopt;
    }
    links.push_back({item.text});
  }
  return links;
}

// What a limit's links count, each as much as one byte over it; 1 where nothing says. False, and
// E05, where they are no weights.
bool read_weights(const Fields& fields, LimitEntry& entry, Findings& findings) {
  const JsonValue* list = fields.find("weights");
  if (list == nullptr) return true;
  bool ok = list->kind == JsonValue::Kind::array && list->items.size() == entry.links.size();
  for (std::size_t i = 0; ok && i < list->items.size(); ++i) {
    const JsonValue& item = list->items[i];
    const bool is_scalar =
        item.kind == JsonValue::Kind::number || item.kind == JsonValue::Kind::string;
    const auto weight = is_scalar ? parse_quantity(Quantity::number, item.text, 1) : std::nullopt;
    ok = weight && *weight > 0;
    if (ok) entry.links[i].weight = *weight;
  }
  if (ok) return true;
  findings.error(
      Code::E05, fields.pointer("weights"),
      fmt::format("expected {}, one for each item of \"links\"",
                  counted(entry.links.size(), "positive weight")),
      "A weight says how much a byte over the links takes of the limit; leave \"weights\" "
      "out where that is one byte.");
  return false;
}

void read_bandwidth(const Fields& fields, const Place& place, const Ratio& unit, LinkEntry& entry,
                    Findings& findings) {
  const auto single = fields.quantity("bandwidth", Quantity::bandwidth, unit);
  const bool is_positive = single && *single > 0;
  if (!is_positive) report_bandwidth(fields, place, findings);
  const auto count = read_count(fields, findings);
  const auto derate = read_derate(fields, findings);
  entry.readable = is_positive && count && derate;
  if (!entry.readable) return;
  const JsonValue& written = *fields.find("bandwidth");
  entry.single = *single;
  entry.text = written.text;
  entry.cables = *count;
  const auto parallel = checked_mul(*single, Ratio(*count));
  const auto total = parallel ? checked_mul(*parallel, *derate) : std::nullopt;
  entry.readable = total.has_value();
  if (total) {
    entry.bandwidth = *total;
    return;
  }
  findings.error(Code::E05, place.pointer(),
                 fmt::format("bandwidth {} × count {} × derate {} is too large or too fine for "
                             "exact arithmetic",
                             describe(written), *count, derate->to_string()),
                 "Write fewer digits.");
}

}  // namespace

bool is_object(const JsonValue& value, const Place& place, std::string_view expected,
               Findings& findings) {
  if (value.kind == JsonValue::Kind::object) return true;
  findings.error(Code::E02, place.pointer(),
                 fmt::format("expected {}, found {}", expected, describe(value)),
                 "Write an object in braces, or remove what stands here.");
  return false;
}

std::optional<NodeEntry> read_node(const JsonValue& value, const Place& place, bool in_template,
                                   MisnamedKeys& misnamed, Findings& findings) {
  if (!is_object(value, place, "a node such as { \"id\": \"gpu0\", \"type\": \"compute\" }",
                 findings)) {
    return std::nullopt;
  }
  Fields fields(value, place, findings);
  if (in_template) {
    // Its box is the instance.
    fields.check_keys({"id", "type", "multicast", "reduce", "echo", "weight", "enabled"},
                      {"id", "type"}, misnamed);
  } else {
    fields.check_keys({"id", "type", "box", "multicast", "reduce", "echo", "weight", "enabled"},
                      {"id", "type"}, misnamed);
  }
  NodeEntry entry;
  const auto ids = fields.ids("id");
  const bool has_type = read_type(fields, entry);
  if (!in_template) entry.box = fields.text("box", kMaxLabel).value;
  entry.multicast = fields.boolean("multicast", false).value;
  entry.reduce = fields.boolean("reduce", false).value;
  const bool echo = fields.boolean("echo", true).value;
  entry.echo = echo || (!entry.multicast && !entry.reduce);
  entry.enabled = fields.boolean("enabled", true).value;
  read_weight(fields, entry, findings);
  if (has_type) check_roles(fields, entry, findings);
  if (!ids || !has_type) return std::nullopt;
  entry.ids = *ids;
  return entry;
}

std::optional<LinkEntry> read_link(const JsonValue& value, const Place& place, const Units& units,
                                   MisnamedKeys& misnamed, Findings& findings) {
  if (!is_object(value, place,
                 "a link such as { \"src\": \"gpu0\", \"dst\": \"nvsw\", \"bandwidth\": 25 }",
                 findings)) {
    return std::nullopt;
  }
  Fields fields(value, place, findings);
  fields.check_keys({"src", "dst", "pair", "bandwidth", "count", "duplex", "latency", "kind",
                     "enabled", "derate"},
                    {"src", "dst", "bandwidth"}, misnamed);
  LinkEntry entry;
  const auto src = fields.ids("src");
  const auto dst = fields.ids("dst");
  const auto zip = fields.is_second("pair", "product", "zip");
  const auto simplex = fields.is_second(
      "duplex", "full", "simplex",
      "\"full\" is both ways at once, each with the whole bandwidth, and \"simplex\" one way. "
      "Where both ways share a bandwidth, write \"full\" and a limit on A~B "
      "(docs/shared-limits.md).");
  entry.zip = zip.value;
  entry.pair_given = fields.find("pair") != nullptr;
  entry.full_duplex = !simplex.value;
  entry.enabled = fields.boolean("enabled", true).value;
  entry.kind = fields.text("kind", kMaxLabel).value;
  read_latency(fields, units.latency, entry, findings);
  read_bandwidth(fields, place, units.bandwidth, entry, findings);
  if (!src || !dst || !zip.ok || !simplex.ok) return std::nullopt;
  if (zip.value && src->count() != dst->count()) {
    findings.error(
        Code::E10, place.pointer(),
        fmt::format("\"zip\" of {} ids in {} with {} in {}", src->count(), quote(src->text()),
                    dst->count(), quote(dst->text())),
        "Give both ends equally many ids. For links within each box write \"templates\" and "
        "\"boxes\", or an entry per box; without \"pair\" each is linked to each.");
    return std::nullopt;
  }
  entry.src = *src;
  entry.dst = *dst;
  return entry;
}

std::optional<LimitEntry> read_limit(const JsonValue& value, const Place& place, const Units& units,
                                     MisnamedKeys& misnamed, Findings& findings) {
  if (!is_object(value, place,
                 "a limit such as { \"links\": [\"gpu0->sw\", \"gpu1->sw\"], \"bandwidth\": 25 }",
                 findings)) {
    return std::nullopt;
  }
  Fields fields(value, place, findings);
  fields.check_keys({"name", "links", "bandwidth", "weights"}, {"links", "bandwidth"}, misnamed);
  LimitEntry entry;
  entry.name = fields.text("name", kMaxLabel).value;
  const auto bandwidth = fields.quantity("bandwidth", Quantity::bandwidth, units.bandwidth);
  const bool is_positive = bandwidth && *bandwidth > 0;
  if (!is_positive) report_bandwidth(fields, place, findings);
  auto links = read_limited(fields, findings);
  if (!links) return std::nullopt;
  entry.links = *std::move(links);
  if (!read_weights(fields, entry, findings) || !is_positive) return std::nullopt;
  entry.bandwidth = *bandwidth;
  return entry;
}

}  // namespace forestcoll::topology
