// The program forestcoll-run: one MPI process for each GPU of a schedule.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "run/harness.hpp"
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
  if (rank_here() == 0) cli::print(errors, cli::Console{});
  return cli::exit_code(errors);
}

ExitCode run_file(const std::string& name, const Options& options) {
  if (options.files.size() > 1 && rank_here() == 0) {
    fmt::print("# schedule: {}\n", name);
    std::fflush(stdout);
  }
  const auto loaded = load_everywhere(name);
  if (!*loaded) return fail(loaded->errors());
  const LoadedFile& file = **loaded;
  if (file.schedule->facts().is_refused_by_runtimes && rank_here() == 0) {
    cli::say(
        fmt::format("forestcoll-run: a runtime may not take this file; `forestcoll verify {}` "
                    "says why\n",
                    name));
  }
  const auto is_wrong = run_all(*file.schedule, options, options.root.value_or(file.root));
  if (!is_wrong) return fail(is_wrong.errors(), cli::display_name(name));
  return *is_wrong ? ExitCode::answer_is_no : ExitCode::done;
}

ExitCode run(int argc, char** argv) {
  const auto request = parse_options(argc, argv);
  if (!request) return fail(request.errors());
  if (!request->options) {
    if (rank_here() == 0) std::fputs(request->text.c_str(), stdout);
    return ExitCode::done;
  }
  ExitCode code = ExitCode::done;
  for (const std::string& name : request->options->files) {
    code = std::max(code, run_file(name, *request->options));
  }
  return code;
}

}  // namespace
}  // namespace forestcoll::run

int main(int argc, char** argv) {
  forestcoll::cli::prepare_process();
  MPI_Init(&argc, &argv);
  auto code = forestcoll::cli::ExitCode::internal;
  try {
    code = forestcoll::run::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forestcoll-run: rank %d: %s\n", forestcoll::run::rank_here(),
                 error.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  }
  MPI_Finalize();
  return static_cast<int>(code);
}
