// hwloc's XML (`lstopo --of xml`), whose matrix NVLinkBandwidth or XGMIBandwidth holds the
// bandwidth between every two GPUs, NVSwitches and, of POWER, packages in MB/s; what stands on its
// diagonal means nothing.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.hpp"
#include "forestcoll/text.hpp"
#include "topology/readers/constants.hpp"
#include "topology/readers/machines/bus_id.hpp"
#include "topology/readers/readers.hpp"
#include "topology/readers/xml.hpp"

namespace forestcoll::importing {
namespace {

// "nvml3" is GPU 3 of NVIDIA's library, "rsmi3" of AMD's.
std::optional<std::int64_t> gpu_number(std::string_view name) {
  for (const std::string_view prefix : {"nvml", "rsmi", "cuda"}) {
    if (name.starts_with(prefix)) return natural(name.substr(prefix.size()));
  }
  return std::nullopt;
}

// What hwloc calls HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH.
constexpr std::int64_t kMeansBandwidth = 8;
// No NVLink or xGMI link has less: 1 GB/s. hwloc can put the numbers of links into a matrix.
constexpr std::int64_t kLeastBandwidth = 1000;

// GB/s of a lane at 2.5 GT/s.
const Ratio kOneSlowLane{1, 4};

class HwlocReader : XmlReader {
 public:
  explicit HwlocReader(const Context& context) : XmlReader(context) {}

  std::optional<Machine> read(const pugi::xml_node& topology) {
    read_objects(topology, kNone);
    if (machine_.gpus.empty()) {
      fail(Code::I06, topology, "no GPUs: no device is called nvml0, rsmi0 or cuda0",
           "Run lstopo of an hwloc that is built with NVML or ROCm SMI.");
    }
    bool found = false;
    for (const pugi::xml_node& child : topology.children()) {
      const std::string_view name = child.attribute("name").value();
      if (name != "NVLinkBandwidth" && name != "XGMIBandwidth") continue;
      found = true;
      read_matrix(child, name == "NVLinkBandwidth" ? "nvlink" : "xgmi");
    }
    if (!found) {
      machine_.links_unknown =
          "the file has no NVLinkBandwidth or XGMIBandwidth distances, which hwloc writes where it "
          "is built with NVML or ROCm SMI";
    }
    keep_fast_nics();
    share_slots(machine_);
    if (machine_.nics.size() > kMaxNicsOfMachine || cpus_ > kMaxCpusOfMachine) {
      fail(Code::I09, topology,
           fmt::format("{} NICs and {} CPUs in one machine", machine_.nics.size(), cpus_),
           "Dump the topology anew.");
    }
    report_groups();
    if (failed_) return std::nullopt;
    set_cpu_link(topology);
    return std::move(machine_);
  }

 private:
  // Where a GPU, an NVSwitch or a CPU stands.
  struct Part {
    End end = End::gpu;
    std::size_t index = 0;
    auto operator<=>(const Part&) const = default;
    [[nodiscard]] bool gpu() const { return end == End::gpu; }
  };

  void read_objects(const pugi::xml_node& node, std::size_t bridge) {
    for (const pugi::xml_node& object : node.children("object")) {
      const std::string_view type = object.attribute("type").value();
      std::size_t below = bridge;
      if (type == "Package" || (type == "Bridge" && bridge == kNone)) below = add_cpu();
      if (type == "Package") parts_[object.attribute("gp_index").value()] = {End::cpu, below};
      if (type == "Bridge") below = add_bridge(object, below);
      if (type == "PCIDev") {
        read_device(object, bridge == kNone ? add_cpu() : bridge);
      } else {
        read_objects(object, below);
      }
    }
  }

  std::size_t add_cpu() {
    machine_.bridges.push_back({.name = fmt::format("CPU {}", cpus_++), .cpu = true, .slot = {}});
    return machine_.bridges.size() - 1;
  }

  // A host bridge is the CPU's side of PCIe: a link of its own where its bandwidth is given, which
  // hwloc does not know.
  std::size_t add_bridge(const pugi::xml_node& object, std::size_t parent) {
    const std::string bus = object.attribute("pci_busid").value();
    if (bus.empty()) {
      const auto given = context_.overridden(kHostBridge);
      if (!given) return parent;
      machine_.bridges.push_back(
          {.name = fmt::format("host bridge {}", object.attribute("bridge_pci").as_string("?")),
           .cpu = false,
           .slot = {.parent = parent, .bandwidth = given}});
      return machine_.bridges.size() - 1;
    }
    machine_.bridges.push_back({.name = bus, .cpu = false, .slot = slot(object, parent)});
    return machine_.bridges.size() - 1;
  }

  [[nodiscard]] PcieSlot slot(const pugi::xml_node& object, std::size_t parent) const {
    PcieSlot slot{.parent = parent};
    if ((slot.bandwidth = context_.overridden("pcie"))) return slot;
    const auto speed = parse_ratio(object.attribute("pci_link_speed").value());
    if (speed && *speed > kOneSlowLane) {
      slot.bandwidth = exact_pcie(*speed);
    } else {
      slot.bandwidth = kUnknownLane * Ratio(kUnknownWidth);
      const bool stated = speed && *speed > Ratio(0);
      slot.guess = stated ? "says 2.5 GT/s on 1 lane, as virtual machines do" : "has no speed";
    }
    return slot;
  }

  void read_device(const pugi::xml_node& device, std::size_t bridge) {
    const std::string bus = device.attribute("pci_busid").value();
    const std::string_view type = device.attribute("pci_type").value();
    if (std::string_view(device.attribute("subtype").value()) == "NVSwitch") {
      parts_[device.attribute("gp_index").value()] = {End::nvswitch, nvswitches_++};
      if (context_.options.split_nvswitch) {
        machine_.nvswitches.push_back(bus);
      } else if (machine_.nvswitches.empty()) {
        machine_.nvswitches.emplace_back("NVSwitch");
      }
      return;
    }
    for (const pugi::xml_node& os : device.children("object")) {
      const auto number = gpu_number(os.attribute("name").value());
      if (number) {
        read_gpu(os, *number, bus, slot(device, bridge));
        parts_[device.attribute("gp_index").value()] = {End::gpu, machine_.gpus.size() - 1};
      }
    }
    if (type.starts_with("02")) read_nic(device, slot(device, bridge));
  }

  void read_gpu(const pugi::xml_node& os, std::int64_t number, const std::string& bus,
                const PcieSlot& slot) {
    // One device may have a name of each library.
    const bool again = !machine_.gpus.empty() && machine_.gpus.back().name == bus && !bus.empty();
    if (!again) {
      if (!devs_.insert(number).second || machine_.gpus.size() == kMaxGpusOfMachine) {
        fail(Code::I03, os,
             fmt::format("a second GPU is called {}", quote(os.attribute("name").value())),
             "Dump the topology anew.");
        return;
      }
      machine_.gpus.push_back({.dev = number, .name = bus, .slot = slot});
    }
    parts_[os.attribute("gp_index").value()] = {End::gpu, machine_.gpus.size() - 1};
  }

  void read_nic(const pugi::xml_node& device, const PcieSlot& slot) {
    std::string name = device.attribute("pci_busid").value();
    bool fast = false;
    for (const pugi::xml_node& os : device.children("object")) {
      const bool fabrics = !os.find_child_by_attribute("info", "name", "NodeGUID").empty();
      if (fast && !fabrics) continue;
      name = os.attribute("name").as_string(name.c_str());
      fast = fast || fabrics;
    }
    nic_is_fast_.push_back(fast);
    machine_.nics.push_back(
        {.name = name,
         .offset = offset_of(device),
         .slot = slot,
         .card = card_of(canonical_bus(device.attribute("pci_busid").value()))});
  }

  // A machine's NICs for its own management carry no collectives.
  void keep_fast_nics() {
    if (std::ranges::find(nic_is_fast_, true) == nic_is_fast_.end()) return;
    std::vector<Nic> kept;
    std::vector<std::string> slow;
    for (std::size_t n = 0; n < machine_.nics.size(); ++n) {
      if (nic_is_fast_[n]) {
        kept.push_back(machine_.nics[n]);
      } else {
        slow.push_back(machine_.nics[n].name);
      }
    }
    machine_.nics = std::move(kept);
    if (slow.empty()) return;
    context_.report.left_out.push_back(
        fmt::format("{} without OpenFabrics: {}", counted(slow.size(), "NIC"), listed(slow)));
  }

  // "OSDev:802" names a type and an object, a plain "802" the object.
  std::optional<std::vector<Part>> read_ends(const pugi::xml_node& matrix) {
    std::vector<Part> ends;
    for (const pugi::xml_node& indexes : matrix.children("indexes")) {
      for (const std::string_view word : words_of(indexes.child_value())) {
        const std::size_t colon = word.find(':');
        const auto found = parts_.find(
            std::string(colon == std::string_view::npos ? word : word.substr(colon + 1)));
        if (found == parts_.end()) {
          fail(Code::I02, indexes,
               fmt::format("{} is no GPU, NVSwitch or package of this file", quote(word)),
               "Dump the topology anew, without filtering objects.");
          return std::nullopt;
        }
        ends.push_back(found->second);
      }
    }
    return ends;
  }

  std::optional<std::vector<std::int64_t>> read_values(const pugi::xml_node& matrix) {
    std::vector<std::int64_t> values;
    for (const pugi::xml_node& row : matrix.children("u64values")) {
      for (const std::string_view word : words_of(row.child_value())) {
        const auto value = natural(word);
        constexpr std::int64_t kMost = 100'000'000;  // 100 TB/s
        if (!value || *value > kMost) {
          fail(Code::I03, row, fmt::format("expected a bandwidth in MB/s, found {}", quote(word)),
               "Dump the topology anew.");
          return std::nullopt;
        }
        values.push_back(*value);
      }
    }
    return values;
  }

  void read_matrix(const pugi::xml_node& matrix, const std::string& kind) {
    const auto ends = read_ends(matrix);
    const auto values = ends ? read_values(matrix) : std::nullopt;
    if (!ends || !values) return;
    if (values->size() != ends->size() * ends->size()) {
      fail(Code::I02, matrix,
           fmt::format("{} bandwidths for {} devices: expected {}", values->size(), ends->size(),
                       ends->size() * ends->size()),
           "Is the file cut off? Dump the topology anew.");
      return;
    }
    if (!is_bandwidth(matrix, ends->size(), *values)) return;
    const auto given = context_.overridden(kind);
    for (std::size_t i = 0; i < ends->size(); ++i) {
      for (std::size_t j = 0; j < ends->size(); ++j) {
        const std::int64_t there = (*values)[i * ends->size() + j];
        const std::int64_t back = (*values)[j * ends->size() + i];
        if (i == j || !is_new(matrix, {(*ends)[i], (*ends)[j]}, there) || there == 0) continue;
        add_link((*ends)[i], (*ends)[j], given.value_or(Ratio(there, 1000)),
                 given.value_or(Ratio(back, 1000)), kind);
      }
    }
  }

  bool is_bandwidth(const pugi::xml_node& matrix, std::size_t size,
                    const std::vector<std::int64_t>& values) {
    const auto kind = natural(matrix.attribute("kind").value());
    if (kind && *kind / kMeansBandwidth % 2 == 0) {
      fail(Code::I03, matrix,
           fmt::format("a matrix of the kind {}, which is none of bandwidths", *kind),
           "Dump the topology anew, without transforming distances.");
      return false;
    }
    std::int64_t most = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (at / size != at % size) most = std::max(most, values[at]);
    }
    if (most == 0 || most >= kLeastBandwidth) return true;
    fail(Code::I03, matrix,
         fmt::format("values of at most {}: these are counts of links, and not MB/s", most),
         "Dump the topology anew, without transforming distances.");
    return false;
  }

  // Several matrices may state a pair, but must agree on it.
  bool is_new(const pugi::xml_node& matrix, std::pair<Part, Part> ends, std::int64_t bandwidth) {
    const auto [at, is_new] = stated_.emplace(ends, bandwidth);
    if (!is_new && at->second != bandwidth && disagreed_.insert(matrix.offset_debug()).second) {
      fail(
          Code::I03, matrix,
          fmt::format("{} MB/s between two devices that have {} MB/s above", bandwidth, at->second),
          "Leave the matrix that is right in the file, and only that one.");
    }
    return is_new;
  }

  // As NCCL reckons it; hwloc has no figure of its own.
  void set_cpu_link(const pugi::xml_node& topology) {
    if ((machine_.cpu_link = context_.overridden("cpu"))) return;
    const auto info = [](const pugi::xml_node& object, const char* name) -> std::string_view {
      return object.find_child_by_attribute("info", "name", name).attribute("value").value();
    };
    const pugi::xml_node root = topology.child("object");
    const pugi::xml_node package = root.find_node([](const pugi::xml_node& node) {
      return std::string_view(node.attribute("type").value()) == "Package";
    });
    machine_.cpu_link = cpu_link(info(root, "Architecture"), info(package, "CPUVendor"),
                                 natural(info(package, "CPUFamilyNumber")).value_or(-1),
                                 natural(info(package, "CPUModelNumber")).value_or(-1));
    if (machine_.cpu_link) return;
    machine_.cpu_link = Ratio(6);
    machine_.cpu_link_guess = "the vendor of the CPUs is unknown";
  }

  void add_link(Part from, Part to, const Ratio& there, const Ratio& back,
                const std::string& kind) {
    if (from.end == End::nvswitch && to.end == End::nvswitch) add_switch_link(from, to, there);
    if (!from.gpu()) return;
    if (to.end == End::nvswitch) {
      join(to.index, switch_of_.emplace(from.index, to.index).first->second);
    }
    if (!to.gpu() && there != back) {
      const std::string_view end = to.end == End::cpu ? "a CPU" : "an NVSwitch";
      context_.findings.warning(
          Code::I22, "",
          fmt::format("GPU {} has {} GB/s to {}, which has {} GB/s back",
                      machine_.gpus[from.index].dev, shown(there), end, shown(back)),
          "The smaller of the two is taken for both. A dead link? Dump the topology anew.");
    }
    const Ratio bandwidth = to.gpu() ? there : std::min(there, back);
    if (bandwidth == Ratio(0)) return;
    const bool one_switch = to.end == End::nvswitch && !context_.options.split_nvswitch;
    machine_.links.push_back({.gpu = from.index,
                              .end = to.end,
                              .target = one_switch ? 0 : to.index,
                              .count = 1,
                              .bandwidth = bandwidth,
                              .kind = kind});
  }

  void add_switch_link(Part from, Part to, const Ratio& bandwidth) {
    join(from.index, to.index);
    if (context_.options.split_nvswitch) {
      machine_.switch_links.push_back({.from = from.index, .to = to.index, .bandwidth = bandwidth});
    } else if (!merged_) {
      merged_ = true;
      context_.report.left_out.emplace_back(
          "links between NVSwitches: the NVSwitches are one node (`split_nvswitch` keeps them "
          "apart)");
    }
  }

  // The NVSwitches of two boards are joined by links that the file may not show.
  void report_groups() const {
    if (context_.options.split_nvswitch || nvswitches_ < 2) return;
    std::set<std::size_t> groups;
    for (std::size_t i = 0; i < nvswitches_; ++i) groups.insert(group(i));
    if (groups.size() < 2) return;
    context_.report.guesses.push_back(
        fmt::format("the {} NVSwitches are one: the file shows no links between {} groups of them",
                    nvswitches_, groups.size()));
  }

  [[nodiscard]] std::size_t group(std::size_t nvswitch) const {
    while (groups_.contains(nvswitch)) nvswitch = groups_.at(nvswitch);
    return nvswitch;
  }

  void join(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({group(a), group(b)});
    if (low != high) groups_[high] = low;
  }

  Machine machine_{.source = "hwloc XML"};
  std::map<std::string, Part> parts_;                     // by gp_index
  std::map<std::pair<Part, Part>, std::int64_t> stated_;  // MB/s
  std::set<std::ptrdiff_t> disagreed_;  // matrices that were complained about, by their place
  std::set<std::int64_t> devs_;
  std::vector<bool> nic_is_fast_;
  std::size_t cpus_ = 0, nvswitches_ = 0;
  bool merged_ = false;
  std::map<std::size_t, std::size_t> groups_;     // an NVSwitch → a lower one that it meets
  std::map<std::size_t, std::size_t> switch_of_;  // some NVSwitch of a GPU
};

}  // namespace

std::optional<Machines> read_hwloc(const Context& context) {
  pugi::xml_document document;
  const pugi::xml_node topology =
      load_root(context, document, "topology", "hwloc's topology", "Dump it with lstopo --of xml.");
  if (!topology) return std::nullopt;
  auto machine = HwlocReader(context).read(topology);
  if (!machine) return std::nullopt;
  return Machines{*std::move(machine)};
}

}  // namespace forestcoll::importing
