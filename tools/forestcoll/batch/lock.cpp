// flock(2) on files of the directory. A whole batch has the one file for itself; shards share it,
// and have one more each. A holder writes its name into the file and takes it out at the end, so
// that a name in a file that nobody has locked tells of a sudden end.
#include "batch/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

#include "batch/items/discovery.hpp"
#include "common/files/io.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

constexpr const char* kLockName = ".forestcoll-batch.lock";

Diagnostic taken(const std::string& path, std::string message, std::string remedy) {
  return make_error(Code::J05, std::move(message), std::move(remedy), {.file = display_name(path)});
}

std::string own_name() {
  std::array<char, HOST_NAME_MAX + 1> host = {};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}", getpid(), host.data());
}

std::string text_of(int fd) {
  std::array<char, 512> text = {};
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

int lock_file(int fd, int how) {
  while (flock(fd, how | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

Expected<Lock> Lock::take(const std::string& directory, const std::optional<Shard>& shard) {
  Lock lock;
  const auto acquire = [&](const std::string& name, int how) -> Expected<void> {
    const std::string path = path_in(directory, name);
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
      return io_error(path, "cannot write: " + std::generic_category().message(errno),
                      "outputs need a directory that can be written to");
    }
    lock.files_.emplace_back(fd, false);
    const int error = lock_file(fd, how);
    const std::string holder = text_of(fd);
    if (error == EWOULDBLOCK) {
      return taken(
          path,
          fmt::format("another batch works here: {}", holder.empty() ? "shards of one" : holder),
          "wait until it ends, or write to another directory");
    }
    if (error != 0) {
      return taken(path, "cannot lock: " + std::generic_category().message(error),
                   "use a file system that knows flock(2)");
    }
    if (!holder.empty()) lock.previous_ = holder;
    if (how == LOCK_SH) return {};
    const std::string name_of_mine = own_name();
    const bool named =
        ftruncate(fd, 0) == 0 && pwrite(fd, name_of_mine.data(), name_of_mine.size(), 0) > 0;
    lock.files_.back().second = named;
    return {};
  };
  if (const auto done = acquire(kLockName, shard ? LOCK_SH : LOCK_EX); !done) return done.errors();
  lock.alone_ = !shard;
  if (shard) {
    const std::string own =
        fmt::format(".forestcoll-batch.{}-of-{}.lock", shard->index, shard->count);
    if (const auto done = acquire(own, LOCK_EX); !done) return done.errors();
  }
  return lock;
}

Lock::~Lock() {
  for (const auto& [fd, named] : files_) {
    if (named && ftruncate(fd, 0) != 0) continue;  // released all the same when the process ends
    close(fd);
  }
}

}  // namespace forestcoll::cli::batch
