// NCCL's and RCCL's topology XML. Its grammar and how NCCL reads it: NCCL, src/graph/xml.cc and
// topo.cc. Elements nest as the PCIe tree does: <cpu> holds <pci>, a <pci> with a <gpu> or <nic> in
// it is that device, and any other <pci> with children is a switch.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/text.hpp"
#include "topology/readers/constants.hpp"
#include "topology/readers/machines/bus_id.hpp"
#include "topology/readers/machines/nccl_links.hpp"
#include "topology/readers/readers.hpp"
#include "topology/readers/xml.hpp"

namespace forestcoll::importing {
namespace {

// A switch of 1 lane at 2.5 GT/s with GPUs or NICs behind it exists in virtual machines only.
const Ratio kVirtualBridge{15, 80};

bool is_gpu_class(std::string_view pci_class) {
  return pci_class.starts_with("0x03") || pci_class.starts_with("0x12");
}

// Reads the machine of one host.
class SystemReader : XmlReader {
 public:
  explicit SystemReader(const Context& context) : XmlReader(context) {}

  void read_cpu(const pugi::xml_node& cpu) {
    if (cpus_.size() == kMaxCpusOfMachine) {
      return fail(Code::I09, cpu, fmt::format("more than {} CPUs in one host", kMaxCpusOfMachine),
                  "Dump the topology anew.");
    }
    const std::size_t index = machine_.bridges.size();
    machine_.bridges.push_back(
        {.name = fmt::format("CPU {}", cpu.attribute("numaid").as_string("?")),
         .cpu = true,
         .slot = {}});
    cpus_.push_back(cpu);
    read_children(cpu, index, {});
  }

  // What refers to other elements, once all of them are known.
  std::optional<Machine> finish() {
    if (machine_.gpus.empty()) take_unclassed_for_nics();
    const std::size_t nics = machine_.nics.size();
    if (machine_.gpus.size() > kMaxGpusOfMachine || nics > kMaxNicsOfMachine) {
      fail(Code::I09, cpus_.front(),
           fmt::format("{} GPUs and {} NICs in one host", machine_.gpus.size(), nics),
           "Dump the topology anew.");
    }
    if (failed_) return std::nullopt;
    if (!bare_gpus_.empty()) {
      machine_.links_unknown = fmt::format(
          "the file is made for NCCL to read (NCCL_TOPO_FILE) and to complete: it has no links of "
          "{}its {}, which NCCL finds on the machine",
          bare_gpus_.size() < machine_.gpus.size() ? fmt::format("{} of ", bare_gpus_.size()) : "",
          counted(machine_.gpus.size(), "GPU"));
    }
    number_bare_gpus();
    sort_by_dev();
    share_slots(machine_);
    if (!read_nccl_links(context_, nodes_, classes_, machine_)) return std::nullopt;
    read_cpu_link();
    return std::move(machine_);
  }

  // The bus ids of GPUs without a <gpu> element.
  [[nodiscard]] const std::vector<std::string>& bare_gpus() const { return bare_gpus_; }
  [[nodiscard]] std::size_t gpu_count() const { return machine_.gpus.size(); }
  [[nodiscard]] std::size_t device_count() const { return classes_.size(); }
  /// PCIe switches with devices that are no GPUs, below which GPUs of a box can go.
  [[nodiscard]] std::size_t switch_count() const {
    std::set<std::size_t> switches;
    for (const auto* devices : {&machine_.nics, &unclassed_}) {
      for (const Nic& device : *devices) {
        const std::size_t above = device.slot.parent;
        if (above != kNone && !machine_.bridges[above].cpu) switches.insert(above);
      }
    }
    return switches.size();
  }

 private:
  // `parent`: a bridge; `slot`: how the device that the children belong to hangs on it.
  void read_children(const pugi::xml_node& node, std::size_t parent, const PcieSlot& slot) {
    for (const pugi::xml_node& child : node.children()) {
      const std::string_view name = child.name();
      if (name == "pci") {
        read_pci(child, parent);
      } else if (name == "gpu") {
        read_gpu(child, slot.parent == kNone ? PcieSlot{.parent = parent} : slot);
      } else if (name == "nic") {
        read_nic(child, slot.parent == kNone ? PcieSlot{.parent = parent} : slot);
      }
    }
  }

  void read_pci(const pugi::xml_node& pci, std::size_t parent) {
    const std::string bus = canonical_bus(pci.attribute("busid").value());
    const std::string pci_class = lower_case(pci.attribute("class").value());
    classes_.emplace(bus, pci_class);
    const PcieSlot slot = read_slot(pci, parent);
    if (pci.child("gpu") && pci.child("nic")) {
      fail(Code::I03, pci, fmt::format("the device {} is both a GPU and a NIC", quote(bus)),
           "Every <pci> of a device holds one of the two; dump the topology anew.");
    } else if (pci.child("gpu") || pci.child("nic")) {
      read_children(pci, parent, slot);
    } else if (pci.child("pci")) {
      machine_.bridges.push_back({.name = bus, .cpu = false, .slot = slot});
      read_children(pci, machine_.bridges.size() - 1, {});
    } else if (is_gpu_class(pci_class)) {
      if (bus.empty() || !buses_.insert(bus).second) {
        fail(Code::I03, pci,
             fmt::format("a GPU's bus id is {}", bus.empty() ? "missing" : "not its own"),
             "Give every GPU its own busid.");
        return;
      }
      if (bare_gpus_.size() == kMaxGpusOfMachine) {
        fail(Code::I09, pci, fmt::format("more than {} GPUs in one dump", kMaxGpusOfMachine),
             "Dump the topology anew.");
        return;
      }
      bare_gpus_.push_back(bus);
      machine_.gpus.push_back({.dev = -1,
                               .name = bus,
                               .device = lower_case(pci.attribute("device").value()),
                               .slot = slot});
      nodes_.push_back(pci);
    } else if (pci_class.starts_with("0x02") || pci_class.empty()) {
      auto& nics = pci_class.empty() ? unclassed_ : machine_.nics;
      if (nics.size() > kMaxNicsOfMachine) return;  // finish() complains
      nics.push_back({.name = bus, .offset = offset_of(pci), .slot = slot, .card = card(pci)});
    }
  }

  [[nodiscard]] PcieSlot read_slot(const pugi::xml_node& pci, std::size_t parent) const {
    const std::string_view speed = pci.attribute("link_speed").value();
    const auto lane = pcie_lane(speed);
    const std::int64_t width = natural(pci.attribute("link_width").value()).value_or(0);
    PcieSlot slot{.parent = parent};
    if (const auto given = context_.overridden("pcie")) {
      slot.bandwidth = given;
      return slot;
    }
    const Ratio lanes = width > 0 && width <= 64 ? Ratio(width) : Ratio(kUnknownWidth);
    slot.bandwidth = lane.value_or(kUnknownLane) * lanes;
    if (lane && width > 0 && *slot.bandwidth == kVirtualBridge) {
      slot.bandwidth = kUnknownLane * Ratio(kUnknownWidth);
      slot.guess = "says 2.5 GT/s on 1 lane, as virtual machines do";
    } else if (!lane && width <= 0) {
      slot.guess = fmt::format("names neither its speed ({}) nor its width", quote(speed));
    } else if (!lane) {
      slot.guess = fmt::format("has an unknown speed ({})", quote(speed));
    } else if (width <= 0) {
      slot.guess = "does not name its width";
    }
    if (context_.options.constants == LinkConstants::nominal) {
      slot.bandwidth = *slot.bandwidth / kNcclPartOfPcie;
    }
    return slot;
  }

  void read_gpu(const pugi::xml_node& gpu, const PcieSlot& slot) {
    const std::string bus = canonical_bus(gpu.parent().attribute("busid").value());
    const auto dev = integer(context_, gpu, "dev");
    if (!dev) {
      failed_ = true;
      return;
    }
    if (*dev < 0 || *dev >= static_cast<std::int64_t>(kMaxGpusOfMachine)) {
      fail(Code::I03, gpu, fmt::format("<gpu>: the device number {} is out of range", *dev),
           "Dump the topology anew.");
      return;
    }
    if (gpu.parent().child("gpu") != gpu) {
      fail(Code::I03, gpu,
           fmt::format("a second <gpu> in the device {}: ranks share a GPU", quote(bus)),
           "Dump the topology with one rank for each GPU, and without MLOPart.");
      return;
    }
    if (!devs_.insert(*dev).second) {
      fail(Code::I03, gpu, fmt::format("a second GPU has the device number {}", *dev),
           "Number the GPUs of one host apart; several hosts are told apart by host_hash.");
      return;
    }
    if (!bus.empty() && !buses_.insert(bus).second) {
      fail(Code::I03, gpu, fmt::format("a second GPU has the bus id {}", bus),
           "Give every GPU its own busid.");
      return;
    }
    const std::string device = lower_case(gpu.parent().attribute("device").value());
    Gpu entry{.dev = *dev, .name = bus, .device = device, .slot = slot};
    if (gpu.attribute("rank")) {
      const auto rank = integer(context_, gpu, "rank");
      if (!rank) failed_ = true;
      if (rank && *rank >= 0) entry.rank = rank;
    }
    machine_.gpus.push_back(std::move(entry));
    nodes_.push_back(gpu);
  }

  // NCCL too merges the ports and functions of one card.
  [[nodiscard]] std::string card(const pugi::xml_node& device) const {
    if (std::string_view(device.name()) != "pci") return "";
    const std::string bus = canonical_bus(device.attribute("busid").value());
    return bus.empty() ? "the card at " + context_.place(offset_of(device)) : card_of(bus);
  }

  void read_nic(const pugi::xml_node& nic, const PcieSlot& slot) {
    for (const pugi::xml_node& net : nic.children("net")) {
      Nic entry{.name = net.attribute("name").as_string("nic"),
                .speed = net.attribute("speed").value(),
                .offset = offset_of(net),
                .slot = slot,
                .card = card(nic.parent())};
      const auto megabits = parse_ratio(entry.speed);
      if (megabits && *megabits > Ratio(0))
        entry.bandwidth = checked_mul(*megabits, Ratio(1, 8000));
      machine_.nics.push_back(std::move(entry));
    }
  }

  // A file without GPUs names the devices beside them.
  void take_unclassed_for_nics() {
    if (unclassed_.empty()) return;
    context_.report.guesses.push_back(fmt::format("{} without a class: taken for NICs",
                                                  counted(unclassed_.size(), "PCI device")));
    machine_.nics.insert(machine_.nics.end(), unclassed_.begin(), unclassed_.end());
  }

  // NCCL numbers the GPUs of a skeleton when it runs, in the order of their bus ids.
  void number_bare_gpus() {
    if (bare_gpus_.empty()) return;
    // As numbers: what is longer is larger.
    const auto number = [](const std::string& bus) { return std::pair(bus.size(), bus); };
    std::vector<std::string> order = bare_gpus_;
    std::ranges::sort(order, {}, number);
    const std::int64_t first = devs_.empty() ? 0 : *devs_.rbegin() + 1;
    for (Gpu& gpu : machine_.gpus) {
      if (gpu.dev >= 0) continue;
      const auto at = std::ranges::lower_bound(order, number(gpu.name), {}, number) - order.begin();
      gpu.dev = first + at;
    }
  }

  void sort_by_dev() {
    std::vector<std::size_t> order(machine_.gpus.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return machine_.gpus[i].dev; });
    std::vector<Gpu> gpus;
    std::vector<pugi::xml_node> nodes;
    for (const std::size_t i : order) {
      gpus.push_back(machine_.gpus[i]);
      nodes.push_back(nodes_[i]);
    }
    machine_.gpus = std::move(gpus);
    nodes_ = std::move(nodes);
  }

  void read_cpu_link() {
    if (cpus_.size() < 2) return;
    if ((machine_.cpu_link = context_.overridden("cpu"))) return;
    const pugi::xml_node& cpu = cpus_.front();
    machine_.cpu_link = cpu_link(cpu.attribute("arch").value(), cpu.attribute("vendor").value(),
                                 natural(cpu.attribute("familyid").value()).value_or(-1),
                                 natural(cpu.attribute("modelid").value()).value_or(-1));
    if (machine_.cpu_link) return;
    machine_.cpu_link = kUnknownCpuLink;
    machine_.cpu_link_guess = "the vendor of the CPUs is unknown";
  }

  Machine machine_{.source = "NCCL topology XML"};
  std::vector<pugi::xml_node> nodes_;  // of machine_.gpus
  std::vector<pugi::xml_node> cpus_;
  std::vector<std::string> bare_gpus_;
  std::vector<Nic> unclassed_;                  // PCI devices without a class
  std::map<std::string, std::string> classes_;  // of every <pci>, by bus id
  std::set<std::int64_t> devs_;
  std::set<std::string> buses_;  // of GPUs
};

bool check_version(const Context& context, const pugi::xml_node& system) {
  const std::string_view version = system.attribute("version").value();
  if (version == "1" || version == "2") return true;
  context.findings.error(
      Code::I02, context.place(offset_of(system)),
      fmt::format("<system>: expected the version 1 (NCCL) or 2 (RCCL), found {}",
                  version.empty() ? "none" : quote(version)),
      "Dump the topology with NCCL_TOPO_DUMP_FILE.");
  return false;
}

// A file that NCCL reads beside what it finds on the machine, which knows the links.
void explain_bare(const Context& context, std::vector<std::string> bare) {
  std::ranges::sort(bare);
  context.report.guesses.push_back(
      fmt::format("{} without a <gpu> element ({}): numbered in the order of their bus ids",
                  counted(bare.size(), "GPU"), listed(bare)));
}

// `switches`: PCIe switches below which the GPUs of a box can go.
std::string how_to_get_gpus(std::size_t switches) {
  const std::string dump = "Dump the topology on the machine, with NCCL_TOPO_DUMP_FILE";
  if (switches == 0) return dump + ".";
  constexpr std::size_t kGpusOfExample = 8;
  const bool fits = kGpusOfExample % switches == 0;
  return fmt::format(
      "{}; or `box={}` (a name of `generators`, a topology file, or a dump) puts the GPUs of "
      "that machine below the PCIe switches{}.",
      dump, fits ? "dgx-h100" : "NAME",
      fits ? "" : fmt::format(", of which {} have devices: so many, or a multiple", switches));
}

}  // namespace

std::optional<Machines> read_nccl(const Context& context) {
  pugi::xml_document document;
  const pugi::xml_node system = load_root(context, document, "system", "NCCL's topology",
                                          "Dump the topology with NCCL_TOPO_DUMP_FILE.");
  if (!system) return std::nullopt;
  if (!check_version(context, system)) return std::nullopt;
  // Hosts that NVLink joins stand in one file and differ by their hash.
  std::map<std::string, std::size_t> host_of;
  std::vector<SystemReader> hosts;
  for (const pugi::xml_node& cpu : system.children("cpu")) {
    const std::string hash = cpu.attribute("host_hash").value();
    const auto [at, is_new] = host_of.emplace(hash, hosts.size());
    if (is_new) hosts.emplace_back(context);
    hosts[at->second].read_cpu(cpu);
  }
  std::size_t gpus = 0, devices = 0;
  for (const SystemReader& host : hosts) {
    gpus += host.gpu_count();
    devices += host.device_count();
  }
  const bool gpus_of_box = !context.options.box_text.empty() && hosts.size() == 1;
  if (gpus == 0 && !gpus_of_box) {
    context.findings.error(
        Code::I06, context.place(offset_of(system)),
        fmt::format("no GPUs: none of the {} has a <gpu> element or a GPU's class. Such a file is "
                    "made for NCCL to read (NCCL_TOPO_FILE) and to complete",
                    counted(devices, "PCI device")),
        how_to_get_gpus(hosts.size() == 1 ? hosts.front().switch_count() : 0));
    return std::nullopt;
  }
  Machines machines;
  for (SystemReader& host : hosts) {
    if (host.gpu_count() == 0 && gpus > 0) continue;
    auto machine = host.finish();
    if (!machine) return std::nullopt;
    if (!host.bare_gpus().empty()) explain_bare(context, host.bare_gpus());
    machines.push_back(*std::move(machine));
  }
  return machines;
}

}  // namespace forestcoll::importing
