// Traces of PyTorch's profiler (Kineto): collectives of one rank with their process groups.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "topology/job/files/workload.hpp"

namespace forestcoll::topology {
namespace {

using Kind = JsonValue::Kind;

constexpr const char* kName = "Collective name";
constexpr const char* kOfTraces = "docs/jobs.md says what is read of a profiler's trace";
constexpr std::size_t kMostKinds = 4;  // that a note names
constexpr std::int64_t kMostElements = std::int64_t{1} << 46;

// A collective that a rank ran.
struct Event {
  double begin = 0, end = 0;  // microseconds
  JobOperation operation;
};

std::string text_of(const JsonValue* object, std::string_view key) {
  const JsonValue* value = object == nullptr ? nullptr : object->find(key);
  if (value == nullptr) return {};
  // The profiler's strings may have quotation marks of their own.
  std::string text = value->text;
  std::erase(text, '"');
  return text;
}

double number_of(const JsonValue& object, std::string_view key) {
  const std::string text = text_of(&object, key);
  return text.empty() ? 0 : std::strtod(text.c_str(), nullptr);
}

std::optional<std::int64_t> bytes_of_type(const std::string& type) {
  static const std::map<std::string, std::int64_t> kBytes = {{"double", 8},
                                                             {"long", 8},
                                                             {"complexfloat", 8},
                                                             {"complexdouble", 16},
                                                             {"float", 4},
                                                             {"int", 4},
                                                             {"uint32", 4},
                                                             {"half", 2},
                                                             {"bfloat16", 2},
                                                             {"short", 2},
                                                             {"uint16", 2},
                                                             {"byte", 1},
                                                             {"char", 1},
                                                             {"bool", 1},
                                                             {"float8_e4m3fn", 1},
                                                             {"float8_e5m2", 1},
                                                             {"float8_e4m3fnuz", 1},
                                                             {"float8_e5m2fnuz", 1}};
  const auto found = kBytes.find(lower_case(type));
  return found == kBytes.end() ? std::nullopt : std::optional(found->second);
}

// "_allgather_base", "allgather_into_tensor_coalesced" and "allgather" are one. Nothing for what is
// no collective of ours: send, recv, barrier.
std::optional<Collective> collective_of(std::string name) {
  std::erase(name, '_');
  constexpr std::pair<std::string_view, Collective> kNames[] = {
      {"allreduce", Collective::allreduce},
      {"allgather", Collective::allgather},
      {"reducescatter", Collective::reduce_scatter},
      {"alltoall", Collective::alltoall},
      {"broadcast", Collective::broadcast},
      {"reduce", Collective::reduce},
      {"scatter", Collective::scatter},
      {"gather", Collective::gather},
  };
  for (const auto& [start, collective] : kNames) {
    if (name.starts_with(start)) return collective;
  }
  return std::nullopt;
}

class KinetoReader {
 public:
  KinetoReader(std::string_view file, std::size_t ranks) : file_(file), ranks_(ranks) {}

  Expected<Job> read(const JsonValue& document) {
    const JsonValue& list = *document.find("traceEvents");
    const Place root;
    const Place place(root, "traceEvents");
    // Kernels say when data moves; where the trace has none, the calls are all that there is.
    const bool has_kernels = std::ranges::any_of(
        list.items, [&](const JsonValue& each) { return is_collective(each, true); });
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (!is_collective(list.items[i], has_kernels)) continue;
      if (auto read = read_event(list.items[i], Place(place, i)); !read) return read.errors();
    }
    Job job{steps(), {}, {}};
    if (job.steps.empty()) {
      return {{no_workload("the trace has no collective of more than one rank",
                           "record it with a profiler that knows NCCL's kernels, PyTorch 2.3 or "
                           "later",
                           at(place))}};
    }
    say_what_was_taken(job, has_kernels);
    return job;
  }

 private:
  [[nodiscard]] ErrorPlace at(const Place& place) const {
    return {std::string(file_), place.pointer()};
  }
  [[nodiscard]] Diagnostics wrong(const Place& place, std::string message) const {
    return {no_workload(std::move(message), kOfTraces, at(place))};
  }

  static bool is_collective(const JsonValue& event, bool of_kernels) {
    const JsonValue* arguments = event.find("args");
    if (arguments == nullptr || arguments->find(kName) == nullptr) return false;
    return of_kernels ? text_of(&event, "cat") == "kernel"
                      : text_of(&event, "name") == "record_param_comms";
  }

  Expected<void> read_event(const JsonValue& event, const Place& parent) {
    const Place place(parent, "args");
    const JsonValue& arguments = *event.find("args");
    const std::string name = text_of(&arguments, kName);
    const auto collective = collective_of(name);
    if (!collective) {
      ++others_;
      if (kinds_left_out_.size() < kMostKinds) kinds_left_out_.insert(name);
      return {};
    }
    auto group = group_of(arguments, place);
    if (!group) return group.errors();
    if (group->size() < 2) return {};
    const auto bytes = bytes_of(arguments, *collective, place);
    if (!bytes) return bytes.errors();
    if (*bytes == 0) return {};
    std::string title = text_of(&arguments, "Process Group Description");
    if (title.empty() || title == "undefined") title = text_of(&arguments, "Process Group Name");
    Event read;
    read.begin = number_of(event, "ts");
    read.end = read.begin + number_of(event, "dur");
    read.operation = {fmt::format("{} {}", to_string(*collective), title), *collective,
                      with_others(*group), *bytes};
    if (is_rooted(*collective)) read.operation.root = 0;
    has_roots_ = has_roots_ || is_rooted(*collective);
    if (auto good = check_operation(read.operation, ranks_, at(place)); !good) return good.errors();
    events_.push_back(std::move(read));
    return {};
  }

  // Of the whole buffer: what all have together of what is gathered or scattered.
  Expected<std::int64_t> bytes_of(const JsonValue& arguments, Collective collective,
                                  const Place& place) const {
    const std::string type = text_of(&arguments, "dtype");
    const auto each = bytes_of_type(type);
    if (!each) return wrong(Place(place, "dtype"), fmt::format("unknown type \"{}\"", type));
    const bool is_out = collective == Collective::allgather || collective == Collective::gather;
    const char* key = is_out ? "Out msg nelems" : "In msg nelems";
    const auto elements = parse_whole(text_of(&arguments, key));
    if (!elements || *elements > kMostElements) {
      return wrong(Place(place, key), "expected a number of elements");
    }
    return *each * *elements;
  }

  // "[0, 1, 2, 3]"; of more than 30 ranks the profiler writes "[0, 1, …, ..., 63]".
  Expected<std::vector<std::int64_t>> group_of(const JsonValue& arguments,
                                               const Place& parent) const {
    const Place place(parent, "Process Group Ranks");
    std::string text = text_of(&arguments, "Process Group Ranks");
    std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
    std::vector<std::int64_t> group;
    bool is_cut = false;
    for (const std::string_view part : parts_between(text, ',')) {
      if (part == "...") {
        is_cut = true;
        continue;
      }
      const auto rank = parse_whole(part);
      if (!rank) return wrong(place, "expected the ranks of the process group");
      if (*rank >= static_cast<std::int64_t>(ranks_)) {
        return make_error(
            Code::O03,
            fmt::format("the trace names rank {}, the fabric has {} ranks", *rank, ranks_),
            "use a fabric of as many GPUs", at(place));
      }
      group.push_back(*rank);
    }
    if (const auto twice = repeated_rank(group)) {
      return make_error(Code::O04, fmt::format("rank {} is twice in a process group", *twice),
                        kOfTraces, at(place));
    }
    if (!is_cut || continue_evenly(group, parse_whole(text_of(&arguments, "Group size")))) {
      return group;
    }
    return wrong(place, "the list of ranks is cut, and those that it shows are not evenly apart");
  }

  // Up to the last rank, which stands at the end of the list.
  static bool continue_evenly(std::vector<std::int64_t>& group,
                              const std::optional<std::int64_t>& size) {
    if (group.size() < 3 || !size) return false;
    const std::int64_t last = group.back();
    group.pop_back();
    const std::int64_t step = group[1] - group[0];
    for (std::size_t i = 1; i < group.size(); ++i) {
      if (group[i] - group[i - 1] != step) return false;
    }
    if (step < 1 || group.front() + step * (*size - 1) != last) return false;
    while (group.back() < last) group.push_back(group.back() + step);
    return true;
  }

  Groups with_others(const std::vector<std::int64_t>& group) {
    if (auto all = groups_like(group, ranks_)) {
      has_others_ = has_others_ || ranks_ > group.size();
      return *std::move(all);
    }
    has_single_ = true;
    Groups groups(1);
    for (const std::int64_t rank : group) {
      groups.back().emplace_back(static_cast<std::size_t>(rank));
    }
    return groups;
  }

  // Those whose kernels overlap, in a chain, are at once.
  std::vector<JobStep> steps() {
    std::ranges::stable_sort(events_, {}, &Event::begin);
    StepCounter steps;
    JobStep step{"", 1, {}};
    double end = 0;
    for (Event& event : events_) {
      if (!step.operations.empty() && event.begin >= end) {
        steps.add(std::exchange(step, {"", 1, {}}));
        end = 0;
      }
      end = std::max(end, event.end);
      if (step.operations.empty()) step.name = event.operation.name;
      step.operations.push_back(std::move(event.operation));
    }
    steps.add(std::move(step));
    return std::move(steps).take();
  }

  void say_what_was_taken(Job& job, bool has_kernels) const {
    job.notes.emplace_back(has_kernels
                               ? "collectives whose kernels overlap in the trace are a step"
                               : "the trace has no kernels: collectives whose calls overlap are a "
                                 "step");
    if (has_others_) {
      job.notes.emplace_back(
          "the trace is of one rank: other groups of as many ranks, as far apart, do the same at "
          "the same time");
    }
    if (has_single_) {
      job.notes.emplace_back(
          "where a group's ranks are not evenly apart, the groups of other ranks are not known, "
          "and it runs alone");
    }
    if (has_roots_) job.notes.emplace_back("a trace names no root: the first of the group is it");
    if (others_ > 0) {
      job.notes.push_back(fmt::format(
          "{} events of other kinds are left out, such as {}", others_,
          listed(kinds_left_out_, [](const std::string& kind) { return quote(kind); })));
    }
  }

  std::string_view file_;
  std::size_t ranks_;
  std::vector<Event> events_;
  std::size_t others_ = 0;
  std::set<std::string> kinds_left_out_;
  bool has_others_ = false, has_single_ = false, has_roots_ = false;
};

}  // namespace

bool is_kineto_trace(const JsonValue& document) {
  const JsonValue* events = document.find("traceEvents");
  return events != nullptr && events->kind == Kind::array;
}

Expected<Job> read_kineto_trace(const JsonValue& document, std::string_view file,
                                std::size_t ranks) {
  return KinetoReader(file, ranks).read(document);
}

}  // namespace forestcoll::topology
