// From a machine's JSON to the model that generators use. Nodes, links and limits are read by the
// reader of topology files: a box is a template.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "topology/format/document.hpp"
#include "topology/format/fields.hpp"
#include "topology/format/json_value.hpp"
#include "topology/format/read_entries.hpp"
#include "topology/generate/machine.hpp"
#include "topology/generate/machine_texts.hpp"
#include "topology/model/typical_latency.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::string_view kMachineFormat = "forestcoll-machine";
constexpr std::size_t kMostText = 10'000;
constexpr std::size_t kMostGpus = 100'000;

// Where the file gives a link between GPUs no latency: a typical one of its kind.
std::string latency_text(const LinkEntry& link) {
  if (link.latency) return exact_text(*link.latency);
  const Medium medium = medium_of(link.kind);
  const bool is_typical = medium == Medium::nvlink || medium == Medium::xgmi;
  return is_typical ? exact_text(box_latency(medium)) : std::string();
}

NodeText text_of(const NodeEntry& node) {
  return {.ids = std::string(node.ids.text()),
          .type = node.type,
          .box = {},
          .multicast = node.multicast,
          .reduce = node.reduce,
          .echo = node.echo,
          .enabled = node.enabled,
          .weight = node.weight};
}

LinkText text_of(const LinkEntry& link) {
  const Ratio whole = Ratio(link.cables) * link.single;
  const Ratio left = link.bandwidth / whole;
  return {.src = std::string(link.src.text()),
          .dst = std::string(link.dst.text()),
          .bandwidth = std::string(link.text),
          .kind = link.kind,
          .zip = link.zip,
          .count = link.cables,
          .latency = latency_text(link),
          .full_duplex = link.full_duplex,
          .enabled = link.enabled,
          .derate = left == Ratio(1) ? std::string() : exact_text(left)};
}

LimitText text_of(const LimitEntry& limit) {
  LimitText text{limit.name, {}, {}, exact_text(limit.bandwidth)};
  bool is_plain = true;
  for (const LimitEntry::Links& links : limit.links) {
    text.links.emplace_back(links.text);
    text.weights.push_back(links.weight);
    is_plain &= links.weight == Ratio(1);
  }
  if (is_plain) text.weights.clear();
  return text;
}

SectionText text_of(const Section& section) {
  SectionText text;
  for (const NodeEntry& node : section.nodes) text.nodes.push_back(text_of(node));
  for (const LinkEntry& link : section.links) text.links.push_back(text_of(link));
  for (const LimitEntry& limit : section.limits) text.limits.push_back(text_of(limit));
  return text;
}

class MachineReader {
 public:
  MachineReader(const JsonValue& root, Findings& findings) : root_(root), findings_(findings) {}

  std::optional<Machine> read() {
    const Place top;
    if (!is_object(root_, top, "an object with the key \"format\"", findings_)) return {};
    const Fields fields(root_, top, findings_);
    if (!is_machine(fields)) return {};
    fields.check_keys({"format", "version", "name", "summary", "source", "urls", "date",
                       "published", "assumed", "measured", "gpu_parameters", "box", "nics",
                       "torus"});
    const std::string name = required(fields, "name");
    const std::string summary = required(fields, "summary");
    auto metadata = read_metadata(fields);
    Machine machine;
    if (fields.find("torus") != nullptr) {
      machine.torus = read_torus(fields);
      machine.torus->name = name;
      machine.torus->summary = summary;
      machine.torus->metadata = std::move(metadata);
    } else {
      machine.box = read_box(fields);
      machine.box->name = name;
      machine.box->summary = summary;
      machine.box->metadata = std::move(metadata);
    }
    if (findings_.has_errors()) return {};
    return machine;
  }

 private:
  bool is_machine(const Fields& fields) {
    const JsonValue* format = fields.find("format");
    const JsonValue* version = fields.find("version");
    const bool is_format = format != nullptr && format->kind == JsonValue::Kind::string &&
                           format->text == kMachineFormat;
    const bool is_version = version != nullptr && version->text == "1";
    if (!is_format) {
      fields.wrong("format", fmt::format("\"{}\"", kMachineFormat),
                   fmt::format("A machine's description begins {{ \"format\": \"{}\", \"version\": "
                               "1, …",
                               kMachineFormat));
    } else if (!is_version) {
      fields.wrong("version", "1", "This program reads version 1 of the format.");
    }
    return is_format && is_version;
  }

  // A text that is not empty.
  std::string required(const Fields& fields, std::string_view key) {
    auto text = fields.text(key, kMostText);
    if (text.ok && text.value.empty()) fields.wrong(key, "a text");
    return std::move(text.value);
  }

  std::vector<std::pair<std::string, std::string>> read_metadata(const Fields& fields) {
    std::vector<std::pair<std::string, std::string>> metadata;
    metadata.emplace_back("source", required(fields, "source"));
    if (std::string urls = read_urls(fields); !urls.empty()) metadata.emplace_back("urls", urls);
    for (const char* key : {"date", "published", "assumed", "measured", "gpu_parameters"}) {
      auto text = fields.text(key, kMostText);
      if (!text.value.empty()) metadata.emplace_back(key, std::move(text.value));
    }
    return metadata;
  }

  // All of them, with spaces between.
  std::string read_urls(const Fields& fields) {
    const JsonValue* list = fields.find("urls");
    if (list == nullptr) return {};
    std::string urls;
    bool ok = list->kind == JsonValue::Kind::array;
    for (const JsonValue& url : list->items) {
      ok = ok && url.kind == JsonValue::Kind::string && url.text.size() <= kMostText &&
           url.text.starts_with("http") && url.text.find_first_of(" \t\r\n") == std::string::npos;
      urls += (urls.empty() ? "" : " ") + url.text;
    }
    if (!ok) fields.wrong("urls", "an array of addresses such as [\"https://…\"]");
    return ok ? urls : std::string();
  }

  // The bandwidth at a key as it is written; empty, and E05, where it is none.
  std::string read_bandwidth_text(const Fields& fields, std::string_view key) {
    const auto value = fields.quantity(key, Quantity::bandwidth, 1);
    if (value && *value > 0) return fields.find(key)->text;
    const JsonValue* written = fields.find(key);
    findings_.error(Code::E05, fields.pointer(key),
                    fmt::format("expected a bandwidth such as 25 or \"200 Gb/s\", found {}",
                                written == nullptr ? "none" : describe(*written)),
                    remedy_of_bandwidth(written == nullptr ? "" : written->text));
    return {};
  }

  TorusModel read_torus(const Fields& machine) {
    TorusModel torus;
    for (const char* key : {"box", "nics"}) {
      if (machine.find(key) != nullptr) machine.ignored(key, "a torus has none", "Remove it.");
    }
    const JsonValue& value = *machine.find("torus");
    const Place top;
    const Place place(top, "torus");
    if (!is_object(value, place, "an object such as { \"dims\": \"4x4x4\", \"bandwidth\": 50 }",
                   findings_)) {
      return torus;
    }
    const Fields fields(value, place, findings_);
    fields.check_keys({"dims", "bandwidth"});
    torus.dims = required(fields, "dims");
    torus.bandwidth = read_bandwidth_text(fields, "bandwidth");
    return torus;
  }

  BoxModel read_box(const Fields& machine) {
    BoxModel box;
    const JsonValue* value = machine.find("box");
    if (value == nullptr) {
      machine.wrong("box", "the nodes and links of one box, or \"torus\"");
      return box;
    }
    const Place top;
    const Place place(top, "box");
    const Section section = read_template(*value, place, findings_);
    if (findings_.has_errors()) return box;
    read_gpus(section, box);
    read_nics(machine, box);
    if (!findings_.has_errors()) box.inside = text_of(section);
    return box;
  }

  // The GPUs are numbered from 0 on, in one entry: fabrics count on it.
  void read_gpus(const Section& section, BoxModel& box) {
    const NodeEntry* gpus = nullptr;
    bool ok = true;
    for (const NodeEntry& node : section.nodes) {
      if (node.type == NodeType::switch_node) continue;
      ok = ok && gpus == nullptr && node.type == NodeType::compute && node.enabled;
      gpus = &node;
    }
    if (gpus != nullptr) {
      const std::string_view text = gpus->ids.text();
      box.gpus = gpus->ids.count();
      box.gpu = text.substr(0, text.find('['));
      ok = ok && box.gpus >= 2 && box.gpus <= kMostGpus && text == id_range(box.gpu, box.gpus);
    }
    if (ok && gpus != nullptr) return;
    findings_.error(
        Code::E02, gpus == nullptr ? section.pointer + "/nodes" : section.where(*gpus),
        fmt::format("expected the compute nodes in one entry such as \"gpu[0-7]\", 2 to {} of them",
                    kMostGpus),
        "Number them from 0 on; nodes of other types are switches.");
  }

  void read_nics(const Fields& machine, BoxModel& box) {
    box.nics = 0;
    const JsonValue* value = machine.find("nics");
    if (value == nullptr) return;
    const Place top;
    const Place place(top, "nics");
    if (!is_object(*value, place, "an object such as { \"count\": 8, \"bandwidth\": 50 }",
                   findings_)) {
      return;
    }
    const Fields fields(*value, place, findings_);
    fields.check_keys({"count", "bandwidth", "pcie", "kind", "at"});
    box.nic_bandwidth = read_bandwidth_text(fields, "bandwidth");
    if (fields.find("pcie") != nullptr) box.pcie = read_bandwidth_text(fields, "pcie");
    if (auto kind = fields.text("kind", 64); !kind.value.empty()) box.nic_kind = kind.value;
    read_nic_count(fields, box);
    if (fields.find("at") != nullptr) read_nic_places(fields, box);
  }

  void read_nic_count(const Fields& fields, BoxModel& box) {
    const auto count = fields.quantity("count", Quantity::number, 1);
    const bool free = fields.find("at") != nullptr;
    if (count && count->den() == 1 && *count >= 1 && *count <= Ratio(std::int64_t{kMostGpus})) {
      box.nics = static_cast<std::size_t>(count->num());
      const bool alike = !box.pcie.empty() || box.nics == box.gpus;
      if (free || (alike && box.gpus % box.nics == 0)) return;
    }
    box.nics = 0;
    findings_.error(
        Code::E05, fields.pointer("count"),
        fmt::format("expected a number of NICs that divides the {} GPUs", box.gpus),
        "Without \"pcie\" each GPU is a port of its own; with \"at\" any number of NICs "
        "is possible.");
  }

  void read_nic_places(const Fields& fields, BoxModel& box) {
    const auto places = fields.ids("at");
    if (!places) return;
    box.nic_at = places->text();
    if (places->count() == box.nics && !box.pcie.empty()) return;
    findings_.error(Code::E10, fields.pointer("at"),
                    fmt::format("{} places of {} NICs{}", places->count(), box.nics,
                                box.pcie.empty() ? ", and no \"pcie\"" : ""),
                    "Name one node for each NIC, and the bandwidth of its slot as \"pcie\".");
  }

  const JsonValue& root_;
  Findings& findings_;
};

std::vector<Machine> read_bundled() {
  std::vector<Machine> machines;
  for (const MachineText& text : machine_texts()) {
    Findings findings(text.name);
    auto machine = read_machine(text.json, findings);
    FORESTCOLL_CHECK(machine.has_value(), "a bundled machine can be read");
    machines.push_back(*std::move(machine));
  }
  return machines;
}

}  // namespace

std::optional<Machine> read_machine(std::string_view text, Findings& findings) {
  const auto values = parse_json(text, findings);
  if (!values || findings.has_errors()) return std::nullopt;
  return MachineReader(*values, findings).read();
}

const std::vector<Machine>& bundled_machines() {
  static const std::vector<Machine> machines = read_bundled();
  return machines;
}

}  // namespace forestcoll::topology
