#include "compare/gpu_of.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {
namespace {

std::vector<std::string> gpus_in(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::vector<std::string> found;
  for (const std::string& gpu : simulation_gpus()) {
    if (gpu != "ideal" && text.find(gpu) != std::string::npos) found.push_back(gpu);
  }
  return found;
}

}  // namespace

ChosenGpu gpu_of(const Topology& topology) {
  std::vector<std::string> found = gpus_in(topology.name);
  if (found.empty()) found = gpus_in(topology.description);
  if (found.size() == 1) return {found.front(), "named by the fabric"};
  const std::string assumed = "a100";
  if (found.empty()) return {assumed, "assumed: the fabric names no GPU, --gpu does"};
  return {assumed,
          fmt::format("assumed: the fabric names {}, --gpu chooses", fmt::join(found, " and "))};
}

}  // namespace forestcoll::cli
