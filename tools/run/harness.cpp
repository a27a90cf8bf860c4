#include "run/harness.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "forestcoll/codes.hpp"
#include "run/call.hpp"
#include "run/data/contents.hpp"
#include "run/measure.hpp"
#include "run/mpi/collective.hpp"
#include "run/report/table.hpp"

namespace forestcoll::run {
namespace {

class Harness {
 public:
  Harness(const Schedule& schedule, const Options& options, std::int64_t root)
      : schedule_(schedule),
        facts_(schedule.facts()),
        groups_(facts_.process_groups()),
        options_(options),
        root_(root),
        watchdog_(options.timeout, std::chrono::microseconds(options.nap)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (facts_.out_of_place) placements_.push_back(Placement::out_of_place);
    if (facts_.in_place) placements_.push_back(Placement::in_place);
  }

  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;
  ~Harness() {
    if (group_ != MPI_COMM_NULL) MPI_Comm_free(&group_);
  }

  Expected<Outcome> run() {
    if (const auto done = check_processes(); !done) return done.errors();
    join_group();
    if (options_.files.size() > 1 && !has_a_size()) {
      print("# left out: none of the sizes is in its window\n");
      return Outcome{false, false};
    }
    print_header();
    for (const ElementType type : options_.types) {
      for (const ReduceOp op : ops()) {
        for (const std::int64_t bytes : sizes_for(type)) {
          if (const auto done = check_bytes(bytes); !done) return done.errors();
          run_size(type, op, bytes);
        }
      }
    }
    if (rows_ == 0 && options_.files.size() == 1) return no_size();
    if (rows_ > 0) {
      print(fmt::format("# Out of bounds values : {} {}\n", wrong_, wrong_ == 0 ? "OK" : "FAILED"));
    }
    return Outcome{wrong_ > 0, rows_ > 0};
  }

 private:
  [[nodiscard]] Expected<void> check_processes() const {
    if (auto done = run::check_processes("the schedule is for", facts_.ranks); !done) return done;
    if (facts_.only_sums && reduces() &&
        std::ranges::find(options_.ops, ReduceOp::sum) == options_.ops.end()) {
      return make_error(Code::X02,
                        fmt::format("-o {}: MSCCL++ adds up and does nothing else",
                                    to_string(options_.ops.front())),
                        "give -o sum");
    }
    if (root_ < 0 || root_ >= facts_.ranks) {
      return make_error(Code::X05, fmt::format("root {} of {} ranks", root_, facts_.ranks),
                        fmt::format("give -r 0 to {}", facts_.ranks - 1));
    }
    return {};
  }

  // The ranks of the file's group, in its order.
  void join_group() {
    const std::int32_t number = groups_.number(rank_);
    place_ = groups_.place(rank_);
    MPI_Comm_split(MPI_COMM_WORLD, number < 0 ? MPI_UNDEFINED : number, static_cast<int>(place_),
                   &group_);
  }

  // Every call has other contents, and every group of a call.
  [[nodiscard]] Contents next_contents(const CallShape& shape, ElementType type, ReduceOp op) {
    constexpr std::uint64_t kGroups = 1U << 20;
    const auto group = static_cast<std::uint64_t>(std::max(groups_.number(rank_), 0));
    return {shape, type, op, root_, calls_++ * kGroups + group};
  }

  [[nodiscard]] bool reduces() const { return run::reduces(facts_.pattern); }
  [[nodiscard]] bool is_rooted() const { return audit::is_rooted(facts_.pattern); }
  // Where nothing is reduced, numbers of the whole range of the type, which `max` asks for.
  [[nodiscard]] std::vector<ReduceOp> ops() const {
    if (!reduces()) return {ReduceOp::max};
    return facts_.only_sums ? std::vector<ReduceOp>{ReduceOp::sum} : options_.ops;
  }

  // The size in the window that is nearest to what is the default.
  [[nodiscard]] std::int64_t default_size(std::int64_t unit) const {
    constexpr std::int64_t kMost = std::int64_t{64} << 20;  // a rank has it several times
    const std::int64_t asked = options_.sizes.front();
    if (facts_.max_bytes < asked) return facts_.max_bytes / unit * unit;
    const std::int64_t least = std::max(asked / unit, std::int64_t{1}) * unit;
    if (facts_.min_bytes <= least) return least;
    return facts_.min_bytes <= kMost ? (facts_.min_bytes + unit - 1) / unit * unit : asked;
  }

  [[nodiscard]] std::int64_t unit_of(ElementType type) const {
    return facts_.chunks * std::max(static_cast<std::int64_t>(size_of(type)), facts_.grain);
  }

  // In whole chunks.
  [[nodiscard]] std::int64_t bytes_for(std::int64_t asked, std::int64_t unit) const {
    return options_.has_sizes ? asked / unit * unit : default_size(unit);
  }

  [[nodiscard]] bool is_in_window(std::int64_t bytes) const {
    return bytes > 0 && bytes >= facts_.min_bytes && bytes <= facts_.max_bytes;
  }

  [[nodiscard]] bool has_a_size() const {
    return std::ranges::any_of(options_.types, [&](ElementType type) {
      return std::ranges::any_of(options_.sizes, [&](std::int64_t asked) {
        return is_in_window(bytes_for(asked, unit_of(type)));
      });
    });
  }

  // In whole chunks and in the window, each once.
  [[nodiscard]] std::vector<std::int64_t> sizes_for(ElementType type) {
    const std::int64_t unit = unit_of(type);
    std::vector<std::int64_t> sizes;
    for (const std::int64_t asked : options_.sizes) {
      const std::int64_t bytes = bytes_for(asked, unit);
      if (!is_in_window(bytes)) {
        print(fmt::format(
            "# {} bytes of {} are left out: {}\n", asked, to_string(type),
            bytes == 0 ? fmt::format("less than one element in each of {} chunks", facts_.chunks)
                       : "not in the window of the file"));
      } else if (sizes.empty() || sizes.back() != bytes) {
        sizes.push_back(bytes);
      }
    }
    return sizes;
  }

  void run_size(ElementType type, ReduceOp op, std::int64_t bytes) {
    CallShape shape = shape_of_call(schedule_, rank_, bytes, type);
    const auto rank_run = schedule_.prepare(rank_, shape, type, options_.connections);
    TableRow row;
    row.bytes = bytes;
    row.elements = audit::is_divided(facts_.pattern) ? shape.part() : shape.whole;
    row.type = to_string(type);
    row.op = reduces() ? to_string(op) : "none";
    row.root = is_rooted() ? root_ : -1;
    std::string remarks;
    for (const Placement placement : placements_) {
      shape.placement = placement;
      Memory memory(shape, place_);
      row.placements.push_back(measure(*rank_run, memory, shape, type, op, remarks));
      if (options_.vs_mpi && !row.mpi_seconds) row.mpi_seconds = time_mpi(memory, shape, type, op);
    }
    print(table_row(row, facts_.pattern, facts_.most_together()) + remarks);
    ++rows_;
  }

  Measurement measure(RankRun& rank_run, Memory& memory, const CallShape& shape, ElementType type,
                      ReduceOp op, std::string& remarks) {
    Measurement result;
    next_contents(shape, type, op).fill(memory, place_);
    Call call{&rank_run, &memory, op};
    const auto run_once = [&] { call_together({&call, 1}, watchdog_); };
    result.seconds = time(run_once);
    for (int i = 0; i < options_.checks; ++i) {
      const Contents contents = next_contents(shape, type, op);
      contents.fill(memory, place_);
      MPI_Barrier(MPI_COMM_WORLD);
      run_once();
      result.wrong =
          result.wrong.value_or(0) + count_wrong(contents.wrong(memory, place_), remarks);
    }
    wrong_ += result.wrong.value_or(0);
    return result;
  }

  double time_mpi(Memory& memory, const CallShape& shape, ElementType type, ReduceOp op) {
    if (shape.is_idle) return time([] {});
    MpiCollective collective(shape, type, op, root_, group_);
    return time([&] { collective.call(memory); });
  }

  // Seconds of one call.
  template <class Call>
  double time(Call call) {
    for (int i = 0; i < options_.warmups; ++i) call();
    begin_together();
    const double begin = MPI_Wtime();
    for (int i = 0; i < options_.iterations; ++i) call();
    return over_ranks((MPI_Wtime() - begin) / options_.iterations, options_.average);
  }

  void print_header() {
    print(heading(fmt::format("{} over MPI between processors, not GPUs; columns as {} prints them",
                              facts_.format, perf_name(facts_.pattern))));
    print(table_heading(placements_, options_.vs_mpi));
  }

  [[nodiscard]] Diagnostic no_size() const {
    return make_error(Code::X04,
                      fmt::format("no size to run: the file takes {} to {} bytes, in {} chunks",
                                  facts_.min_bytes, facts_.max_bytes, facts_.chunks),
                      "give others with -b and -e");
  }

  const Schedule& schedule_;
  const ScheduleFacts& facts_;
  const audit::ProcessGroups groups_;
  const Options& options_;
  std::int64_t root_;
  Watchdog watchdog_;
  std::vector<Placement> placements_;
  int rank_ = 0;
  std::int64_t place_ = 0;  // in its group
  MPI_Comm group_ = MPI_COMM_NULL;
  std::uint64_t calls_ = 0;  // the seed of the next contents
  std::int64_t wrong_ = 0, rows_ = 0;
};

}  // namespace

Expected<Outcome> run_all(const Schedule& schedule, const Options& options, std::int64_t root) {
  return Harness(schedule, options, root).run();
}

}  // namespace forestcoll::run
