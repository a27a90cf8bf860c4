#include "batch/run.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "batch/items.hpp"
#include "batch/items/discovery.hpp"
#include "batch/items/overwriting.hpp"
#include "batch/results/journal.hpp"
#include "batch/results/store.hpp"
#include "batch/workers/mpi.hpp"
#include "batch/workers/probing.hpp"
#include "batch/workers/process.hpp"
#include "batch/workers/runner.hpp"
#include "batch/workers/wire.hpp"
#include "common/files/io.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/stopwatch.hpp"

namespace forestcoll::cli::batch {
namespace {

namespace fs = std::filesystem;

Expected<void> prepare_output(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && fs::is_directory(directory, error)) return {};
  return io_error(
      directory,
      error ? "cannot make the directory: " + error.message() : "cannot write: it is no directory",
      "name a directory with -o");
}

// What a killed run left half-written under a temporary name.
void remove_leftovers(const fs::path& directory) {
  constexpr std::string_view kPrefix = ".forestcoll-";
  constexpr std::size_t kLength = 18;  // six characters follow
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entries(directory, error);
       !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name.size() == kLength && name.starts_with(kPrefix) &&
        name.find('.', 1) == std::string::npos) {
      leftovers.push_back(entries->path());
    }
  }
  for (const fs::path& path : leftovers) fs::remove(path, error);
}

class Batch {
 public:
  Batch(const Arguments& arguments, const Request& request, const Console& console,
        Runner* everywhere)
      : arguments_(arguments), request_(request), console_(console), everywhere_(everywhere) {}

  int run(SignalGate& gate) {
    // 1. Which topologies there are, and what is to be made of them.
    auto assignments = find_assignments();
    if (!assignments) return code(fail(assignments.errors(), console_));
    if (const auto done = reject_unused_root(request_.standard.words, *assignments); !done) {
      return code(fail(done.errors(), console_));
    }
    // 2. Alone in the directory of outputs, or only with other shards.
    if (const auto done = prepare_output(arguments_.output); !done) {
      return code(fail(done.errors(), console_));
    }
    const auto lock = Lock::take(arguments_.output, request_.shard);
    if (!lock) return code(fail(lock.errors(), console_));
    if (lock->previous_holder()) {
      note(console_,
           fmt::format("{} ended early here; what it made is kept", *lock->previous_holder()));
    }
    const auto program = program_fingerprint();
    if (!program) return code(fail(program.errors(), console_));
    program_ = *program;
    // 3. What they hold, by a look at each.
    if (const auto done = make_items(*assignments, gate); !done) {
      return code(fail(done.errors(), console_));
    }
    if (const auto done = refuse_overwriting(files()); !done) {
      return code(fail(done.errors(), console_));
    }
    if (request_.shard) keep(share_of(*request_.shard, items_));
    // 4. What is there already.
    journal_.emplace(items_, program_, console_);
    if (lock->alone()) remove_all_leftovers();
    auto missing = settle_without_work(gate);
    // 5. The work.
    if (gate.stop_signal() == 0) make(std::move(missing), gate);
    // 6. What became of it.
    return report(gate);
  }

 private:
  static int code(ExitCode exit_code) { return static_cast<int>(exit_code); }

  Expected<std::vector<Assignment>> find_assignments() {
    if (const auto done = refuse(request_.standard); !done) return done.errors();
    std::error_code error;
    if (!fs::is_directory(path_in(arguments_.directory, ""), error)) {
      return io_error(arguments_.directory, "cannot read: it is no directory",
                      "name the directory that the topologies are in; `synth` takes a file");
    }
    if (!arguments_.manifest.empty()) {
      const auto text = read_input(arguments_.manifest);
      if (!text) return text.errors();
      auto listed = parse_manifest(*text, display_name(arguments_.manifest), request_.standard);
      if (!listed) return listed.errors();
      GroupsRefusal groups;
      for (const Assignment& assignment : *listed) {
        auto done = refuse(assignment);
        if (done) done = require_root(assignment);
        if (done) done = groups.refuse(assignment);
        if (done) continue;
        Diagnostics placed = done.errors();
        for (Diagnostic& found : placed) {
          found.file = display_name(arguments_.manifest);
          found.where = printable(assignment.input);
        }
        return placed;
      }
      return listed;
    }
    if (const auto done = require_root(request_.standard); !done) return done.errors();
    if (const auto done = GroupsRefusal().refuse(request_.standard); !done) return done.errors();
    const auto files = discover({.directory = arguments_.directory,
                                 .left_out = arguments_.output,
                                 .all = arguments_.all,
                                 .include = arguments_.include,
                                 .exclude = arguments_.exclude});
    if (!files) return files.errors();
    std::vector<Assignment> assignments;
    for (const std::string& file : *files) {
      assignments.push_back(request_.standard);
      assignments.back().input = file;
    }
    return assignments;
  }

  [[nodiscard]] Confidence confidence_in(const std::string& input) const {
    if (!arguments_.manifest.empty()) return Confidence::named;
    return input.ends_with(".json") ? Confidence::looks_like_one : Confidence::none;
  }

  Expected<void> make_items(const std::vector<Assignment>& assignments, SignalGate& gate) {
    std::vector<ProbeTask> tasks;
    for (const Assignment& assignment : assignments) {
      tasks.push_back({.path = path_in(arguments_.directory, assignment.input),
                       .words = assignment.words,
                       .confidence = confidence_in(assignment.input)});
    }
    const RunnerLimits limits{.jobs = request_.limits.jobs, .seconds = request_.limits.seconds};
    const auto probes = probe_all(tasks, limits, *runner_here(limits, gate), gate);
    for (std::size_t i = 0; i < assignments.size(); ++i) {
      if (i < probes.size() && !probes[i].is_topology) continue;
      for (Item& item : items_of(assignments[i])) {
        if (i < probes.size()) apply(probes[i], program_, item);
        items_.push_back(std::move(item));
        errors_.push_back(i < probes.size() ? probes[i].error : std::nullopt);
      }
    }
    if (items_.empty()) {
      std::error_code ignored;
      const bool is_left_out = fs::equivalent(arguments_.directory, arguments_.output, ignored);
      return make_error(Code::J01, "there are no topologies here",
                        is_left_out
                            ? "the directory of outputs is left out: name another one with -o"
                        : arguments_.all ? "look at --include and --exclude"
                                         : "topologies are *.json; --all takes others",
                        {.file = display_name(arguments_.directory)});
    }
    return {};
  }

  // Those of all shards: they may lie in one directory.
  [[nodiscard]] FilesOfBatch files() const {
    FilesOfBatch files{.inputs = {arguments_.manifest},
                       .outputs = {},
                       .directory = arguments_.output,
                       .report = report_name(request_.shard),
                       .junit = request_.outcome.junit,
                       .baseline = arguments_.outcome.baseline};
    for (const Item& item : items_) {
      files.inputs.push_back(path_in(arguments_.directory, item.input));
      files.outputs.push_back(path_in(arguments_.output, item.record));
      if (!item.output.empty()) files.outputs.push_back(path_in(arguments_.output, item.output));
    }
    return files;
  }

  void keep(const std::vector<std::size_t>& share) {
    std::vector<Item> items;
    std::vector<std::optional<ItemError>> errors;
    for (const std::size_t item : share) {
      items.push_back(std::move(items_[item]));
      errors.push_back(std::move(errors_[item]));
    }
    items_ = std::move(items);
    errors_ = std::move(errors);
  }

  void remove_all_leftovers() const {
    std::set<fs::path> directories = {fs::path(arguments_.output)};
    for (const Item& item : items_) {
      directories.insert(fs::path(path_in(arguments_.output, item.record)).parent_path());
    }
    for (const fs::path& directory : directories) remove_leftovers(directory);
  }

  // Items that failed already, and those in the store; returns the others, the dearest first.
  std::vector<std::size_t> settle_without_work(SignalGate& gate) {
    std::vector<Lookup> lookups(items_.size());
    if (!arguments_.force) {
      oneapi::tbb::parallel_for(std::size_t{0}, items_.size(), [&](std::size_t i) {
        if (!errors_[i] && !items_[i].key.empty()) {
          lookups[i] = look_up(arguments_.output, items_[i]);
        }
      });
    }
    gate.wait(std::chrono::milliseconds(0));
    std::vector<std::size_t> missing;
    for (const std::size_t i : by_cost(items_)) {
      if (errors_[i]) {
        journal_->failed(i, *errors_[i]);
      } else if (lookups[i].record) {
        journal_->reused(i, *lookups[i].record);
      } else {
        if (lookups[i].miss == Miss::damaged) damaged_.insert(i);
        missing.push_back(i);
      }
    }
    return missing;
  }

  [[nodiscard]] std::unique_ptr<Runner> runner_here(const RunnerLimits& limits,
                                                    const SignalGate& gate) const {
    return arguments_.in_process ? run_in_process(limits)
                                 : run_in_children(limits, gate.mask_before());
  }

  void make(std::vector<std::size_t> missing, SignalGate& gate) {
    const bool failed = std::ranges::any_of(errors_, [](const auto& error) { return !!error; });
    if (arguments_.fail_fast && failed) missing.clear();
    const auto here =
        everywhere_ == nullptr ? runner_here(request_.limits, gate) : std::unique_ptr<Runner>();
    Execution execution{
        .waiting = {missing.begin(), missing.end()},
        .footprint = [this](std::size_t item) { return items_[item].footprint; },
        .request = [this](std::size_t item) { return encode(task_of(items_[item])); },
        .finished = [this](const Finished& finished) { return settle(finished); },
        .tick = [this] { journal_->progress().tick(); },
        .cannot_stop =
            [this](std::size_t running) {
              journal_->progress().say(fmt::format(
                  "waiting for {} to end; asked again, ends at once", counted(running, "item")));
            }};
    execute(execution, here ? *here : *everywhere_, gate);
  }

  [[nodiscard]] Task task_of(const Item& item) const {
    return {.topology = path_in(arguments_.directory, item.input),
            .directory = arguments_.output,
            .output = item.output,
            .record = item.record,
            .key = item.key,
            .words = item.words,
            .threads = request_.threads};
  }

  // Whether the others go on.
  bool settle(const Finished& finished) {
    if (finished.end == End::abandoned) return true;
    const std::size_t item = finished.number;
    const Effort effort{finished.seconds, finished.peak_bytes};
    auto answer = finished.end == End::done ? decode_answer(finished.answer) : std::nullopt;
    if (answer && !answer->error) {
      journal_->made(item, std::move(answer->outputs), std::move(answer->figures), effort,
                     damaged_.contains(item));
      return true;
    }
    journal_->failed(
        item, answer ? *answer->error : why_ended(finished, request_.limits, "not done"), effort);
    return !arguments_.fail_fast;
  }

  int report(const SignalGate& gate) {
    const ExitCode concluded =
        conclude(journal_->close(), request_.outcome, arguments_.output,
                 report_name(request_.shard), arguments_.directory, console_);
    note(console_, fmt::format("{:.1f} s", watch_.restart()));
    if (gate.stop_signal() == 0 || concluded == ExitCode::io) return code(concluded);
    note(console_, "stopped on demand; the next run goes on from here");
    constexpr int kEndedBySignal = 128;
    return kEndedBySignal + gate.stop_signal();
  }

  const Arguments& arguments_;
  const Request& request_;
  const Console& console_;
  Runner* everywhere_;  ///< with MPI, made before and ended after this
  Stopwatch watch_;
  std::vector<Item> items_;
  std::vector<std::optional<ItemError>> errors_;  // of each item, before any work
  std::string program_;                           // its fingerprint
  std::set<std::size_t> damaged_;
  std::optional<Journal> journal_;
};

int run_with_mpi(const Arguments& arguments, const Expected<Request>& request,
                 const Console& console) {
  SignalGate gate;
  const Mpi mpi;
  if (!request) {
    if (mpi.rank() == 0) return static_cast<int>(fail(request.errors(), console));
    return static_cast<int>(exit_code(request.errors()));
  }
  RunnerLimits limits = request->limits;
  const auto sharing = static_cast<std::uint64_t>(mpi.processes_here());
  if (!limits.memory_is_strict) limits.memory /= sharing;
  if (mpi.rank() > 0) {
    mpi.serve(limits, gate);
    return static_cast<int>(ExitCode::done);
  }
  // Whatever happens here, its end sends the others home.
  const auto everywhere = mpi.run_on_all(limits, gate.mask_before());
  return Batch(arguments, *request, console, everywhere.get()).run(gate);
}

}  // namespace

int run_batch(const Arguments& arguments, const Console& console) {
  const auto request = resolve(arguments);
  if (arguments.mpi && Mpi::is_built_in()) return run_with_mpi(arguments, request, console);
  if (!request) return static_cast<int>(fail(request.errors(), console));
  if (arguments.mpi) {
    return static_cast<int>(
        fail({make_error(Code::S04, "this program was built without MPI",
                         "build it with -DFORESTCOLL_MPI=ON, or use --shard and `batch merge`")},
             console));
  }
  SignalGate gate;
  return Batch(arguments, *request, console, nullptr).run(gate);
}

}  // namespace forestcoll::cli::batch
