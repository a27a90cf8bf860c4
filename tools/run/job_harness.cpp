#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "run/call.hpp"
#include "run/data/contents.hpp"
#include "run/harness.hpp"
#include "run/measure.hpp"
#include "run/report/table.hpp"

namespace forestcoll::run {
namespace {

// The groups of an operation as communicators, of which a rank is in one at most.
class OperationGroups {
 public:
  explicit OperationGroups(const JobOperation& operation) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (std::size_t g = 0; g < operation.groups.size(); ++g) {
      const auto& members = operation.groups[g].members;
      const auto found = std::ranges::find(members, static_cast<std::int64_t>(rank));
      if (found == members.end()) continue;
      own_ = g;
      place_ = found - members.begin();
    }
    MPI_Comm_split(MPI_COMM_WORLD, own_ ? static_cast<int>(*own_) : MPI_UNDEFINED,
                   static_cast<int>(place_), &communicator_);
  }
  OperationGroups(const OperationGroups&) = delete;
  OperationGroups& operator=(const OperationGroups&) = delete;
  ~OperationGroups() {
    if (communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
  }

  [[nodiscard]] const std::optional<std::size_t>& own() const { return own_; }
  [[nodiscard]] std::int64_t place() const { return place_; }  // in it
  [[nodiscard]] MPI_Comm communicator() const { return communicator_; }

 private:
  std::optional<std::size_t> own_;
  std::int64_t place_ = 0;
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

// What a rank runs of an operation at one size.
struct Part {
  std::size_t operation = 0;
  std::int64_t root = 0;
  CallShape shape;
  std::unique_ptr<RankRun> run;
  std::unique_ptr<Memory> memory;
  ReduceOp op = ReduceOp::max;
};

class StepHarness {
 public:
  StepHarness(const JobStep& step, const Options& options, Watchdog& watchdog)
      : step_(step), options_(options), watchdog_(watchdog) {
    for (const JobOperation& operation : step.operations) {
      groups_.push_back(std::make_unique<OperationGroups>(operation));
    }
  }

  // How many elements were wrong.
  Expected<std::int64_t> run() {
    print(fmt::format("# step {}{}: {} at once\n", step_.name,
                      step_.repeat > 1 ? fmt::format(" (one of {})", step_.repeat) : "",
                      step_.operations.size() == 1 ? "its groups" : "all operations"));
    for (const ElementType type : options_.types) {
      for (const ReduceOp op : options_.ops) {
        if (auto done = check_op(op); !done) return done.errors();
        for (const std::int64_t bytes : options_.sizes) {
          if (auto done = check_bytes(bytes); !done) return done.errors();
          run_size(type, op, bytes);
        }
      }
    }
    return wrong_;
  }

 private:
  [[nodiscard]] Expected<void> check_op(ReduceOp op) const {
    for (const JobOperation& operation : step_.operations) {
      const ScheduleFacts& facts = facts_of(operation.groups.front());
      if (facts.only_sums && reduces(facts.pattern) && op != ReduceOp::sum) {
        return make_error(Code::X02,
                          fmt::format("-o {}: MSCCL++ adds up and does nothing else, and {} is its",
                                      to_string(op), operation.name),
                          "give -o sum");
      }
    }
    return {};
  }

  static const ScheduleFacts& facts_of(const JobGroup& group) {
    return group.file->schedule->facts();
  }

  // Whole chunks of a group's schedule, one of each at least.
  static std::int64_t bytes_of(const JobOperation& operation, const JobGroup& group,
                               std::int64_t largest, ElementType type) {
    const ScheduleFacts& facts = facts_of(group);
    const auto element = static_cast<std::int64_t>(size_of(type));
    const std::int64_t unit = facts.chunks * std::max(element, facts.grain);
    const auto asked = std::llround(static_cast<double>(largest) * operation.share);
    return std::max<std::int64_t>(asked / unit, 1) * unit;
  }

  void run_size(ElementType type, ReduceOp op, std::int64_t largest) {
    std::vector<Part> parts = prepare(type, op, largest);
    std::vector<Call> calls;
    for (Part& part : parts) {
      calls.push_back({part.run.get(), part.memory.get(), part.op,
                       step_.operations[part.operation].name + ": "});
    }
    fill(parts, type);
    std::vector<double> seconds = time(calls, parts);
    std::vector<std::int64_t> wrong(step_.operations.size(), 0);
    std::string remarks;
    for (int i = 0; i < options_.checks; ++i) {
      fill(parts, type);
      MPI_Barrier(MPI_COMM_WORLD);
      call_together(calls, watchdog_);
      check(parts, type, wrong, remarks);
    }
    print_rows(type, op, largest, seconds, wrong, remarks);
  }

  std::vector<Part> prepare(ElementType type, ReduceOp op, std::int64_t largest) const {
    std::vector<Part> parts;
    for (std::size_t o = 0; o < step_.operations.size(); ++o) {
      if (!groups_[o]->own()) continue;
      const JobOperation& operation = step_.operations[o];
      const JobGroup& group = operation.groups[*groups_[o]->own()];
      const ScheduleFacts& facts = facts_of(group);
      Part& part = parts.emplace_back();
      part.operation = o;
      part.root = group.file->root;
      if (reduces(facts.pattern)) part.op = op;
      const std::int64_t bytes = bytes_of(operation, group, largest, type);
      CallShape& shape = part.shape;
      shape = shape_of_call(*group.file->schedule, groups_[o]->place(), bytes, type);
      if (facts.in_place) shape.placement = Placement::in_place;
      Connections connections = options_.connections;
      connections.communicator = groups_[o]->communicator();
      part.run = group.file->schedule->prepare(groups_[o]->place(), shape, type, connections);
      part.memory = std::make_unique<Memory>(shape, groups_[o]->place());
    }
    return parts;
  }

  // What a group's members have in a call; other groups and calls have other numbers.
  [[nodiscard]] Contents contents(const Part& part, ElementType type) const {
    constexpr std::uint64_t kOperations = 1U << 10, kGroups = 1U << 20;
    const std::uint64_t group = *groups_[part.operation]->own();
    return {part.shape, type, part.op, part.root,
            (calls_ * kOperations + part.operation) * kGroups + group};
  }

  void fill(std::vector<Part>& parts, ElementType type) {
    ++calls_;
    for (Part& part : parts) {
      contents(part, type).fill(*part.memory, groups_[part.operation]->place());
    }
  }

  void check(const std::vector<Part>& parts, ElementType type, std::vector<std::int64_t>& wrong,
             std::string& remarks) {
    std::vector<std::int64_t> here(step_.operations.size(), 0);
    for (const Part& part : parts) {
      here[part.operation] =
          contents(part, type).wrong(*part.memory, groups_[part.operation]->place());
    }
    for (std::size_t o = 0; o < here.size(); ++o) {
      const std::int64_t all = count_wrong(here[o], remarks);
      wrong[o] += all;
      wrong_ += all;
    }
  }

  // Of each operation, until all of its groups have ended, and last of all together.
  std::vector<double> time(std::vector<Call>& calls, const std::vector<Part>& parts) {
    for (int i = 0; i < options_.warmups; ++i) call_together(calls, watchdog_);
    std::vector<double> here(step_.operations.size() + 1, 0);
    begin_together();
    for (int i = 0; i < options_.iterations; ++i) {
      const double begin = MPI_Wtime();
      call_together(calls, watchdog_);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const double seconds = (calls[p].end - begin) / options_.iterations;
        here[parts[p].operation] += seconds;
      }
      here.back() += (MPI_Wtime() - begin) / options_.iterations;
    }
    std::vector<double> slowest(here.size());
    MPI_Allreduce(here.data(), slowest.data(), static_cast<int>(here.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    return slowest;
  }

  void print_rows(ElementType type, ReduceOp op, std::int64_t largest,
                  const std::vector<double>& seconds, const std::vector<std::int64_t>& wrong,
                  const std::string& remarks) const {
    std::string text;
    for (std::size_t o = 0; o < step_.operations.size(); ++o) {
      const JobOperation& operation = step_.operations[o];
      const JobGroup& group = operation.groups.front();
      const ScheduleFacts& facts = facts_of(group);
      TableRow row;
      row.bytes = bytes_of(operation, group, largest, type);
      row.elements = row.bytes / static_cast<std::int64_t>(size_of(type));
      if (audit::is_divided(facts.pattern)) row.elements /= facts.ranks;
      row.type = to_string(type);
      row.op = reduces(facts.pattern) ? to_string(op) : "none";
      row.root = audit::is_rooted(facts.pattern) ? group.file->root : -1;
      row.placements.push_back(
          {seconds[o], options_.checks > 0 ? std::optional(wrong[o]) : std::nullopt});
      text += fmt::format("# {}: {} of {}{}\n", operation.name, operation.groups.size(),
                          facts.ranks, facts.in_place ? ", in place" : "");
      text += table_row(row, facts.pattern, facts.ranks);
    }
    print(text + fmt::format("# all at once: {:.1f} us\n", seconds.back() * 1e6) + remarks);
  }

  const JobStep& step_;
  const Options& options_;
  Watchdog& watchdog_;
  std::vector<std::unique_ptr<OperationGroups>> groups_;
  std::uint64_t calls_ = 0;
  std::int64_t wrong_ = 0;
};

std::size_t count_groups(const LoadedJob& job) {
  std::size_t count = 0;
  for (const JobStep& step : job.steps) {
    for (const JobOperation& operation : step.operations) count += operation.groups.size();
  }
  return count;
}

}  // namespace

Expected<Outcome> run_job(const LoadedJob& job, const Options& options) {
  if (auto done = check_processes("the job is of", job.ranks); !done) return done.errors();
  // Without its first line, which names a placement.
  const std::string columns = table_heading({Placement::in_place}, false);
  print(heading(fmt::format("a job of {} process groups, each with a schedule of its own, over MPI "
                            "between processors, not GPUs",
                            count_groups(job))) +
        columns.substr(columns.find('\n') + 1));
  Watchdog watchdog(options.timeout, std::chrono::microseconds(options.nap));
  std::int64_t wrong = 0;
  for (const JobStep& step : job.steps) {
    const auto done = StepHarness(step, options, watchdog).run();
    if (!done) return done.errors();
    wrong += *done;
  }
  print(fmt::format("# Out of bounds values : {} {}\n", wrong, wrong == 0 ? "OK" : "FAILED"));
  return Outcome{wrong > 0, true};
}

}  // namespace forestcoll::run
