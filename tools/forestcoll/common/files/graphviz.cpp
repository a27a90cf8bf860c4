#include "common/files/graphviz.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t and its calls are POSIX
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "forestcoll/codes.hpp"

extern char** environ;  // NOLINT: POSIX has it so

namespace forestcoll::cli {
namespace {

using Clock = std::chrono::steady_clock;

class Pipe {
 public:
  Pipe() { open_ = pipe2(ends_.data(), O_CLOEXEC) == 0; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
  bool open_ = false;
};

// A child process with its three streams.
class Child {
 public:
  // An errno, or 0.
  int start(const std::string& format) {
    if (!in_.is_open() || !out_.is_open() || !err_.is_open()) return EMFILE;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in_.read_end(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out_.write_end(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_.write_end(), STDERR_FILENO);
    std::string name = "dot", option = "-T" + format;
    const std::array<char*, 3> arguments = {name.data(), option.data(), nullptr};
    const int error = posix_spawnp(&pid_, "dot", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) pid_ = -1;
    in_.close_end(0);
    out_.close_end(1);
    err_.close_end(1);
    return error;
  }

  // Feeds the graph while the picture and the complaints come back. False when the time is over.
  bool exchange(std::string_view graph, Clock::time_point end) {
    fcntl(in_.write_end(), F_SETFL, O_NONBLOCK);
    bool writing = true, reading = true, listening = true;
    while (writing || reading || listening) {
      std::array<pollfd, 3> polled = {{{writing ? in_.write_end() : -1, POLLOUT, 0},
                                       {reading ? out_.read_end() : -1, POLLIN, 0},
                                       {listening ? err_.read_end() : -1, POLLIN, 0}}};
      const int ready = poll(polled.data(), polled.size(), milliseconds_until(end));
      if (ready == 0 && Clock::now() >= end) return false;
      if (ready < 0 && errno != EINTR) return true;
      if (ready <= 0) continue;
      if (polled[0].revents != 0) writing = feed(graph);
      if (polled[1].revents != 0) reading = collect(out_.read_end(), output);
      if (polled[2].revents != 0) listening = collect(err_.read_end(), complaint);
      if (!writing) in_.close_end(1);
    }
    return true;
  }

  void end() const { kill(pid_, SIGKILL); }

  // The exit code, or −1 where it did not end by itself.
  int wait() const {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0) {
      if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string output, complaint;

 private:
  // Rounded up, so that the end is not met a moment too early again and again.
  static int milliseconds_until(Clock::time_point end) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000));
  }

  // False when there is nothing left to write, or nobody who reads.
  bool feed(std::string_view& graph) {
    const ssize_t written = write(in_.write_end(), graph.data(), graph.size());
    if (written < 0) return errno == EAGAIN || errno == EINTR;
    graph.remove_prefix(static_cast<std::size_t>(written));
    return !graph.empty();
  }

  static bool collect(int fd, std::string& text) {
    std::array<char, 65536> buffer{};
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
  }

  Pipe in_, out_, err_;
  pid_t pid_ = -1;
};

}  // namespace

Expected<std::string> render(const std::string& graph, const std::string& format, double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  Child dot;
  if (const int error = dot.start(format); error != 0) {
    return make_error(Code::P01,
                      fmt::format("cannot start Graphviz's program dot: {}",
                                  std::generic_category().message(error)),
                      "install Graphviz, or write the graph with --dot and draw it elsewhere");
  }
  const bool in_time = dot.exchange(graph, end);
  if (!in_time) dot.end();
  const int code = dot.wait();
  if (!in_time) {
    return make_error(
        Code::P04, fmt::format("Graphviz's program dot was ended after {:.6g} s", seconds),
        "write the graph with --dot and draw it elsewhere, allow more with --time-limit, "
        "or draw less with --detail");
  }
  if (code == 0 && !dot.output.empty()) return std::move(dot.output);
  const std::string said = dot.complaint.substr(0, dot.complaint.find('\n'));
  // A shell and some C libraries report a program that is not there by this exit code.
  if (code == 127) {
    return make_error(Code::P01, "cannot start Graphviz's program dot",
                      "install Graphviz, or write the graph with --dot and draw it elsewhere");
  }
  return make_error(
      Code::P02, fmt::format("Graphviz's program dot failed{}{}", said.empty() ? "" : ": ", said),
      "write the graph with --dot, and look at it there");
}

}  // namespace forestcoll::cli
