#include "run/plan/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace forestcoll::run {
namespace {

using audit::ChannelKind;
using audit::PlanKind;

constexpr std::int64_t kProxy = -1, kNobody = -2;    // owners of letters that no threadblock sent
constexpr std::int64_t kEnd = Mail::kLastToken + 1;  // the token of the barrier after a call
constexpr std::int64_t kMostInALetter = std::int64_t{1} << 20;

// The largest operand of a rank, up to what a letter holds.
std::int64_t letter_bytes(const std::vector<std::vector<PlanTask>>& tasks, const PlanCut& cut,
                          MPI_Comm communicator) {
  std::int64_t most = 0;
  for (const auto& block : tasks) {
    for (const PlanTask& task : block) most = std::max(most, task.chunks * cut.chunk_bytes);
  }
  std::int64_t everywhere = most;  // others' letters come here, too
  MPI_Allreduce(&most, &everywhere, 1, MPI_INT64_T, MPI_MAX, communicator);
  return std::min(everywhere, kMostInALetter);
}

}  // namespace

PlanRun::PlanRun(int rank, std::vector<std::vector<PlanTask>> tasks,
                 std::vector<std::int64_t> semaphores, const PlanCut& cut, ElementType type,
                 MPI_Comm communicator)
    : rank_(rank),
      tasks_(std::move(tasks)),
      chunk_bytes_(cut.chunk_bytes),
      type_(type),
      communicator_(communicator),
      mail_(letter_bytes(tasks_, cut, communicator), communicator, waits_),
      buffers_(cut),
      meetings_(std::move(semaphores)) {}

void PlanRun::begin(Memory& memory, ReduceOp op) {
  op_ = op;
  has_told_ = false;
  has_ended_everywhere_ = false;
  buffers_.begin_call(memory, buffers_.call() + 1);
  meetings_.begin_call();
  blocks_.clear();
  for (const auto& tasks : tasks_) blocks_.push_back({PlanPlace(tasks, chunk_bytes_)});
  const auto early = std::exchange(stashed_, {});
  for (const Stashed& letter : early) obey(letter.from, letter.letter, letter.data.data());
}

bool PlanRun::advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      moved = advance(static_cast<std::int64_t>(b)) || moved;
    }
    if (!moved) moved = run_proxy();
  }
  if (!has_told_ && is_over()) {
    has_told_ = true;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(communicator_, &request);
    waits_.add(request, kEnd);
  }
  return has_ended_everywhere_;
}

bool PlanRun::is_over() const {
  return errands_.empty() && std::ranges::all_of(blocks_, [](const Block& block) {
           return block.place.is_done() && block.letters == 0;
         });
}

void PlanRun::note(const WaitSet::Done& done) {
  if (done.token == kEnd) {
    has_ended_everywhere_ = true;
  } else if (Mail::is_letter(done.token)) {
    const Letter letter = mail_.open(done.token);
    const std::byte* data = mail_.data(done.token);
    const auto from = static_cast<int>(done.token);
    if (letter.call == buffers_.call()) {
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
      std::memcpy(buffers_.at(static_cast<Buffer>(letter.buffer), letter.begin), data, bytes);
      return;
    case Letter::Kind::put_packets:
      buffers_.put_packets(letter.begin, letter.bytes, data, letter.operand);
      return;
    case Letter::Kind::signal:
      meetings_.note_signal(from, letter.buffer);
      return;
    case Letter::Kind::request: {
      Letter reply = letter;
      reply.kind = Letter::Kind::reply;
      mail_.send(from, reply, buffers_.at(static_cast<Buffer>(letter.buffer), letter.begin),
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
  while (!block.place.is_done() && execute(b)) {
    block.stage = TaskStage::begin;
    block.place.next();
    moved = true;
  }
  return moved;
}

bool PlanRun::execute(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const PlanTask& task = block.task();
  switch (task.op->kind) {
    case PlanKind::nop:
    case PlanKind::pipeline:
    case PlanKind::other:
      return true;
    case PlanKind::barrier:
      return meetings_.arrive(*task.op, block.arrival);
    case PlanKind::signal:
      return signal(b);
    case PlanKind::wait:
      return meetings_.wait(task.ends);
    case PlanKind::flush:
      return block.errands == 0;
    case PlanKind::acquire:
      return meetings_.acquire(task.op->semaphores);
    case PlanKind::release:
      meetings_.release(task.op->semaphores);
      return true;
    default:
      return move_data(b);
  }
}

bool PlanRun::signal(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  if (block.stage == TaskStage::begin) {
    block.stage = TaskStage::sends;
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
  letter.call = buffers_.call();
  letter.buffer = PlanMeetings::channel_number(end);
  mail_.send(end.rank, letter, nullptr, owner);
}

// ---- data

bool PlanRun::move_data(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const PlanTask& task = block.task();
  const PlanExtent extent = block.place.extent();
  if (block.stage == TaskStage::begin) {
    if (task.waits_for_packets && !std::ranges::all_of(task.reads, [&](const PlanSpan& span) {
          return !span.packets || buffers_.has_packets(span, extent);
        })) {
      return false;
    }
    if (task.is_by_port) return hand_to_proxy(b);
    ask_for_operands(b, extent);
    block.stage = TaskStage::reads;
  }
  if (block.stage == TaskStage::reads && block.letters == 0) {
    write_results(b, extent);
    block.stage = TaskStage::sends;
  }
  if (block.stage == TaskStage::flushes) return block.errands == 0;
  return block.stage == TaskStage::sends && block.letters == 0;
}

bool PlanRun::hand_to_proxy(std::int64_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const PlanTask& task = block.task();
  const PlanKind kind = task.op->kind;
  const bool signals = kind == PlanKind::put_signal || kind == PlanKind::put_signal_flush;
  for (std::size_t i = 0; i < task.writes.size(); ++i) {
    const std::size_t source = task.is_pairwise ? i : 0;
    errands_.push_back({b, false, task.reads[source], task.writes[i], block.place.extent(), {}});
    ++block.errands;
    if (!signals) continue;
    errands_.push_back({b, true, {}, {}, {}, task.ends[i]});
    ++block.errands;
  }
  if (kind != PlanKind::put_signal_flush) return true;
  block.stage = TaskStage::flushes;
  return block.errands == 0;
}

void PlanRun::ask_for_operands(std::int64_t b, const PlanExtent& extent) {
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
      letter.call = buffers_.call();
      letter.buffer = static_cast<std::int64_t>(span.buffer);
      letter.begin = buffers_.begin_of(span, extent) + part;
      letter.bytes = std::min(mail_.most(), extent.bytes - part);
      letter.block = b;
      letter.operand = static_cast<std::int64_t>(i);
      letter.part = part;
      ++block.letters;
      mail_.send(span.rank, letter, nullptr, kNobody);
    }
  }
}

const std::byte* PlanRun::operand(Block& block, std::size_t i, const PlanExtent& extent) {
  const PlanSpan& span = block.task().reads[i];
  return span.rank == rank_ ? buffers_.at(span, extent) : block.operands[i].data();
}

void PlanRun::write_results(std::int64_t b, const PlanExtent& extent) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const PlanTask& task = block.task();
  if (task.is_pairwise) {
    for (std::size_t i = 0; i < task.writes.size(); ++i) {
      write(task.writes[i], extent, operand(block, i, extent), buffers_.call(), b);
    }
    return;
  }
  const std::byte* first = operand(block, 0, extent);
  std::vector<std::byte> sum(first, first + extent.bytes);
  const std::int64_t elements = extent.bytes / static_cast<std::int64_t>(size_of(type_));
  for (std::size_t i = 1; i < task.reads.size(); ++i) {
    reduce(type_, op_, sum.data(), operand(block, i, extent), elements);
  }
  for (const PlanSpan& span : task.writes) write(span, extent, sum.data(), buffers_.call(), b);
}

// Here at once, elsewhere by letters of `owner`.
void PlanRun::write(const PlanSpan& span, const PlanExtent& extent, const std::byte* data,
                    std::int64_t flag, std::int64_t owner) {
  const std::int64_t begin = buffers_.begin_of(span, extent);
  if (span.rank == rank_) {
    if (span.packets) return buffers_.put_packets(begin, extent.bytes, data, flag);
    std::memmove(buffers_.at(span, extent), data, static_cast<std::size_t>(extent.bytes));
    return;
  }
  for (std::int64_t part = 0; part < extent.bytes; part += mail_.most()) {
    Letter letter;
    letter.kind = span.packets ? Letter::Kind::put_packets : Letter::Kind::put;
    letter.call = buffers_.call();
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
  const bool are_there = !errand.from.packets || buffers_.has_packets(errand.from, errand.extent);
  write(errand.to, errand.extent, buffers_.at(errand.from, errand.extent),
        are_there ? buffers_.call() : 0, kProxy);
  return true;
}

// ---- who waits for what

std::string PlanRun::describe(const Block& block) const {
  const PlanTask& task = block.task();
  std::string text = fmt::format("rank {}, threadblock {}, operation {} ({}): waits for ", rank_,
                                 &block - blocks_.data(), block.place.index(), task.op->name);
  switch (task.op->kind) {
    case PlanKind::wait:
      if (const auto end = meetings_.missing(task.ends)) {
        return text + fmt::format("a signal of rank {} on {} channel {} between them\n", end->rank,
                                  to_string(end->kind), end->ordinal);
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
    if (!block.place.is_done()) text += describe(block);
  }
  return text.empty() ? fmt::format("rank {} has done its part\n", rank_) : text;
}

}  // namespace forestcoll::run
