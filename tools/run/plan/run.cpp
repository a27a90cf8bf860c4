#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "run/plan_run.hpp"

namespace forestcoll::run {
namespace {

using audit::ChannelKind;
using audit::PlanKind;

constexpr std::int64_t kProxy = -1, kNobody = -2;    // owners of letters that no threadblock sent
constexpr std::int64_t kEnd = Mail::kLastToken + 1;  // the token of the barrier after a call
constexpr std::int64_t kMostInALetter = std::int64_t{1} << 20;

std::int64_t channel_number(const PlanEnd& end) {
  return end.ordinal * 2 + (end.kind == ChannelKind::port ? 1 : 0);
}

// The largest operand of a rank, up to what a letter holds.
std::int64_t letter_bytes(const std::vector<std::vector<PlanTask>>& tasks, const PlanCut& cut) {
  std::int64_t most = 0;
  for (const auto& block : tasks) {
    for (const PlanTask& task : block) most = std::max(most, task.chunks * cut.chunk_bytes);
  }
  std::int64_t everywhere = most;  // others' letters come here, too
  MPI_Allreduce(&most, &everywhere, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return std::min(everywhere, kMostInALetter);
}

}  // namespace

PlanRun::PlanRun(int rank, std::vector<std::vector<PlanTask>> tasks,
                 std::vector<std::int64_t> semaphores, const PlanCut& cut, ElementType type,
                 Watchdog& watchdog)
    : rank_(rank),
      tasks_(std::move(tasks)),
      cut_(cut),
      type_(type),
      watchdog_(watchdog),
      mail_(letter_bytes(tasks_, cut), waits_),
      semaphores_(std::move(semaphores)),
      packets_(static_cast<std::size_t>(cut.scratch_bytes)),
      flags_(static_cast<std::size_t>((cut.scratch_bytes + cut.grain - 1) / cut.grain)) {}

void PlanRun::call(Memory& memory, ReduceOp op) {
  Watchdog::Guard guard(watchdog_, [this] { return describe(); });
  memory_ = &memory;
  op_ = op;
  ++call_;
  blocks_.assign(tasks_.size(), Block{});
  for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].tasks = &tasks_[b];
  barriers_.clear();
  const auto early = std::exchange(stashed_, {});
  for (const Stashed& letter : early) obey(letter.from, letter.letter, letter.data.data());
  settle(guard);
}

void PlanRun::settle(Watchdog::Guard& guard) {
  bool has_told = false;
  has_ended_everywhere_ = false;
  while (true) {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t b = 0; b < blocks_.size(); ++b) {
        moved = advance(static_cast<std::int64_t>(b)) || moved;
      }
      if (!moved) moved = run_proxy();
    }
    if (has_ended_everywhere_) return;
    if (!has_told && is_over()) {
      has_told = true;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibarrier(MPI_COMM_WORLD, &request);
      waits_.add(request, kEnd);
    }
    for (const WaitSet::Done& done : waits_.wait(guard)) receive(done);
  }
}

bool PlanRun::is_over() const {
  return errands_.empty() && std::ranges::all_of(blocks_, [](const Block& block) {
           return block.is_done() && block.letters == 0;
         });
}

void PlanRun::receive(const WaitSet::Done& done) {
  if (done.token == kEnd) {
    has_ended_everywhere_ = true;
  } else if (Mail::is_letter(done.token)) {
    const Letter letter = mail_.open(done.token);
    const std::byte* data = mail_.data(done.token);
    const auto from = static_cast<int>(done.token);
    if (letter.call == call_) {
      obey(from, letter, data);
    } else {
      const std::int64_t bytes = letter.kind == Letter::Kind::request ? 0 : letter.bytes;
      stashed_.push_back({from, letter, {data, data + bytes}});
    }
    mail_.take_next(done.token);
  } else {
    note_sent(mail_.end(done.token));
  }
}

void PlanRun::note_sent(std::int64_t owner) {
  if (owner >= 0) --blocks_[static_cast<std::size_t>(owner)].letters;
  if (owner == kProxy) --errand_letters_;
}

void PlanRun::obey(int from, const Letter& letter, const std::byte* data) {
  const auto bytes = static_cast<std::size_t>(letter.bytes);
  switch (letter.kind) {
    case Letter::Kind::put:
      std::memcpy(memory_->at(static_cast<Buffer>(letter.buffer), 0) + letter.begin, data, bytes);
      return;
    case Letter::Kind::put_packets:
      std::memcpy(packets_.data() + letter.begin, data, bytes);
      set_flags(letter.begin, letter.bytes, letter.operand);
      return;
    case Letter::Kind::signal:
      ++signals_[{from, letter.buffer}];
      return;
    case Letter::Kind::request: {
      Letter reply = letter;
      reply.kind = Letter::Kind::reply;
      mail_.send(from, reply, memory_->at(static_cast<Buffer>(letter.buffer), 0) + letter.begin,
                 kNobody);
      return;
    }
    case Letter::Kind::reply: {
      Block& block = blocks_[static_cast<std::size_t>(letter.block)];
      std::memcpy(block.operands[static_cast<std::size_t>(letter.operand)].data() + letter.part,
                  data, bytes);
      --block.letters;
      return;
    }
  }
}

// ---- threadblocks

bool PlanRun::advance(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  bool moved = false;
  while (!block.is_done() && execute(b)) {
    next(block);
    moved = true;
  }
  return moved;
}

void PlanRun::next(Block& block) const {
  const std::int32_t loop = block.task().op->loop;
  block.phase = Phase::begin;
  const bool ends_round = loop >= 0 && (block.at + 1 == block.tasks->size() ||
                                        (*block.tasks)[block.at + 1].op->loop != loop);
  if (ends_round && block.round + 1 < rounds_of(block)) {
    ++block.round;
    block.at = static_cast<std::size_t>(loop) + 1;
    return;
  }
  if (ends_round) block.round = 0;
  ++block.at;
}

// A round moves `unit_size` bytes of every chunk.
std::int64_t PlanRun::rounds_of(const Block& block) const {
  const std::int32_t loop = block.task().op->loop;
  const std::int64_t unit = (*block.tasks)[static_cast<std::size_t>(loop)].op->unit_size;
  return (cut_.chunk_bytes + unit - 1) / unit;
}

PlanRun::Extent PlanRun::extent_of(const Block& block) const {
  const PlanTask& task = block.task();
  const std::int64_t all = task.chunks * cut_.chunk_bytes;
  if (task.op->loop < 0) return {0, all};
  const auto loop = static_cast<std::size_t>(task.op->loop);
  const std::int64_t unit = (*block.tasks)[loop].op->unit_size * task.chunks;
  const std::int64_t begin = block.round * unit;
  return {begin, std::min(unit, all - begin)};
}

bool PlanRun::execute(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  switch (block.task().op->kind) {
    case PlanKind::nop:
    case PlanKind::pipeline:
    case PlanKind::other:
      return true;
    case PlanKind::barrier:
      return arrive(block);
    case PlanKind::signal:
      return signal(b);
    case PlanKind::wait:
      return wait(block);
    case PlanKind::flush:
      return block.errands == 0;
    case PlanKind::acquire:
      return acquire(block);
    case PlanKind::release:
      release(block);
      return true;
    default:
      return move_data(b);
  }
}

bool PlanRun::arrive(Block& block) {
  const audit::PlanOp& op = *block.task().op;
  Barrier& barrier = barriers_[op.barrier];
  if (!block.has_arrived) {
    block.has_arrived = true;
    block.arrival = barrier.passed;
    if (++barrier.here == op.participants) {
      barrier.here = 0;
      ++barrier.passed;
    }
  }
  if (barrier.passed == block.arrival) return false;
  block.has_arrived = false;
  return true;
}

bool PlanRun::signal(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  if (block.phase == Phase::begin) {
    block.phase = Phase::sends;
    for (const PlanEnd& end : block.task().ends) {
      if (end.kind == ChannelKind::port) {
        errands_.push_back({b, true, {}, {}, {}, end});
        ++block.errands;
      } else {
        ++block.letters;
        send_signal(end, b);
      }
    }
  }
  return block.letters == 0;
}

void PlanRun::send_signal(const PlanEnd& end, std::int64_t owner) {
  Letter letter;
  letter.kind = Letter::Kind::signal;
  letter.call = call_;
  letter.buffer = channel_number(end);
  mail_.send(end.rank, letter, nullptr, owner);
}

bool PlanRun::wait(const Block& block) {
  const auto count = [&](const PlanEnd& end) -> std::int64_t& {
    return signals_[{end.rank, channel_number(end)}];
  };
  const auto& ends = block.task().ends;
  if (!std::ranges::all_of(ends, [&](const PlanEnd& end) { return count(end) > 0; })) return false;
  for (const PlanEnd& end : ends) --count(end);
  return true;
}

bool PlanRun::acquire(const Block& block) {
  const auto& ids = block.task().op->semaphores;
  const auto count = [&](std::int64_t id) -> std::int64_t& {
    return semaphores_[static_cast<std::size_t>(id)];
  };
  if (!std::ranges::all_of(ids, [&](std::int64_t id) { return count(id) > 0; })) return false;
  for (const std::int64_t id : ids) --count(id);
  return true;
}

void PlanRun::release(const Block& block) {
  for (const std::int64_t id : block.task().op->semaphores) {
    ++semaphores_[static_cast<std::size_t>(id)];
  }
}

// ---- data

bool PlanRun::has_packets(const PlanSpan& span, const Extent& extent) const {
  const std::int64_t begin = span.chunk * cut_.chunk_bytes + extent.begin;
  for (std::int64_t at = begin / cut_.grain; at * cut_.grain < begin + extent.bytes; ++at) {
    if (flags_[static_cast<std::size_t>(at)] != call_) return false;
  }
  return true;
}

void PlanRun::set_flags(std::int64_t begin, std::int64_t bytes, std::int64_t flag) {
  for (std::int64_t at = begin / cut_.grain; at * cut_.grain < begin + bytes; ++at) {
    flags_[static_cast<std::size_t>(at)] = flag;
  }
}

bool PlanRun::move_data(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const PlanTask& task = block.task();
  const Extent extent = extent_of(block);
  if (block.phase == Phase::begin) {
    if (task.waits_for_packets && !std::ranges::all_of(task.reads, [&](const PlanSpan& span) {
          return !span.packets || has_packets(span, extent);
        })) {
      return false;
    }
    if (task.is_by_port) return hand_to_proxy(b);
    ask_for_operands(b, extent);
    block.phase = Phase::reads;
  }
  if (block.phase == Phase::reads && block.letters == 0) {
    write_results(b, extent);
    block.phase = Phase::sends;
  }
  if (block.phase == Phase::flushes) return block.errands == 0;
  return block.phase == Phase::sends && block.letters == 0;
}

bool PlanRun::hand_to_proxy(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const PlanTask& task = block.task();
  const PlanKind kind = task.op->kind;
  const bool signals = kind == PlanKind::put_signal || kind == PlanKind::put_signal_flush;
  for (std::size_t i = 0; i < task.writes.size(); ++i) {
    const std::size_t source = task.is_pairwise ? i : 0;
    errands_.push_back({b, false, task.reads[source], task.writes[i], extent_of(block), {}});
    ++block.errands;
    if (!signals) continue;
    errands_.push_back({b, true, {}, {}, {}, task.ends[i]});
    ++block.errands;
  }
  if (kind != PlanKind::put_signal_flush) return true;
  block.phase = Phase::flushes;
  return block.errands == 0;
}

void PlanRun::ask_for_operands(std::int64_t b, const Extent& extent) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const PlanTask& task = block.task();
  block.operands.resize(std::max(block.operands.size(), task.reads.size()));
  for (std::size_t i = 0; i < task.reads.size(); ++i) {
    const PlanSpan& span = task.reads[i];
    if (span.rank == rank_) continue;
    block.operands[i].resize(static_cast<std::size_t>(extent.bytes));
    for (std::int64_t part = 0; part < extent.bytes; part += mail_.most()) {
      Letter letter;
      letter.kind = Letter::Kind::request;
      letter.call = call_;
      letter.buffer = static_cast<std::int64_t>(span.buffer);
      letter.begin = span.chunk * cut_.chunk_bytes + extent.begin + part;
      letter.bytes = std::min(mail_.most(), extent.bytes - part);
      letter.block = b;
      letter.operand = static_cast<std::int64_t>(i);
      letter.part = part;
      ++block.letters;
      mail_.send(span.rank, letter, nullptr, kNobody);
    }
  }
}

std::byte* PlanRun::local(const PlanSpan& span, const Extent& extent) {
  if (span.packets) return packets_.data() + span.chunk * cut_.chunk_bytes + extent.begin;
  return memory_->at(span.buffer, span.chunk * cut_.chunk_elements) + extent.begin;
}

const std::byte* PlanRun::operand(Block& block, std::size_t i, const Extent& extent) {
  const PlanSpan& span = block.task().reads[i];
  return span.rank == rank_ ? local(span, extent) : block.operands[i].data();
}

void PlanRun::write_results(std::int64_t b, const Extent& extent) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const PlanTask& task = block.task();
  if (task.is_pairwise) {
    for (std::size_t i = 0; i < task.writes.size(); ++i) {
      write(task.writes[i], extent, operand(block, i, extent), call_, b);
    }
    return;
  }
  const std::byte* first = operand(block, 0, extent);
  std::vector<std::byte> sum(first, first + extent.bytes);
  const std::int64_t elements = extent.bytes / static_cast<std::int64_t>(size_of(type_));
  for (std::size_t i = 1; i < task.reads.size(); ++i) {
    reduce(type_, op_, sum.data(), operand(block, i, extent), elements);
  }
  for (const PlanSpan& span : task.writes) write(span, extent, sum.data(), call_, b);
}

// Here at once, elsewhere by letters of `owner`.
void PlanRun::write(const PlanSpan& span, const Extent& extent, const std::byte* data,
                    std::int64_t flag, std::int64_t owner) {
  const std::int64_t begin = span.chunk * cut_.chunk_bytes + extent.begin;
  if (span.rank == rank_) {
    std::memmove(local(span, extent), data, static_cast<std::size_t>(extent.bytes));
    if (span.packets) set_flags(begin, extent.bytes, flag);
    return;
  }
  for (std::int64_t part = 0; part < extent.bytes; part += mail_.most()) {
    Letter letter;
    letter.kind = span.packets ? Letter::Kind::put_packets : Letter::Kind::put;
    letter.call = call_;
    letter.buffer = static_cast<std::int64_t>(span.buffer);
    letter.begin = begin + part;
    letter.bytes = std::min(mail_.most(), extent.bytes - part);
    letter.operand = flag;
    ++(owner == kProxy ? errand_letters_ : blocks_[static_cast<std::size_t>(owner)].letters);
    mail_.send(span.rank, letter, data + part, owner);
  }
}

// ---- the proxy

bool PlanRun::run_proxy() {
  if (errands_.empty() || errand_letters_ > 0) return false;
  if (is_errand_under_way_) {
    is_errand_under_way_ = false;
    --blocks_[static_cast<std::size_t>(errands_.front().block)].errands;
    errands_.pop_front();
    return true;
  }
  is_errand_under_way_ = true;
  const Errand& errand = errands_.front();
  if (errand.is_signal) {
    ++errand_letters_;
    send_signal(errand.end, kProxy);
    return true;
  }
  // Packets are sent as they lie, with the flags that they have.
  const bool are_there = !errand.from.packets || has_packets(errand.from, errand.extent);
  write(errand.to, errand.extent, local(errand.from, errand.extent), are_there ? call_ : 0, kProxy);
  return true;
}

// ---- who waits for what

std::string PlanRun::describe(const Block& block) const {
  const PlanTask& task = block.task();
  std::string text = fmt::format("rank {}, threadblock {}, operation {} ({}): waits for ", rank_,
                                 &block - blocks_.data(), block.at, task.op->name);
  switch (task.op->kind) {
    case PlanKind::wait:
      for (const PlanEnd& end : task.ends) {
        const auto found = signals_.find({end.rank, channel_number(end)});
        if (found != signals_.end() && found->second > 0) continue;
        return text + fmt::format("a signal of rank {} on {} channel {} between them\n", end.rank,
                                  to_string(end.kind), end.ordinal);
      }
      return text + "its turn\n";
    case PlanKind::barrier:
      return text + fmt::format("others of {} threadblocks at barrier {}\n", task.op->participants,
                                task.op->barrier);
    case PlanKind::acquire:
      return text + "a semaphore\n";
    default:
      break;
  }
  if (block.errands > 0) return text + "its port channels\n";
  return text + (block.letters > 0 ? "the memory of other ranks\n" : "packets\n");
}

std::string PlanRun::describe() const {
  std::string text;
  for (const Block& block : blocks_) {
    if (!block.is_done()) text += describe(block);
  }
  return text.empty() ? fmt::format("rank {} has done its part\n", rank_) : text;
}

}  // namespace forestcoll::run
