// A file is replaced by writing a temporary one in the same directory, forcing it to the disk and
// renaming it. Whoever reads meanwhile sees the old file or the new one, never a part. Devices and
// pipes cannot be renamed onto; they are written directly.
#include "common/files/io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/host.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr int kMillisecondsForAWriter = 2000;
constexpr std::size_t kReadBlock = std::size_t{1} << 16;

// The temporary file that a signal must remove; read by the handler, hence static and plain.
char pending_file[PATH_MAX];
volatile std::sig_atomic_t pending = 0;

// Only what a handler may call: no stdio. A progress bar may stand on the line.
extern "C" void remove_pending_and_die(int signal_number) {
  if (pending != 0) unlink(pending_file);
  constexpr std::string_view kInterrupted =
      "\nforestcoll: interrupted; no file is left half-written\n";
  constexpr std::string_view kTerminated =
      "\nforestcoll: terminated; no file is left half-written\n";
  const std::string_view message = signal_number == SIGINT ? kInterrupted : kTerminated;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

// A broken promise of the library aborts, having said where.
extern "C" void remove_pending_and_exit(int /*signal_number*/) {
  if (pending != 0) unlink(pending_file);
  _exit(static_cast<int>(ExitCode::internal));
}

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  void reset(int fd) {
    close();
    fd_ = fd;
  }
  int close() { return fd_ < 0 ? 0 : ::close(std::exchange(fd_, -1)); }

 private:
  int fd_ = -1;
};

const char* remedy_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return "check the name, and that the directory is there";
    case EISDIR:
      return "name a file, not a directory";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the permissions of the file and of its directory";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free some space, or name a file on another disk";
    default:
      return "check the file, and the disk that it is on";
  }
}

Diagnostic failed_to(const char* action, const std::string& file, int error_number) {
  return io_error(
      file, fmt::format("cannot {}: {}", action, std::generic_category().message(error_number)),
      remedy_of(error_number));
}

Diagnostic too_large(const std::string& name, std::size_t max_bytes) {
  return io_error(name, fmt::format("cannot read: more than {} MiB", max_bytes >> 20),
                  "a topology or a schedule is smaller; check that this is the right file");
}

// Waits for the first byte or the end. False where nothing happens on a pipe for long enough that
// somebody who writes to it would have come.
bool something_happens(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode)) return true;
  pollfd wait = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, kMillisecondsForAWriter) != 0;
}

// Of a regular file; nothing else says it before it has been read.
std::size_t size_of(int fd) {
  struct stat status = {};
  const bool is_known = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return is_known ? static_cast<std::size_t>(status.st_size) : 0;
}

// Reads to the end. The descriptor may be non-blocking, as it must be while a pipe is opened that
// may have no writer: such a pipe reads as ended, one with a silent writer as "try again".
Expected<std::string> read_all(int fd, const std::string& name, std::size_t max_bytes) {
  const bool silent = !something_happens(fd);
  std::string text;
  text.reserve(std::min(size_of(fd), max_bytes));
  std::vector<char> block(kReadBlock);
  while (true) {
    const ssize_t got = read(fd, block.data(), block.size());
    if (got == 0 && silent && text.empty()) {
      return io_error(name, "cannot read: it is a pipe to which nothing writes",
                      "name a file, or write a topology or schedule into the pipe");
    }
    if (got == 0) return text;
    if (got < 0 && errno == EAGAIN) {
      pollfd wait = {.fd = fd, .events = POLLIN, .revents = 0};
      poll(&wait, 1, -1);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed_to("read", name, errno);
    if (text.size() + static_cast<std::size_t>(got) > max_bytes) return too_large(name, max_bytes);
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

// 0, or the errno of the failure.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

constexpr std::array kFatalSignals = {SIGINT, SIGTERM, SIGHUP};

// Holds the fatal signals back while a file exists that the handler does not know of yet.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t fatal;
    sigemptyset(&fatal);
    for (const int number : kFatalSignals) sigaddset(&fatal, number);
    pthread_sigmask(SIG_BLOCK, &fatal, &before_);
  }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;
  ~SignalsHeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_ = {};
};

// A file under a temporary name that is gone again unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& directory)
      : path_((directory / ".forestcoll-XXXXXX").string()) {
    if (path_.size() >= sizeof pending_file) {
      error_ = ENAMETOOLONG;
      return;
    }
    const SignalsHeldBack held_back;
    file_.reset(mkostemp(path_.data(), O_CLOEXEC));
    if (!file_.valid()) {
      error_ = errno;
      return;
    }
    std::memcpy(pending_file, path_.c_str(), path_.size() + 1);
    pending = 1;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (error_ == 0 && !renamed_) unlink(path_.c_str());
    pending = 0;
  }

  // Each returns 0 or an errno.
  [[nodiscard]] int opened() const { return error_; }
  int fill(std::string_view text, mode_t mode, bool force_to_disk) {
    if (fchmod(file_.get(), mode) != 0) return errno;
    if (const int error = write_all(file_.get(), text)) return error;
    if (force_to_disk && fsync(file_.get()) != 0) return errno;
    return file_.close() == 0 ? 0 : errno;
  }
  int rename_to(const std::string& target) {
    if (rename(path_.c_str(), target.c_str()) != 0) return errno;
    renamed_ = true;
    return 0;
  }

 private:
  std::string path_;
  FileDescriptor file_;
  int error_ = 0;
  bool renamed_ = false;
};

mode_t mode_of_new_files() {
  const mode_t mask = umask(0);
  umask(mask);
  return static_cast<mode_t>(0666) & ~mask;
}

int replace_file(const std::filesystem::path& target, std::string_view text, mode_t mode,
                 bool force_to_disk) {
  const auto directory = target.has_parent_path() ? target.parent_path() : ".";
  TemporaryFile temporary(directory);
  if (const int error = temporary.opened()) return error;
  if (const int error = temporary.fill(text, mode, force_to_disk)) return error;
  if (const int error = temporary.rename_to(target.string())) return error;
  if (!force_to_disk) return 0;
  const FileDescriptor parent(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.valid()) fsync(parent.get());  // the file is whole whether or not this succeeds
  return 0;
}

int write_device(const std::string& path, std::string_view text) {
  FileDescriptor device(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!device.valid()) return errno;
  if (const int error = write_all(device.get(), text)) return error;
  return device.close() == 0 ? 0 : errno;
}

int write_path(const std::string& path, std::string_view text, bool force_to_disk) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return errno;
    if (path.empty() || path.back() == '/') return path.empty() ? ENOENT : EISDIR;
    return replace_file(end_of_links(path), text, mode_of_new_files(), force_to_disk);
  }
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (!S_ISREG(status.st_mode)) return write_device(path, text);
  // A link stays a link: what it points to is replaced.
  std::error_code error;
  const auto target = std::filesystem::canonical(path, error);
  if (error) return error.value();
  return replace_file(target, text, status.st_mode & static_cast<mode_t>(07777), force_to_disk);
}

// What a host has under this name; null where that is a file of the system.
std::string* in_memory(const std::string& path, Host* host) {
  if (host == nullptr) return nullptr;
  const auto found = host->files.find(path);
  return found == host->files.end() ? nullptr : &found->second;
}

constexpr int kMostLinks = 40;  // in a row, as many as the kernel follows

}  // namespace

void prepare_process() {
  // A file must not be opened under the number of a standard stream that is closed; opened the
  // wrong way round, such a stream fails when it is used.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    const int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) break;
  }
#ifdef __GLIBC__
  // What one stage gives back the next one needs: not to the system and back.
  mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 1 << 24);
#endif
  // A closed pipe and a file size limit are errors of a write, which we report.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGABRT, remove_pending_and_exit);
  for (const int number : kFatalSignals) {
    // What the caller ignores (nohup) stays ignored.
    if (std::signal(number, SIG_IGN) != SIG_IGN) std::signal(number, remove_pending_and_die);
  }
}

std::string display_name(const std::string& path) {
  if (path.empty()) return "\"\"";
  return path == "-" ? "<stdin>" : path;
}

Diagnostic io_error(const std::string& path, std::string message, std::string remedy) {
  return make_error(Code::IO, std::move(message), std::move(remedy), {.file = display_name(path)});
}

Expected<std::string> read_input(const std::string& path, std::size_t max_bytes) {
  const std::string name = display_name(path);
  Host* host = Host::current();
  if (const std::string* text = in_memory(path, host)) {
    return text->size() > max_bytes ? Expected<std::string>(too_large(name, max_bytes)) : *text;
  }
  if (path == "-" && host != nullptr) return io_error(name, "cannot read: there is none");
  if (path == "-") return read_all(STDIN_FILENO, name, max_bytes);
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) return failed_to("read", name, errno);
  return read_all(file.get(), name, max_bytes);
}

Expected<void> write_output(const std::string& path, std::string_view text, bool force_to_disk) {
  if (Host* host = Host::current()) {
    std::string* file = path == "-" ? &host->out : in_memory(path, host);
    if (file != nullptr) {
      *file = text;
      return {};
    }
  }
  static std::mutex one_at_a_time;  // there is one pending file, and one mask of new files' modes
  const std::scoped_lock lock(one_at_a_time);
  const bool standard = path == "-";
  const int error =
      standard ? write_all(STDOUT_FILENO, text) : write_path(path, text, force_to_disk);
  if (error == 0) return {};
  return failed_to("write", standard ? "<stdout>" : display_name(path), error);
}

std::filesystem::path end_of_links(const std::filesystem::path& path) {
  std::filesystem::path end = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const auto next = std::filesystem::read_symlink(end, error);
    if (error) return end;
    end = end.parent_path() / next;  // an absolute target stands alone
  }
  return path;
}

}  // namespace forestcoll::cli
