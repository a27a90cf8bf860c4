// The links of NCCL's topology XML: <nvlink>, <xgmi> and <c2c>, the children of a <gpu>.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "topology/readers/context.hpp"
#include "topology/readers/machine.hpp"

namespace forestcoll::importing {

/// The class of every PCI device, by its bus id in small letters.
using PciClasses = std::map<std::string, std::string>;

/// Adds the links of all GPUs to the machine, whose GPUs and bridges are known; `elements` are
/// those of its GPUs, in their order. False after an error: I03, I04, I08.
[[nodiscard]] bool read_nccl_links(const Context& context,
                                   const std::vector<pugi::xml_node>& elements,
                                   const PciClasses& classes, Machine& machine);

}  // namespace forestcoll::importing
