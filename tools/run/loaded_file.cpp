#include "run/loaded_file.hpp"

#include <mpi.h>

#include <utility>

#include "common/files/io.hpp"
#include "common/job/written.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::run {
namespace {

using Loaded = std::shared_ptr<const Expected<LoadedFile>>;

// A file does not say its root; verify finds out what it does.
std::int64_t root_in(const std::string& text, const std::string& name, Pattern pattern) {
  if (!audit::is_rooted(pattern)) return 0;
  const auto verdict = verify(text, name, nullptr, VerifyOptions{});
  return verdict && verdict->root ? verdict->root->value : 0;
}

Expected<LoadedFile> load(const std::string& text, const std::string& name) {
  if (cli::is_job_report(text)) return LoadedFile{nullptr, 0, text};
  auto schedule = load_schedule(text, name);
  if (!schedule) return schedule.errors();
  const std::int64_t root = root_in(text, name, (*schedule)->facts().pattern);
  return LoadedFile{*std::move(schedule), root, {}};
}

Diagnostic unreadable(const std::string& file) {
  Diagnostic error = make_error(Code::F01, "rank 0 cannot read it", "", {.file = file});
  error.kind = ErrorKind::io;
  return error;
}

// Whether every rank stands in a process that has it.
bool is_loaded_everywhere(const Loaded& here) {
  const int has = here == nullptr ? 0 : 1;
  int all_have = 0;
  MPI_Allreduce(&has, &all_have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_have == 1;
}

}  // namespace

Loaded load_everywhere(const std::string& file) {
  static Loaded of_process;  // set by rank 0 alone, before others look
  const std::string name = cli::display_name(file);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text;
  std::int64_t bytes = -1;
  if (rank == 0) {
    auto read = cli::read_input(file);
    if (read) {
      text = *std::move(read);
      bytes = static_cast<std::int64_t>(text.size());
      of_process = std::make_shared<const Expected<LoadedFile>>(load(text, name));
    } else {
      of_process = std::make_shared<const Expected<LoadedFile>>(read.errors());
    }
  }
  MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  const Loaded here = of_process;  // rank 0 may go on to the next file before others return
  if (is_loaded_everywhere(here)) return here;
  if (bytes < 0) {
    if (rank == 0) return here;
    return std::make_shared<const Expected<LoadedFile>>(unreadable(file));
  }
  text.resize(static_cast<std::size_t>(bytes));
  MPI_Bcast(text.data(), static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 0) return here;
  return std::make_shared<const Expected<LoadedFile>>(load(text, name));
}

}  // namespace forestcoll::run
