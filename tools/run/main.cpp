// The program forestcoll-run: one MPI process for each GPU of a schedule.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "forestcoll/verify.hpp"
#include "run/harness.hpp"
#include "run/options.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {
namespace {

using cli::ExitCode;

int rank_here() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// All ranks come to the same errors from the same text; one tells them, all end with their code.
ExitCode fail(const Diagnostics& errors) {
  if (rank_here() == 0) cli::print(errors, cli::Console{});
  return cli::exit_code(errors);
}

// Read by rank 0, so that the file need not be on every host.
Expected<std::string> read_everywhere(const std::string& file) {
  std::string text;
  std::int64_t bytes = -1;
  Diagnostics errors;
  if (rank_here() == 0) {
    auto read = cli::read_input(file);
    if (read) {
      text = *std::move(read);
      bytes = static_cast<std::int64_t>(text.size());
    } else {
      errors = read.errors();
    }
  }
  MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (bytes < 0 && errors.empty()) {
    Diagnostic error;
    error.code = "F01";
    error.kind = ErrorKind::io;
    error.file = file;
    error.message = "rank 0 cannot read it";
    errors.push_back(error);
  }
  if (bytes < 0) return errors;
  text.resize(static_cast<std::size_t>(bytes));
  MPI_Bcast(text.data(), static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
  return text;
}

// A file does not say its root; verify finds out what it does.
std::int64_t root_of(const ScheduleFacts& facts, const Options& options, const std::string& text) {
  if (options.root) return *options.root;
  if (facts.pattern != Pattern::broadcast && facts.pattern != Pattern::reduce) return 0;
  const auto verdict = verify(text, options.file, nullptr, VerifyOptions{});
  return verdict && verdict->root ? verdict->root->value : 0;
}

ExitCode run(int argc, char** argv) {
  const auto request = parse_options(argc, argv);
  if (!request) return fail(request.errors());
  if (!request->options) {
    if (rank_here() == 0) std::fputs(request->text.c_str(), stdout);
    return ExitCode::done;
  }
  const Options& options = *request->options;
  const auto text = read_everywhere(options.file);
  if (!text) return fail(text.errors());
  const auto schedule = load_schedule(*text, cli::display_name(options.file));
  if (!schedule) return fail(schedule.errors());
  const ScheduleFacts& facts = (*schedule)->facts();
  if (facts.is_refused_by_runtimes && rank_here() == 0) {
    cli::say(
        fmt::format("forestcoll-run: a runtime may not take this file; `forestcoll verify {}` "
                    "says why\n",
                    options.file));
  }
  const auto is_wrong = run_all(**schedule, options, root_of(facts, options, *text));
  if (!is_wrong) return fail(is_wrong.errors());
  return *is_wrong ? ExitCode::answer_is_no : ExitCode::done;
}

}  // namespace
}  // namespace forestcoll::run

int main(int argc, char** argv) {
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
