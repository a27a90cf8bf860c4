#include "run/plan/meetings.hpp"

#include <algorithm>

namespace forestcoll::run {

std::int64_t PlanMeetings::channel_number(const PlanEnd& end) {
  return end.ordinal * 2 + (end.kind == audit::ChannelKind::port ? 1 : 0);
}

bool PlanMeetings::arrive(const audit::PlanOp& op, Arrival& arrival) {
  Barrier& barrier = barriers_[op.barrier];
  if (!arrival.is_there) {
    arrival = {true, barrier.passed};
    if (++barrier.here == op.participants) {
      barrier.here = 0;
      ++barrier.passed;
    }
  }
  if (barrier.passed == arrival.passed) return false;
  arrival.is_there = false;
  return true;
}

bool PlanMeetings::wait(const std::vector<PlanEnd>& ends) {
  if (missing(ends)) return false;
  for (const PlanEnd& end : ends) --signals_[{end.rank, channel_number(end)}];
  return true;
}

std::optional<PlanEnd> PlanMeetings::missing(const std::vector<PlanEnd>& ends) const {
  for (const PlanEnd& end : ends) {
    const auto found = signals_.find({end.rank, channel_number(end)});
    if (found == signals_.end() || found->second == 0) return end;
  }
  return std::nullopt;
}

bool PlanMeetings::acquire(const std::vector<std::int64_t>& ids) {
  const auto count = [&](std::int64_t id) -> std::int64_t& {
    return semaphores_[static_cast<std::size_t>(id)];
  };
  if (!std::ranges::all_of(ids, [&](std::int64_t id) { return count(id) > 0; })) return false;
  for (const std::int64_t id : ids) --count(id);
  return true;
}

void PlanMeetings::release(const std::vector<std::int64_t>& ids) {
  for (const std::int64_t id : ids) ++semaphores_[static_cast<std::size_t>(id)];
}

}  // namespace forestcoll::run
