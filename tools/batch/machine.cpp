#include "batch/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace forestcoll::cli::batch {
namespace {

// The limit of the control group (version 2) and of those that it is in.
std::uint64_t limit_of_groups() {
  std::uint64_t least = UINT64_MAX;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    for (std::string path = line.substr(3); path.size() > 1; path.resize(path.rfind('/'))) {
      std::ifstream file("/sys/fs/cgroup" + path + "/memory.max");
      std::uint64_t bytes = 0;
      if (file >> bytes) least = std::min(least, bytes);
    }
  }
  return least;
}

}  // namespace

int processors() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::uint64_t memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(pages * page, limit_of_groups());
}

}  // namespace forestcoll::cli::batch
