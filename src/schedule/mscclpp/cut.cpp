#include "schedule/mscclpp/cut.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace forestcoll::schedule {

Busiest busiest_of(const PlanContext& context) {
  std::vector<Busiest> ranks(context.box_of.size());
  std::vector<Transfer> transfers;
  std::set<Rank> joined;
  for (const Segment& segment : context.segments) {
    if (!context.writes(segment.root)) continue;
    transfers.clear();
    append_transfers(context.group_of(segment), segment, 0, transfers);
    joined.clear();
    for (const auto& transfer : transfers) joined.insert({transfer.src, transfer.dst});
    for (const Rank rank : joined) {
      // An image of the segment joins the first rank as this one joins the rank.
      Busiest& busy = ranks[context.stands_for(rank).index()];
      ++busy.segments;
      busy.chunks += segment.count;
    }
  }
  Busiest most;
  for (const Busiest& rank : ranks) {
    most.segments = std::max(most.segments, rank.segments);
    most.chunks = std::max(most.chunks, rank.chunks);
  }
  return most;
}

Cut cut_into(std::int64_t parts, const Busiest& busiest, std::int64_t most) {
  const std::int64_t asked = std::clamp(parts / busiest.chunks, std::int64_t{1}, most);
  const auto times = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(asked)));
  return {times, (busiest.chunks * times + parts - 1) / parts};
}

std::vector<Segment> cut_finer(const std::vector<Segment>& segments, const Cut& cut) {
  std::vector<Segment> parts;
  for (const Segment& segment : segments) {
    std::int32_t turn = 0;
    for (std::int64_t at = 0; at < segment.count * cut.times; at += cut.largest) {
      Segment& part = parts.emplace_back(segment);
      part.turn = turn++;
      part.first = segment.first * cut.times + at;
      part.own = segment.own * cut.times + at;
      part.count = std::min(cut.largest, segment.count * cut.times - at);
    }
  }
  return parts;
}

}  // namespace forestcoll::schedule
