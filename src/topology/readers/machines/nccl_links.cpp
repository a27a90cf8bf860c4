#include "topology/readers/machines/nccl_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/text.hpp"
#include "topology/readers/constants.hpp"
#include "topology/readers/machines/bus_id.hpp"
#include "topology/readers/xml.hpp"

namespace forestcoll::importing {
namespace {

// The domain that stands for "some NVSwitch" where a virtual machine hides the real bus ids.
constexpr std::string_view kHiddenSwitch = "fffffff:";

constexpr std::int64_t kMaxLinkCount = 1024;

// GB/s of the 18 links of a module, in each direction.
const Ratio kHopperNvlink{450}, kBlackwellNvlink{900};

bool is_nvswitch_class(std::string_view pci_class) {
  return pci_class.starts_with("0x068000");
}
bool is_cpu_class(std::string_view pci_class) {
  return pci_class.starts_with("0x068001");
}

// 0 where the file does not say it.
std::int64_t sm_of(const pugi::xml_node& gpu) {
  return natural(gpu.attribute("sm").value()).value_or(0);
}

class LinkReader : XmlReader {
 public:
  LinkReader(const Context& context, const PciClasses& classes, Machine& machine)
      : XmlReader(context), classes_(classes), machine_(machine) {
    for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
      gpu_by_bus_.emplace(machine.gpus[g].name, g);
    }
  }

  bool read(const std::vector<pugi::xml_node>& elements) {
    for (std::size_t g = 0; g < elements.size(); ++g) read_links(g, elements[g]);
    report_left_out();
    machine_.in_network = std::ranges::all_of(elements, [](const pugi::xml_node& gpu) {
      return gpu.attribute("gcn").empty() && sm_of(gpu) >= kHopper;
    });
    if (machine_.links.empty()) expect_links(elements);
    return !failed_;
  }

 private:
  struct LeftOut {
    std::size_t count = 0, offset = 0;  // of links, and of the first of them in the file
    std::vector<std::string> which;
  };

  void read_links(std::size_t gpu, const pugi::xml_node& node) {
    for (const pugi::xml_node& link : node.children()) {
      const std::string_view name = link.name();
      if (name == "nvlink" || name == "xgmi") read_link(gpu, node, link, std::string(name));
      if (name == "c2c") read_c2c(gpu, link);
    }
  }

  void read_link(std::size_t gpu, const pugi::xml_node& node, const pugi::xml_node& link,
                 const std::string& kind) {
    const auto count = integer(context_, link, "count");
    if (!count) {
      failed_ = true;
      return;
    }
    if (*count < 0 || *count > kMaxLinkCount) {
      fail(Code::I03, link, fmt::format("<{}>: {} parallel links are out of range", kind, *count),
           "Dump the topology anew.");
      return;
    }
    if (*count == 0) {
      return leave_out(link, kind, "with a count of 0", 1, std::to_string(machine_.gpus[gpu].dev));
    }
    const auto [end, target] = target_of(gpu, link, kind, *count);
    if (end == End::left_out) return;
    const auto bandwidth = speed_of(node, kind);
    if (!bandwidth) return;
    machine_.links.push_back({.gpu = gpu,
                              .end = end,
                              .target = target,
                              .count = *count,
                              .bandwidth = *bandwidth,
                              .kind = kind});
  }

  std::pair<End, std::size_t> target_of(std::size_t gpu, const pugi::xml_node& link,
                                        const std::string& kind, std::int64_t count) {
    const std::string target = canonical_bus(link.attribute("target").value());
    const std::string tclass = class_of(link, target);
    const std::string dev = std::to_string(machine_.gpus[gpu].dev);
    if (!target.empty() && target == machine_.gpus[gpu].name) {
      leave_out(link, kind, "from a GPU to itself", count, dev);
      is_unnamed_ = true;
      return {End::left_out, 0};
    }
    if (target.starts_with(kHiddenSwitch) || is_nvswitch_class(tclass)) {
      return {End::nvswitch, nvswitch(link, target)};
    }
    if (is_cpu_class(tclass)) return {End::cpu, cpu_of(gpu)};
    if (const auto found = gpu_by_bus_.find(target); found != gpu_by_bus_.end()) {
      return {End::gpu, found->second};
    }
    if (target.empty()) {
      fail(Code::I03, link, fmt::format("<{}>: expected a bus id in target, found none", kind),
           "Dump the topology anew.");
      return {End::left_out, 0};
    }
    leave_out(link, kind, "to GPUs that the file does not have", count, dev + " to " + target);
    is_unnamed_ = is_unnamed_ || tclass.empty();
    return {End::left_out, 0};
  }

  // Files that people wrote may leave the class of the target out.
  [[nodiscard]] std::string class_of(const pugi::xml_node& link, const std::string& target) const {
    if (const pugi::xml_attribute tclass = link.attribute("tclass")) {
      return lower_case(tclass.value());
    }
    const auto found = classes_.find(target);
    return found == classes_.end() ? "" : found->second;
  }

  std::size_t nvswitch(const pugi::xml_node& link, const std::string& target) {
    if (!context_.options.split_nvswitch) {
      if (machine_.nvswitches.empty()) machine_.nvswitches.emplace_back("NVSwitch");
      return 0;
    }
    if (target.starts_with(kHiddenSwitch)) {
      fail(Code::I08, link,
           "the file hides which NVSwitch a link leads to, so they cannot be split",
           "Leave `split_nvswitch` out, or dump on the bare machine.");
      return 0;
    }
    const auto found = std::ranges::find(machine_.nvswitches, target);
    if (found != machine_.nvswitches.end()) {
      return static_cast<std::size_t>(found - machine_.nvswitches.begin());
    }
    machine_.nvswitches.push_back(target);
    return machine_.nvswitches.size() - 1;
  }

  [[nodiscard]] std::size_t cpu_of(std::size_t gpu) const {
    std::size_t at = machine_.gpus[gpu].slot.parent;
    while (!machine_.bridges[at].cpu) at = machine_.bridges[at].slot.parent;
    return at;
  }

  // Once for all links of a kind.
  void guess(const std::string& kind, const std::string& generation, const Ratio& bandwidth,
             std::string_view why) {
    std::string text =
        fmt::format("{} of {} has {} GB/s: {}", kind, generation, shown(bandwidth), why);
    auto& guesses = context_.report.guesses;
    if (std::ranges::find(guesses, text) == guesses.end()) guesses.push_back(std::move(text));
  }

  std::optional<Ratio> speed_of(const pugi::xml_node& gpu, const std::string& kind) {
    if (const auto given = context_.overridden(kind)) return given;
    const bool xgmi = kind == "xgmi";
    const std::string generation = gpu.attribute(xgmi ? "gcn" : "sm").value();
    const auto speed = xgmi ? xgmi_of(generation) : nvlink_of(natural(generation).value_or(-1));
    if (speed && (context_.nccl_constants() || speed->reckoned.empty())) {
      const std::string of = fmt::format("{}={}", xgmi ? "gcn" : "sm", generation);
      machine_.assumed[kind] = whose_speed(*speed, of, context_.nccl_constants(), xgmi);
    }
    if (speed && context_.nccl_constants()) return speed->nccl;
    if (speed) {
      if (!speed->reckoned.empty()) guess(kind, generation, speed->nominal, speed->reckoned);
      return speed->nominal;
    }
    if (xgmi && !generation.empty() && context_.nccl_constants()) {
      guess(kind, quote(generation), kUnknownXgmi,
            "RCCL's constant for architectures that it does not know");
      return kUnknownXgmi;
    }
    if (const auto sm = natural(generation); !xgmi && sm && context_.nccl_constants()) {
      const Ratio bandwidth = nccl_nvlink_of_unknown(*sm);
      guess(kind, "sm=" + generation, bandwidth, "what NCCL plans with, which does not name it");
      return bandwidth;
    }
    if (unknown_.insert(kind + generation).second) {
      fail(
          Code::I04, gpu,
          fmt::format("the bandwidth of {} is not known for {}={}, only for {}", kind,
                      xgmi ? "gcn" : "sm", quote(generation),
                      xgmi ? known_xgmis() : known_nvlinks()),
          fmt::format("Give it: `bandwidths=FILE.csv` with a line \"{},GB/s of one link\".", kind));
    }
    failed_ = true;
    return std::nullopt;
  }

  void leave_out(const pugi::xml_node& link, const std::string& kind, const std::string& why,
                 std::int64_t count, std::string which) {
    auto& group = left_out_[{kind, why}];
    if (group.which.empty()) group.offset = offset_of(link);
    group.count += static_cast<std::size_t>(count);
    if (std::ranges::find(group.which, which) == group.which.end()) {
      group.which.push_back(std::move(which));
    }
  }

  // A rate without them is wrong where they are there.
  void report_left_out() {
    if (is_unnamed_) {
      machine_.links_unknown = "links of theirs lead to ends that the file does not name";
    }
    for (const auto& [key, group] : left_out_) {
      const std::string what =
          fmt::format("{} {} (GPU {})", counted(group.count, key.first + " link"), key.second,
                      listed(group.which));
      context_.report.left_out.push_back(what);
      context_.findings.warning(Code::I21, context_.place(group.offset), "left out: " + what,
                                "If the machine has them, dump its topology anew, on the bare "
                                "machine and with all of its GPUs.");
    }
  }

  // Cards have no NVLink, modules always have; files may fail to show it.
  void expect_links(const std::vector<pugi::xml_node>& elements) {
    constexpr std::int64_t kBlackwell = 100, kBlackwellUltra = 103;
    for (std::size_t g = 0; g < elements.size(); ++g) {
      const std::string& device = machine_.gpus[g].device;
      const std::int64_t sm = sm_of(elements[g]);
      if (const auto part = nvlink_part(device)) {
        machine_.nvlink_expected = fmt::format(
            "by its device id {} GPU {} is of type {}, which has NVLink, and the file has none",
            device, machine_.gpus[g].dev, part->name);
        machine_.nvlink_box = part->box;
        machine_.nvlink_bandwidth = part->bandwidth.nominal;
      } else if (sm == kBlackwell || sm == kBlackwellUltra) {
        machine_.nvlink_expected =
            fmt::format("GPUs of sm={} have NVLink, and the file has none", sm);
        machine_.nvlink_box = sm == kBlackwell ? "dgx-b200" : "dgx-b300";
        machine_.nvlink_bandwidth = kBlackwellNvlink;
      } else if (sm == kHopper && device.empty()) {
        machine_.nvlink_expected = "most GPUs of sm=90 have NVLink, and the file has none";
        machine_.nvlink_box = "dgx-h100";
        machine_.nvlink_bandwidth = kHopperNvlink;
      }
      if (!machine_.nvlink_expected.empty()) return;
    }
  }

  void read_c2c(std::size_t gpu, const pugi::xml_node& c2c) {
    const auto count = integer(context_, c2c, "count");
    const auto megabytes = number(context_, c2c, "bw");
    if (!count || !megabytes) {
      failed_ = true;
      return;
    }
    const auto sum = *count >= 0 && *count <= kMaxLinkCount
                         ? checked_mul(*megabytes, Ratio(*count, 1000))
                         : std::nullopt;
    if (!sum || *sum == Ratio(0)) {
      fail(Code::I03, c2c, "<c2c>: its bandwidth is out of range", "Dump the topology anew.");
      return;
    }
    machine_.gpus[gpu].c2c = context_.overridden("c2c").value_or(*sum);
  }

  const PciClasses& classes_;
  Machine& machine_;
  std::map<std::string, std::size_t> gpu_by_bus_;
  std::set<std::string> unknown_;  // generations that were complained about
  std::map<std::pair<std::string, std::string>, LeftOut> left_out_;  // by kind and reason
  bool is_unnamed_ = false;                                          // the far end of some link
};

}  // namespace

bool read_nccl_links(const Context& context, const std::vector<pugi::xml_node>& elements,
                     const PciClasses& classes, Machine& machine) {
  return LinkReader(context, classes, machine).read(elements);
}

}  // namespace forestcoll::importing
