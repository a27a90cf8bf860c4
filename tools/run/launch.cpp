#include "run/launch.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "common/files/io.hpp"
#include "common/job/written.hpp"
#include "forestcoll/codes.hpp"
#include "run/job_file.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {
namespace {

// Which MPI this program was built with, by its own words.
std::string library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> words{};
  int length = 0;
  MPI_Get_library_version(words.data(), &length);
  return {words.data(), static_cast<std::size_t>(length)};
}

// More processes than cores are the rule here, and so is a container where everybody is root.
std::vector<std::string> command(std::int64_t processes) {
  std::vector<std::string> words = {"mpirun"};
  if (library().starts_with("Open MPI")) {
    words.insert(words.end(), {"-q", "--oversubscribe"});
    if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  }
  words.insert(words.end(), {"-np", std::to_string(processes)});
  return words;
}

}  // namespace

bool is_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                           "MPI_LOCALNRANKS", "SLURM_PROCID"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return library().starts_with("SMPI");
}

Expected<std::optional<std::int64_t>> processes_for(const Options& options) {
  const std::string& file = options.files.front();
  if (file == "-") return std::optional<std::int64_t>();
  const auto text = cli::read_input(file);
  if (!text) return text.errors();
  if (cli::is_job_report(*text)) {
    const auto ranks = ranks_of_job(*text, file);
    if (!ranks) return ranks.errors();
    return std::optional(*ranks);
  }
  const auto schedule = load_schedule(*text, cli::display_name(file));
  if (!schedule) return schedule.errors();
  return std::optional((*schedule)->facts().ranks);
}

Diagnostic start_under_mpirun(std::int64_t processes, std::span<const char* const> arguments) {
  std::vector<std::string> words = command(processes);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::string line;
  std::vector<char*> pointers;
  for (std::string& word : words) {
    line += " " + word;
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  fmt::print("#{}\n", line);
  std::fflush(stdout);
  execvp(pointers.front(), pointers.data());
  return make_error(Code::X03, "mpirun cannot be started",
                    "install an MPI (`tools/setup mpi`), or start this program by your launcher");
}

}  // namespace forestcoll::run
