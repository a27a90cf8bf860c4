// Bandwidths of links by generation: the vendors' figures and NCCL's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "forestcoll/ratio.hpp"

namespace forestcoll::importing {

/// GB/s of one link and direction.
struct LinkSpeed {
  Ratio nominal;  ///< the vendor's figure
  Ratio nccl;     ///< the constant of NCCL's src/graph/topo.h, or of RCCL's
  /// Where the vendor's figure had to be reckoned: how. Empty: it is stated as it is.
  std::string_view reckoned = {};
};

/// Which of the two figures was taken of a generation such as "sm=80", for want of one in the file,
/// and the option that takes the other one.
[[nodiscard]] std::string whose_speed(const LinkSpeed& speed, std::string_view generation,
                                      bool is_nccl, bool is_xgmi);

/// NVLink of a compute capability such as 80; nothing where no NVLink of it is known.
[[nodiscard]] std::optional<LinkSpeed> nvlink_of(std::int64_t sm);
/// GB/s of one NVLink that NCCL plans with where it does not name the compute capability: the
/// figure of the next lower generation that it names, and of the A100 below them all.
[[nodiscard]] Ratio nccl_nvlink_of_unknown(std::int64_t sm);
/// The compute capabilities that `nvlink_of` knows, as a message lists them.
[[nodiscard]] std::string known_nvlinks();

/// xGMI of an architecture, as RCCL writes it: "gfx942", "906", "908", "910" (gfx90a), "940".
[[nodiscard]] std::optional<LinkSpeed> xgmi_of(std::string_view gcn);
[[nodiscard]] std::string known_xgmis();
/// GB/s that RCCL plans with for xGMI of every architecture that it does not know.
inline const Ratio kUnknownXgmi{24};

/// GB/s of one PCIe lane as NCCL reckons it, by the exact text of its speed: "16 GT/s" or
/// "16.0 GT/s PCIe". Nothing where that is unknown or empty.
[[nodiscard]] std::optional<Ratio> pcie_lane(std::string_view speed);
/// That is this part of the lane's nominal bandwidth: 2 GB/s of 16 GT/s.
inline const Ratio kNcclPartOfPcie{3, 4};
/// What NCCL takes for a lane of unknown speed, PCIe 3, and for an unknown number of lanes.
inline const Ratio kUnknownLane{60, 80};
inline constexpr std::int64_t kUnknownWidth = 16;

/// The exact bandwidth of a PCIe link that hwloc states in six decimals: of PCIe 3 to 5 it is
/// lanes × GT/s / 8 × 128/130. Others are as they are stated.
[[nodiscard]] Ratio exact_pcie(const Ratio& stated);

/// GB/s between two CPUs of a machine. Nothing where the vendor is unknown.
[[nodiscard]] std::optional<Ratio> cpu_link(std::string_view arch, std::string_view vendor,
                                            std::int64_t family, std::int64_t model);

/// What is taken where the CPUs are not known: NCCL's constant for the oldest of Intel's.
inline const Ratio kUnknownCpuLink{6};

/// The NVIDIA GPUs on modules, which all have NVLink: what the part is called, by its PCI device
/// number ("0x2330"), a generator of boxes with it, and what all its links carry together, in
/// each direction. Nothing of other numbers. Source: the PCI ID Repository (pci-ids.ucw.cz) of
/// August 2026.
struct NvlinkPart {
  std::string_view name, box;
  LinkSpeed bandwidth;
};
[[nodiscard]] std::optional<NvlinkPart> nvlink_part(std::string_view pci_device);

/// What is known of a GPU by its name: "a100", or as `nvidia-smi -L` has it, "NVIDIA
/// A100-SXM4-80GB".
struct GpuModel {
  std::string_view name;
  std::int64_t sm;
  std::int64_t nvlinks;  ///< NVLink links per GPU
  Ratio pcie;            ///< GB/s of its PCIe slot, 16 lanes
};
[[nodiscard]] std::optional<GpuModel> gpu_model(std::string_view name);
[[nodiscard]] std::string known_gpu_models();

}  // namespace forestcoll::importing
