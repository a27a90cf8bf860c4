#include "batch/workers/process.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

// Of address space for a heap of the C library: it takes 64 MiB, for a moment twice as much, and as
// much again is left to what is not on heaps.
constexpr rlim_t kRoomOfAHeap = rlim_t{256} << 20;

constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

int processors() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::uint64_t memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(pages * page, limit_of_groups());
}

// A thread that finds no room for its heap asks the system for every piece of memory by itself,
// which is fifty times as slow.
void share_heaps(int threads) {
  rlimit space = {};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
  const rlim_t heaps = std::max<rlim_t>(1, space.rlim_cur / kRoomOfAHeap);
  if (heaps > static_cast<rlim_t>(threads)) return;
  mallopt(M_ARENA_MAX, static_cast<int>(heaps));  // NOLINT(concurrency-mt-unsafe): one thread yet
}

SignalGate::SignalGate() {
  sigemptyset(&awaited_);
  for (const int number : kStopSignals) sigaddset(&awaited_, number);
  sigaddset(&awaited_, SIGCHLD);
  // Where it is ignored, the system takes children away before they are waited for.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &child_before_);
  pthread_sigmask(SIG_BLOCK, &awaited_, &before_);
}

SignalGate::~SignalGate() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  sigaction(SIGCHLD, &child_before_, nullptr);
}

void SignalGate::wait(std::chrono::milliseconds at_most) {
  timespec time = {};
  time.tv_sec = at_most.count() / 1000;
  time.tv_nsec = at_most.count() % 1000 * 1'000'000;
  const int number = sigtimedwait(&awaited_, nullptr, &time);
  if (number > 0 && number != SIGCHLD && stop_signal_ == 0) stop_signal_ = number;
}

void SignalGate::let_through() {
  sigset_t stopping;
  sigemptyset(&stopping);
  for (const int number : kStopSignals) {
    sigaddset(&stopping, number);
    sigdelset(&awaited_, number);  // what is waited for is taken away, blocked or not
  }
  pthread_sigmask(SIG_UNBLOCK, &stopping, nullptr);
}

}  // namespace forestcoll::cli::batch
