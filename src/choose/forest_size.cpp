#include "choose/forest_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "forestcoll/codes.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::choose {
namespace {

constexpr const char* kFewerTrees = "ask for fewer trees per root, down to `k=1`";

Diagnostic too_large(const std::string& what, const std::string& limit, const char* remedy) {
  return make_error(
      Code::T10,
      fmt::format("the trees have {}; the checker, which has to accept them, reads {}", what,
                  limit),
      remedy);
}

Expected<void> refuse(std::int64_t edges, const char* least, const char* remedy) {
  if (edges <= kMaxForestEdges) return {};
  return too_large(fmt::format("{}{} edges together", least, edges),
                   fmt::format("{}", kMaxForestEdges), remedy);
}

}  // namespace

Expected<void> refuse_large_fabric(const Network& network, const CompileOptions& options) {
  if (options.format != Format::forest) return {};
  const auto ranks = static_cast<std::int64_t>(network.ranks.size());
  const auto& weight = network.weight;
  const std::int64_t roots =
      is_rooted(options.synthesis.collective) ? 1
      : weight.empty()                        ? ranks
                       : std::count_if(weight.begin(), weight.end(), [](auto w) { return w > 0; });
  const std::int64_t phases = options.synthesis.collective == Collective::allreduce ? 2 : 1;
  return refuse(phases * roots * (ranks - 1), "at least ",
                "write them as symmetric as the fabric is, with `format=forest-symmetric`");
}

Expected<void> refuse_large_forest(const CollectiveForest& forest, const CompileOptions& options) {
  if (is_schedule(options.format)) return {};
  std::int64_t edges = 0;
  for (const auto& phase : {forest.reduce, forest.broadcast}) {
    if (!phase) continue;
    const std::size_t trees =
        options.format == Format::forest ? phase->tree_count() : phase->base_trees().size();
    edges += static_cast<std::int64_t>(trees * (phase->rank_count() - 1));
  }
  return refuse(edges, "", kFewerTrees);
}

Expected<void> refuse_large_text(std::size_t bytes, const CompileOptions& options) {
  if (is_schedule(options.format) || bytes <= kMaxForestBytes) return {};
  return too_large(fmt::format("{} bytes of text", bytes), fmt::format("{}", kMaxForestBytes),
                   kFewerTrees);
}

}  // namespace forestcoll::choose
