// The figures: NVIDIA's NVLink table (per link and direction: NVLink 1 20 GB/s, 2 to 4 25 GB/s, 5
// 50 GB/s; 14 on the GA10x boards), the data sheets of its PCIe boards (T4 PCIe 3.0; A10, L4 and
// L40 PCIe 4.0, none with NVLink), AMD's data sheets of the Instinct MI100, MI200, MI300 and MI350
// (a link of 153.6 GB/s in both directions), and what NCCL and RCCL plan with (src/graph/topo.h).
#include "topology/readers/constants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "topology/readers/context.hpp"

namespace forestcoll::importing {
namespace {

struct Nvlink {
  std::int64_t sm;
  std::int64_t nominal;
  std::int64_t nccl_tenths;
};
constexpr std::array<Nvlink, 8> kNvlinks = {{
    {60, 20, 180},
    {70, 25, 200},
    {75, 25, 200},
    {80, 25, 200},
    {86, 14, 120},
    {90, 25, 206},
    {100, 50, 401},
    {103, 50, 401},
}};

// The MI100's data sheet has no figure of one link and one direction.
constexpr std::string_view kMi100 =
    "a third of the half of the 276 GB/s that AMD's data sheet gives the MI100's three links in "
    "both "
    "directions";

// Nor has that of the MI50 and MI60.
constexpr std::string_view kMi50 =
    "the half of the 92 GB/s that AMD's data sheet gives a link of the MI50 in both directions";

struct Xgmi {
  std::string_view gcn;
  std::int64_t nominal_tenths, nccl;
  std::string_view reckoned = {};
};
constexpr std::array<Xgmi, 12> kXgmis = {{
    {"906", 460, 24, kMi50},
    {"gfx906", 460, 24, kMi50},
    {"908", 460, 24, kMi100},
    {"gfx908", 460, 24, kMi100},
    {"910", 500, 36},
    {"gfx90a", 500, 36},
    {"940", 640, 48},
    {"941", 640, 48},
    {"942", 640, 48},
    {"gfx940", 640, 48},
    {"gfx942", 640, 48},
    {"gfx950", 768, 48},
}};

// PCI device numbers of NVIDIA's GPUs on modules. Boxes have GPUs of as many NVLinks.
struct Part {
  std::string_view device, name, box;
  std::int64_t sm, nvlinks;
};
constexpr std::array<Part, 26> kParts = {{
    {"0x15f9", "P100 SXM2", "", 60, 4},
    {"0x1db1", "V100 SXM2", "dgx-1v", 70, 6},
    {"0x1db5", "V100 SXM2", "dgx-1v", 70, 6},
    {"0x1df5", "V100 SXM2", "dgx-1v", 70, 6},
    {"0x1db8", "V100 SXM3", "dgx-2", 70, 6},
    {"0x20b0", "A100 SXM4", "dgx-a100", 80, 12},
    {"0x20b2", "A100 SXM4", "dgx-a100", 80, 12},
    {"0x20b3", "A100 SXM4", "dgx-a100", 80, 12},
    {"0x20bd", "A800 SXM4", "", 80, 8},
    {"0x20f3", "A800 SXM4", "", 80, 8},
    {"0x2324", "H800 SXM5", "hgx-h800", 90, 8},
    {"0x2329", "H20", "hgx-h20", 90, 18},
    {"0x232c", "H20", "hgx-h20", 90, 18},
    {"0x2330", "H100 SXM5", "dgx-h100", 90, 18},
    {"0x2335", "H200 SXM5", "dgx-h200", 90, 18},
    {"0x2337", "H100 SXM5", "", 90, 18},  // boards of four GPUs, as the two below
    {"0x2338", "H100 SXM5", "", 90, 18},
    {"0x2339", "H100 SXM5", "", 90, 18},
    {"0x2342", "GH200", "", 90, 18},
    {"0x2348", "GH200", "", 90, 18},
    {"0x2901", "B200", "dgx-b200", 100, 18},
    {"0x2941", "GB200", "", 100, 18},  // a tray has four GPUs of a rack
    {"0x3182", "B300", "dgx-b300", 103, 18},
    {"0x31a1", "GB300", "", 103, 18},
    {"0x31c2", "GB300", "", 103, 18},
    {"0x31c3", "GB300", "", 103, 18},
}};

// Of a lane, in units of NCCL's table: 80 of them are a GB/s.
struct PcieLane {
  std::string_view speed;
  std::int64_t value;
};
constexpr std::array<PcieLane, 11> kPcieLanes = {{
    {"2.5 GT/s", 15},
    {"5 GT/s", 30},
    {"8 GT/s", 60},
    {"16 GT/s", 120},
    {"32 GT/s", 240},
    {"2.5 GT/s PCIe", 15},
    {"5.0 GT/s PCIe", 30},
    {"8.0 GT/s PCIe", 60},
    {"16.0 GT/s PCIe", 120},
    {"32.0 GT/s PCIe", 240},
    {"64.0 GT/s PCIe", 480},
}};
constexpr std::int64_t kLaneUnit = 80;

struct Model {
  std::string_view name;
  std::int64_t sm, nvlinks, pcie;
};
constexpr std::array<Model, 33> kModels = {{
    {"p100", 60, 4, 12},      {"v100", 70, 6, 12},         {"t4", 75, 0, 12},
    {"a10", 86, 0, 24},       {"a10g", 86, 0, 24},         {"l4", 89, 0, 24},
    {"l40", 89, 0, 24},       {"l40s", 89, 0, 24},         {"a30", 80, 4, 24},
    {"a40", 86, 4, 24},       {"a6000", 86, 4, 24},        {"a100", 80, 12, 24},
    {"a800", 80, 8, 24},      {"h100", 90, 18, 48},        {"h800", 90, 8, 48},
    {"h20", 90, 18, 48},      {"h200", 90, 18, 48},        {"b100", 100, 18, 48},
    {"b200", 100, 18, 48},    {"gb200", 100, 18, 48},      {"b300", 103, 18, 96},
    {"gb300", 103, 18, 96},   {"gh200", 90, 18, 48},       {"a5000", 86, 4, 24},
    {"rtx2080ti", 75, 2, 12}, {"rtx3080", 86, 0, 24},      {"rtx3090", 86, 4, 24},
    {"rtx4080", 89, 0, 24},   {"rtx4090", 89, 0, 24},      {"rtx5080", 120, 0, 48},
    {"rtx5090", 120, 0, 48},  {"rtx-6000-ada", 89, 0, 24}, {"rtx-pro-6000", 120, 0, 48},
}};

// "rtx", "4090" of "NVIDIA GeForce RTX 4090": without the maker and its families.
std::vector<std::string> model_words(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : lower_case(name)) {
    if (c == ' ' || c == '-' || c == '_') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || word == "nvidia" || word == "geforce" || word == "tesla";
  });
  return words;
}

// The model of the most of the first words: what follows is memory or form, as of "a100-sxm4-80gb".
// The boards of "rtx a6000" have no family here.
const Model* find_model(std::vector<std::string> words) {
  if (words.size() > 1 && words[0] == "rtx" && words[1].starts_with('a')) {
    words.erase(words.begin());
  }
  const Model* best = kModels.end();
  std::string begin;
  for (const std::string& word : words) {
    begin += word;
    const Model* found = std::ranges::find_if(kModels, [&](const Model& model) {
      return fmt::format("{}", fmt::join(model_words(model.name), "")) == begin;
    });
    if (found != kModels.end()) best = found;
  }
  return best;
}

constexpr std::int64_t kIntelFamily = 6;
constexpr std::int64_t kEmeraldRapids = 0xCF, kSapphireRapids = 0x8F, kSkylake = 0x55;

std::int64_t intel_link(std::int64_t family, std::int64_t model) {
  if (family != kIntelFamily) return 6;
  if (model >= kEmeraldRapids) return 40;
  if (model >= kSapphireRapids) return 22;
  return model >= kSkylake ? 10 : 6;
}

template <class Table, class Name>
std::string names_of(const Table& table, Name name) {
  std::string names;
  for (const auto& entry : table) {
    if (!names.empty()) names += ", ";
    names += fmt::format("{}", name(entry));
  }
  return names;
}

}  // namespace

std::string whose_speed(const LinkSpeed& speed, std::string_view generation, bool is_nccl,
                        bool is_xgmi) {
  const std::string_view planner = is_xgmi ? "RCCL" : "NCCL";
  if (is_nccl) {
    return fmt::format("what {} plans with for {}; `bandwidths=nominal` takes the vendor's {}",
                       planner, generation, shown(speed.nominal));
  }
  return fmt::format(
      "the vendor's figure for {}; `bandwidths=nccl` takes the {} that {} plans with", generation,
      shown(speed.nccl), planner);
}

std::optional<LinkSpeed> nvlink_of(std::int64_t sm) {
  const auto found = std::ranges::find(kNvlinks, sm, &Nvlink::sm);
  if (found == kNvlinks.end()) return std::nullopt;
  return LinkSpeed{.nominal = found->nominal, .nccl = Ratio(found->nccl_tenths, 10)};
}

Ratio nccl_nvlink_of_unknown(std::int64_t sm) {
  constexpr std::int64_t kBoard = 86, kOtherwise = 80;  // the boards' links are theirs alone
  std::int64_t like = kOtherwise;
  for (const Nvlink& entry : kNvlinks) {
    if (entry.sm <= sm && entry.sm != kBoard) like = entry.sm;
  }
  return nvlink_of(like)->nccl;
}

std::string known_nvlinks() {
  return names_of(kNvlinks, [](const Nvlink& entry) { return entry.sm; });
}

std::optional<LinkSpeed> xgmi_of(std::string_view gcn) {
  // "gfx90a:sramecc+:xnack-" is the architecture with its features.
  const std::string_view name = gcn.substr(0, gcn.find(':'));
  const auto found = std::ranges::find(kXgmis, name, &Xgmi::gcn);
  if (found == kXgmis.end()) return std::nullopt;
  return LinkSpeed{.nominal = Ratio(found->nominal_tenths, 10),
                   .nccl = found->nccl,
                   .reckoned = found->reckoned};
}

std::string known_xgmis() {
  return names_of(kXgmis, [](const Xgmi& entry) { return entry.gcn; });
}

std::optional<Ratio> pcie_lane(std::string_view speed) {
  const auto found = std::ranges::find(kPcieLanes, speed, &PcieLane::speed);
  if (found == kPcieLanes.end()) return std::nullopt;
  return Ratio(found->value, kLaneUnit);
}

Ratio exact_pcie(const Ratio& stated) {
  const Ratio half_a_digit(1, 2'000'000);
  for (const std::int64_t lane : {64, 128, 256}) {
    for (std::int64_t lanes = 1; lanes <= 32; ++lanes) {
      const Ratio exact(lanes * lane, 65);
      if (exact - half_a_digit <= stated && stated <= exact + half_a_digit) return exact;
    }
  }
  return stated;
}

std::optional<Ratio> cpu_link(std::string_view arch, std::string_view vendor, std::int64_t family,
                              std::int64_t model) {
  if (arch == "ppc64" || arch == "ppc64le") return Ratio(32);
  if (arch == "arm64" || arch == "aarch64") return Ratio(6);
  if (vendor == "AuthenticAMD" || vendor == "HygonGenuine") return Ratio(16);
  if (vendor == "GenuineIntel") return Ratio(intel_link(family, model));
  return std::nullopt;
}

std::optional<NvlinkPart> nvlink_part(std::string_view pci_device) {
  const auto found = std::ranges::find(kParts, pci_device, &Part::device);
  if (found == kParts.end()) return std::nullopt;
  const LinkSpeed link = *nvlink_of(found->sm);
  const Ratio links(found->nvlinks);
  return NvlinkPart{.name = found->name,
                    .box = found->box,
                    .bandwidth = {.nominal = links * link.nominal, .nccl = links * link.nccl}};
}

std::optional<GpuModel> gpu_model(std::string_view name) {
  const auto* found = find_model(model_words(name));
  if (found == kModels.end()) return std::nullopt;
  return GpuModel{
      .name = found->name, .sm = found->sm, .nvlinks = found->nvlinks, .pcie = found->pcie};
}

std::string known_gpu_models() {
  return names_of(kModels, [](const Model& entry) { return entry.name; });
}

}  // namespace forestcoll::importing
