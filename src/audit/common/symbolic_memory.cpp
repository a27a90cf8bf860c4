#include "audit/common/symbolic_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace forestcoll::audit {
namespace {

constexpr std::size_t kNamedRanks = 8;

std::string name_ranks(const std::vector<std::int32_t>& list) {
  std::string text = list.size() > 1 ? "ranks" : "rank";
  for (std::size_t i = 0; i < std::min(list.size(), kNamedRanks); ++i) {
    text += fmt::format("{} {}", i > 0 ? "," : "", list[i]);
  }
  if (list.size() > kNamedRanks) text += fmt::format(" and {} more", list.size() - kNamedRanks);
  return text;
}

}  // namespace

SymbolicMemory::SymbolicMemory(const Program& program, const MemoryMap& memory, PlaceOf place_of,
                               Findings& findings)
    : program_(program),
      memory_(memory),
      place_of_(std::move(place_of)),
      findings_(findings),
      sums_(static_cast<std::int32_t>(program.ranks)),
      content_(memory.total()),
      writer_(memory.total(), -1) {
  for (const auto& group : groups().lists()) sets_.push_back(sums_.set_of(group));
  fill_inputs();
}

// The root of a broadcast or scatter is not known, so every rank's input counts as data; what is
// not the root's is found out at the end.
void SymbolicMemory::fill_inputs() {
  const bool part = input_is_part(program_.pattern);
  for (std::int32_t r = 0; r < ranks(); ++r) {
    const std::int64_t first = part ? memory_.parts().begin(r) : 0;
    for (std::int64_t c = 0; c < memory_.input_chunks(r); ++c) {
      content_[memory_.locate(r, Buffer::input, c)] = {static_cast<std::int32_t>(first + c),
                                                       PartialSums::single(r)};
    }
  }
}

void SymbolicMemory::begin(std::int32_t step, std::int32_t rank) {
  step_ = step;
  rank_ = rank;
  reported_ = false;
}

std::string SymbolicMemory::name(const ChunkRef& chunk) const {
  std::string text = memory_.name(chunk.buffer, chunk.offset);
  if (chunk.rank != rank_) text += fmt::format(" of rank {}", chunk.rank);
  return text;
}

void SymbolicMemory::report(Rule rule, const ChunkRef& chunk, std::string message,
                            std::string remedy) {
  if (reported_) return;
  reported_ = true;
  Place place = place_of_(step_);
  place.chunk = name(chunk);
  findings_.add(rule, place, std::move(message), std::move(remedy));
}

Content SymbolicMemory::read(const ChunkRef& chunk) {
  const Content value = content_[memory_.locate(chunk.rank, chunk.buffer, chunk.offset)];
  if (value.sum != Content::kUndefined) return value;
  report(Rule::undefined_read, chunk,
         fmt::format("reads data that was never written{}", memory_.mode_text()));
  return {0, Content::kPoison};
}

Content SymbolicMemory::add(Content a, Content b, const ChunkRef& into) {
  const Content poison{0, Content::kPoison};
  if (!a.defined() || !b.defined()) return poison;
  if (a.index != b.index) {
    report(Rule::reduction, into,
           fmt::format("adds data of chunk {} to data of chunk {}{}", a.index / memory_.slices(),
                       b.index / memory_.slices(), memory_.mode_text()));
    return poison;
  }
  const PartialSums::Sum both = sums_.add(a.sum, b.sum);
  if (!both.refusal) return {a.index, both.sum};
  if (*both.refusal == RankSets::Refusal::overlap) {
    report(Rule::reduction, into,
           fmt::format("adds the contribution of rank {} to chunk {} a second time{}",
                       sums_.sets().common(sums_.ranks_of(a.sum), sums_.ranks_of(b.sum)),
                       a.index / memory_.slices(), memory_.mode_text()));
  } else {
    report(Rule::too_large, into, "too many different partial sums for this verifier to follow");
  }
  return poison;
}

void SymbolicMemory::write(const ChunkRef& chunk, Content value) {
  if (is_out_of_place() && chunk.buffer == Buffer::input) {
    report(Rule::input_written, chunk,
           "writes into the input buffer, which an out-of-place call must leave as it is",
           "write to scratch or to the output, or claim in place only");
  }
  const std::size_t at = memory_.locate(chunk.rank, chunk.buffer, chunk.offset);
  content_[at] = value;
  writer_[at] = step_;
}

const Content& SymbolicMemory::output(std::int32_t rank, std::int64_t chunk) const {
  return content_[memory_.locate(rank, Buffer::output, chunk)];
}

Results SymbolicMemory::check_results() {
  Results results;
  if (program_.pattern == Pattern::broadcast || program_.pattern == Pattern::scatter) {
    results.root = most_frequent_source();
  }
  if (program_.pattern == Pattern::sendrecv) {
    for (std::int32_t r = 0; r < ranks(); ++r) check_rank(r, source_of(r));
    return results;
  }
  if (program_.pattern == Pattern::reduce || program_.pattern == Pattern::gather) {
    results.root = most_complete_rank();
    check_rank(*results.root, results.root);
    return results;
  }
  for (std::int32_t r = 0; r < ranks(); ++r) check_rank(r, results.root);
  if (program_.pattern == Pattern::allreduce) results.bits = compare_bits();
  return results;
}

std::optional<BitsDiffer> SymbolicMemory::compare_bits() const {
  for (std::int32_t r = 1; r < ranks(); ++r) {
    if (groups().size(r) == 0) continue;
    const std::int32_t first = groups().member(r, 0);
    for (std::int64_t c = 0; c < memory_.output_chunks(r); ++c) {
      if (output(r, c).sum != output(first, c).sum) return BitsDiffer{r, first, c};
    }
  }
  return std::nullopt;
}

std::int32_t SymbolicMemory::most_frequent_source() const {
  std::vector<std::int64_t> votes(static_cast<std::size_t>(ranks()), 0);
  for (std::int32_t r = 0; r < ranks(); ++r) {
    for (std::int64_t c = 0; c < memory_.output_chunks(r); ++c) {
      const Content value = output(r, c);
      if (value.sum >= 0 && value.sum < ranks()) ++votes[static_cast<std::size_t>(value.sum)];
    }
  }
  return static_cast<std::int32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

// Nobody sends to itself: what a rank has anyway is not what it receives.
std::int32_t SymbolicMemory::source_of(std::int32_t rank) const {
  std::map<std::int32_t, std::int64_t> votes;
  for (std::int64_t c = 0; c < memory_.output_chunks(rank); ++c) {
    const std::int32_t sum = output(rank, c).sum;
    if (sum >= 0 && sum < ranks() && sum != rank) ++votes[sum];
  }
  const auto best = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return best == votes.end() ? (rank + 1) % ranks() : best->first;
}

std::int32_t SymbolicMemory::most_complete_rank() const {
  std::int32_t best = 0;
  std::int64_t most = -1;
  for (std::int32_t r = 0; r < ranks(); ++r) {
    std::int64_t complete = 0;
    for (std::int64_t c = 0; c < memory_.output_chunks(r); ++c) {
      const Content value = output(r, c);
      const Promise due = promised(r, c, std::nullopt);
      if (value.defined() && sums_.ranks_of(value.sum) == due.set) ++complete;
    }
    if (complete > most) {
      most = complete;
      best = r;
    }
  }
  return best;
}

SymbolicMemory::Promise SymbolicMemory::promised(std::int32_t rank, std::int64_t chunk,
                                                 std::optional<std::int32_t> root) const {
  std::int64_t index = chunk;
  std::int32_t set = all_of(rank);
  switch (program_.pattern) {
    case Pattern::allgather:
    case Pattern::gather:
      set = RankSets::single(memory_.parts().owner(chunk, rank));
      break;
    case Pattern::reduce_scatter:
      index += memory_.parts().begin(rank);
      break;
    case Pattern::scatter:
      index += memory_.parts().begin(rank);
      set = RankSets::single(*root);
      break;
    case Pattern::broadcast:
    case Pattern::sendrecv:
      set = RankSets::single(*root);
      break;
    case Pattern::alltoall: {  // what every rank has for this one, in the order of ranks
      const std::int64_t part = memory_.parts().size(rank);
      index = memory_.parts().begin(rank) + chunk % part;
      set = RankSets::single(memory_.parts().owner(chunk, rank));
      break;
    }
    case Pattern::allreduce:
    case Pattern::reduce:
      break;
  }
  return {static_cast<std::int32_t>(index), set};
}

void SymbolicMemory::check_rank(std::int32_t rank, std::optional<std::int32_t> root) {
  last_reported_writer_ = -2;
  if (groups().size(rank) == 0) return check_idle(rank);
  for (std::int64_t c = 0; c < memory_.output_chunks(rank); ++c) {
    check_chunk(rank, c, promised(rank, c, root));
  }
}

// Out of place nothing writes to inputs, as other findings say.
void SymbolicMemory::check_idle(std::int32_t rank) {
  for (std::int64_t c = 0; c < memory_.output_chunks(rank); ++c) {
    const std::int32_t writer = writer_[memory_.locate(rank, Buffer::output, c)];
    if (writer < 0) continue;
    Place place = place_of_(writer);
    rank_ = place.rank;
    place.chunk = name({rank, Buffer::output, c});
    findings_.add(
        Rule::result, place,
        fmt::format("writes to the buffer of a rank in no process group{}", memory_.mode_text()),
        "pass its data on through scratch");
    return;
  }
}

// Neighbouring chunks that one step left wrong make one finding.
void SymbolicMemory::check_chunk(std::int32_t rank, std::int64_t chunk, Promise expected) {
  const std::size_t at = memory_.locate(rank, Buffer::output, chunk);
  const Content found = content_[at];
  const bool right =
      found.defined() && found.index == expected.index && sums_.ranks_of(found.sum) == expected.set;
  if (right || found.sum == Content::kPoison) {
    last_reported_writer_ = -2;
    return;
  }
  if (writer_[at] == last_reported_writer_) return;
  last_reported_writer_ = writer_[at];
  Place place{rank, -1, -1, 0, {}};
  if (writer_[at] >= 0) place = place_of_(writer_[at]);
  rank_ = place.rank;
  place.chunk = name({rank, Buffer::output, chunk});
  findings_.add(Rule::result, place,
                fmt::format("{}{}", describe(found, expected), memory_.mode_text()));
}

std::string SymbolicMemory::describe(Content found, Promise expected) const {
  if (!found.defined()) return "ends without data: it is never written";
  if (found.index != expected.index) {
    return fmt::format("ends with data of chunk {} instead of chunk {}",
                       found.index / memory_.slices(), expected.index / memory_.slices());
  }
  std::vector<std::int32_t> missing, surplus;
  for (std::int32_t r = 0; r < ranks(); ++r) {
    const bool has = sums_.sets().contains(sums_.ranks_of(found.sum), r);
    const bool wants = sums_.sets().contains(expected.set, r);
    if (wants && !has) missing.push_back(r);
    if (has && !wants) surplus.push_back(r);
  }
  std::string text = "ends";
  if (!missing.empty()) text += " without the data of " + name_ranks(missing);
  if (!surplus.empty()) text += fmt::format(" with the data of {}", name_ranks(surplus));
  return text;
}

}  // namespace forestcoll::audit
