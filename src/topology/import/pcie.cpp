#include "topology/import/pcie.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/readers/constants.hpp"
#include "topology/readers/context.hpp"

namespace forestcoll::importing {
namespace {

using Type = PciePart::Type;

// Marks the slots that are on some path, then reads the graph off them.
class PciePaths {
 public:
  explicit PciePaths(const Machine& machine)
      : machine_(machine),
        gpu_used_(machine.gpus.size()),
        nic_used_(machine.nics.size()),
        bridge_used_(machine.bridges.size()),
        has_sockets_(std::ranges::find(machine.links, End::cpu, &GpuLink::end) !=
                     machine.links.end()),
        gpus_below_(machine.bridges.size()),
        nics_below_(machine.bridges.size()) {
    for (const Gpu& gpu : machine.gpus) count(gpu.slot.parent, gpus_below_);
    for (const Nic& nic : machine.nics) count(nic.slot.parent, nics_below_);
  }

  void mark_nearest() {
    // A part that some other part reaches needs no path of its own to a farther one.
    for (std::size_t g = 0; g < machine_.gpus.size(); ++g) {
      join(lowest(machine_.gpus[g].slot.parent, nics_below_), {Type::gpu, g}, Type::nic);
    }
    for (std::size_t n = 0; n < machine_.nics.size(); ++n) {
      if (nic_used_[n]) continue;
      join(lowest(machine_.nics[n].slot.parent, gpus_below_), {Type::nic, n}, Type::gpu);
    }
  }

  void mark_all(bool with_nics) {
    for (std::size_t g = 0; g < machine_.gpus.size(); ++g) climb({Type::gpu, g}, kNone);
    for (std::size_t n = 0; with_nics && n < machine_.nics.size(); ++n)
      climb({Type::nic, n}, kNone);
    across_ = true;
  }

  [[nodiscard]] PcieGraph graph() {
    for (std::size_t g = 0; g < gpu_used_.size(); ++g) {
      const Gpu& gpu = machine_.gpus[g];
      if (gpu_used_[g]) add({Type::gpu, g}, gpu.slot, gpu.name);
      if (straight_.contains(g)) add_straight(g);
    }
    for (std::size_t n = 0; n < nic_used_.size(); ++n) {
      const Nic& nic = machine_.nics[n];
      if (nic_used_[n]) add({Type::nic, n}, nic.slot, nic.name);
    }
    for (std::size_t b = 0; b < bridge_used_.size(); ++b) {
      const Bridge& bridge = machine_.bridges[b];
      if (bridge_used_[b] && !bridge.cpu) add({Type::bridge, b}, bridge.slot, bridge.name);
    }
    if (across_) join_cpus();
    shorten();
    number_groups();
    for (const auto& [why, names] : guesses_) {
      graph_.guesses.push_back(
          fmt::format("the PCIe link of {} {}: assumed {}", listed(names), why.first, why.second));
    }
    return std::move(graph_);
  }

 private:
  void count(std::size_t bridge, std::vector<std::size_t>& below) {
    for (; bridge != kNone; bridge = machine_.bridges[bridge].slot.parent) ++below[bridge];
  }

  // The lowest bridge at or above `bridge` with something below it; none: only other CPUs have it.
  [[nodiscard]] std::size_t lowest(std::size_t bridge,
                                   const std::vector<std::size_t>& below) const {
    while (bridge != kNone && below[bridge] == 0) bridge = machine_.bridges[bridge].slot.parent;
    return bridge;
  }

  void join(std::size_t top, PciePart part, Type others) {
    climb(part, top);
    if (top == kNone) across_ = true;
    // Once is enough for all parts that meet others at this bridge.
    if (!met_.insert({top, others}).second) return;
    const auto& list_size = others == Type::nic ? nic_used_.size() : gpu_used_.size();
    for (std::size_t i = 0; i < list_size; ++i) {
      if (top == kNone || is_below(slot_of({others, i}).parent, top)) climb({others, i}, top);
    }
  }

  [[nodiscard]] bool is_below(std::size_t bridge, std::size_t top) const {
    while (bridge != kNone && bridge != top) bridge = machine_.bridges[bridge].slot.parent;
    return bridge == top;
  }

  [[nodiscard]] const PcieSlot& slot_of(PciePart part) const {
    switch (part.type) {
      case Type::gpu:
        return machine_.gpus[part.index].slot;
      case Type::nic:
        return machine_.nics[part.index].slot;
      case Type::bridge:
        break;
    }
    return machine_.bridges[part.index].slot;
  }

  // Marks the part and the bridges above it up to, and without, `top`.
  void climb(PciePart part, std::size_t top) {
    // A GPU with a link of its own to the CPU goes there straight.
    const bool straight = part.type == Type::gpu && machine_.gpus[part.index].c2c &&
                          (top == kNone || machine_.bridges[top].cpu);
    if (straight) {
      straight_.insert(part.index);
      return;
    }
    (part.type == Type::gpu ? gpu_used_ : nic_used_)[part.index] = true;
    for (std::size_t at = slot_of(part).parent; at != top && at != kNone;
         at = machine_.bridges[at].slot.parent) {
      bridge_used_[at] = true;
    }
  }

  void add_straight(std::size_t g) {
    const Gpu& gpu = machine_.gpus[g];
    std::size_t cpu = gpu.slot.parent;
    while (!machine_.bridges[cpu].cpu) cpu = machine_.bridges[cpu].slot.parent;
    graph_.edges.push_back({.a = {Type::gpu, g}, .b = {Type::bridge, cpu}, .bandwidth = gpu.c2c});
  }

  void add(PciePart part, const PcieSlot& slot, const std::string& name) {
    PcieEdge edge{.a = part, .b = {Type::bridge, slot.parent}, .bandwidth = slot.bandwidth};
    // A NIC without a slot of its own is as wide as its network.
    if (!edge.bandwidth && part.type == Type::gpu) {
      edge.bandwidth = kUnknownLane * Ratio(kUnknownWidth);
      add_guess("has no slot in the file", edge, fmt::format("GPU {}", part.index));
    } else if (!slot.guess.empty()) {
      add_guess(slot.guess, edge, name);
    }
    graph_.edges.push_back(edge);
  }

  void add_guess(const std::string& why, const PcieEdge& edge, const std::string& name) {
    guesses_[{why, shown(edge.bandwidth.value_or(Ratio(0))) + " GB/s"}].push_back(name);
  }

  void join_cpus() {
    std::set<PciePart> met;
    for (const PcieEdge& edge : graph_.edges) met.insert(edge.b);
    std::vector<std::size_t> cpus;
    for (std::size_t b = 0; b < machine_.bridges.size(); ++b) {
      if (machine_.bridges[b].cpu && met.contains({Type::bridge, b})) cpus.push_back(b);
    }
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      for (std::size_t j = i + 1; j < cpus.size(); ++j) {
        graph_.edges.push_back({.a = {Type::bridge, cpus[i]},
                                .b = {Type::bridge, cpus[j]},
                                .bandwidth = machine_.cpu_link,
                                .cpu = true});
      }
    }
    if (cpus.size() > 1 && !machine_.cpu_link_guess.empty()) {
      graph_.guesses.push_back(cpu_guess(machine_));
    }
  }

  // A bridge that joins two parts alone is no more than the narrower of its two links, and one that
  // a single link leads to is nothing.
  void shorten() {
    for (bool changed = true; changed;) {
      changed = false;
      std::map<PciePart, std::vector<std::size_t>> at;
      for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
        at[graph_.edges[e].a].push_back(e);
        at[graph_.edges[e].b].push_back(e);
      }
      std::vector<bool> gone(graph_.edges.size());
      std::vector<PcieEdge> merged;
      for (const auto& [part, edges] : at) {
        if (part.type != Type::bridge || edges.size() > 2) continue;
        if (std::ranges::any_of(edges, [&](std::size_t e) { return gone[e]; })) continue;
        if (edges.size() == 2 && shares_link(edges)) continue;
        for (const std::size_t e : edges) gone[e] = true;
        changed = true;
        if (edges.size() == 2) {
          merged.push_back(through(part, graph_.edges[edges[0]], graph_.edges[edges[1]]));
        }
      }
      std::vector<PcieEdge> kept;
      for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
        if (!gone[e]) kept.push_back(graph_.edges[e]);
      }
      kept.insert(kept.end(), merged.begin(), merged.end());
      graph_.edges = std::move(kept);
    }
  }

  // Between CPUs that NVLink leads to, what their link carries for NVLink counts as well.
  [[nodiscard]] bool shares_link(const std::vector<std::size_t>& edges) const {
    return has_sockets_ &&
           std::ranges::any_of(edges, [&](std::size_t e) { return graph_.edges[e].cpu; });
  }

  static PcieEdge through(PciePart bridge, const PcieEdge& one, const PcieEdge& two) {
    PcieEdge edge{.a = one.a == bridge ? one.b : one.a,
                  .b = two.a == bridge ? two.b : two.a,
                  .bandwidth = one.bandwidth,
                  .cpu = one.cpu && two.cpu};
    if (!edge.bandwidth || (two.bandwidth && *two.bandwidth < *edge.bandwidth)) {
      edge.bandwidth = two.bandwidth;
    }
    return edge;
  }

  void number_groups() {
    std::map<PciePart, PciePart> parent;
    const auto find = [&](PciePart part) {
      while (parent.at(part) != part) part = parent[part] = parent.at(parent.at(part));
      return part;
    };
    for (const PcieEdge& edge : graph_.edges) {
      parent.emplace(edge.a, edge.a);
      parent.emplace(edge.b, edge.b);
      parent[find(edge.a)] = find(edge.b);
    }
    std::map<PciePart, std::size_t> number;
    for (const PcieEdge& edge : graph_.edges) {
      graph_.group_of.push_back(number.emplace(find(edge.a), number.size()).first->second);
    }
    graph_.groups = number.size();
  }

  const Machine& machine_;
  std::vector<bool> gpu_used_, nic_used_, bridge_used_;
  bool has_sockets_;
  std::vector<std::size_t> gpus_below_, nics_below_;
  std::set<std::pair<std::size_t, Type>> met_;
  std::set<std::size_t> straight_;  // GPUs that go to the CPU by C2C
  bool across_ = false;             // some way leads from CPU to CPU
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> guesses_;
  PcieGraph graph_;
};

}  // namespace

std::string cpu_guess(const Machine& machine) {
  return fmt::format("{}: {} GB/s between CPUs", machine.cpu_link_guess,
                     shown(machine.cpu_link.value_or(Ratio(0))));
}

PcieGraph nic_paths(const Machine& machine) {
  if (machine.gpus.empty() || machine.nics.empty()) return {};
  PciePaths paths(machine);
  paths.mark_nearest();
  return paths.graph();
}

PcieGraph all_paths(const Machine& machine, bool with_nics) {
  PciePaths paths(machine);
  paths.mark_all(with_nics);
  return paths.graph();
}

}  // namespace forestcoll::importing
