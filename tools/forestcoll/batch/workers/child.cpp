// Streams are files in memory, not pipes: nobody waits for anybody to read, and what a child wrote
// before it died is still there.
#include "batch/workers/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

namespace forestcoll::cli::batch {
namespace {

constexpr off_t kLargestMessage = 4096;
constexpr const char* kOwnProgram = "/proc/self/exe";

int memory_file(const char* name) {
  return memfd_create(name, MFD_CLOEXEC);
}

bool put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return lseek(fd, 0, SEEK_SET) == 0;
}

std::uint64_t size_of(int fd) {
  struct stat status = {};
  return fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// From `begin` to the end.
std::string contents(int fd, off_t begin) {
  std::string text;
  std::array<char, 1 << 16> block = {};
  while (true) {
    const ssize_t got = pread(fd, block.data(), block.size(), begin);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    begin += got;
  }
}

// The child's part between fork and exec: system calls alone.
[[noreturn]] void become_worker(int in, int out, int err, pid_t parent, const sigset_t& mask) {
  constexpr std::string_view kFirstToGo = "1000";
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    [[maybe_unused]] const auto put = write(score, kFirstToGo.data(), kFirstToGo.size());
  }
  setpgid(0, 0);  // Ctrl-C is for the parent, which then decides
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  const bool ready = dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
                     dup2(err, STDERR_FILENO) >= 0 &&
                     pthread_sigmask(SIG_SETMASK, &mask, nullptr) == 0;
  if (!ready) _exit(EXIT_FAILURE);
  std::array<char, 11> program = {"forestcoll"};
  std::array<char, 13> command = {"batch-worker"};
  const std::array<char*, 3> arguments = {program.data(), command.data(), nullptr};
  execv(kOwnProgram, arguments.data());
  _exit(EXIT_FAILURE);
}

// The last line that says something.
std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return {};
  const auto begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

Child::Child(const std::string& request, const sigset_t& mask)
    : out_(memory_file("answer")),
      err_(memory_file("errors")),
      begin_(std::chrono::steady_clock::now()) {
  const int in = memory_file("request");
  const pid_t parent = getpid();
  if (in >= 0 && out_ >= 0 && err_ >= 0 && put(in, request)) pid_ = fork();
  if (pid_ == 0) become_worker(in, out_, err_, parent, mask);
  if (in >= 0) close(in);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      begin_(other.begin_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(out_, other.out_);
  std::swap(err_, other.err_);
  std::swap(begin_, other.begin_);
  return *this;
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close_streams();
}

std::optional<ChildEnd> Child::poll() {
  ChildEnd end;
  rusage usage = {};
  const pid_t ended = wait4(pid_, &end.status, WNOHANG, &usage);
  if (ended != pid_) return std::nullopt;
  pid_ = -1;
  end.seconds = seconds();
  end.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
  end.out = contents(out_, 0);
  const auto length = static_cast<off_t>(size_of(err_));
  end.err = contents(err_, std::max<off_t>(0, length - kLargestMessage));
  return end;
}

void Child::send(int signal_number) const {
  if (pid_ > 0) kill(pid_, signal_number);
}

double Child::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::uint64_t Child::resident_bytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", pid_));
  std::uint64_t total = 0, resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t Child::answered_bytes() const {
  return size_of(out_);
}

void Child::close_streams() {
  for (const int fd : {out_, err_}) {
    if (fd >= 0) close(fd);
  }
}

ItemError unanswered(const ChildEnd& end) {
  const std::string said = last_line(end.err);
  const std::string words = said.empty() ? "" : "; its last words: " + said;
  if (WIFSIGNALED(end.status)) {
    const int number = WTERMSIG(end.status);
    if (number == SIGKILL) {
      return item_error(Code::J03,
                        "killed from outside, as systems do that run out of memory" + words);
    }
    return item_error(
        Code::J04, fmt::format("crashed by signal {} ({})", number, sigabbrev_np(number)) + words);
  }
  return item_error(
      Code::J04,
      fmt::format("ended with exit code {} and no answer", WEXITSTATUS(end.status)) + words);
}

}  // namespace forestcoll::cli::batch
