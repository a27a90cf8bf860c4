#include "topology/import/notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace forestcoll::importing {

std::string in_words(const GpuGroups& groups) {
  if (std::ranges::all_of(groups, [](const auto& group) { return group.size() == 1; })) {
    return fmt::format("any two of the {} GPUs", groups.size());
  }
  std::vector<std::string> texts;
  for (const auto& group : groups) {
    texts.push_back(fmt::format("{}", fmt::join(compress_ids(group), ",")));
  }
  return texts.size() == 2 ? texts[0] + " and " + texts[1] : listed(texts);
}

std::string pcie_in_words(const GpuGroups& groups) {
  return fmt::format("no NVLink or xGMI joins {}: PCIe and the CPUs are the way between them",
                     in_words(groups));
}

std::string links_to_give(const std::optional<Ratio>& bandwidth, const std::string& box) {
  const std::string of_gpu =
      bandwidth
          ? fmt::format("`nvswitch={}` (GB/s of each GPU to the NVSwitches)", shown(*bandwidth))
          : "`nvswitch=RATE` (GB/s of each GPU to the NVSwitches, if it has these)";
  const std::string of_box =
      box.empty()
          ? "`box=NAME` (the machine with such GPUs: a name of `generators`, as dgx-1v is "
            "for V100 and dgx-a100 for A100, a topology file, or a dump)"
          : fmt::format("`box={}` (a name of `generators`, a topology file, or a dump)", box);
  return of_gpu + ", or " + of_box;
}

void add_notes(const ImportReport& report, TopologyDocument& document) {
  if (!report.joined_by_pcie.empty()) {
    document.metadata.emplace_back("pcie", pcie_in_words(report.joined_by_pcie));
  }
  for (std::size_t i = 0; i < report.guesses.size(); ++i) {
    document.metadata.emplace_back(fmt::format("guess {}", i + 1), report.guesses[i]);
  }
}

}  // namespace forestcoll::importing
