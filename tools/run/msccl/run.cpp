#include "run/msccl/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace forestcoll::run {
namespace {

// A token names a threadblock, and a slot: of what it receives, or from here on of what it sends.
constexpr std::int64_t kSent = 8;
constexpr std::int64_t kTokens = 16;

// Steps that a threadblock has ended in all passes when it has ended this one.
std::int64_t steps_ended(const audit::Threadblock& block, std::int64_t pass, std::int32_t step) {
  return pass * static_cast<std::int64_t>(block.steps.size()) + step + 1;
}

}  // namespace

ProgramRun::ProgramRun(const audit::Gpu& gpu, const Cut& cut, ElementType type, bool holds,
                       MPI_Comm communicator)
    : gpu_(gpu),
      cut_(cut),
      type_(type),
      holds_(holds),
      element_bytes_(static_cast<std::int64_t>(size_of(type))),
      communicator_(communicator) {
  for (const audit::Threadblock& tb : gpu_.threadblocks) {
    const auto bytes = static_cast<std::size_t>(slots() * slot_bytes(tb));
    const bool receives = std::ranges::any_of(
        tb.steps, [](const audit::Step& step) { return step.operation->receives; });
    const bool sends = std::ranges::any_of(
        tb.steps, [](const audit::Step& step) { return step.operation->sends; });
    slots_.emplace_back(receives ? bytes : 0);
    leaving_.emplace_back(sends ? bytes : 0);
  }
}

// Both ends of a message have as many chunks, so this holds for what is received, too.
std::int64_t ProgramRun::slot_bytes(const audit::Threadblock& threadblock) const {
  std::int32_t most = 0;
  for (const audit::Step& step : threadblock.steps) most = std::max(most, step.count);
  return cut_.largest_slice(most) * element_bytes_;
}

void ProgramRun::begin(Memory& memory, ReduceOp op) {
  memory_ = &memory;
  op_ = op;
  blocks_.clear();
  for (const audit::Threadblock& tb : gpu_.threadblocks) {
    blocks_.emplace_back(tb, cut_, slot_bytes(tb));
  }
  for (std::int32_t b = 0; b < static_cast<std::int32_t>(blocks_.size()); ++b) {
    post_receives(b);
    ready_.push_back(b);
  }
}

bool ProgramRun::advance() {
  while (!ready_.empty()) {
    const std::int32_t block = ready_.front();
    ready_.pop_front();
    advance(block);
  }
  return waits_.empty();
}

std::byte* ProgramRun::slot(const Block& block, std::int64_t position) {
  std::vector<std::byte>& of_block = slots_[static_cast<std::size_t>(block.program->id)];
  return of_block.data() + position % slots() * block.slot_bytes;
}

void ProgramRun::post_receives(std::int32_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  while (!block.to_post.at_end() &&
         block.to_post.receive_position() < block.at.receive_position() + slots()) {
    const std::int64_t position = block.to_post.receive_position();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(slot(block, position), static_cast<int>(block.slot_bytes), MPI_BYTE,
              block.program->recv_peer, block.program->channel, communicator_, &request);
    waits_.add(request, b * kTokens + position % slots());
    block.to_post.next();
  }
}

void ProgramRun::note(const WaitSet::Done& done) {
  const auto b = static_cast<std::int32_t>(done.token / kTokens);
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const std::int64_t slot = done.token % kTokens;
  if (slot >= kSent) {
    block.is_leaving[static_cast<std::size_t>(slot - kSent)] = false;
  } else {
    block.has_arrived[static_cast<std::size_t>(slot)] = true;
  }
  ready_.push_back(b);
}

bool ProgramRun::has_flag(const Block& block) const {
  const audit::Step& step = block.at.step();
  if (!block.at.at_step_begin() || step.depends_threadblock < 0) return true;
  const Block& other = blocks_[static_cast<std::size_t>(step.depends_threadblock)];
  return other.flag >= steps_ended(*other.program, block.at.pass(), step.depends_step);
}

bool ProgramRun::has_message(const Block& block) const {
  if (!block.at.step().operation->receives) return true;
  return block.has_arrived[static_cast<std::size_t>(block.at.receive_position() % slots())];
}

bool ProgramRun::has_room(const Block& block) const {
  return !block.at.step().operation->sends ||
         !block.is_leaving[static_cast<std::size_t>(block.sends % slots())];
}

bool ProgramRun::is_leaving(const Block& block) const {
  return std::ranges::find(block.is_leaving, true) != block.is_leaving.end();
}

void ProgramRun::advance(std::int32_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  while (!block.at.at_end()) {
    if (block.is_held) {
      if (is_leaving(block)) return;
      block.is_held = false;
      end_slice(b);
      continue;
    }
    if (!has_flag(block)) {
      const std::int32_t other = block.at.step().depends_threadblock;
      blocks_[static_cast<std::size_t>(other)].waiters.push_back(b);
      return;
    }
    if (!has_message(block) || !has_room(block)) return;
    const std::byte* message = work(block);
    if (message != nullptr) send(b, message);
    block.is_held = holds_ && message != nullptr;
    if (!block.is_held) end_slice(b);
  }
}

void ProgramRun::send(std::int32_t b, const std::byte* message) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const std::int64_t slot = block.sends++ % slots();
  const std::int64_t bytes = block.at.elements() * element_bytes_;
  std::byte* copy = leaving_[static_cast<std::size_t>(b)].data() + slot * block.slot_bytes;
  std::memcpy(copy, message, static_cast<std::size_t>(bytes));
  block.is_leaving[static_cast<std::size_t>(slot)] = true;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Issend(copy, static_cast<int>(bytes), MPI_BYTE, block.program->send_peer,
             block.program->channel, communicator_, &request);
  waits_.add(request, b * kTokens + kSent + slot);
}

const std::byte* ProgramRun::work(Block& block) {
  const audit::Step& step = block.at.step();
  const audit::Operation& operation = *step.operation;
  if (operation.is_nop()) return nullptr;
  const std::int64_t count = block.at.elements();
  const auto bytes = static_cast<std::size_t>(count * element_bytes_);
  std::byte* source = nullptr;
  std::byte* target = nullptr;
  if (operation.reads_source) {
    source = memory_->at(step.source, block.at.element(step.source_offset));
  }
  if (operation.writes) {
    target = memory_->at(step.destination, block.at.element(step.destination_offset));
  }
  if (operation.receives) {
    std::byte* message = slot(block, block.at.receive_position());
    if (operation.reduces) reduce(type_, op_, message, source, count);
    if (operation.writes) std::memcpy(target, message, bytes);
    return operation.sends ? message : nullptr;
  }
  if (operation.sends) return source;
  if (operation.reduces) {
    reduce(type_, op_, target, source, count);
  } else {
    std::memmove(target, source, bytes);
  }
  return nullptr;
}

void ProgramRun::end_slice(std::int32_t b) {
  Block& block = blocks_[static_cast<std::size_t>(b)];
  const audit::Step& step = block.at.step();
  const std::int64_t ended = steps_ended(*block.program, block.at.pass(), block.at.step_index());
  if (step.operation->receives) {
    block.has_arrived[static_cast<std::size_t>(block.at.receive_position() % slots())] = false;
  }
  const bool ends_step = block.at.next();
  post_receives(b);
  if (!ends_step || !step.has_dependent || step.operation->is_nop()) return;
  block.flag = ended;
  ready_.insert(ready_.end(), block.waiters.begin(), block.waiters.end());
  block.waiters.clear();
}

std::string ProgramRun::describe(const Block& block) const {
  const audit::Step& step = block.at.step();
  const std::string where =
      fmt::format("rank {}, threadblock {}, step {} ({}, line {}), pass {} of {}: waits for ",
                  gpu_.id, block.program->id, block.at.step_index(), step.operation->name,
                  step.line, block.at.pass() + 1, cut_.passes);
  if (!block.is_held && !has_flag(block)) {
    return where + fmt::format("threadblock {} to end its step {}\n", step.depends_threadblock,
                               step.depends_step);
  }
  if (!block.is_held && !has_message(block)) {
    return where + fmt::format("a message of rank {} on channel {}\n", block.program->recv_peer,
                               block.program->channel);
  }
  return where + fmt::format("rank {} to take a message on channel {}\n", block.program->send_peer,
                             block.program->channel);
}

std::string ProgramRun::describe() const {
  std::string text;
  for (const Block& block : blocks_) {
    if (!block.at.at_end()) text += describe(block);
  }
  return text;
}

}  // namespace forestcoll::run
