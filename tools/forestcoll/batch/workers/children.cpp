// A child process for each job: what happens to one does not happen to the others. Streams are
// files in memory, not pipes: nobody waits for anybody to read, and what a child wrote before it
// died is still there.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <list>
#include <utility>

#include "batch/workers/runner.hpp"
#include "forestcoll/codes.hpp"

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

// How a child ended.
struct ChildEnd {
  int status = 0;                // of wait(2)
  std::string out, err;          // what it wrote; `err` its last part only
  double seconds = 0;            // since its start
  std::uint64_t peak_bytes = 0;  // resident at most
};

// This program again, as `serve`. Ends with its parent, however that ends; first to go where the
// system runs out of memory.
class Child {
 public:
  // `mask` is the signal mask that it gets. `valid` says whether it could be started.
  Child(const std::string& request, const sigset_t& mask);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // Kills it, if it still runs, and waits for its end.
  ~Child();

  [[nodiscard]] bool valid() const { return pid_ > 0; }
  // Nothing while it runs.
  [[nodiscard]] std::optional<ChildEnd> poll();
  void send(int signal_number) const;
  [[nodiscard]] double seconds() const;
  // Resident at present.
  [[nodiscard]] std::uint64_t resident_bytes() const;
  // Of its answer so far.
  [[nodiscard]] std::uint64_t answered_bytes() const;

 private:
  void close_streams();

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::chrono::steady_clock::time_point begin_;
};

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

// What went wrong with a child that gave no whole answer, in words: J04, or J03 where it looks like
// the system's want of memory.
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

// Time for a child that is asked to end, to remove what it was writing.
constexpr double kSecondsToEnd = 5;

class Children : public Runner {
 public:
  Children(const RunnerLimits& limits, const sigset_t& mask)
      : limits_(limits), mask_(mask), load_(limits) {}

  [[nodiscard]] bool has_room(std::uint64_t footprint) const override {
    return load_.has_room(footprint);
  }

  void start(const Job& job) override {
    load_.add(job.footprint);
    running_.push_back({job.number, job.footprint, Child(job.request, mask_)});
  }

  [[nodiscard]] std::vector<Finished> poll() override {
    std::vector<Finished> finished;
    for (auto next = running_.begin(); next != running_.end();) {
      const auto work = next++;
      if (auto done = finished_of(*work)) {
        load_.remove(work->footprint);
        finished.push_back(*std::move(done));
        running_.erase(work);
      } else {
        enforce(*work);
      }
    }
    return finished;
  }

  [[nodiscard]] std::size_t running() const override { return running_.size(); }

  void stop() override {
    for (Work& work : running_) end(work, End::abandoned);
  }

 private:
  struct Work {
    std::size_t number;
    std::uint64_t footprint;
    Child child;
    std::uint64_t answered = 0;                  // bytes, at the last look
    double since = 0;                            // seconds since its start, when that last grew
    End end = End::died;                         // or why it was ended
    std::optional<double> asked_to_end_at = {};  // seconds since its start
  };

  static void end(Work& work, End why) {
    if (work.asked_to_end_at) return;
    work.end = why;
    work.child.send(SIGTERM);
    work.asked_to_end_at = work.child.seconds();
  }

  void enforce(Work& work) const {
    const double seconds = work.child.seconds();
    if (work.asked_to_end_at) {
      if (seconds > *work.asked_to_end_at + kSecondsToEnd) work.child.send(SIGKILL);
      return;
    }
    if (const std::uint64_t answered = work.child.answered_bytes(); answered != work.answered) {
      work.answered = answered;
      work.since = seconds;
    }
    if (limits_.seconds && seconds - work.since > *limits_.seconds) {
      end(work, End::late);
    } else if (limits_.memory_is_strict && work.child.resident_bytes() > limits_.memory) {
      end(work, End::too_large);
    }
  }

  static std::optional<Finished> finished_of(Work& work) {
    Finished finished;
    finished.number = work.number;
    finished.end = work.end;
    if (!work.child.valid()) {
      finished.error = item_error(Code::J04, "no child process can be started");
      return finished;
    }
    auto end = work.child.poll();
    if (!end) return std::nullopt;
    finished.seconds = end->seconds;
    finished.peak_bytes = end->peak_bytes;
    finished.error = unanswered(*end);
    // Also where it was done just before the limit.
    if (WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0) finished.end = End::done;
    finished.answer = std::move(end->out);
    return finished;
  }

  RunnerLimits limits_;
  sigset_t mask_;
  Load load_;
  std::list<Work> running_;
};

}  // namespace

std::unique_ptr<Runner> run_in_children(const RunnerLimits& limits, const sigset_t& mask) {
  return std::make_unique<Children>(limits, mask);
}

}  // namespace forestcoll::cli::batch
