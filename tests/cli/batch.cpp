#include "cli/batch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;

}  // namespace

BatchDirectories::BatchDirectories() {
  fs::create_directories(in());
}

void BatchDirectories::add(const std::string& path, const std::string& text) const {
  const fs::path full = fs::path(in()) / path;
  fs::create_directories(full.parent_path());
  std::ofstream(full, std::ios::binary) << text;
}

void BatchDirectories::block(const std::string& output) const {
  const fs::path full = fs::path(out()) / output;
  fs::create_directories(full.parent_path());
  ASSERT_EQ(mkfifo(full.c_str(), 0600), 0);
}

void BatchDirectories::unblock(const std::string& output) const {
  fs::remove(fs::path(out()) / output);
}

std::vector<std::string> BatchDirectories::words(const std::vector<std::string>& more) const {
  std::vector<std::string> words = {"batch", in(), "-o", out()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Result BatchDirectories::run(const std::vector<std::string>& more,
                             const RunOptions& options) const {
  return testing::run(words(more), options);
}

nlohmann::json BatchDirectories::report() const {
  auto json = nlohmann::json::parse(read_file(out() + "/report.json"), nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << "no report";
  expect_valid(json, "forestcoll-batch.schema.json");
  return json;
}

nlohmann::json BatchDirectories::items() const {
  return report()["items"];
}

std::map<std::string, std::string> BatchDirectories::statuses() const {
  std::map<std::string, std::string> statuses;
  for (const auto& item : items()) {
    statuses[item["input"].get<std::string>() + " " + item["collective"].get<std::string>()] =
        item["status"];
  }
  return statuses;
}

std::map<std::string, std::string> files_below(const std::string& directory, bool hidden) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.starts_with("report.") || name.ends_with(".lock")) {
      continue;
    }
    if (name.starts_with('.') && !hidden) continue;
    files[entry.path().lexically_relative(directory).string()] = read_file(entry.path());
  }
  return files;
}

std::vector<std::string> keys(const std::map<std::string, std::string>& files) {
  std::vector<std::string> keys;
  for (const auto& [path, bytes] : files) keys.push_back(path);
  return keys;
}

nlohmann::json without_seconds(nlohmann::json report) {
  for (auto& item : report["items"]) item.erase("seconds");
  return report;
}

std::string island_topology() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "islands",
             "nodes": [{"id": "g[0-5]", "type": "compute"}, {"id": "s[0-2]", "type": "switch"}],
             "links": [{"src": "g[0-1]", "dst": "s0", "bandwidth": 10},
                       {"src": "g[2-3]", "dst": "s1", "bandwidth": 20},
                       {"src": "g[4-5]", "dst": "s2", "bandwidth": 5},
                       {"src": "s0", "dst": "s1", "bandwidth": 3},
                       {"src": "s1", "dst": "s2", "bandwidth": 2}]})";
}

std::string pair_topology(const std::string& bandwidth) {
  return R"({"format": "forestcoll-topology", "version": 1,
 "nodes": [{"id": "gpu[0-1]", "type": "compute"}],
 "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": )" +
         bandwidth + "}]}";
}

Background::Background(const std::vector<std::string>& arguments, const std::string& stderr_path)
    : pid_(fork()) {
  if (pid_ != 0) return;
  const int err = open(stderr_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int null = open("/dev/null", O_RDWR);
  if (err < 0 || null < 0) _exit(127);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  std::vector<std::string> copies = arguments;
  std::string program = program_path();
  std::vector<char*> argv = {program.data()};
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

Background::~Background() {
  if (pid_ > 0) end(SIGKILL);
}

std::vector<pid_t> Background::children() const {
  const std::string pid = std::to_string(pid_);
  std::ifstream list("/proc/" + pid + "/task/" + pid + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; list >> child;) children.push_back(child);
  return children;
}

std::vector<pid_t> Background::wait_for_children() const {
  EXPECT_TRUE(eventually([this] { return !children().empty(); }));
  return children();
}

int Background::end(int signal_number) {
  kill(pid_, signal_number);
  return wait();
}

int Background::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  return code_of(status);
}

int Background::wait_at_most_seconds(int seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) return end(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return code_of(status);
}

int Background::code_of(int status) {
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool eventually(const std::function<bool()>& holds) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace forestcoll::testing
