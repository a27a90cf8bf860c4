// What an importer tells of a file, in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/readers/context.hpp"

namespace forestcoll::importing {

/// Ids of GPUs in groups, with no link of a GPU's own between two of them.
using GpuGroups = std::vector<std::vector<std::string>>;

/// What no link joins: "any two of the 8 GPUs", or "gpu[0-3] and gpu[4-7]".
[[nodiscard]] std::string in_words(const GpuGroups& groups);

/// A sentence on `ImportReport::joined_by_pcie`. REQUIRES: there are groups.
[[nodiscard]] std::string pcie_in_words(const GpuGroups& groups);

/// The options that give the links that a file lacks, as part of a remedy: "`nvswitch=450` (GB/s of
/// each GPU to the NVSwitches), or `box=dgx-h100` (a name of …)". What is not known of the GPUs,
/// their GB/s or a generator of boxes with them, is left to the reader.
[[nodiscard]] std::string links_to_give(const std::optional<Ratio>& bandwidth,
                                        const std::string& box);

/// Puts the guesses of the report, and what PCIe joins, into the document's metadata: who reads the
/// file later must know.
void add_notes(const ImportReport& report, TopologyDocument& document);

}  // namespace forestcoll::importing
