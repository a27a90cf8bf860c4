// The tables stand in buildDefaultDslAlgorithms of src/ext/collectives/
// algorithm_collection_builder.cc, and how a plan is selected in src/ext/nccl/algorithm_selector.cc
// (commit 1f5f065d7b13 of 20 August 2026, and v0.9.0).
#include "common/synthesis/output/shim_files.hpp"

#include <array>

#include "forestcoll/plan_target.hpp"

namespace forestcoll::cli {
namespace {

struct ShimFile {
  std::string_view release, name;
  std::size_t ranks, ranks_per_host;
};

constexpr std::string_view kOld = "mscclpp-0.9", kNew = "mscclpp-0.10";

constexpr std::array<ShimFile, 6> kFiles = {{
    {kOld, "allreduce_2nodes_1K_64K.json", 16, 8},
    {kOld, "allreduce_2nodes_64K_2M.json", 16, 8},
    {kNew, "allreduce_2nodes_1K_64K.json", 16, 8},
    {kNew, "allreduce_2nodes_128K_2M.json", 16, 8},
    {kNew, "allreduce_4nodes_1K_64K.json", 32, 8},
    {kNew, "allreduce_4nodes_128K_2M.json", 64, 4},
}};

}  // namespace

std::vector<std::string_view> shim_files(std::string_view target, Collective collective,
                                         std::size_t ranks, std::size_t ranks_per_host) {
  std::vector<std::string_view> names;
  const PlanTarget* release = find_plan_target(target);
  const bool is_told_apart =
      collective == Collective::allreduce || collective == Collective::allgather;
  if (release == nullptr || !is_told_apart) return names;
  for (const ShimFile& file : kFiles) {
    if (file.release == release->name && file.ranks == ranks &&
        file.ranks_per_host == ranks_per_host) {
      names.push_back(file.name);
    }
  }
  return names;
}

}  // namespace forestcoll::cli
