#include "common/files/named_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

/// A named file, and what is there under that name.
struct Seen {
  NamedFile named;
  std::optional<struct stat> status;  ///< none: nothing is there
  [[nodiscard]] bool is_stream() const { return named.path == "-"; }
  [[nodiscard]] bool can_be_read_again() const {
    return status && (S_ISREG(status->st_mode) || S_ISBLK(status->st_mode));
  }
};

std::vector<Seen> look_at(const std::vector<NamedFile>& files, int stream) {
  std::vector<Seen> seen;
  for (const NamedFile& file : files) {
    if (file.path.empty()) continue;
    struct stat status = {};
    const bool exists =
        file.path == "-" ? fstat(stream, &status) == 0 : stat(file.path.c_str(), &status) == 0;
    seen.push_back({file, exists ? std::optional(status) : std::nullopt});
  }
  return seen;
}

bool is_same_inode(const Seen& a, const Seen& b) {
  return a.status && b.status && a.status->st_dev == b.status->st_dev &&
         a.status->st_ino == b.status->st_ino;
}

// Where a file that does not exist yet would be made.
std::filesystem::path place_of(const Seen& file) {
  std::error_code error;
  const auto end = std::filesystem::absolute(end_of_links(file.named.path), error);
  if (error) return file.named.path;
  const auto place = std::filesystem::weakly_canonical(end, error);
  return error ? end : place;
}

// A pipe or a stream gives its bytes once.
bool is_read_twice(const Seen& a, const Seen& b) {
  if (a.is_stream() && b.is_stream()) return true;
  return is_same_inode(a, b) && !a.can_be_read_again() && !S_ISCHR(a.status->st_mode);
}

bool is_overwritten(const Seen& input, const Seen& output) {
  return input.can_be_read_again() && is_same_inode(input, output);
}

bool is_written_twice(const Seen& a, const Seen& b) {
  if (a.is_stream() && b.is_stream()) return true;
  if (is_same_inode(a, b)) return !S_ISCHR(a.status->st_mode);
  const bool are_new = !a.status && !b.status && !a.is_stream() && !b.is_stream();
  return are_new && place_of(a) == place_of(b);
}

Diagnostic read_twice(const Seen& a, const Seen& b) {
  return make_error(Code::S04,
                    fmt::format("{} and {} both come from {}", a.named.role, b.named.role,
                                a.is_stream() || b.is_stream() ? "standard input" : a.named.path),
                    "only one of the files can be standard input or a pipe: name the other");
}

Diagnostic overwritten(const Seen& input, const Seen& output) {
  const bool stream = output.is_stream();
  return make_error(Code::S04,
                    stream ? fmt::format("{}: standard output is the {} itself", output.named.role,
                                         input.named.role)
                           : fmt::format("{} {} names the {} itself", output.named.role,
                                         output.named.path, input.named.role),
                    "nothing is written over what is read: write to another file");
}

Diagnostic written_twice(const Seen& a, const Seen& b) {
  const bool stream = a.is_stream() || b.is_stream();
  return make_error(Code::S04,
                    fmt::format("{} and {} both go to {}", a.named.role, b.named.role,
                                stream ? "standard output" : b.named.path),
                    "name a file of its own for one of them");
}

}  // namespace

Expected<void> refuse_clashes(const std::vector<NamedFile>& inputs,
                              const std::vector<NamedFile>& outputs) {
  const std::vector<Seen> in = look_at(inputs, STDIN_FILENO);
  const std::vector<Seen> out = look_at(outputs, STDOUT_FILENO);
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (is_read_twice(in[j], in[i])) return read_twice(in[j], in[i]);
    }
    for (const Seen& output : out) {
      if (is_overwritten(in[i], output)) return overwritten(in[i], output);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (is_written_twice(out[j], out[i])) return written_twice(out[j], out[i]);
    }
  }
  return {};
}

}  // namespace forestcoll::cli
