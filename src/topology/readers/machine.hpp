// One machine as its dump describes it: GPUs, what joins them, NICs, and the PCIe between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/ratio.hpp"

namespace forestcoll::importing {

/// The first compute capability whose NVSwitches copy and combine in the network.
inline constexpr std::int64_t kHopper = 90;

/// No bridge.
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// How a part hangs on the PCIe tree.
struct PcieSlot {
  std::size_t parent = kNone;           ///< in `Machine::bridges`
  std::optional<Ratio> bandwidth = {};  ///< GB/s; nothing: not narrower than the part itself
  std::string guess = {};               ///< why the bandwidth is a guess; empty: it is none
};

/// A PCIe switch, or a CPU with its host bridge: the roots of the tree.
struct Bridge {
  std::string name;  ///< a bus id, or "CPU 0"
  bool cpu = false;
  PcieSlot slot = {};  ///< of a PCIe switch
};

struct Gpu {
  std::int64_t dev = 0;
  std::string name;         ///< a bus id; may be empty
  std::string device = {};  ///< its PCI device number, "0x2330"; empty: not known
  std::optional<std::int64_t> rank = {};
  PcieSlot slot = {};
  std::optional<Ratio> c2c = {};  ///< GB/s straight to its CPU
  /// In the template.
  [[nodiscard]] std::string id() const { return "gpu" + std::to_string(dev); }
};

struct Nic {
  std::string name;  ///< "mlx5_0"
  std::optional<Ratio> bandwidth = {};
  std::string speed = {};  ///< as the file writes it
  std::size_t offset = 0;  ///< in the file
  PcieSlot slot = {};
  std::string card = {};  ///< functions and ports of one card have the same; empty: not known
};

/// What a GPU's link leads to.
enum class End { gpu, nvswitch, cpu, left_out };

/// Links of one kind from a GPU, one direction as the file states it.
struct GpuLink {
  std::size_t gpu = 0;  ///< in `Machine::gpus`
  End end = End::gpu;
  std::size_t target = 0;  ///< in `gpus`, `nvswitches` or `bridges`
  std::int64_t count = 1;
  Ratio bandwidth;  ///< GB/s of one
  std::string kind;
};

/// Links between two NVSwitches.
struct SwitchLink {
  std::size_t from = 0, to = 0;
  Ratio bandwidth;
};

struct Machine {
  std::string source;  ///< "NCCL topology XML"
  std::vector<Gpu> gpus = {};
  std::vector<Nic> nics = {};
  std::vector<Bridge> bridges = {};
  std::vector<std::string> nvswitches = {};  ///< their names
  bool in_network = false;  ///< NVSwitches of its GPUs copy and combine, as from Hopper on
  std::vector<GpuLink> links = {};
  /// By kind of link, whose figure its bandwidth is where neither the file nor an option gives one.
  std::map<std::string, std::string> assumed = {};
  std::vector<SwitchLink> switch_links = {};  ///< one direction each
  std::optional<Ratio> cpu_link = {};         ///< GB/s between two CPUs
  std::string cpu_link_guess = {};            ///< why it is a guess
  std::string links_unknown = {};    ///< why the file cannot say what joins the GPUs; empty: it can
  std::string nvlink_expected = {};  ///< why GPUs without links should have some; empty: no reason
  std::string nvlink_box = {};       ///< a generator of boxes with such GPUs, or empty
  /// GB/s of such a GPU's links together; none: not known.
  std::optional<Ratio> nvlink_bandwidth = {};
  /// In the template.
  [[nodiscard]] std::string nvswitch_id(std::size_t index) const {
    return nvswitches.size() == 1 ? "nvsw" : "nvsw" + std::to_string(index);
  }
};

}  // namespace forestcoll::importing
