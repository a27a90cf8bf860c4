// Bandwidths are nominal, per direction, as the vendors state them.
#include "topology/generate/boxes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "topology/model/typical_latency.hpp"

namespace forestcoll::topology {
namespace {

std::string box_link_latency(std::string_view kind) {
  const Medium medium = medium_of(kind);
  return exact_text(medium == Medium::pcie ? pcie_latency(false) : box_latency(medium));
}

LinkText pairs(std::string src, std::string dst, std::string bandwidth, std::int64_t count,
               std::string kind) {
  std::string latency = box_link_latency(kind);
  return {.src = std::move(src),
          .dst = std::move(dst),
          .bandwidth = std::move(bandwidth),
          .kind = std::move(kind),
          .zip = true,
          .count = count,
          .latency = std::move(latency)};
}

// GPUs on NVSwitches, taken as one switch.
SectionText on_nvswitch(std::size_t gpus, std::string per_link, std::int64_t links,
                        bool in_network) {
  const std::string ids = id_range("gpu", gpus);
  return {.nodes = {{.ids = ids},
                    {.ids = "nvsw",
                     .type = NodeType::switch_node,
                     .multicast = in_network,
                     .reduce = in_network}},
          .links = {{.src = ids,
                     .dst = "nvsw",
                     .bandwidth = std::move(per_link),
                     .kind = "nvlink",
                     .count = links,
                     .latency = box_link_latency("nvlink")}}};
}

SectionText hybrid_cube_mesh() {
  const auto link = [](std::string src, std::string dst, std::int64_t count) {
    return pairs(std::move(src), std::move(dst), "25", count, "nvlink");
  };
  return {.nodes = {{.ids = "gpu[0-7]"}},
          .links = {link("gpu[0,1,2]", "gpu[3,2,3]", 2), link("gpu[4,5,6]", "gpu[7,6,7]", 2),
                    link("gpu[0,0,1]", "gpu[1,2,3]", 1), link("gpu[4,4,5]", "gpu[5,6,7]", 1),
                    link("gpu[0,1]", "gpu[4,5]", 2), link("gpu[2,3]", "gpu[6,7]", 1)}};
}

SectionText mi250_dies() {
  const auto link = [](std::string src, std::string dst, std::int64_t count) {
    return pairs(std::move(src), std::move(dst), "50", count, "xgmi");
  };
  return {.nodes = {{.ids = "die[0-15]"}},
          .links = {link("die[0,2,4,6,8,10,12,14]", "die[1,3,5,7,9,11,13,15]", 4),
                    link("die[0,3,8,11]", "die[4,7,12,15]", 2),
                    link("die[0,1,2,3]", "die[8,9,10,11]", 1), link("die[1,2]", "die[10,9]", 1),
                    link("die[1,2,9,10]", "die[5,6,13,14]", 1),
                    link("die[4,5,5,12,13,13]", "die[6,6,7,14,14,15]", 1)}};
}

// What NVIDIA's boxes from H100 on differ in.
struct Generation {
  const char* product;
  int nvlink;
  const char* per_link;  ///< GB/s
  std::size_t gpus;
};

BoxModel since_h100(std::string name, std::string summary, const Generation& generation) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = fmt::format(
              "NVIDIA {} datasheet: eighteen NVLink {} links of {} GB/s per GPU to the NVLink "
              "switches, which copy and add in the network; one NDR InfiniBand NIC of 400 Gb/s per "
              "GPU; PCIe 5.0 x16, 64 GB/s",
              generation.product, generation.nvlink, generation.per_link),
          .gpus = generation.gpus,
          .inside = on_nvswitch(generation.gpus, generation.per_link, 18, true),
          .nics = generation.gpus,
          .nic_bandwidth = "400 Gb/s",
          .pcie = "64"};
}

SectionText all_to_all(std::size_t gpus, const std::string& bandwidth) {
  SectionText section{.nodes = {{.ids = id_range("gpu", gpus)}}, .links = {}};
  for (std::size_t i = 0; i + 1 < gpus; ++i) {
    section.links.push_back({.src = fmt::format("gpu{}", i),
                             .dst = i + 2 == gpus ? fmt::format("gpu{}", i + 1)
                                                  : fmt::format("gpu[{}-{}]", i + 1, gpus - 1),
                             .bandwidth = bandwidth,
                             .kind = "xgmi",
                             .latency = box_link_latency("xgmi")});
  }
  return section;
}

}  // namespace

std::vector<BoxModel> box_models() {
  return {
      {.name = "dgx-1v",
       .summary = "DGX-1 with 8 V100: a hybrid cube mesh of NVLink 2",
       .source = "NVIDIA DGX-1 with Tesla V100 whitepaper: six NVLink 2 links of 25 GB/s per GPU, "
                 "in the order that nvidia-smi topo -m shows; four EDR InfiniBand NICs of 100 "
                 "Gb/s, each on a PCIe switch with two GPUs; PCIe 3.0 x16, 16 GB/s",
       .inside = hybrid_cube_mesh(),
       .nics = 4,
       .nic_bandwidth = "100 Gb/s",
       .pcie = "16"},
      {.name = "dgx-2",
       .summary = "DGX-2 with 16 V100 on NVSwitches",
       .source = "NVIDIA DGX-2 datasheet: six NVLink 2 links of 25 GB/s per GPU to the NVSwitches; "
                 "eight EDR InfiniBand NICs of 100 Gb/s, each on a PCIe switch with two GPUs; PCIe "
                 "3.0 x16, 16 GB/s",
       .gpus = 16,
       .inside = on_nvswitch(16, "25", 6, false),
       .nics = 8,
       .nic_bandwidth = "100 Gb/s",
       .pcie = "16"},
      {.name = "dgx-a100",
       .summary = "DGX A100 with 8 A100 on NVSwitches",
       .source = "NVIDIA DGX A100 datasheet: twelve NVLink 3 links of 25 GB/s per GPU to the "
                 "NVSwitches; one HDR InfiniBand NIC of 200 Gb/s per GPU; PCIe 4.0 x16, 32 GB/s",
       .inside = on_nvswitch(8, "25", 12, false),
       .nic_bandwidth = "200 Gb/s",
       .pcie = "32"},
      since_h100("dgx-h100", "DGX H100 with 8 H100 on NVSwitches",
                 {.product = "DGX H100", .nvlink = 4, .per_link = "25", .gpus = 8}),
      since_h100("dgx-h200", "DGX H200 with 8 H200 on NVSwitches",
                 {.product = "DGX H200", .nvlink = 4, .per_link = "25", .gpus = 8}),
      since_h100("dgx-b200", "DGX B200 with 8 B200 on NVSwitches",
                 {.product = "DGX B200", .nvlink = 5, .per_link = "50", .gpus = 8}),
      since_h100("gb200-nvl72", "GB200 NVL72: a rack of 72 GPUs on NVLink switches",
                 {.product = "GB200 NVL72", .nvlink = 5, .per_link = "50", .gpus = 72}),
      {.name = "mi250",
       .summary = "8 MI250 modules of two dies, 16 in all, on xGMI",
       .source = "AMD Instinct MI250: xGMI links of 50 GB/s, four of them between the dies of a "
                 "module, in the structure that ForestColl's authors publish (Zhao et al., "
                 "NSDI'26); each die reaches the fabric at the 16 GB/s of a PCIe 4.0 x8 port",
       .gpu = "die",
       .gpus = 16,
       .inside = mi250_dies(),
       .nics = 16,
       .nic_bandwidth = "16"},
      {.name = "mi300x",
       .summary = "8 MI300X, each linked to each by xGMI",
       .source = "AMD Instinct MI300X platform data sheet: seven xGMI links of 64 GB/s per GPU, "
                 "one to each other GPU; one 400 Gb/s NIC per GPU; PCIe 5.0 x16, 64 GB/s",
       .inside = all_to_all(8, "64"),
       .nic_bandwidth = "400 Gb/s",
       .pcie = "64"},
  };
}

BoxModel box_model(std::string_view name) {
  const auto models = box_models();
  const auto at = std::ranges::find(models, name, &BoxModel::name);
  FORESTCOLL_CHECK(at != models.end(), "a box of a known kind");
  return *at;
}

Ports ports_of(const BoxModel& model) {
  if (model.pcie.empty()) return {model.gpu, model.gpu, true};
  // A node that GPUs share both ways would be a way from one to the other.
  if (model.nics < model.gpus) return {"nic_out", "nic_in"};
  return {"nic", "nic"};
}

SectionText with_nics(const BoxModel& model) {
  SectionText section = model.inside;
  if (model.pcie.empty()) return section;
  const Ports ports = ports_of(model);
  const std::string gpus = id_range(model.gpu, model.gpus);
  section.nodes.push_back({.ids = id_range(ports.send, model.nics), .type = NodeType::switch_node});
  if (ports.one_node()) {
    section.links.push_back(pairs(gpus, id_range(ports.send, model.nics), model.pcie, 1, "pcie"));
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
    LinkText link = pairs(src, dst, model.pcie, 1, "pcie");
    link.full_duplex = false;
    section.links.push_back(std::move(link));
  }
  return section;
}

}  // namespace forestcoll::topology
