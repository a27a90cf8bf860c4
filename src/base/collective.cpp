#include "forestcoll/collective.hpp"

#include <array>
#include <utility>

namespace forestcoll {
namespace {

constexpr std::array<std::pair<Collective, std::string_view>, 8> kNames = {{
    {Collective::allgather, "allgather"},
    {Collective::reduce_scatter, "reduce_scatter"},
    {Collective::allreduce, "allreduce"},
    {Collective::broadcast, "broadcast"},
    {Collective::reduce, "reduce"},
    {Collective::alltoall, "alltoall"},
    {Collective::scatter, "scatter"},
    {Collective::gather, "gather"},
}};

}  // namespace

std::string_view to_string(Collective collective) {
  return kNames[static_cast<std::size_t>(collective)].second;
}

std::optional<Collective> parse_collective(std::string_view name) {
  for (const auto& [collective, text] : kNames) {
    if (text == name) return collective;
  }
  return std::nullopt;
}

bool is_rooted(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce ||
         collective == Collective::scatter || collective == Collective::gather;
}

bool has_reduce(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::reduce ||
         collective == Collective::allreduce;
}

bool has_broadcast(Collective collective) {
  return collective == Collective::allgather || collective == Collective::broadcast ||
         collective == Collective::allreduce;
}

bool is_personalized(Collective collective) {
  return collective == Collective::alltoall || collective == Collective::scatter ||
         collective == Collective::gather;
}

Ratio busbw_factor(Collective collective, std::int64_t ranks) {
  if (collective == Collective::broadcast || collective == Collective::reduce) return 1;
  return Ratio(collective == Collective::allreduce ? 2 : 1) * Ratio(ranks - 1, ranks);
}

}  // namespace forestcoll
