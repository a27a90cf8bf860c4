#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/joined_items.hpp"
#include "topology/readers/machines/nvidia_smi.hpp"

namespace forestcoll::importing {
namespace {

using Connection = Cell::Connection;

PcieSlot slot_of(const Context& context, const GpuModel& model, std::size_t parent) {
  const auto given = context.overridden("pcie");
  return {.parent = parent,
          .bandwidth = given.value_or(model.pcie),
          .guess = given ? "" : fmt::format("is that of the {}", model.name)};
}

// NVLink says nothing of where two GPUs stand.
bool meet_within(const Matrix& matrix, std::size_t a, std::size_t b, Connection most) {
  const Connection connection = matrix.cells[a][b].connection;
  return connection != Connection::self && connection != Connection::nvlink && connection <= most;
}

// The number of a group is that of its first device.
graph::JoinedItems groups_within(const Matrix& matrix, Connection most) {
  graph::JoinedItems groups(matrix.labels.size());
  for (std::size_t a = 0; a < matrix.labels.size(); ++a) {
    for (std::size_t b = 0; b < matrix.labels.size(); ++b) {
      if (meet_within(matrix, a, b, most)) groups.join(a, b);
    }
  }
  return groups;
}

class PcieTree {
 public:
  PcieTree(const Context& context, const Matrix& matrix, const GpuModel& model, Machine& machine)
      : context_(context), matrix_(matrix), model_(model), machine_(machine) {}

  void build() {
    const std::size_t parts = matrix_.labels.size();
    above_.assign(parts, kNone);
    add_level(groups_within(matrix_, Connection::pix), "a PCIe switch", false);
    add_level(groups_within(matrix_, Connection::pxb), "PCIe switches", false);
    add_host_bridges();
    add_level(groups_within(matrix_, Connection::node), "CPU", true);
    join_cpus();
  }

 private:
  // Devices that meet at one (PHB) share its bandwidth, which the matrix does not have.
  void add_host_bridges() {
    const auto given = context_.overridden(kHostBridge);
    if (!given) return;
    const std::size_t first = machine_.bridges.size();
    add_level(groups_within(matrix_, Connection::phb), "host bridge", true);
    for (std::size_t bridge = first; bridge < machine_.bridges.size(); ++bridge) {
      machine_.bridges[bridge].cpu = false;
      machine_.bridges[bridge].slot.bandwidth = given;
    }
  }

  // A bridge above every group, or above those that have more than one part or bridge of the level
  // below.
  void add_level(graph::JoinedItems groups, std::string_view name, bool cpu) {
    const std::size_t parts = matrix_.labels.size();
    for (std::size_t first = 0; first < parts; ++first) {
      if (groups.first(first) != first) continue;
      std::vector<std::size_t> members;
      std::set<std::size_t> below;  // bridges, and parts that have none yet
      for (std::size_t part = first; part < parts; ++part) {
        if (groups.first(part) != first) continue;
        members.push_back(part);
        below.insert(above_[part] == kNone ? machine_.bridges.size() + part : above_[part]);
      }
      if (below.size() < 2 && !cpu) continue;
      add_bridge(members, fmt::format("{} {}", name, numbers_++), cpu);
    }
  }

  void add_bridge(const std::vector<std::size_t>& members, std::string name, bool cpu) {
    const std::size_t bridge = machine_.bridges.size();
    machine_.bridges.push_back({.name = std::move(name), .cpu = cpu, .slot = {}});
    for (const std::size_t part : members) {
      if (above_[part] == kNone) {
        slot(part) =
            part < matrix_.gpus ? slot_of(context_, model_, bridge) : PcieSlot{.parent = bridge};
      } else if (PcieSlot& up = machine_.bridges[above_[part]].slot; up.parent == kNone) {
        const auto given = up.bandwidth;  // of a host bridge
        up = given ? PcieSlot{.parent = bridge, .bandwidth = given}
                   : slot_of(context_, model_, bridge);
      }
      above_[part] = bridge;
    }
  }

  PcieSlot& slot(std::size_t part) {
    return part < matrix_.gpus ? machine_.gpus[part].slot : machine_.nics[part - matrix_.gpus].slot;
  }

  // As for NCCL's files that do not name the CPUs.
  void join_cpus() {
    if (std::ranges::count(machine_.bridges, true, &Bridge::cpu) < 2) return;
    machine_.cpu_link = context_.overridden("cpu");
    if (machine_.cpu_link) return;
    machine_.cpu_link = kUnknownCpuLink;
    machine_.cpu_link_guess = "nvidia-smi does not name the CPUs";
  }

  const Context& context_;
  const Matrix& matrix_;
  const GpuModel& model_;
  Machine& machine_;
  std::vector<std::size_t> above_;  // of each device: the topmost bridge so far
  std::size_t numbers_ = 0;
};

}  // namespace

bool joined_by_links(const Matrix& matrix) {
  graph::JoinedItems groups(matrix.gpus);
  for (std::size_t a = 0; a < matrix.gpus; ++a) {
    for (std::size_t b = 0; b < matrix.gpus; ++b) {
      if (matrix.cells[a][b].connection == Connection::nvlink) groups.join(a, b);
    }
  }
  for (std::size_t gpu = 0; gpu < matrix.gpus; ++gpu) {
    if (groups.first(gpu) != 0) return false;
  }
  return true;
}

// The GPUs and NICs that are nearest to each other, joined by a bridge for each group.
void add_nearest_bridges(const Context& context, const Matrix& matrix, const GpuModel& model,
                         Machine& machine) {
  const std::size_t parts = matrix.labels.size();
  graph::JoinedItems groups(parts);
  Connection farthest = Connection::self;
  for (std::size_t part = 0; part < parts; ++part) {
    const bool gpu = part < matrix.gpus;
    const std::size_t first = gpu ? matrix.gpus : 0, last = gpu ? parts : matrix.gpus;
    const bool met = !gpu && groups.first(part) < matrix.gpus;
    if (first == last || met) continue;
    const auto row = matrix.cells[part].begin();
    const auto nearest =
        std::min_element(row + static_cast<std::ptrdiff_t>(first),
                         row + static_cast<std::ptrdiff_t>(last),
                         [](const Cell& a, const Cell& b) { return a.connection < b.connection; })
            ->connection;
    farthest = std::max(farthest, nearest);
    for (std::size_t other = first; other < last; ++other) {
      if (matrix.cells[part][other].connection != nearest) continue;
      groups.join(part, other);  // GPUs come first: a group with a GPU is called by it
    }
  }
  std::map<std::size_t, std::size_t> bridge_of;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto [at, is_new] = bridge_of.emplace(groups.first(part), machine.bridges.size());
    if (is_new) machine.bridges.push_back({.name = "PCIe", .cpu = false, .slot = {}});
    if (part < matrix.gpus) {
      machine.gpus[part].slot = slot_of(context, model, at->second);
    } else {
      machine.nics[part - matrix.gpus].slot = {.parent = at->second};
    }
  }
  if (farthest > Connection::pxb) {
    context.report.guesses.push_back(
        "GPUs and NICs that meet at a CPU alone: taken as if they met at a PCIe switch");
  }
}

void add_pcie_tree(const Context& context, const Matrix& matrix, const GpuModel& model,
                   Machine& machine) {
  PcieTree(context, matrix, model, machine).build();
}

}  // namespace forestcoll::importing
