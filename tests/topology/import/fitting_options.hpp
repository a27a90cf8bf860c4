// Options of an import that a file has a use for: all others are refused before it is read.
#pragma once

#include "forestcoll/import.hpp"

namespace forestcoll::testing {

/// `options` without what a file of `source` has no use for. A machine in `box_text` is NCCL's.
inline ImportOptions fitting(Source source, ImportOptions options) {
  const bool network = source == Source::ibnetdiscover || source == Source::slurm;
  const bool smi = source == Source::nvidia_smi;
  const bool machine = smi || source == Source::nccl || source == Source::hwloc;
  if (!smi) options.gpu.clear();
  if (!network) options.box_text.clear();
  if (machine || network) options.compute.clear();
  if (source != Source::slurm) options.uplink_bandwidth.reset();
  if (!machine) {
    options.boxes = 1;
    options.fabric.clear();
  }
  if (!machine && !network) options.pcie_p2p = false;
  if (smi || (!machine && !network)) options.split_nvswitch = false;
  // Of NICs that are linked on, and have no speed in these files.
  const bool speed_is_asked = (smi || source == Source::hwloc) && !options.fabric.empty();
  if (!speed_is_asked) options.nic_bandwidth.reset();
  return options;
}

}  // namespace forestcoll::testing
