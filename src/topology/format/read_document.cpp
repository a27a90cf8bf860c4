// From JSON values to the entries of a topology file, key by key, as the format's table has them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "topology/format/document.hpp"
#include "topology/format/fields.hpp"
#include "topology/format/read_entries.hpp"
#include "topology/format/text_encoding.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::string_view kFormat = "forestcoll-topology";
constexpr std::size_t kMaxProse = 1'000'000;

class DocumentReader {
 public:
  DocumentReader(const JsonValue& root, Findings& findings) : root_(root), findings_(findings) {}

  Document read() {
    const Place top;
    if (!is_topology(top)) {
      document_.nodes_complete = document_.links_complete = false;
      return std::move(document_);
    }
    Fields fields(root_, top, findings_);
    static const std::initializer_list<std::string_view> kKnown = {
        "format",    "version", "name",  "description", "metadata", "units",
        "templates", "boxes",   "nodes", "links",       "limits",   "rank_order"};
    if (fields.find("boxes") != nullptr) {
      fields.check_keys(kKnown);
    } else {
      MisnamedKeys misnamed;
      fields.check_keys(kKnown, {"nodes", "links"}, misnamed);
      misnamed.report("keys", findings_);
    }
    document_.name = fields.text("name", kMaxProse).value;
    document_.description = fields.text("description", kMaxProse, kLayoutOfProse).value;
    read_units(fields);
    read_templates(fields);
    read_boxes(fields);
    read_section(fields, top, /*in_template=*/false, document_.top);
    read_rank_order(fields);
    return std::move(document_);
  }

  Section read_template(const JsonValue& value, const Place& place) {
    Section section;
    section.pointer = place.pointer();
    if (is_object(value, place, "an object with nodes and links", findings_)) {
      const Fields parts(value, place, findings_);
      parts.check_keys({"nodes", "links", "limits"});
      read_section(parts, place, /*in_template=*/true, section);
    } else {
      document_.nodes_complete = document_.links_complete = false;
    }
    return section;
  }

 private:
  // Is it this format at all? Everything else is read only if so.
  bool is_topology(const Place& place) {
    if (root_.kind != JsonValue::Kind::object) {
      findings_.error(
          Code::E02, "",
          fmt::format("expected an object with the key \"format\", found {}", describe(root_)),
          format_remedy());
      return false;
    }
    const Fields fields(root_, place, findings_);
    const JsonValue* format = fields.find("format");
    const bool is_format =
        format != nullptr && format->kind == JsonValue::Kind::string && format->text == kFormat;
    if (!is_format) fields.wrong("format", fmt::format("\"{}\"", kFormat), format_remedy());
    const JsonValue* version = fields.find("version");
    const bool is_version =
        version != nullptr && version->kind == JsonValue::Kind::number && version->text == "1";
    if (!is_version) fields.wrong("version", "1", "This program reads version 1 of the format.");
    return is_format && is_version;
  }

  static std::string format_remedy() {
    return fmt::format("A topology file begins {{ \"format\": \"{}\", \"version\": 1, …", kFormat);
  }

  void read_units(const Fields& fields) {
    const JsonValue* units = fields.find("units");
    if (units == nullptr) return;
    if (units->kind != JsonValue::Kind::object) {
      fields.wrong("units", "an object such as { \"bandwidth\": \"GB/s\" }");
      return;
    }
    const Place top;
    const Place place(top, "units");
    const Fields names(*units, place, findings_);
    names.check_keys({"bandwidth", "latency"});
    read_unit(names, "bandwidth", Quantity::bandwidth, units_.bandwidth);
    read_unit(names, "latency", Quantity::latency, units_.latency);
  }

  void read_unit(const Fields& fields, std::string_view key, Quantity quantity, Ratio& unit) {
    const JsonValue* name = fields.find(key);
    if (name == nullptr) return;
    const auto found = name->kind == JsonValue::Kind::string ? find_unit(quantity, name->text)
                                                             : std::optional<Ratio>();
    if (found) {
      unit = *found;
      return;
    }
    findings_.error(Code::E05, fields.pointer(key),
                    fmt::format("expected a unit of {}, found {}", key, describe(*name)),
                    fmt::format("Known units: {}.", known_units(quantity)));
  }

  // The array at a key; null, and E02 unless it is simply not there, where there is none.
  const JsonValue* array(const Fields& fields, std::string_view key) {
    const JsonValue* value = fields.find(key);
    if (value == nullptr || value->kind == JsonValue::Kind::array) return value;
    fields.wrong(key, "an array");
    return nullptr;
  }

  void read_templates(const Fields& fields) {
    const JsonValue* templates = fields.find("templates");
    if (templates == nullptr) return;
    if (templates->kind != JsonValue::Kind::object) {
      fields.wrong("templates", "an object that maps names to nodes and links");
      document_.nodes_complete = document_.links_complete = false;
      return;
    }
    const Place top;
    const Place all(top, "templates");
    for (std::size_t i = 0; i < templates->items.size(); ++i) {
      const std::string& name = templates->keys[i];
      if (name.starts_with("x-")) continue;
      const JsonValue& value = templates->items[i];
      const Place place(all, name);
      Section section = read_template(value, place);
      section.name = name;
      template_index_.emplace(name, document_.templates.size());
      document_.templates.push_back(std::move(section));
    }
  }

  void read_boxes(const Fields& fields) {
    const JsonValue* boxes = array(fields, "boxes");
    if (boxes == nullptr) {
      if (fields.find("boxes") != nullptr) document_.nodes_complete = false;
      return;
    }
    const Place top;
    const Place all(top, "boxes");
    MisnamedKeys misnamed;
    for (std::size_t i = 0; i < boxes->items.size(); ++i) {
      if (!read_box(boxes->items[i], Place(all, i), i, misnamed)) document_.nodes_complete = false;
    }
    misnamed.report("boxes", findings_);
  }

  bool read_box(const JsonValue& value, const Place& place, std::size_t position,
                MisnamedKeys& misnamed) {
    if (!is_object(value, place, "a box such as { \"id\": \"box[0-1]\", \"template\": \"dgx\" }",
                   findings_)) {
      return false;
    }
    Fields fields(value, place, findings_);
    fields.check_keys({"id", "template"}, {"id", "template"}, misnamed);
    const auto ids = fields.ids("id");
    const auto index = template_of(fields);
    if (!ids || !index) return false;
    document_.boxes.push_back({position, *ids, *index});
    return true;
  }

  std::optional<std::size_t> template_of(const Fields& fields) {
    const JsonValue* name = fields.find("template");
    if (name != nullptr && name->kind == JsonValue::Kind::string) {
      const auto found = template_index_.find(name->text);
      if (found != template_index_.end()) return found->second;
    }
    const std::string known = listed(
        std::span(document_.templates).first(std::min<std::size_t>(document_.templates.size(), 5)),
        [](const auto& each) { return quote(each.name); });
    fields.wrong("template", "the name of a template",
                 known.empty() ? "The file has no templates." : "Its templates: " + known + ".");
    return std::nullopt;
  }

  void read_section(const Fields& fields, const Place& place, bool in_template, Section& section) {
    const bool has_boxes = !in_template && fields.find("boxes") != nullptr;
    document_.nodes_complete &=
        read_all(fields, place, "nodes", /*required=*/!has_boxes, section.nodes,
                 [&](const JsonValue& value, const Place& at, MisnamedKeys& misnamed) {
                   return read_node(value, at, in_template, misnamed, findings_);
                 });
    document_.links_complete &=
        read_all(fields, place, "links", /*required=*/!has_boxes && !in_template, section.links,
                 [&](const JsonValue& value, const Place& at, MisnamedKeys& misnamed) {
                   return read_link(value, at, units_, misnamed, findings_);
                 });
    read_all(fields, place, "limits", /*required=*/false, section.limits,
             [&](const JsonValue& value, const Place& at, MisnamedKeys& misnamed) {
               return read_limit(value, at, units_, misnamed, findings_);
             });
  }

  // The entries of the array at a key. False where some of them, or all, could not be read.
  template <class Entry, class Read>
  bool read_all(const Fields& fields, const Place& place, std::string_view key, bool required,
                std::vector<Entry>& entries, const Read& read) {
    const JsonValue* list = array(fields, key);
    if (list == nullptr) {
      const bool is_there = fields.find(key) != nullptr;
      if (!is_there && required) fields.wrong(key, fmt::format("an array of {}", key));
      return !is_there && !required;
    }
    const Place all(place, key);
    MisnamedKeys misnamed;
    bool complete = true;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      auto entry = read(list->items[i], Place(all, i), misnamed);
      complete &= entry.has_value();
      if (!entry) continue;
      entry->position = i;
      entries.push_back(*std::move(entry));
    }
    misnamed.report(key, findings_);
    return complete;
  }

  void read_rank_order(const Fields& fields) {
    document_.has_rank_order = fields.find("rank_order") != nullptr;
    const JsonValue* order = array(fields, "rank_order");
    if (order == nullptr) {
      document_.rank_order_complete = !document_.has_rank_order;
      return;
    }
    const Place top;
    const Place all(top, "rank_order");
    for (std::size_t i = 0; i < order->items.size(); ++i) {
      const auto ids = read_ids(order->items[i], Place(all, i), findings_);
      if (ids) {
        document_.rank_order.push_back({i, *ids});
      } else {
        document_.rank_order_complete = false;
      }
    }
  }

  const JsonValue& root_;
  Findings& findings_;
  Document document_;
  Units units_;
  std::unordered_map<std::string_view, std::size_t> template_index_;
};

}  // namespace

Document read_document(const JsonValue& root, Findings& findings) {
  return DocumentReader(root, findings).read();
}

Section read_template(const JsonValue& value, const Place& place, Findings& findings) {
  return DocumentReader(value, findings).read_template(value, place);
}

}  // namespace forestcoll::topology
