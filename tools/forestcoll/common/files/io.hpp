// Files in and out: bounded reads, and writes that happen whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// Standard streams that are open, and signals that leave no half-written file. Call once, first.
void prepare_process();

/// The name that messages use: "-" is "<stdin>", and the empty name stands in quotes.
[[nodiscard]] std::string display_name(const std::string& path);

/// What the system refuses: IO, with the file by its `display_name`.
[[nodiscard]] Diagnostic io_error(const std::string& path, std::string message,
                                  std::string remedy = {});

/// The whole file, or standard input for "-". Errors (IO): the file cannot be read, is
/// a directory, a pipe to which nothing writes, or larger than `max_bytes`.
[[nodiscard]] Expected<std::string> read_input(const std::string& path,
                                               std::size_t max_bytes = std::size_t{1} << 30);

/// Writes `text` to `path`, or to standard output for "-". A regular file is written under a
/// temporary name beside it and renamed: on failure it is what it was before. Returns the error
/// (IO), if any. A file that is not forced to the disk may be empty after a loss of
/// power: for what can be made again and carries a check of itself.
[[nodiscard]] Expected<void> write_output(const std::string& path, std::string_view text,
                                          bool force_to_disk = true);

/// What `path` leads to: links are followed, also to a file that is not there yet. The path as it
/// is where links lead nowhere.
[[nodiscard]] std::filesystem::path end_of_links(const std::filesystem::path& path);

}  // namespace forestcoll::cli
