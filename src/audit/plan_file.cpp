// A SAX reader like that of forests: a stack of what the text is inside of, and one function per
// type of value. Nothing is held but what the structs hold, and that is bounded.
#include "audit/plan_file.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "audit/json_events.hpp"
#include "audit/plan_names.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMaxOps = 1'000'000;
constexpr std::size_t kMaxItems = 8'000'000;  // of all lists together
constexpr std::size_t kMaxName = 40;

enum class Inside {
  nothing,
  file,
  gpus,
  gpu,
  threadblocks,
  threadblock,
  ops,
  op,
  loop,       // iter_context
  inner_ops,  // of a pipeline
  inner_op,
  sources,
  destinations,
  slice,
  op_channels,
  op_semaphores,
  channel_lists,  // of a GPU or a threadblock
  channel_list,
  channel_ids,
  buffer_refs,
  buffer_ref,
  buffer_ids,
  remote_buffers,
  remote_buffer,
  access_types,
  semaphores,
  semaphore,
  skipped
};

class PlanReader : public JsonEvents<PlanReader, Inside> {
 public:
  using JsonEvents::JsonEvents;

  PlanFile take() { return std::move(plan_); }

  // Events that differ from the others'.
  bool boolean(bool value);
  bool number_unsigned(std::uint64_t value);
  bool string(const std::string& value);
  bool start_object(std::size_t);
  bool start_array(std::size_t);
  bool end_array() {
    if (inside() == Inside::inner_ops) op_ = pipeline_;
    return JsonEvents::end_array();
  }

  bool number(std::int64_t value);
  bool other(std::string_view found);

 private:
  std::int64_t* number_field();
  std::vector<std::int64_t>* number_list();
  void wrong(std::string_view expected, std::string_view found);
  [[nodiscard]] Place place() const;

  bool start_list(Inside owner);
  bool start_op(Inside next);
  bool hold_another() {
    return ++items_ <= kMaxItems || refuse(fmt::format("more than {} values in lists", kMaxItems));
  }

  PlanGpu& gpu() { return plan_.gpus.back(); }
  PlanThreadblock& threadblock() { return gpu().threadblocks.back(); }
  PlanOp& op() { return threadblock().ops[op_]; }
  PlanSlice& slice() { return is_source_ ? op().sources.back() : op().destinations.back(); }
  // Channel lists stand in GPUs, under "connected_to", and in threadblocks.
  std::vector<PlanChannels>& channel_lists() {
    return in_threadblock_ ? threadblock().channels : gpu().channels;
  }

  PlanFile plan_;
  bool in_threadblock_ = false, is_source_ = false;
  std::size_t op_ = 0, pipeline_ = 0;  // of the threadblock: the one that is read, and around it
  std::size_t ops_ = 0, items_ = 0;
};

Place PlanReader::place() const {
  Place place;
  if (plan_.gpus.empty() || depth() < 3) return place;
  const PlanGpu& at = plan_.gpus.back();
  place.rank = static_cast<std::int32_t>(plan_.gpus.size() - 1);
  if (!in_threadblock_ || at.threadblocks.empty()) return place;
  place.threadblock = static_cast<std::int32_t>(at.threadblocks.size() - 1);
  if (!at.threadblocks.back().ops.empty()) {
    place.step = static_cast<std::int32_t>(at.threadblocks.back().ops.size() - 1);
  }
  return place;
}

void PlanReader::wrong(std::string_view expected, std::string_view found) {
  findings_.add(Code::attribute, place(),
                fmt::format("{}: expected {}, found {}", key_.substr(0, kMaxName), expected,
                            found.substr(0, kMaxName)));
}

// A value of a type that no field of this name has. Fields that are not known may be anything.
bool PlanReader::other(std::string_view found) {
  if (inside() == Inside::nothing)
    return refuse(fmt::format("expected an object, found {}", found));
  if (inside() == Inside::skipped) return true;
  if (number_field() != nullptr || number_list() != nullptr) wrong("an integer", found);
  return true;
}

bool PlanReader::boolean(bool value) {
  if (inside() == Inside::file && key_ == "inplace") {
    plan_.in_place = value;
    plan_.has_in_place = true;
    return true;
  }
  if (inside() == Inside::file && key_ == "reuse_resources") {
    plan_.reuses_resources = value;
    return true;
  }
  return other(value ? "true" : "false");
}

bool PlanReader::number_unsigned(std::uint64_t value) {
  if (inside() == Inside::file && key_ == "max_message_size") {
    plan_.max_size = value;
    return true;
  }
  if (inside() == Inside::file && key_ == "min_message_size") {
    plan_.min_size = value;
    return true;
  }
  return JsonEvents::number_unsigned(value);
}

std::int64_t* PlanReader::number_field() {
  switch (inside()) {
    case Inside::file:
      return key_ == "buffer_alignment" ? &plan_.alignment : nullptr;
    case Inside::gpu:
      if (key_ == "id") return &gpu().id;
      if (key_ == "input_chunks") return &gpu().input_chunks;
      if (key_ == "output_chunks") return &gpu().output_chunks;
      if (key_ == "scratch_chunks") return &gpu().scratch_chunks;
      return nullptr;
    case Inside::threadblock:
      return key_ == "id" ? &threadblock().id : nullptr;
    case Inside::op:
    case Inside::inner_op:
      if (key_ == "barrier_id") return &op().barrier;
      if (key_ == "num_threadblocks") return &op().participants;
      return nullptr;
    case Inside::loop:
      if (key_ == "unit_size") return &op().unit_size;
      if (key_ == "num_chunks") return &op().loop_chunks;
      return nullptr;
    case Inside::slice:
      if (key_ == "buffer_id") return &slice().remote;
      if (key_ == "index") return &slice().index;
      if (key_ == "size") return &slice().size;
      return nullptr;
    case Inside::remote_buffer:
      return key_ == "rank" ? &gpu().remote_buffers.back().rank : nullptr;
    case Inside::semaphore:
      return key_ == "init_value" ? &gpu().semaphores.back() : nullptr;
    default:
      return nullptr;
  }
}

std::vector<std::int64_t>* PlanReader::number_list() {
  switch (inside()) {
    case Inside::op_channels:
      return &op().channels;
    case Inside::op_semaphores:
      return &op().semaphores;
    case Inside::channel_ids:
      return &channel_lists().back().ids;
    case Inside::buffer_ids:
      return &threadblock().remote_buffers.back().ids;
    default:
      return nullptr;
  }
}

bool PlanReader::number(std::int64_t value) {
  if (std::int64_t* field = number_field(); field != nullptr) {
    if (inside() == Inside::slice && key_ == "buffer_id") slice().is_remote = true;
    *field = value;
    return true;
  }
  if (std::vector<std::int64_t>* list = number_list(); list != nullptr) {
    if (!hold_another()) return false;
    list->push_back(value);
    return true;
  }
  return other(std::to_string(value));
}

bool PlanReader::string(const std::string& value) {
  switch (inside()) {
    case Inside::file:
      if (key_ == "name") plan_.name = value.substr(0, kMaxName);
      if (key_ == "collective") plan_.collective = value.substr(0, kMaxName);
      if (key_ == "protocol") plan_.protocol = value.substr(0, kMaxName);
      break;
    case Inside::op:
    case Inside::inner_op:
      if (key_ == "name") {
        op().name = value.substr(0, kMaxName);
        op().kind = plan_kind_of(value);
        return true;
      }
      if (key_ == "channel_type") op().channel_kind = channel_kind_of(value);
      break;
    case Inside::channel_list:
      if (key_ == "channel_type") channel_lists().back().kind = channel_kind_of(value);
      break;
    case Inside::buffer_ref:
      if (key_ == "access_channel_type") {
        threadblock().remote_buffers.back().kind = channel_kind_of(value);
      }
      break;
    case Inside::access_types:
      gpu().remote_buffers.back().memory |= value == "memory";
      gpu().remote_buffers.back().port |= value == "port";
      break;
    case Inside::slice:
    case Inside::remote_buffer: {
      if (key_ != "type") break;
      const auto buffer = buffer_of(value);
      if (!buffer) {
        wrong("i, o or s", value);
      } else if (inside() == Inside::slice) {
        slice().buffer = *buffer;
        slice().is_local = true;
      } else {
        gpu().remote_buffers.back().buffer = *buffer;
        gpu().remote_buffers.back().has_buffer = true;
      }
      break;
    }
    default:
      return other(value);
  }
  return number_field() == nullptr || other(value);
}

bool PlanReader::start_op(Inside next) {
  if (++ops_ > kMaxOps) return refuse(fmt::format("more than {} operations", kMaxOps));
  PlanOp& added = threadblock().ops.emplace_back();
  if (next == Inside::inner_op) added.loop = static_cast<std::int32_t>(pipeline_);
  op_ = threadblock().ops.size() - 1;
  return push(next);
}

bool PlanReader::start_object(std::size_t) {
  switch (inside()) {
    case Inside::nothing:
      return push(Inside::file);
    case Inside::gpus:
      if (!hold_another()) return false;
      plan_.gpus.emplace_back();
      in_threadblock_ = false;
      return push(Inside::gpu);
    case Inside::threadblocks:
      if (!hold_another()) return false;
      gpu().threadblocks.emplace_back();
      in_threadblock_ = true;
      return push(Inside::threadblock);
    case Inside::ops:
      return start_op(Inside::op);
    case Inside::inner_ops:
      return start_op(Inside::inner_op);
    case Inside::op:
      if (key_ == "iter_context") return push(Inside::loop);
      if (key_ == "tbg_info") op().in_group = true;
      return push(Inside::skipped);
    case Inside::inner_op:
      if (key_ == "tbg_info") op().in_group = true;
      return push(Inside::skipped);
    case Inside::sources:
    case Inside::destinations:
      if (!hold_another()) return false;
      is_source_ = inside() == Inside::sources;
      (is_source_ ? op().sources : op().destinations).emplace_back();
      return push(Inside::slice);
    case Inside::channel_lists:
      if (!hold_another()) return false;
      channel_lists().emplace_back();
      return push(Inside::channel_list);
    case Inside::buffer_refs:
      if (!hold_another()) return false;
      threadblock().remote_buffers.emplace_back();
      return push(Inside::buffer_ref);
    case Inside::remote_buffers:
      if (!hold_another()) return false;
      gpu().remote_buffers.emplace_back();
      return push(Inside::remote_buffer);
    case Inside::semaphores:
      if (!hold_another()) return false;
      gpu().semaphores.push_back(-1);
      return push(Inside::semaphore);
    default:
      break;
  }
  if (inside() != Inside::skipped) other("an object");
  return push(Inside::skipped);
}

// The lists that an object of this kind may have, by key; anything else is passed over.
bool PlanReader::start_list(Inside owner) {
  struct Rule {
    Inside owner;
    std::string_view key;
    Inside list;
  };
  constexpr std::array<Rule, 19> rules = {
      {{Inside::file, "gpus", Inside::gpus},
       {Inside::gpu, "threadblocks", Inside::threadblocks},
       {Inside::gpu, "channels", Inside::channel_lists},
       {Inside::gpu, "remote_buffers", Inside::remote_buffers},
       {Inside::gpu, "semaphores", Inside::semaphores},
       {Inside::threadblock, "ops", Inside::ops},
       {Inside::threadblock, "channels", Inside::channel_lists},
       {Inside::threadblock, "remote_buffer_refs", Inside::buffer_refs},
       {Inside::op, "src_buff", Inside::sources},
       {Inside::op, "dst_buff", Inside::destinations},
       {Inside::op, "channel_ids", Inside::op_channels},
       {Inside::op, "semaphore_ids", Inside::op_semaphores},
       {Inside::op, "ops", Inside::inner_ops},
       {Inside::inner_op, "src_buff", Inside::sources},
       {Inside::inner_op, "dst_buff", Inside::destinations},
       {Inside::inner_op, "channel_ids", Inside::op_channels},
       {Inside::inner_op, "semaphore_ids", Inside::op_semaphores},
       {Inside::buffer_ref, "remote_buffer_ids", Inside::buffer_ids},
       {Inside::remote_buffer, "access_channel_types", Inside::access_types}}};
  for (const Rule& rule : rules) {
    if (rule.owner == owner && rule.key == key_) return push(rule.list);
  }
  return push(Inside::skipped);
}

bool PlanReader::start_array(std::size_t) {
  const Inside owner = inside();
  if (owner == Inside::nothing) return refuse("expected an object, found an array");
  if (owner == Inside::file && key_ == "gpus") plan_.has_gpus = true;
  if (owner == Inside::gpu && key_ == "channels") in_threadblock_ = false;
  if (owner == Inside::channel_list) {
    return push(key_ == (in_threadblock_ ? "channel_ids" : "connected_to") ? Inside::channel_ids
                                                                           : Inside::skipped);
  }
  if (owner == Inside::op && key_ == "ops") pipeline_ = op_;
  return start_list(owner);
}

}  // namespace

Expected<PlanFile> read_plan(std::string_view text, std::string_view file, Findings& findings) {
  PlanReader reader(text, file, findings);
  if (auto error = read_json(text, reader)) return *std::move(error);
  return reader.take();
}

}  // namespace forestcoll::audit
