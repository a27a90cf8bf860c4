// Clusters of real machines.
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/format/units.hpp"
#include "topology/generate/boxes.hpp"
#include "topology/generate/fabric.hpp"
#include "topology/generate/machine.hpp"
#include "topology/generate/makers.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::int64_t kMostBoxes = 100'000;

FabricOptions read_fabric(Parameters& parameters) {
  FabricOptions options;
  options.kind = find_fabric(parameters.choice("fabric", fabric_names())).value_or(options.kind);
  const std::int64_t usual = options.kind == FabricKind::rail_spine ? 32 : 4;
  const std::int64_t asked = parameters.integer("boxes-per-leaf", 0, kMostBoxes);
  options.boxes_per_leaf = static_cast<std::size_t>(asked == 0 ? usual : asked);
  options.spines = static_cast<std::size_t>(parameters.integer("spines", 1, 1024));
  options.oversubscription = parameters.factor("oversubscription");
  options.in_network = parameters.choice("sharp", {"no", "yes"}) == "yes";
  return options;
}

bool has_spines(FabricKind kind) {
  return kind == FabricKind::rail_spine || kind == FabricKind::fat_tree;
}

std::string title(const BoxModel& model, std::size_t boxes, const FabricOptions& options,
                  const std::string& fabric) {
  if (boxes == 1 && options.kind == FabricKind::none) return model.name;
  std::string text = fmt::format("{}x {}, {}", boxes, model.name, fabric);
  if (has_spines(options.kind)) {
    text += fmt::format(" {}:1", options.oversubscription.to_string());
  }
  return text;
}

// What one box alone has no use for.
void check_alone(Parameters& parameters, const FabricOptions& options) {
  for (const std::string_view name :
       {"fabric", "nic-bandwidth", "oversubscription", "boxes-per-leaf", "spines", "sharp"}) {
    const bool says_so = name == "fabric" && options.kind == FabricKind::none;
    if (!parameters.given(name) || says_so) continue;
    parameters.refuse(name, "one box has no fabric", "Leave it out, or ask for more `boxes`.");
  }
}

void check_fabric(Parameters& parameters, const FabricOptions& options, std::int64_t boxes) {
  if (options.kind == FabricKind::none) {
    parameters.refuse("fabric",
                      fmt::format("none leaves {} boxes without a way between them", boxes),
                      "Choose single, odd-even, rail, rail-spine or fat-tree.");
  }
  if (has_spines(options.kind)) return;
  if (options.oversubscription != Ratio(1)) {
    parameters.refuse("oversubscription", "this fabric has no spines",
                      "Only `fabric=rail-spine` and fat-tree have uplinks to save on.");
  }
  for (const std::string_view name : {"spines", "boxes-per-leaf"}) {
    if (!parameters.given(name)) continue;
    parameters.refuse(name, "this fabric has no leaves and spines",
                      "Only `fabric=rail-spine` and fat-tree of several boxes have them.");
  }
}

TopologyDocument cluster(const BoxModel& model, Parameters& parameters) {
  const std::int64_t boxes = parameters.integer("boxes", 1, kMostBoxes);
  FabricOptions options = read_fabric(parameters);
  options.link_kind = model.nic_kind;
  const NamedBandwidth nic = parameters.bandwidth("nic-bandwidth");
  const bool alone = boxes == 1;
  if (alone) {
    check_alone(parameters, options);
    options.kind = FabricKind::none;
  } else {
    check_fabric(parameters, options, boxes);
  }

  std::string fabric = "none";
  for (const std::string& name : fabric_names()) {
    if (find_fabric(name) == options.kind) fabric = name;
  }
  TopologyDocument document;
  document.name = title(model, static_cast<std::size_t>(boxes), options, fabric);
  document.description = model.summary + ".";
  document.metadata = model.metadata;
  if (alone) {
    document.description += " The NICs are left out: they lead nowhere.";
    document.top = model.inside;
    return document;
  }
  if (has_spines(options.kind)) {
    document.description +=
        " The uplinks of a leaf bring what enters it from below, divided by the oversubscription.";
  }
  document.templates = {{model.name, with_nics(model)}};
  const auto count = static_cast<std::size_t>(boxes);
  document.boxes = {{id_range("box", count), model.name}};
  add_fabric(document, {{"box", count, ports_of(model), model.nics, nic}}, options);
  return document;
}

std::vector<GeneratorParameter> cluster_parameters(const BoxModel& model) {
  return {
      {"boxes", "how many; with one there is no fabric", "1"},
      {"fabric",
       "what joins them: single, odd-even, rail (one switch per NIC number), rail-spine "
       "(leaves per rail, joined by spines) or fat-tree (leaves per few boxes)",
       "rail"},
      {"nic-bandwidth", "of each NIC, per direction", model.nic_bandwidth},
      {"oversubscription", "of the leaves of rail-spine and fat-tree, as 2 or 2:1", "1"},
      {"boxes-per-leaf", "boxes on one leaf; 0: 32 for rail-spine, 4 for fat-tree", "0"},
      {"spines", "switches above the leaves", "4"},
      {"sharp", "yes: in-network multicast and reduction in the fabric's switches (SHARP)", "no"}};
}

// A box that has no NICs.
TopologyDocument single_box(const BoxModel& model) {
  TopologyDocument document;
  document.name = model.name;
  document.description = model.summary + ".";
  document.metadata = model.metadata;
  document.top = model.inside;
  return document;
}

// Two and more generations on one fabric.
TopologyDocument mixed(Parameters& parameters) {
  FabricOptions options;
  options.kind = find_fabric(parameters.choice("fabric", {"single", "odd-even", "rail"}))
                     .value_or(FabricKind::single);
  TopologyDocument document;
  document.description = "Boxes of several generations on one fabric, each with its own NICs.";
  std::vector<BoxGroup> groups;
  for (const auto& [parameter, name] :
       {std::pair("a100", "dgx-a100"), {"h100", "dgx-h100"}, {"b200", "dgx-b200"}}) {
    const auto count = static_cast<std::size_t>(parameters.integer(parameter, 0, kMostBoxes));
    if (count == 0) continue;
    const BoxModel& model = box_model(name);
    document.name += fmt::format("{}{}x {}", document.name.empty() ? "" : " and ", count, name);
    document.metadata.emplace_back("source of " + model.name, model.metadata.front().second);
    document.templates.push_back({model.name, with_nics(model)});
    document.boxes.push_back({id_range(parameter + std::string("-"), count), model.name});
    const auto bandwidth = parse_quantity(Quantity::bandwidth, model.nic_bandwidth, 1);
    groups.push_back({parameter + std::string("-"),
                      count,
                      ports_of(model),
                      model.nics,
                      {model.nic_bandwidth, bandwidth.value_or(1)}});
  }
  if (groups.empty()) {
    parameters.refuse("a100", "a cluster of no boxes", "Give `a100`, `h100` or `b200` a number.");
    return document;
  }
  add_fabric(document, groups, options);
  return document;
}

}  // namespace

Maker maker_of(const BoxModel& model) {
  if (model.nics == 0) {
    return {{model.name, model.summary, {}}, [model](Parameters&) { return single_box(model); }};
  }
  return {{model.name, model.summary, cluster_parameters(model)},
          [model](Parameters& parameters) { return cluster(model, parameters); }};
}

std::vector<Maker> box_makers() {
  std::vector<Maker> makers;
  for (const Machine& machine : bundled_machines()) {
    if (machine.box) makers.push_back(maker_of(*machine.box));
  }
  makers.push_back({{"mixed",
                     "DGX boxes of several generations on one fabric",
                     {{"a100", "how many DGX A100", "2"},
                      {"h100", "how many DGX H100", "2"},
                      {"b200", "how many DGX B200", "0"},
                      {"fabric", "what joins them: single, odd-even or rail", "single"}}},
                    mixed});
  return makers;
}

}  // namespace forestcoll::topology
