// Whole buffers, not parts of them: the data of everybody crosses every rank's links again and
// again, but there are as few messages one after the other as there can be, one for a single shot
// and log N for doubling. So this is for small buffers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/exchange/all_pairs.hpp"
#include "schedule/exchange/exchange_writer.hpp"
#include "schedule/msccl/labels.hpp"
#include "schedule/xml_target.hpp"

namespace forestcoll {
namespace {

using schedule::ExchangeWriter;

// What a rank does with a partner; it sends before it receives.
struct Meeting {
  Rank partner;
  bool sends = false, receives = false;
  bool adds = false;  //< what it receives, else that takes the place of what it has
};

using Meetings = IdVector<Rank, std::vector<Meeting>>;

constexpr const char* kTreesInstead = "use an algorithm of trees, such as two-shot";

constexpr std::array<ExchangeInfo, 5> kExchanges = {{
    {Exchange::one_shot, "one-shot", "direct exchange in one shot",
     "AMD RCCL and Microsoft MSCCL, all-pairs schedules", true},
    {Exchange::recursive_doubling, "recursive-doubling", "recursive doubling of whole buffers",
     "Thakur, Rabenseifner, Gropp, IJHPCA 2005"},
    {Exchange::swing, "swing-doubling", "Swing of whole buffers", "De Sensi et al., NSDI 2024"},
    {Exchange::all_pairs_once, "all-pairs-once", "all pairs in one shot, sums shared out",
     "Azure msccl-scheduler, allreduce_pairs", true},
    {Exchange::all_pairs, "all-pairs", "all pairs in two shots, sums shared out",
     "AMD RCCL, allreduce-allpairs", true},
}};

// By rank, in order. Recursive doubling with the partner 2^i away in step i, among the largest
// power of two of ranks; the others hand over to a neighbour first, and get the result at the end.
Meetings doubling_meetings(std::size_t ranks) {
  const std::size_t core = std::bit_floor(ranks), folded = ranks - core;
  // Of the first 2 · folded ranks, only the even ones take part in the doubling.
  const auto rank_of = [folded](std::size_t place) {
    return Rank(place < folded ? 2 * place : place + folded);
  };
  Meetings meetings(ranks);
  for (std::size_t i = 0; i < folded; ++i) {
    meetings[Rank(2 * i + 1)].push_back({.partner = Rank(2 * i), .sends = true});
    meetings[Rank(2 * i)].push_back({.partner = Rank(2 * i + 1), .receives = true, .adds = true});
  }
  for (std::size_t distance = 1; distance < core; distance *= 2) {
    for (std::size_t place = 0; place < core; ++place) {
      meetings[rank_of(place)].push_back({rank_of(place ^ distance), true, true, true});
    }
  }
  for (std::size_t i = 0; i < folded; ++i) {
    meetings[Rank(2 * i)].push_back({.partner = Rank(2 * i + 1), .sends = true});
    meetings[Rank(2 * i + 1)].push_back({.partner = Rank(2 * i), .receives = true});
  }
  return meetings;
}

// The same with distances (1 − (−2)^(i+1)) / 3, even ranks forward, odd ones backward. Nothing
// where the number of ranks is no power of two, as some would then be counted twice.
std::optional<Meetings> swing_meetings(std::size_t ranks) {
  if (!std::has_single_bit(ranks)) return std::nullopt;
  const auto n = static_cast<std::int64_t>(ranks);
  Meetings meetings(ranks);
  std::int64_t power = -2;  // (−2)^(i+1)
  for (std::size_t steps = 1; steps < ranks; steps *= 2, power *= -2) {
    const std::int64_t distance = (1 - power) / 3;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::int64_t there = r % 2 == 0 ? distance : -distance;
      const std::int64_t partner = ((static_cast<std::int64_t>(r) + there) % n + n) % n;
      meetings[Rank(r)].push_back({Rank(static_cast<std::size_t>(partner)), true, true, true});
    }
  }
  return meetings;
}

struct Way {
  bool fused = true;  // one step may receive and add
  bool out_of_place = false;
};

// What is received is added to what `from` has, into `to`.
void receive_and_add(ExchangeWriter& writer, Rank partner, Slice from, Slice to, Slice spare,
                     bool fused) {
  if (fused) return writer.push(partner, Operation::recv_reduce_copy, from, to);
  writer.push(partner, Operation::recv, spare, spare);
  // The sum takes the place of one of its parts.
  if (from.buffer != to.buffer || from.offset != to.offset) {
    writer.push(partner, Operation::copy, from, to);
  }
  writer.push(partner, Operation::reduce, spare, to);
}

// What a rank has so far is its own data, until it receives for the first time.
void write_meetings(RankProgram& program, std::int32_t chunk, std::int64_t chunks,
                    const std::vector<Meeting>& meetings, const Way& way) {
  ExchangeWriter writer(program, chunk);
  const Slice result = writer.result(way.out_of_place);
  Slice so_far = writer.own();
  for (const Meeting& meeting : meetings) {
    if (meeting.sends) writer.push(meeting.partner, Operation::send, so_far, so_far);
    if (!meeting.receives) continue;
    if (meeting.adds) {
      const Slice spare = way.fused ? result : writer.scratch(0, chunks);
      receive_and_add(writer, meeting.partner, so_far, result, spare, way.fused);
    } else {
      writer.push(meeting.partner, Operation::recv, result, result);
    }
    so_far = result;
  }
}

// The sum grows in scratch, in the order of the ranks, and becomes the result with the last
// summand. In place that takes the place of the rank's own data: by then the chain has passed
// through the threadblocks of all partners, which have all sent.
void write_one_shot(RankProgram& program, std::int32_t chunk, std::int64_t chunks, Rank self,
                    std::size_t ranks, const Way& way) {
  ExchangeWriter writer(program, chunk);
  const Slice own = writer.own(), result = writer.result(way.out_of_place);
  for (std::size_t v = 0; v < ranks; ++v) {
    if (Rank(v) != self) writer.push(Rank(v), Operation::send, own, own, false);
  }
  const Slice sum = writer.scratch(0, chunks);
  const std::size_t last = ranks - 1;
  std::optional<Slice> so_far;
  Rank block;  // whose threadblock works on the sum
  for (std::size_t v = 0; v < ranks; ++v) {
    const Slice to = v == last ? result : sum;
    if (Rank(v) == self) {
      if (v == last && way.out_of_place) writer.push(block, Operation::copy, own, result);
      if (so_far) writer.push(block, Operation::reduce, v == last ? sum : own, to);
      if (!so_far) so_far = own;
      continue;
    }
    block = Rank(v);
    if (so_far) {
      const Slice spare = way.fused ? sum : writer.scratch(1, chunks);
      receive_and_add(writer, block, *so_far, to, spare, way.fused);
    } else {
      writer.push(block, Operation::recv, sum, sum);
    }
    so_far = sum;
  }
}

std::optional<schedule::AllPairs> all_pairs_shape(Exchange exchange, bool out_of_place) {
  const bool in_two = exchange == Exchange::all_pairs;
  if (!in_two && exchange != Exchange::all_pairs_once) return std::nullopt;
  return schedule::AllPairs{in_two, out_of_place};
}

Expected<std::optional<Meetings>> meetings_of(Exchange exchange, std::size_t ranks) {
  if (exchange == Exchange::one_shot) return std::optional<Meetings>();
  if (exchange == Exchange::recursive_doubling) {
    return std::optional<Meetings>(doubling_meetings(ranks));
  }
  auto meetings = swing_meetings(ranks);
  if (meetings) return meetings;
  return make_error(Code::B02,
                    fmt::format("partners as Swing has them need a power of two of "
                                "ranks, and there are {}",
                                ranks),
                    "use recursive-doubling, which serves any number");
}

// Of a rank.
Expected<void> refuse_threadblocks(std::int64_t needed, const TargetLimits& target,
                                   const LowerOptions& options) {
  const std::int64_t most = std::min<std::int64_t>(
      {options.max_threadblocks, target.max_threadblocks, target.max_depended});
  if (needed <= most) return {};
  return make_error(Code::T01,
                    fmt::format("{} threadblocks of a rank, one for each partner and "
                                "chunk, but {} at most can be used",
                                needed, most),
                    "use fewer `instances`, or an algorithm of trees");
}

// In those where everybody has a threadblock for everybody else, before they are made.
Expected<void> refuse_many_partners(Exchange exchange, std::size_t ranks,
                                    const TargetLimits& target, const LowerOptions& options) {
  const bool is_of_all =
      exchange == Exchange::one_shot || all_pairs_shape(exchange, false).has_value();
  if (!is_of_all) return {};
  const auto partners = static_cast<std::int64_t>(ranks) - 1;
  const bool has_one_more = exchange != Exchange::one_shot && partners < schedule::slices_of(ranks);
  return refuse_threadblocks((partners + (has_one_more ? 1 : 0)) * options.instances, target,
                             options);
}

Expected<void> refuse_exchange(const Schedule& programs, const TargetLimits& target,
                               const LowerOptions& options) {
  if (auto done = refuse_threadblocks(programs.max_threadblocks(), target, options); !done) {
    return done;
  }
  if (programs.max_steps() > target.max_steps) {
    return make_error(Code::T02,
                      fmt::format("{} steps of a threadblock, but {} holds {}",
                                  programs.max_steps(), target.name, target.max_steps),
                      kTreesInstead);
  }
  if (programs.channels <= target.max_channels) return {};
  return make_error(Code::T03,
                    fmt::format("{} channels, one for each chunk, but {} holds {}",
                                programs.channels, target.name, target.max_channels),
                    "use fewer `instances`");
}

// What fits, with the operands that steps do not use.
Expected<Schedule> checked(Schedule result, const TargetLimits& target,
                           const LowerOptions& options) {
  const auto done = refuse_exchange(result, target, options);
  if (!done) return done.errors();
  schedule::name_senders(result.programs);
  return result;
}

}  // namespace

std::span<const ExchangeInfo> exchanges() {
  return kExchanges;
}

const ExchangeInfo* find_exchange(std::string_view name) {
  const auto at = std::ranges::find(kExchanges, name, &ExchangeInfo::name);
  return at == kExchanges.end() ? nullptr : &*at;
}

std::optional<std::int64_t> most_bytes_in_simple(Exchange exchange, std::size_t ranks,
                                                 std::int32_t instances,
                                                 std::int64_t buffer_bytes) {
  const auto shape = all_pairs_shape(exchange, false);
  if (!shape) return std::nullopt;
  return schedule::most_in_simple(ranks, instances, *shape, buffer_bytes / 2);
}

Expected<Schedule> lower_exchange(Exchange exchange, std::size_t ranks,
                                  const LowerOptions& options) {
  FORESTCOLL_CHECK(ranks >= 2, "an exchange has partners");
  const auto found = schedule::xml_target(options.target);
  if (!found) return found.errors();
  const TargetLimits* target = *found;
  if (options.placement == Placement::both) {
    return make_error(Code::T06,
                      "exchanges of whole buffers are made for calls in place or out of place",
                      "make two files, one with `placement=in_place` and one with "
                      "`placement=out_of_place`, or use an algorithm of trees");
  }
  if (auto done = refuse_many_partners(exchange, ranks, *target, options); !done) {
    return done.errors();
  }
  const bool out_of_place = options.placement == Placement::out_of_place;
  if (const auto shape = all_pairs_shape(exchange, out_of_place)) {
    return checked(schedule::all_pairs(ranks, options.instances, *shape, *target), *target,
                   options);
  }
  const auto meetings = meetings_of(exchange, ranks);
  if (!meetings) return meetings.errors();
  Schedule result;
  result.target = target->name;
  result.collective = Collective::allreduce;
  result.chunks = options.instances;
  result.channels = options.instances;
  result.in_place = !out_of_place;
  result.out_of_place = out_of_place;
  const Way way{target->fused_steps, out_of_place};
  result.programs = IdVector<Rank, RankProgram>(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    RankProgram& program = result.programs[Rank(r)];
    program.input_chunks = program.output_chunks = result.chunks;
    for (std::int32_t chunk = 0; chunk < options.instances; ++chunk) {
      if (*meetings) {
        write_meetings(program, chunk, result.chunks, (**meetings)[Rank(r)], way);
      } else {
        write_one_shot(program, chunk, result.chunks, Rank(r), ranks, way);
      }
    }
  }
  return checked(std::move(result), *target, options);
}

}  // namespace forestcoll
