// What a file of a machine lacks and the options give: the links of the GPUs, or the GPUs.
#pragma once

#include <optional>

#include "topology/readers/context.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {

/// The machine of `--box` where that is a dump: the text of the context. Nothing after an error:
/// I08 where it is no dump of one machine, and those of its reader.
[[nodiscard]] std::optional<Machine> read_box(const Context& context);

/// Links every GPU to one NVSwitch, as `--nvlink` has it, where the option is given. False, and
/// I08, where the machine has links of its GPUs.
[[nodiscard]] bool add_nvswitch(const Context& context, Machine& machine);

/// Gives the machines of a file what `--nvlink` or `--box` say. A machine without GPUs gets those
/// of the box, as many below each PCIe switch that has devices. False after an error: I08, and what
/// is wrong with the box, which goes to `box_findings`. Cost: linear in the box.
[[nodiscard]] bool complete(const Context& context, Machines& machines, Findings& box_findings);

}  // namespace forestcoll::importing
