// A directory of topologies and one of outputs, for tests of `forestcoll batch`.
#pragma once

#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {

class BatchDirectories {
 public:
  BatchDirectories();

  /// Writes a topology; its directories are made.
  void add(const std::string& path, const std::string& text) const;
  /// Adds a named pipe where an output goes: the item waits in vain for somebody who reads it.
  void block(const std::string& output) const;
  void unblock(const std::string& output) const;

  [[nodiscard]] std::string in() const { return scratch_ / "in"; }
  [[nodiscard]] std::string out() const { return scratch_ / "out"; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return scratch_ / name; }

  /// The words of `batch IN -o OUT` and more.
  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& more = {}) const;
  [[nodiscard]] Result run(const std::vector<std::string>& more = {},
                           const RunOptions& options = {}) const;
  /// OUT/report.json, checked against its schema.
  [[nodiscard]] nlohmann::json report() const;
  /// The items of it.
  [[nodiscard]] nlohmann::json items() const;
  /// By "input collective".
  [[nodiscard]] std::map<std::string, std::string> statuses() const;

 private:
  Scratch scratch_;
};

/// All regular files below a directory: their bytes by their relative paths. Reports and lock files
/// are left out, and hidden files unless `hidden`.
std::map<std::string, std::string> files_below(const std::string& directory, bool hidden = false);

/// Their paths alone.
std::vector<std::string> keys(const std::map<std::string, std::string>& files);

/// A report without what differs between runs: seconds.
nlohmann::json without_seconds(nlohmann::json report);

/// Two GPUs with a link of this bandwidth.
std::string pair_topology(const std::string& bandwidth);
/// Three pairs of GPUs, joined by weak links in a row.
std::string island_topology();

/// `forestcoll ARGUMENTS` in the background, killed at the end at the latest.
class Background {
 public:
  explicit Background(const std::vector<std::string>& arguments, const std::string& stderr_path);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background();
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Its children at present.
  [[nodiscard]] std::vector<pid_t> children() const;
  /// Waits for children; fails the test after some seconds.
  [[nodiscard]] std::vector<pid_t> wait_for_children() const;
  /// Sends a signal, waits for the end and returns the exit code, or 128 + signal.
  int end(int signal_number);
  int wait();
  /// As `wait`; where it does not end in this time, it is killed, and the exit code is 128 + KILL.
  int wait_at_most_seconds(int seconds);

 private:
  int code_of(int status);  // of a child that was waited for
  pid_t pid_ = -1;
};

/// Polls until it holds; false after some seconds.
bool eventually(const std::function<bool()>& holds);

}  // namespace forestcoll::testing
