// The matrix of `nvidia-smi topo -m`, and the PCIe tree that its words tell of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "topology/readers/constants.hpp"
#include "topology/readers/context.hpp"
#include "topology/readers/machine.hpp"

namespace forestcoll::importing {

/// How two devices meet, from near to far: over bonded NVLinks, one PCIe switch, several, a CPU,
/// the host bridges of a NUMA node, or the link between NUMA nodes.
struct Cell {
  enum class Connection { self, nvlink, pix, pxb, phb, node, sys } connection = Connection::self;
  std::int64_t nvlinks = 0;
};

/// The whole matrix, as it stands.
struct Matrix {
  std::vector<std::string> labels;  // GPUs and NICs, in the order of the columns
  std::size_t gpus = 0;             // … of which the first are GPUs
  std::vector<std::vector<Cell>> cells;
  std::vector<std::size_t> offsets;           // of the rows
  std::map<std::string, std::string> legend;  // NIC0 → mlx5_0
};

/// Whether NVLinks join all GPUs, straight or over others. Cost: O(GPUs²).
[[nodiscard]] bool joined_by_links(const Matrix& matrix);

/// Joins GPUs with the NICs that are nearest to them, by a bridge for each group: all that matters
/// of PCIe where NVLinks join the GPUs. Cost: O(devices²).
void add_nearest_bridges(const Context& context, const Matrix& matrix, const GpuModel& model,
                         Machine& machine);

/// The tree of PCIe switches and CPUs: devices that show PIX share a switch, PXB switches below a
/// switch, PHB and NODE a CPU; CPUs are joined. The matrix has no widths: all of PCIe is as wide as
/// the GPUs' slots, and the CPUs' links are guessed. Cost: O(devices²).
void add_pcie_tree(const Context& context, const Matrix& matrix, const GpuModel& model,
                   Machine& machine);

}  // namespace forestcoll::importing
