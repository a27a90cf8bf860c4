#include "topology/generate/boxes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "topology/generate/machine.hpp"
#include "topology/model/typical_latency.hpp"

namespace forestcoll::topology {
namespace {

LinkText pcie_link(std::string src, std::string dst, const std::string& bandwidth, bool at_bridge) {
  return {.src = std::move(src),
          .dst = std::move(dst),
          .bandwidth = bandwidth,
          .kind = "pcie",
          .zip = true,
          .latency = exact_text(pcie_latency(at_bridge))};
}

std::vector<BoxModel> boxes_with_nics() {
  std::vector<BoxModel> models;
  for (const Machine& machine : bundled_machines()) {
    if (machine.box && machine.box->nics > 0) models.push_back(*machine.box);
  }
  return models;
}

}  // namespace

const std::vector<BoxModel>& box_models() {
  static const std::vector<BoxModel> models = boxes_with_nics();
  return models;
}

const BoxModel& box_model(std::string_view name) {
  const auto& models = box_models();
  const auto at = std::ranges::find(models, name, &BoxModel::name);
  FORESTCOLL_CHECK(at != models.end(), "a box of a known kind");
  return *at;
}

Ports ports_of(const BoxModel& model) {
  if (model.pcie.empty()) return {model.gpu, model.gpu, true};
  // A node that GPUs share both ways would be a way from one to the other.
  if (model.nic_at.empty() && model.nics < model.gpus) return {"nic_out", "nic_in"};
  return {"nic", "nic"};
}

SectionText with_nics(const BoxModel& model) {
  SectionText section = model.inside;
  if (model.pcie.empty()) return section;
  const Ports ports = ports_of(model);
  const std::string gpus = id_range(model.gpu, model.gpus);
  section.nodes.push_back({.ids = id_range(ports.send, model.nics), .type = NodeType::switch_node});
  if (ports.one_node()) {
    const bool at_bridge = !model.nic_at.empty() && !model.nic_at.starts_with(model.gpu);
    section.links.push_back(pcie_link(model.nic_at.empty() ? gpus : model.nic_at,
                                      id_range(ports.send, model.nics), model.pcie, at_bridge));
    return section;
  }
  section.nodes.push_back(
      {.ids = id_range(ports.receive, model.nics), .type = NodeType::switch_node});
  const std::size_t share = model.gpus / model.nics;
  std::string nics;
  for (std::size_t gpu = 0; gpu < model.gpus; ++gpu) {
    nics += fmt::format("{}{}", nics.empty() ? "[" : ",", gpu / share);
  }
  nics += "]";
  for (const auto& [src, dst] :
       {std::pair(gpus, ports.send + nics), std::pair(ports.receive + nics, gpus)}) {
    LinkText link = pcie_link(src, dst, model.pcie, false);
    link.full_duplex = false;
    section.links.push_back(std::move(link));
  }
  return section;
}

}  // namespace forestcoll::topology
