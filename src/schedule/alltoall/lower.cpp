#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "forestcoll/codes.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "schedule/alltoall/messages.hpp"
#include "schedule/alltoall/programs.hpp"
#include "schedule/xml_target.hpp"

namespace forestcoll {
namespace {

constexpr const char* kFewerParts = "use a smaller `k`, or write the paths with `format=flows`";
constexpr const char* kPathsInstead = "write the paths with `format=flows`";

std::int64_t ranks_in(const IdVector<NodeId, Rank>& rank_of) {
  return std::count_if(rank_of.begin(), rank_of.end(), [](Rank r) { return r.valid(); });
}

Expected<void> refuse_buffers(std::int64_t ranks, std::int64_t k, const TargetLimits& target) {
  if (auto done = schedule::refuse_many_gpus(ranks, target, kPathsInstead); !done) return done;
  const std::int64_t most = target.max_offset + std::int64_t{1};
  if (k <= most / ranks) return {};
  return make_error(
      Code::T04,
      fmt::format("{} blocks of {} parts are more chunks than the {} that offsets of {} "
                  "reach",
                  ranks, k, most, target.name),
      fmt::format("use `k={}` or smaller", most / ranks));
}

// What a rank has for others is the same in an allgather.
struct AlltoallKind {
  bool gathers = false, in_place = false;
};

// With a threadblock for every direction, or for both.
Expected<Schedule> lower_with(const AlltoallRoutes& routes, const IdVector<NodeId, Rank>& rank_of,
                              const AlltoallKind& kind, bool both_directions,
                              std::int32_t instances, std::int64_t most_blocks,
                              const TargetLimits& target) {
  const std::int64_t ranks = ranks_in(rank_of);
  const std::int64_t directions = both_directions ? 2 : 1;
  const auto messages = schedule::order_alltoall(routes, rank_of, static_cast<std::size_t>(ranks),
                                                 both_directions ? 1 : target.max_count,
                                                 target.max_steps / directions, instances);
  Schedule result;
  result.target = target.name;
  result.collective = kind.gathers ? Collective::allgather : Collective::alltoall;
  result.in_place = kind.in_place;
  result.out_of_place = !kind.in_place;
  result.k = routes.k * instances;
  result.chunks = ranks * result.k;
  result.programs = schedule::write_alltoall({.messages = messages,
                                              .ranks = ranks,
                                              .k = result.k,
                                              .instances = instances,
                                              .both_directions = both_directions,
                                              .gathers = kind.gathers,
                                              .in_place = kind.in_place,
                                              .max_count = target.max_count,
                                              .max_per_channel = target.max_per_channel});
  for (const RankProgram& program : result.programs) {
    for (const Threadblock& block : program.threadblocks) {
      result.channels = std::max(result.channels, block.channel + 1);
    }
  }
  const auto done = schedule::refuse_programs(
      result, target, most_blocks,
      {"one for every peer and one to copy its own data",
       result.k > 1 ? kFewerParts : kPathsInstead, kFewerParts, kFewerParts});
  if (!done) return done.errors();
  if (result.channels > target.max_channels) {
    return make_error(Code::T03,
                      fmt::format("{} channels, but {} holds {}", result.channels, target.name,
                                  target.max_channels),
                      kFewerParts);
  }
  return result;
}

Expected<Schedule> lower_kind(const AlltoallRoutes& routes, const IdVector<NodeId, Rank>& rank_of,
                              const AlltoallKind& kind, const LowerOptions& options) {
  const auto found = schedule::xml_target(options.target);
  if (!found) return found.errors();
  const TargetLimits& target = **found;
  const auto done = refuse_buffers(ranks_in(rank_of), routes.k * options.instances, target);
  if (!done) return done.errors();
  // Those that are waited for must have low numbers.
  const std::int64_t most = std::min({options.max_threadblocks, target.max_threadblocks,
                                      target.max_children, target.max_depended});
  if (options.threadblocks != ThreadblockUse::merge) {
    auto schedule = lower_with(routes, rank_of, kind, false, options.instances, most, target);
    if (schedule) return schedule;
  }
  return lower_with(routes, rank_of, kind, true, options.instances, most, target);
}

}  // namespace

Expected<Schedule> lower_alltoall(const AlltoallRoutes& routes,
                                  const IdVector<NodeId, Rank>& rank_of,
                                  const LowerOptions& options) {
  return lower_kind(routes, rank_of, {}, options);
}

Expected<Schedule> lower_direct_allgather(std::size_t ranks, const LowerOptions& options) {
  if (options.placement == Placement::both) {
    return make_error(Code::T06, "direct sends are made for calls in place or out of place",
                      "make two files, one with `placement=in_place` and one with "
                      "`placement=out_of_place`");
  }
  AlltoallRoutes routes;  // on a fabric of ranks alone
  IdVector<NodeId, Rank> rank_of;
  for (std::size_t r = 0; r < ranks; ++r) {
    rank_of.push_back(Rank(r));
    for (std::size_t t = 0; t < ranks; ++t) {
      if (t != r) routes.paths.push_back({Rank(r), Rank(t), 1, {NodeId(r), NodeId(t)}});
    }
  }
  return lower_kind(routes, rank_of, {true, options.placement == Placement::in_place}, options);
}

}  // namespace forestcoll
