// What stands in for the process where another program calls a command.
#pragma once

#include <map>
#include <stop_token>
#include <string>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// Files in memory, standard streams and the wish to stop, of commands that run on the thread that
/// made it, while it lives: a name in `files` is read there, and written there where a command
/// writes to it; other names are files of the system. There is no standard input but `files["-"]`.
class Host {
 public:
  explicit Host(std::map<std::string, std::string> in_memory, std::stop_token asked = {});
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  /// That of the calling thread; null in the program itself.
  [[nodiscard]] static Host* current();

  std::map<std::string, std::string> files;
  std::string out;    ///< what goes to standard output
  std::string notes;  ///< what goes to standard error
  const std::stop_token stop;

 private:
  Host* const before_;
};

/// Whether the caller of this thread's command asks it to give up; nobody does in the program
/// itself, which a signal ends.
[[nodiscard]] std::stop_token stop_of_host();

/// R01 where the caller asks to give up: before work whose result it would not take.
[[nodiscard]] Expected<void> refuse_stopped();

}  // namespace forestcoll::cli
