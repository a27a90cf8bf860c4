#include "cli/program.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#ifdef FORESTCOLL_IN_PROCESS
#include "forestcoll/generate.hpp"
#include "run_program.hpp"
#endif
#ifdef __SANITIZE_ADDRESS__
#define FORESTCOLL_FINDS_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FORESTCOLL_FINDS_LEAKS
#endif
#endif
#ifdef FORESTCOLL_FINDS_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

namespace forestcoll::testing {
namespace {

constexpr unsigned kSecondsAtMost = 120;
// Leaks are looked for in the first of so many commands of a suite: that takes as long as most of
// them do.
constexpr std::size_t kCommandsPerLeakSearch = 8;

// Only `batch`, whose children are the program again, what is set before it starts and the program
// of another build need the program itself; for all else its `main` is called, which saves the
// start of a process.
#ifdef FORESTCOLL_IN_PROCESS
bool is_black_box(const std::vector<std::string>& arguments, const RunOptions& options) {
  const bool is_batch = std::ranges::find(arguments, "batch") != arguments.end();
  return is_batch || options.before_exec || options.program != FORESTCOLL_PROGRAM;
}
#endif

[[noreturn]] void become_program(const std::vector<std::string>& arguments,
                                 const RunOptions& options, const Scratch& streams,
                                 [[maybe_unused]] bool finds_leaks) {
  const auto redirect = [&](const std::string& path, int fd, int flags) {
    const int opened = open(path.c_str(), flags, 0600);
    if (opened < 0 || dup2(opened, fd) < 0) _exit(127);
    close(opened);
  };
  redirect(streams / "in", STDIN_FILENO, O_RDONLY);
  redirect(options.stdout_path.empty() ? streams / "out" : options.stdout_path, STDOUT_FILENO,
           O_WRONLY | O_CREAT | O_TRUNC);
  redirect(streams / "err", STDERR_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
  for (const std::string& setting : options.environment) {
    const auto equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> argv;
  std::string program = options.program;
  argv.push_back(program.data());
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  if (options.before_exec) options.before_exec();
  alarm(kSecondsAtMost);
#ifdef FORESTCOLL_IN_PROCESS
  if (!is_black_box(arguments, options)) {
    const int code = cli::run_program(static_cast<int>(argv.size()) - 1, argv.data());
    std::fflush(stderr);
#ifdef FORESTCOLL_FINDS_LEAKS
    if (finds_leaks) __lsan_do_leak_check();  // _exit does not
#endif
    _exit(code);
  }
#endif
  execv(program.c_str(), argv.data());
  _exit(127);
}

}  // namespace

const std::string& program_path() {
  static const std::string path = [] {
    const char* other = std::getenv("FORESTCOLL_PROGRAM");
    return other == nullptr ? std::string(FORESTCOLL_PROGRAM) : std::string(other);
  }();
  return path;
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> with_trees(std::vector<std::string> words) {
  if (std::ranges::find(words, "-k") == words.end()) words.insert(words.end(), {"-k", "auto"});
  return words;
}

Result run(const std::vector<std::string>& arguments, const RunOptions& options) {
  const Scratch streams;
  streams.write("in", options.input);
  streams.write("out", "");
#ifdef FORESTCOLL_IN_PROCESS
  (void)generators();  // once, in place of by every child
#endif
  static std::size_t started = 0;
  const bool finds_leaks = started++ % kCommandsPerLeakSearch == 0;
  const pid_t child = fork();
  if (child == 0) become_program(arguments, options, streams, finds_leaks);
  int status = 0;
  waitpid(child, &status, 0);
  Result result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_file(streams / "out");
  result.err = read_file(streams / "err");
  return result;
}

Result run_well(const std::vector<std::string>& arguments, const RunOptions& options) {
  Result result = run(arguments, options);
  EXPECT_EQ(result.code, 0) << ::testing::PrintToString(arguments) << "\n" << result.err;
  return result;
}

Result expect_says(int code, const std::vector<std::string>& arguments, const std::string& words,
                   const RunOptions& options) {
  Result result = run(arguments, options);
  const std::string command = ::testing::PrintToString(arguments);
  EXPECT_EQ(result.code, code) << command << "\n" << result.err;
  EXPECT_THAT(result.err, ::testing::HasSubstr(words)) << command;
  return result;
}

bool has_no_report(const Result& result) {
  return result.out.empty() || result.out.starts_with(R"({"format":"forestcoll-error",)");
}

nlohmann::json json_of(const std::vector<std::string>& arguments, const std::string& schema) {
  const Result result = run_well(arguments);
  auto json = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.out;
  if (!schema.empty()) expect_valid(json, schema);
  return json;
}

RunOptions with_address_space(rlim_t bytes) {
  return {.before_exec = [bytes] {
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_AS, &limit);
  }};
}

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "forestcoll-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Scratch::operator/(const std::string& name) const {
  return (path_ / name).string();
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return *this / name;
}

std::vector<std::string> Scratch::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string topology(const std::string& name) {
  return bundled_path(name);
}

std::string small_topology() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "pair",
 "nodes": [{"id": "gpu[0-1]", "type": "compute"}, {"id": "sw", "type": "switch"}],
 "links": [{"src": "gpu[0-1]", "dst": "sw", "bandwidth": 25}]})";
}

std::string racks_topology() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "two racks",
 "nodes": [{"id": "a[0-1]", "type": "compute"}, {"id": "b[0-1]", "type": "compute"},
           {"id": "sa", "type": "switch"}, {"id": "sb", "type": "switch"}],
 "links": [{"src": "a[0-1]", "dst": "sa", "bandwidth": 10},
           {"src": "b[0-1]", "dst": "sb", "bandwidth": 10},
           {"src": "sa", "dst": "sb", "bandwidth": 10}]})";
}

void expect_valid(const nlohmann::json& json, const std::string& schema) {
  const auto path = source_path("tools/schema/" + schema);
  const auto text = nlohmann::json::parse(read_file(path));
  valijson::Schema parsed;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(text), parsed);
  valijson::Validator validator;
  valijson::ValidationResults errors;
  validator.validate(parsed, valijson::adapters::NlohmannJsonAdapter(json), &errors);
  std::ostringstream said;
  valijson::ValidationResults::Error error;
  while (errors.popError(error)) {
    for (const std::string& part : error.context) said << part;
    said << ": " << error.description << "\n";
  }
  EXPECT_EQ(said.str(), "") << json.dump(1);
}

}  // namespace forestcoll::testing
