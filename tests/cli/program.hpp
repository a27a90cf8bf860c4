// Runs the program from outside, and keeps what it did.
#pragma once

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/files.hpp"

namespace forestcoll::testing {

using test::bundled_path;
using test::read_file;
using test::source_path;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct Result {
  int code = -1;  ///< exit code; 128 + signal where a signal ended it
  std::string out, err;
};

/// The program that is tested: that of FORESTCOLL_PROGRAM in the environment, otherwise of this
/// build.
const std::string& program_path();

struct RunOptions {
  std::string input = {};                     ///< standard input
  std::vector<std::string> environment = {};  ///< "NAME=value", added
  std::function<void()> before_exec = {};     ///< in the child; the program itself is run then
  std::string stdout_path = {};               ///< instead of being captured
  std::string program = program_path();       ///< or a shell, for scripts
};

/// All of these words, one list after the other.
std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more);

/// Options of `synth`, with "-k auto" where they have no -k.
std::vector<std::string> with_trees(std::vector<std::string> words);

/// `forestcoll ARGUMENTS`, at most a minute.
Result run(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// The same, expected to end well.
Result run_well(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// The same, expected to end with `code`, and to say some words on standard error.
Result expect_says(int code, const std::vector<std::string>& arguments, const std::string& words,
                   const RunOptions& options = {});

/// Nothing on standard output, but with --json the errors.
[[nodiscard]] bool has_no_report(const Result& result);

/// The JSON that a command writes, which is expected to end well; and to follow
/// tools/schema/`schema`, where there is one.
nlohmann::json json_of(const std::vector<std::string>& arguments, const std::string& schema = "");

/// A wrong command line, and words of what is said about it.
struct Misuse {
  std::vector<std::string> arguments;
  std::string says;
};

/// As with `ulimit -v`, but in bytes. The address sanitizer needs all address space: for suites
/// whose names end in Long, which do not run under it.
RunOptions with_address_space(rlim_t bytes);

/// A directory of its own, removed at the end.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  /// The path of `name` in it.
  [[nodiscard]] std::string operator/(const std::string& name) const;
  /// Writes a file in it and returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  /// The names in it, sorted, hidden ones too.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

/// A bundled topology.
std::string topology(const std::string& name);
/// Two GPUs on a switch.
std::string small_topology();
/// Two racks of two GPUs on a switch each, all links 10 GB/s, the one between the racks too.
std::string racks_topology();
/// Fails the test where `json` does not follow tools/schema/`schema`.
void expect_valid(const nlohmann::json& json, const std::string& schema);

}  // namespace forestcoll::testing
