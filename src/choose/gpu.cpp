#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/fabric.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll {
namespace {

// What a GPU is called, in products and by drivers, and whose figures serve for it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 27> kNames = {{
    {"v100", "v100"},     {"sm70", "v100"},     {"a100", "a100"},     {"a800", "a100"},
    {"sm80", "a100"},     {"h100", "h100"},     {"h800", "h100"},     {"sm90", "h100"},
    {"h200", "h200"},     {"gh200", "h200"},    {"b200", "b200"},     {"sm100", "b200"},
    {"gb200", "gb200"},   {"mi250", "mi250"},   {"mi250x", "mi250"},  {"gfx90a", "mi250"},
    {"mi300x", "mi300x"}, {"gfx942", "mi300x"}, {"gfx940", "mi300x"}, {"h20", "h100"},
    {"b300", "b200"},     {"sm103", "b200"},    {"gb300", "gb200"},   {"mi325x", "mi300x"},
    {"mi350x", "mi300x"}, {"mi355x", "mi300x"}, {"gfx950", "mi300x"},
}};

// What all the links of a GPU to others carry, per direction, where that tells the generation: at
// the vendor's figures, and at those that NCCL and RCCL plan with.
struct LinkSum {
  std::string_view kind;
  Ratio gbs;
  std::string_view gpu;
};
const std::array<LinkSum, 12>& link_sums() {
  static const std::array<LinkSum, 12> sums = {{
      {"nvlink", 150, "v100"},
      {"nvlink", 120, "v100"},
      {"nvlink", 300, "a100"},
      {"nvlink", 240, "a100"},
      {"nvlink", 450, "h100"},
      {"nvlink", Ratio(1854, 5), "h100"},  // 18 x 20.6
      {"nvlink", 900, "b200"},
      {"nvlink", Ratio(3609, 5), "b200"},  // 18 x 40.1
      {"xgmi", 350, "mi250"},
      {"xgmi", 252, "mi250"},
      {"xgmi", 448, "mi300x"},
      {"xgmi", 336, "mi300x"},
  }};
  return sums;
}

// Words of letters and digits in lower case: "DGX-A100-80GB" has "dgx", "a100" and "80gb".
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      words.back() += static_cast<char>(std::tolower(byte));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

// "a100" is in "a100", "8xa100" and "dgxa100", not in "ga100" or "a1000".
bool is_in(std::string_view name, std::string_view word) {
  if (!word.ends_with(name)) return false;
  const std::string_view before = word.substr(0, word.size() - name.size());
  return before.empty() || before.ends_with('x');
}

// The GPUs that are named, in the order of their figures' kNames.
std::vector<std::string> gpus_in(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string& word : words_of(text)) {
    for (const auto& [name, gpu] : kNames) {
      if (is_in(name, word)) found.emplace_back(gpu);
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// By the GPU with the most of them: links that failed or are slower say nothing of the others.
std::optional<std::string> gpu_by_links(const Topology& topology) {
  std::map<std::pair<NodeId, std::string_view>, Ratio> of_gpu;
  for (const TopologyLink& link : topology.links) {
    if (!link.enabled || (link.kind != "nvlink" && link.kind != "xgmi")) continue;
    for (const NodeId end : {link.src, link.full_duplex ? link.dst : link.src}) {
      if (topology.nodes[end].type != NodeType::compute) continue;
      Ratio& sum = of_gpu[{end, link.kind}];
      const auto more = checked_add(sum, link.bandwidth);
      if (!more) return std::nullopt;
      sum = *more;
    }
  }
  const auto most = std::ranges::max_element(
      of_gpu, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == of_gpu.end()) return std::nullopt;
  const auto sum = std::ranges::find_if(link_sums(), [&](const LinkSum& known) {
    return known.kind == most->first.second && known.gbs == most->second;
  });
  return sum == link_sums().end() ? std::nullopt : std::optional(std::string(sum->gpu));
}

}  // namespace

std::int32_t default_sms(std::string_view target, const ChosenGpu& gpu) {
  const std::int32_t usual = default_sms(target);
  const auto figures = find_simulation_parameters(gpu.name);
  if (!figures) return usual;
  return static_cast<std::int32_t>(std::min<double>(usual, figures->threadblocks));
}

ChosenGpu choose_gpu(const Topology& topology, const Metadata& metadata) {
  const std::string assumed = "a100";
  const std::string templates = fmt::format("{}", fmt::join(metadata.templates, " "));
  const std::array<std::pair<std::string_view, std::string_view>, 4> texts = {
      {{topology.name, "named by the fabric"},
       {metadata.metadata, "named by the fabric's metadata"},
       {topology.description, "named by the fabric"},
       {templates, "named by the fabric's templates"}}};
  for (const auto& [text, reason] : texts) {
    const std::vector<std::string> found = gpus_in(text);
    if (found.size() == 1) return {found.front(), std::string(reason)};
    if (found.empty()) continue;
    return {assumed,
            fmt::format("assumed: the fabric names {}, `gpu` chooses", fmt::join(found, " and "))};
  }
  if (const auto gpu = gpu_by_links(topology)) {
    return {*gpu, "by the bandwidth of its links"};
  }
  return {assumed, "assumed: the fabric names no GPU that is known, `gpu` does"};
}

}  // namespace forestcoll
