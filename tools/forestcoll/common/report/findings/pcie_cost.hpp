// What it costs that PCIe and the CPUs join the GPUs of a box.
#pragma once

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// Adds to the first of `report_findings` what an allgather over the GPUs of a box moves at best,
/// what limits it, and what a group's own links alone would move. `topology` is what the import
/// made; its first box stands for all. Nothing to add where PCIe joins nothing. Cost: two rates of
/// the box.
void add_cost_of_pcie(const ImportReport& report, const Topology& topology, Diagnostics& findings);

}  // namespace forestcoll::cli
