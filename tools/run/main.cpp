// The program forestcoll-run: one MPI process for each GPU of a schedule.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/report/finding_kinds.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "run/harness.hpp"
#include "run/job_file.hpp"
#include "run/launch.hpp"
#include "run/loaded_file.hpp"
#include "run/options.hpp"

namespace forestcoll::run {
namespace {

using cli::ExitCode;

int rank_here() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// All ranks come to the same errors from the same text; one tells them, all end with their code.
ExitCode fail(Diagnostics errors, const std::string& file = {}) {
  for (Diagnostic& error : errors) {
    if (error.file.empty()) error.file = file;
  }
  if (rank_here() == 0) cli::say(cli::text_of_kinds(errors));
  return cli::exit_code(errors);
}

// Where there is one process alone.
ExitCode print_errors(const Diagnostics& errors) {
  cli::say(cli::text_of_kinds(errors));
  return cli::exit_code(errors);
}

Expected<Outcome> run_loaded(const LoadedFile& file, const std::string& name,
                             const Options& options) {
  if (file.schedule == nullptr) {
    const auto job = load_job(file.job, name);
    if (!job) return job.errors();
    return run_job(*job, options);
  }
  if (file.schedule->facts().is_refused_by_runtimes && rank_here() == 0) {
    cli::say(
        fmt::format("forestcoll-run: a runtime may not take this file; `forestcoll verify {}` "
                    "says why\n",
                    name));
  }
  return run_all(*file.schedule, options, options.root.value_or(file.root));
}

ExitCode run_file(const std::string& name, const Options& options, bool& has_run) {
  if (options.files.size() > 1 && rank_here() == 0) {
    fmt::print("# schedule: {}\n", name);
    std::fflush(stdout);
  }
  const auto loaded = load_everywhere(name);
  if (!*loaded) return fail(loaded->errors());
  const auto outcome = run_loaded(**loaded, name, options);
  if (!outcome) return fail(outcome.errors(), cli::display_name(name));
  has_run = has_run || outcome->has_run;
  return outcome->is_wrong ? ExitCode::answer_is_no : ExitCode::done;
}

ExitCode run_files(const Options& options) {
  ExitCode code = ExitCode::done;
  bool has_run = false;
  for (const std::string& name : options.files) {
    code = std::max(code, run_file(name, options, has_run));
  }
  if (has_run || code != ExitCode::done) return code;
  return fail({make_error(Code::X04, "none of the sizes is in the window of any of the files",
                          "give others with -b and -e")});
}

int run_program(int argc, char** argv) {
  cli::prepare_process();
  // Nothing is written that could be left half-written, and mpirun ends all ranks by this signal.
  std::signal(SIGTERM, SIG_DFL);
  const bool has_launcher = is_launched();
  const auto request = parse_options(argc, argv);
  if (!has_launcher) {
    // A single process needs no MPI to say these.
    if (!request) return static_cast<int>(print_errors(request.errors()));
    if (!request->options) {
      std::fputs(request->text.c_str(), stdout);
      return 0;
    }
    const auto processes = processes_for(*request->options);
    if (!processes) return static_cast<int>(print_errors(processes.errors()));
    if (processes->value_or(1) > 1) {
      return static_cast<int>(
          print_errors({start_under_mpirun(**processes, {argv, static_cast<std::size_t>(argc)})}));
    }
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  auto code = ExitCode::internal;
  try {
    if (!request) {
      code = fail(request.errors());
    } else if (!request->options) {
      if (rank_here() == 0) std::fputs(request->text.c_str(), stdout);
      code = ExitCode::done;
    } else {
      code = run_files(*request->options);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forestcoll-run: rank %d: %s\n", rank_here(), error.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  }
  MPI_Finalize();
  return static_cast<int>(code);
}

}  // namespace
}  // namespace forestcoll::run

int main(int argc, char** argv) {
  return forestcoll::run::run_program(argc, argv);
}
