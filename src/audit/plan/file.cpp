// A SAX reader like that of forests: a stack of what the text is inside of, and one function per
// type of value. Nothing is held but what the structs hold, and that is bounded.
#include "audit/plan/file.hpp"

#include <fmt/format.h>

#include <utility>

#include "audit/common/json_events.hpp"
#include "audit/plan/kinds.hpp"
#include "audit/plan/places.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMaxItems = 8'000'000;  // of all lists together
constexpr std::size_t kMaxName = 40;

using Inside = PlanPlace;

class PlanReader : public JsonEvents<PlanReader, Inside> {
 public:
  using JsonEvents::JsonEvents;

  PlanFile take() { return std::move(plan_); }

  // Events that differ from the others'.
  bool boolean(bool value);
  bool number_unsigned(std::uint64_t value);
  bool string(std::string_view value);
  bool start_object();
  bool start_array();
  bool end_array() {
    if (inside() == Inside::inner_ops) op_ = pipeline_;
    return JsonEvents::end_array();
  }

  bool number(std::int64_t value);
  bool other(std::string_view found);
  [[nodiscard]] std::string location() const {
    const std::string text = to_string(place());
    return text.empty() ? text : ", in " + text;
  }

 private:
  [[nodiscard]] std::string_view expected();
  bool* flag_field();
  std::uint64_t* size_field();
  std::int64_t* number_field();
  std::vector<std::int64_t>* number_list();
  void wrong(std::string_view expected, std::string_view found);
  [[nodiscard]] Place place() const;

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
  findings_.add(
      Rule::attribute, place(),
      fmt::format("{}: expected {}, found {}",
                  holds_objects(inside()) ? "an element of a list" : key_.substr(0, kMaxName),
                  expected, found.substr(0, kMaxName)));
}

// What belongs here, in words; nothing where a value may be anything: in fields that are not known,
// and in those whose emptiness is a finding later on.
std::string_view PlanReader::expected() {
  if (number_field() != nullptr || number_list() != nullptr) return "an integer";
  if (size_field() != nullptr) return "an integer between 0 and 2^64 - 1";
  if (flag_field() != nullptr) return "true or false";
  if (list_in(inside(), key_, in_threadblock_)) return "a list";
  if (holds_objects(inside())) return "an object";
  return {};
}

bool PlanReader::other(std::string_view found) {
  if (inside() == Inside::nothing)
    return refuse(fmt::format("expected an object, found {}", found));
  if (const std::string_view wanted = expected(); !wanted.empty()) wrong(wanted, found);
  return true;
}

bool PlanReader::boolean(bool value) {
  bool* field = flag_field();
  if (field == nullptr) return other(value ? "true" : "false");
  *field = value;
  plan_.has_in_place = plan_.has_in_place || field == &plan_.in_place;
  return true;
}

bool PlanReader::number_unsigned(std::uint64_t value) {
  std::uint64_t* field = size_field();
  if (field == nullptr) return JsonEvents::number_unsigned(value);
  *field = value;
  return true;
}

bool* PlanReader::flag_field() {
  if (inside() != Inside::file) return nullptr;
  if (key_ == "inplace") return &plan_.in_place;
  if (key_ == "reuse_resources") return &plan_.reuses_resources;
  if (key_ == "use_double_scratch_buffer") return &plan_.doubles_scratch;
  return nullptr;
}

std::uint64_t* PlanReader::size_field() {
  if (inside() != Inside::file) return nullptr;
  if (key_ == "min_message_size") return &plan_.min_size;
  if (key_ == "max_message_size") return &plan_.max_size;
  return nullptr;
}

std::int64_t* PlanReader::number_field() {
  switch (inside()) {
    case Inside::file:
      if (key_ == "buffer_alignment") return &plan_.alignment;
      if (key_ == "num_threads_per_block") return &plan_.threads;
      return nullptr;
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
    case Inside::group_info:
      if (key_ == "tb_id") return &op().group_part;
      if (key_ == "tbg_size") return &op().group_size;
      return nullptr;
    case Inside::slice:
      if (key_ == "buffer_id") return &slice().remote;
      if (key_ == "switch_channel_id") return &slice().switch_channel;
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
    case Inside::process_group:
      return &plan_.process_groups.back();
    case Inside::op_channels:
      return &op().channels;
    case Inside::op_semaphores:
      return &op().semaphores;
    case Inside::channel_ids:
      return &channel_lists().back().ids;
    case Inside::group_ranks:
      return &channel_lists().back().groups.back();
    case Inside::buffer_ids:
      return &threadblock().remote_buffers.back().ids;
    default:
      return nullptr;
  }
}

bool PlanReader::number(std::int64_t value) {
  if (std::int64_t* field = number_field(); field != nullptr) {
    if (inside() == Inside::slice) {
      slice().is_remote |= key_ == "buffer_id";
      slice().is_switched |= key_ == "switch_channel_id";
    }
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

bool PlanReader::string(std::string_view value) {
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
        op().relaxed = is_relaxed(value);
        return true;
      }
      if (key_ == "channel_type") op().channel_kind = channel_kind_of(value);
      break;
    case Inside::channel_list:
      if (key_ == "channel_type") channel_lists().back().kind = channel_kind_of(value);
      if (key_ == "buffer_type") {
        PlanChannels& list = channel_lists().back();
        const auto buffer = buffer_of(value);
        if (!buffer) wrong("i, o or s", value);
        list.has_buffer = buffer.has_value();
        list.buffer = buffer.value_or(Buffer::input);
      }
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
  return other(value);
}

bool PlanReader::start_op(Inside next) {
  if (++ops_ > kMaxPlanFileOps) {
    return refuse(fmt::format("more than {} operations", kMaxPlanFileOps));
  }
  PlanOp& added = threadblock().ops.emplace_back();
  if (next == Inside::inner_op) added.loop = static_cast<std::int32_t>(pipeline_);
  op_ = threadblock().ops.size() - 1;
  return push(next);
}

bool PlanReader::start_object() {
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
    case Inside::inner_op:
      if (key_ == "iter_context" && inside() == Inside::op) return push(Inside::loop);
      if (key_ != "tbg_info") break;
      op().in_group = true;
      return push(Inside::group_info);
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
    case Inside::rank_groups:
      if (!hold_another()) return false;
      channel_lists().back().groups.emplace_back();
      return push(Inside::rank_group);
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
  other("an object");
  return push(Inside::skipped);
}

bool PlanReader::start_array() {
  const Inside owner = inside();
  if (owner == Inside::nothing) return refuse("expected an object, found an array");
  if (owner == Inside::gpu && key_ == "channels") in_threadblock_ = false;
  if (owner == Inside::op && key_ == "ops") pipeline_ = op_;
  if (owner == Inside::process_groups) {
    if (!hold_another()) return false;
    plan_.process_groups.emplace_back();
  }
  const auto list = list_in(owner, key_, in_threadblock_);
  if (!list) other("a list");
  return push(list.value_or(Inside::skipped));
}

}  // namespace

std::int64_t message_chunks(const PlanFile& plan) {
  const PlanGpu& gpu = plan.gpus.front();
  return plan.collective == "allgather" ? gpu.output_chunks : gpu.input_chunks;
}

Expected<PlanFile> read_plan(std::string_view text, std::string_view file, Findings& findings) {
  return read_json<PlanReader>(text, file, findings);
}

}  // namespace forestcoll::audit
