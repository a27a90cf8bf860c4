// A tool counts a GPU's NVLinks; a topology knows to whom they lead. Where all of a GPU's lead to
// the NVSwitches, one that is down is one of them. Where they lead to several GPUs, a link is down
// at both of its ends: two GPUs that miss equally many, and have that many cables between them,
// miss those. Whatever else may be is a doubt, and nothing is taken away.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "forestcoll/text.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/health/apply.hpp"
#include "topology/model/link_kind.hpp"

namespace forestcoll::health {
namespace {

using topology::Medium;

// Cables of NVLink from a GPU to each of its neighbours.
using Neighbours = std::map<NodeId, std::int64_t>;

// What is gone of a GPU's NVLinks.
struct Missing {
  std::int64_t links = 0;  ///< that are down
  std::int64_t of = 0;     ///< so many it should have
  Ratio left = 1;          ///< of the bandwidth of all
  bool in_cables = true;   ///< the topology has them as cables
};

class MachineHealth {
 public:
  MachineHealth(const Topology& topology, const std::vector<NodeId>& gpus,
                const MachineState& state, Findings& findings, HealthReport& report)
      : topology_(topology), gpus_(gpus), state_(state), findings_(findings), report_(report) {}

  bool apply() {
    if (!check_gpus()) return false;
    find_neighbours();
    for (const auto& [index, gpu] : state_.gpus) {
      for (const std::string& doubt : gpu.doubts) doubt_of(index, doubt);
      if (!gpu.off_fabric.empty()) take_off_fabric(index, gpu.off_fabric);
    }
    for (const auto& [index, gpu] : state_.gpus) {
      if (!gpu.off_fabric.empty() || !state_.lists_links) continue;
      if (!look_for_missing(index, gpu)) return false;
    }
    for (const auto& [index, missing] : missing_) take_links(index, missing);
    for (const auto& [a, b] : state_.by_pcie) take_xgmi(a, b);
    return true;
  }

 private:
  // Numbers of a dump that has fewer GPUs, from 0 on, are those of other GPUs where one is gone.
  bool check_gpus() {
    const std::size_t count = state_.gpus.size();
    const std::size_t last = count == 0 ? 0 : state_.gpus.rbegin()->first;
    if (last >= gpus_.size()) {
      return other_gpus(fmt::format("it has a GPU {}, and the topology {} here", last,
                                    counted(gpus_.size(), "GPU")));
    }
    if (count > 1 && last + 1 == count && count < gpus_.size()) {
      return other_gpus(
          fmt::format("it has {} of the {} GPUs that the topology has here", count, gpus_.size()));
    }
    return true;
  }
  bool other_gpus(const std::string& what) {
    findings_.error(Code::I02, "", fmt::format("the dump is cut off, or of other GPUs: {}", what),
                    "Name the GPUs that it is of, in its order: a box or ids with ranges before "
                    "the file, such as box0/gpu[0-2,4-7]=FILE.");
    return false;
  }

  [[nodiscard]] const std::string& id(std::size_t index) const {
    return topology_.nodes[gpus_[index]].id;
  }
  void doubt_of(std::size_t index, const std::string& doubt) {
    findings_.warning(Code::I21, "",
                      fmt::format("{}: {}; nothing is changed by it", id(index), doubt),
                      "Where it is slow, give what is left: `derate`.");
  }

  void find_neighbours() {
    std::map<NodeId, std::size_t> index_of;
    for (std::size_t i = 0; i < gpus_.size(); ++i) index_of[gpus_[i]] = i;
    neighbours_.resize(gpus_.size());
    for (const TopologyLink& link : topology_.links) {
      const bool in_use =
          link.enabled && topology_.nodes[link.src].enabled && topology_.nodes[link.dst].enabled;
      if (!in_use || topology::medium_of(link.kind) != Medium::nvlink) continue;
      for (const auto& [here, there] :
           {std::pair(link.src, link.dst), std::pair(link.dst, link.src)}) {
        const auto gpu = index_of.find(here);
        if (gpu != index_of.end()) neighbours_[gpu->second][there] += link.count;
      }
    }
  }

  void drop(std::size_t index, NodeId neighbour, std::int64_t cables) {
    const std::string& other = topology_.nodes[neighbour].id;
    std::string item = link_item(id(index), other);
    if (cables < neighbours_[index][neighbour]) item += fmt::format("*{}", cables);
    report_.failures.drop.push_back(std::move(item));
  }

  void take_off_fabric(std::size_t index, const std::string& why) {
    for (const auto& [neighbour, cables] : neighbours_[index]) {
      // Of two GPUs that are off, the first drops what is between them.
      const auto other = std::ranges::find(gpus_, neighbour) - gpus_.begin();
      const bool is_done = other < static_cast<std::ptrdiff_t>(index) && is_off(other);
      if (!is_done) drop(index, neighbour, cables);
    }
    if (!neighbours_[index].empty()) {
      report_.found.push_back(fmt::format("{}: {}", id(index), why));
    }
  }
  [[nodiscard]] bool is_off(std::ptrdiff_t index) const {
    const auto gpu = state_.gpus.find(static_cast<std::size_t>(index));
    return gpu != state_.gpus.end() && !gpu->second.off_fabric.empty();
  }

  // False, and I02, where the dump has fewer lines than there are links, be they up or down.
  bool look_for_missing(std::size_t index, const GpuState& gpu) {
    std::int64_t up = 0, cables = 0;
    Ratio fastest = 0, sum = 0;
    for (const auto& [number, speed] : gpu.links) {
      if (!speed) continue;
      ++up;
      fastest = std::max(fastest, *speed);
      sum = sum + *speed;
    }
    for (const auto& [neighbour, count] : neighbours_[index]) cables += count;
    if (cables == 0) {
      if (up > 0) doubt_of(index, "it has NVLinks, which the topology does not have");
      return true;
    }
    const auto all = static_cast<std::int64_t>(gpu.links.size());
    if (all < cables) {
      return other_gpus(fmt::format("{} has {} NVLinks in the topology, and {} are listed",
                                    id(index), cables, all));
    }
    // A topology that has one link of the sum knows no cables; links beyond its cables lead
    // nowhere.
    const bool in_cables = up <= cables;
    Missing missing{.of = in_cables ? cables : all, .in_cables = in_cables};
    missing.links = missing.of - up;
    missing.left = up == 0 ? Ratio(0) : sum / (fastest * Ratio(missing.of));
    if (missing.left != Ratio(1)) missing_[index] = missing;
    return true;
  }

  void take_links(std::size_t index, const Missing& missing) {
    const Neighbours& all = neighbours_[index];
    const bool slow = missing.left != Ratio(missing.of - missing.links, missing.of);
    if (missing.left == Ratio(0)) {
      take_off_fabric(index, fmt::format("all {} NVLinks are down", missing.of));
    } else if (all.size() == 1) {
      take_from(index, all.begin()->first, missing, slow);
    } else if (const auto partner = partner_of(index, missing); partner && !slow) {
      if (index > *partner) return;  // said at the other end
      drop(index, gpus_[*partner], missing.links);
      tell(index, missing, fmt::format(", those to {}", id(*partner)));
    } else {
      doubt_of(index, fmt::format("{} of {} NVLinks {}, and the dump does not say to which of {}",
                                  slow ? missing.of : missing.links, missing.of,
                                  slow ? "have several speeds" : "are down",
                                  counted(all.size(), "neighbour")));
    }
  }

  void take_from(std::size_t index, NodeId neighbour, const Missing& missing, bool slow) {
    if (slow || !missing.in_cables) {
      report_.failures.derate.push_back(fmt::format(
          "{}={}", link_item(id(index), topology_.nodes[neighbour].id), exact_text(missing.left)));
      if (slow) {
        report_.found.push_back(fmt::format("{}: {} of {} NVLinks are down or slow, {} is left",
                                            id(index), missing.links, missing.of,
                                            exact_text(missing.left)));
        return;
      }
    } else {
      drop(index, neighbour, missing.links);
    }
    tell(index, missing, "");
  }
  void tell(std::size_t index, const Missing& missing, const std::string& where) {
    report_.found.push_back(fmt::format("{}: {} of {} NVLinks {} down{}", id(index), missing.links,
                                        missing.of, missing.links == 1 ? "is" : "are", where));
  }

  // The only neighbour that misses as many links as this GPU does, and is linked by that many.
  [[nodiscard]] std::optional<std::size_t> partner_of(std::size_t index,
                                                      const Missing& missing) const {
    std::optional<std::size_t> partner;
    for (const auto& [other, theirs] : missing_) {
      const auto cables = neighbours_[index].find(gpus_[other]);
      if (other == index || cables == neighbours_[index].end()) continue;
      if (partner) return std::nullopt;
      partner = other;
      if (theirs.links != missing.links || cables->second < missing.links) return std::nullopt;
    }
    return partner;
  }

  void take_xgmi(std::size_t a, std::size_t b) {
    const auto joins = [&](const TopologyLink& link) {
      const bool is_pair = (link.src == gpus_[a] && link.dst == gpus_[b]) ||
                           (link.src == gpus_[b] && link.dst == gpus_[a]);
      return is_pair && link.enabled && topology::medium_of(link.kind) == Medium::xgmi;
    };
    if (std::ranges::none_of(topology_.links, joins)) return;
    report_.failures.drop.push_back(link_item(id(a), id(b)));
    report_.found.push_back(
        fmt::format("{} and {}: xGMI is missing, they reach each other by PCIe", id(a), id(b)));
  }

  const Topology& topology_;
  const std::vector<NodeId>& gpus_;
  const MachineState& state_;
  Findings& findings_;
  HealthReport& report_;
  std::vector<Neighbours> neighbours_;      // by GPU
  std::map<std::size_t, Missing> missing_;  // of GPUs that miss something
};

}  // namespace

bool apply_machine(const Topology& topology, const std::vector<NodeId>& gpus,
                   const MachineState& state, Findings& findings, HealthReport& report) {
  return MachineHealth(topology, gpus, state, findings, report).apply();
}

std::string link_item(const std::string& a, const std::string& b) {
  const std::size_t star = b.find_last_not_of("0123456789");
  const bool looks_like_cables = star != std::string::npos && b[star] == '*' && star + 1 < b.size();
  if (!looks_like_cables) return a + "~" + b;
  return fmt::format("{}~{}[{}]", a, b.substr(0, star + 1), b.substr(star + 1));
}

}  // namespace forestcoll::health
