#include "run/measure.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll::run {
namespace {

int this_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int all_ranks() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

// On what it runs, in the words of whoever started it there.
std::string origin() {
  const char* said = std::getenv("FORESTCOLL_ORIGIN");
  return said == nullptr ? "MPI on this machine" : said;
}

}  // namespace

void begin_together() {
  constexpr double kAfter = 0.01;  // seconds
  MPI_Barrier(MPI_COMM_WORLD);
  void* is_global = nullptr;
  int is_known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &is_global, &is_known);
  if (is_known == 0 || *static_cast<int*>(is_global) == 0) return;
  const double here = MPI_Wtime();
  double last = here;
  MPI_Allreduce(&here, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double left = std::clamp(last + kAfter - MPI_Wtime(), 0.0, kAfter);
  const timespec pause = {0, std::lround(left * 1e9)};
  nanosleep(&pause, nullptr);
}

double over_ranks(double seconds, Average average) {
  double result = seconds;
  switch (average) {
    case Average::rank0:
      MPI_Bcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      return result;
    case Average::mean:
      MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return result / all_ranks();
    case Average::least:
      MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
      return result;
    case Average::most:
      MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      return result;
  }
  return result;
}

std::int64_t count_wrong(std::int64_t here, std::string& remarks) {
  constexpr std::size_t kNamed = 8;
  std::vector<std::int64_t> wrong(static_cast<std::size_t>(all_ranks()));
  MPI_Gather(&here, 1, MPI_INT64_T, wrong.data(), 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  std::int64_t sum = 0;
  MPI_Allreduce(&here, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  std::string named;
  std::size_t ranks = 0;
  for (std::size_t rank = 0; rank < wrong.size(); ++rank) {
    if (wrong[rank] == 0 || ++ranks > kNamed) continue;
    named += fmt::format("{}rank {} ({})", named.empty() ? "" : ", ", rank, wrong[rank]);
  }
  if (ranks > kNamed) named += fmt::format(" and {} more", ranks - kNamed);
  if (sum > 0) remarks += fmt::format("#   wrong: {}\n", named);
  return sum;
}

std::string heading(std::string_view subject) {
  constexpr int kNameBytes = 64;
  const int ranks = all_ranks();
  std::array<char, kNameBytes> name{};
  gethostname(name.data(), name.size() - 1);
  std::vector<char> names(static_cast<std::size_t>(ranks) * kNameBytes);
  std::vector<int> pids(static_cast<std::size_t>(ranks));
  const int pid = getpid();
  MPI_Gather(name.data(), kNameBytes, MPI_CHAR, names.data(), kNameBytes, MPI_CHAR, 0,
             MPI_COMM_WORLD);
  MPI_Gather(&pid, 1, MPI_INT, pids.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::string text = fmt::format("# forestcoll-run {}: {}\n# origin: {}\n#\n# Using devices\n",
                                 kVersion, subject, origin());
  for (int r = 0; r < ranks; ++r) {
    text += fmt::format("#  Rank {:2} Pid {:6} on {:>10} device  0 [cpu]\n", r,
                        pids[static_cast<std::size_t>(r)],
                        &names[static_cast<std::size_t>(r * kNameBytes)]);
  }
  return text + "#\n";
}

Expected<void> check_processes(std::string_view subject, std::int64_t ranks) {
  if (all_ranks() == ranks) return {};
  return make_error(
      Code::X03, fmt::format("{} {} GPUs; {} processes were started", subject, ranks, all_ranks()),
      fmt::format("start it with mpirun -np {}", ranks));
}

Expected<void> check_bytes(std::int64_t bytes) {
  if (bytes <= std::numeric_limits<std::int32_t>::max()) return {};
  return make_error(Code::X06, fmt::format("{} bytes in one process; at most 2 GiB are run", bytes),
                    "give smaller sizes with -b and -e");
}

void print(const std::string& text) {
  if (this_rank() != 0) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace forestcoll::run
