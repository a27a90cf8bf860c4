// OptCCL's topologies: components of a node, edges, and bounds of sets of edges, which are the only
// bandwidths; several nodes are joined by rails.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/words.hpp"
#include "topology/format/json_value.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {
namespace {

using topology::JsonValue;
using topology::Place;
using Kind = JsonValue::Kind;
using Edge = std::pair<std::string, std::string>;

constexpr const char* kAsWritten = "Give a topology spec as OptCCL reads it.";

// A bound of what several edges carry together, or one alone.
struct EdgeBound {
  std::string name;
  std::vector<Edge> edges;
  Ratio bound;
};

class SpecReader {
 public:
  explicit SpecReader(const Context& context) : context_(context), builder_(context) {}

  std::optional<Graph> read() {
    const auto root = topology::parse_json(context_.text, context_.findings);
    if (!root) return std::nullopt;
    const Place top;
    const JsonValue* expansion = root->find("expansion");
    const Place in_expansion(top, "expansion");
    if (expansion != nullptr) read_expansion(*expansion, in_expansion);
    read_components(*root, top);
    read_nics(*root, top);
    read_edges(*root, top);
    read_bounds(*root, top);
    if (failed_ || !join_nodes()) return std::nullopt;
    for (std::size_t n = 0; n < context_.options.boxes; ++n) add_links(n);
    say_what_was_taken();
    auto graph = builder_.finish("", "");
    if (graph) graph->limits = std::move(limits_);
    return graph;
  }

 private:
  void refuse(Code code, const Place& place, const std::string& expected, const JsonValue* found) {
    context_.findings.error(code, place.pointer(),
                            fmt::format("expected {}, found {}", expected,
                                        found == nullptr ? "nothing" : topology::describe(*found)),
                            kAsWritten);
    failed_ = true;
  }

  const std::vector<JsonValue>& list_of(const JsonValue& object, const Place& parent,
                                        std::string_view key, bool is_needed) {
    static const std::vector<JsonValue> kNone;
    const JsonValue* value = object.find(key);
    if (value != nullptr && value->kind == Kind::array) return value->items;
    if (value != nullptr || is_needed) refuse(Code::I01, Place(parent, key), "a list", value);
    return kNone;
  }

  // A text, a number, or parts: ["g", 1] is g1, ["s_1", 1] is s_1-1.
  std::string id_of(const JsonValue* value, const Place& place) {
    std::string id;
    if (value != nullptr) add_to_id(*value, id);
    if (id.empty()) refuse(Code::I01, place, "an id such as [\"g\", 1]", value);
    return id;
  }
  static void add_to_id(const JsonValue& value, std::string& id) {
    for (const JsonValue& part : value.items) add_to_id(part, id);
    if (value.kind != Kind::string && value.kind != Kind::number) return;
    const bool ends_with_digit = !id.empty() && is_digit(id.back());
    if (ends_with_digit) id += '-';
    id += value.text;
  }

  // In a box, where there are several nodes.
  [[nodiscard]] std::string in_node(std::size_t node, const std::string& id) const {
    return context_.options.boxes > 1 ? fmt::format("box{}/{}", node, id) : id;
  }

  void read_expansion(const JsonValue& value, const Place& place) {
    const JsonValue* type = value.find("type");
    if (type != nullptr && type->text != "multirail") {
      return refuse(Code::I08, Place(place, "type"), "multirail", type);
    }
    const JsonValue* params = value.find("params");
    const JsonValue* bandwidth = params == nullptr ? nullptr : params->find("connection_bw");
    if (bandwidth != nullptr) {
      rail_ = parse_ratio(bandwidth->text);
      const Place in_params(place, "params");
      if (!rail_ || *rail_ <= 0) {
        refuse(Code::I03, Place(in_params, "connection_bw"), "GB/s", bandwidth);
      }
    }
  }

  void read_components(const JsonValue& root, const Place& top) {
    const Place place(top, "components");
    const auto& list = list_of(root, top, "components", true);
    if (list.size() * context_.options.boxes > kMaxParts) {
      return refuse(Code::I09, place, fmt::format("at most {} components in all", kMaxParts),
                    root.find("components"));
    }
    std::vector<std::pair<std::string, Attributes>> components;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Place at(place, i);
      const std::string id = id_of(list[i].find("id"), Place(at, "id"));
      components.emplace_back(id, attributes_of(list[i], at));
      known_.insert(id);
    }
    if (failed_) return;
    // Box by box: so ranks are in the order of OptCCL's workloads.
    for (std::size_t n = 0; n < context_.options.boxes; ++n) {
      for (std::size_t i = 0; i < components.size(); ++i) {
        auto [id, attributes] = components[i];
        if (context_.options.boxes > 1) attributes["box"] = fmt::format("box{}", n);
        builder_.add_node(in_node(n, id), attributes, [&] { return Place(place, i).pointer(); });
      }
    }
  }

  // What may copy and combine, of what is no GPU.
  Attributes attributes_of(const JsonValue& component, const Place& place) {
    std::set<std::string> capabilities;
    const JsonValue* type = component.find("type");
    if (type != nullptr) {
      if (type->text == "gpu") capabilities.insert("gpu");
      if (type->text == "mem") capabilities.insert("copy");
      if (type->text != "gpu" && type->text != "mem" && type->text != "switch") {
        refuse(Code::I03, Place(place, "type"), "gpu, mem or switch", type);
      }
    }
    for (const JsonValue& each : list_of(component, place, "capabilities", false)) {
      if (each.text != "gpu" && each.text != "storage" && each.text != "copy" &&
          each.text != "reduce") {
        refuse(Code::I03, Place(place, "capabilities"), "gpu, storage, copy or reduce", &each);
      }
      capabilities.insert(each.text);
    }
    if (capabilities.contains("gpu")) return {{"type", "compute"}};
    Attributes attributes = {{"type", "switch"}};
    if (capabilities.contains("copy")) attributes["multicast"] = "true";
    if (capabilities.contains("reduce")) attributes["reduce"] = "true";
    return attributes;
  }

  void read_nics(const JsonValue& root, const Place& top) {
    const Place place(top, "nics");
    const auto& list = list_of(root, top, "nics", false);
    for (std::size_t i = 0; i < list.size(); ++i) {
      nics_.push_back(id_of(&list[i], Place(place, i)));
      if (!known_.contains(nics_.back())) {
        refuse(Code::I02, Place(place, i), "a component", &list[i]);
      }
    }
  }

  void read_edges(const JsonValue& root, const Place& top) {
    const Place place(top, "edges");
    const auto& list = list_of(root, top, "edges", true);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Place at(place, i);
      Edge edge{id_of(list[i].find("src"), Place(at, "src")),
                id_of(list[i].find("dst"), Place(at, "dst"))};
      if (!known_.contains(edge.first) || !known_.contains(edge.second)) {
        refuse(Code::I02, at, "an edge of two components", &list[i]);
      }
      if (edge.first == edge.second) continue;  // data that stays needs no link
      edges_.push_back(std::move(edge));
    }
    std::ranges::sort(edges_);
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  }

  void read_bounds(const JsonValue& root, const Place& top) {
    const Place place(top, "bandwidth_constraints");
    const auto& list = list_of(root, top, "bandwidth_constraints", true);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Place at(place, i);
      const JsonValue* name = list[i].find("name");
      const JsonValue* bound = list[i].find("bound");
      const auto value =
          bound != nullptr && bound->kind == Kind::number ? parse_ratio(bound->text) : std::nullopt;
      if (!value || *value <= 0) {
        refuse(Code::I03, Place(at, "bound"), "GB/s", bound);
        continue;
      }
      EdgeBound each{name == nullptr ? "" : name->text, {}, *value};
      for (const JsonValue& pair : list_of(list[i], at, "edges", true)) {
        if (pair.items.size() != 2) {
          refuse(Code::I01, Place(at, "edges"), "pairs of components", &pair);
          continue;
        }
        Edge edge{id_of(&pair.items[0], at), id_of(&pair.items[1], at)};
        // OptCCL takes bounds of edges that lead the other way alone, and they bound nothing.
        if (std::ranges::binary_search(edges_, edge)) each.edges.push_back(std::move(edge));
      }
      if (!each.edges.empty()) bounds_.push_back(std::move(each));
    }
    find_bandwidths();
  }

  // The least of what bounds an edge; what nothing bounds carries as much as all bounds together.
  void find_bandwidths() {
    Ratio all = 1;
    for (const EdgeBound& bound : bounds_) {
      const auto sum = checked_add(all, bound.bound);
      if (sum) all = *sum;
      for (const Edge& edge : bound.edges) {
        const auto [at, is_new] = bandwidth_.emplace(edge, bound.bound);
        if (!is_new) at->second = std::min(at->second, bound.bound);
        if (bound.edges.size() == 1) kind_[edge] = bound.name == "nv" ? "nvlink" : bound.name;
      }
    }
    for (const Edge& edge : edges_) free_ += bandwidth_.emplace(edge, all).second ? 1 : 0;
    all_ = all;
  }

  // OptCCL's only way of joining nodes: a switch for each NIC.
  bool join_nodes() {
    if (context_.options.boxes < 2) return true;
    rail_ = context_.options.nic_bandwidth ? context_.options.nic_bandwidth : rail_;
    if (nics_.empty() || !rail_) {
      context_.findings.error(Code::I05, "/expansion",
                              nics_.empty() ? "the spec names no NIC, and there are several boxes"
                                            : "nothing says what a NIC carries between boxes",
                              nics_.empty()
                                  ? "Name them in the list of nics, or import one box."
                                  : "Give `nic_bandwidth`, or connection_bw in the file.");
      return false;
    }
    for (const std::string& nic : nics_) {
      const auto where = [] { return std::string("/nics"); };
      const std::string rail = "rail-" + nic;
      builder_.add_node(rail, {{"type", "switch"}}, where);
      for (std::size_t n = 0; n < context_.options.boxes; ++n) {
        builder_.add_link(in_node(n, nic), rail,
                          {{"bandwidth", rail_->to_string()}, {"kind", "ib"}}, false, where);
      }
    }
    return true;
  }

  void add_links(std::size_t node) {
    const auto where = [] { return std::string("/edges"); };
    for (const Edge& edge : edges_) {
      Attributes attributes = {{"bandwidth", bandwidth_.at(edge).to_string()}};
      if (const auto kind = kind_.find(edge); kind != kind_.end()) {
        attributes["kind"] = kind->second;
      }
      builder_.add_link(in_node(node, edge.first), in_node(node, edge.second), attributes, true,
                        where);
    }
    for (const EdgeBound& bound : bounds_) {
      if (bound.edges.size() < 2) continue;
      LimitText limit{limit_name(bound.name), {}, {}, bound.bound.to_string()};
      for (const Edge& edge : bound.edges) {
        limit.links.push_back(in_node(node, edge.first) + "->" + in_node(node, edge.second));
      }
      limits_.push_back(std::move(limit));
    }
  }

  // "pcie", "pcie 2": a spec has one name for all bounds of a kind.
  [[nodiscard]] std::string limit_name(const std::string& name) {
    const int number = ++limits_named_[name];
    return name.empty() || number == 1 ? name : fmt::format("{} {}", name, number);
  }

  void say_what_was_taken() const {
    context_.report.left_out.emplace_back("the costs of edges, which are of OptCCL's objective");
    if (free_ == 0) return;
    context_.report.guesses.push_back(fmt::format(
        "{} edges that nothing bounds carry {} GB/s, as much as all bounds of a node together",
        free_, shown(all_)));
  }

  const Context& context_;
  GraphBuilder builder_;
  bool failed_ = false;
  std::set<std::string> known_;
  std::vector<std::string> nics_;
  std::vector<Edge> edges_;  // sorted
  std::vector<EdgeBound> bounds_;
  std::map<Edge, Ratio> bandwidth_;
  std::map<Edge, std::string> kind_;
  std::vector<LimitText> limits_;
  std::map<std::string, int> limits_named_;  // so many, by the spec's name
  std::optional<Ratio> rail_;
  std::size_t free_ = 0;
  Ratio all_;
};

}  // namespace

std::optional<Graph> read_optccl(const Context& context) {
  return SpecReader(context).read();
}

}  // namespace forestcoll::importing
