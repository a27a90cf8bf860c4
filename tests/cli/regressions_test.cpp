// What once broke, one file each in tests/regressions, or in its folder `long` where it takes a
// second: a comment that says how, the command line, and what it must do. New ones are found by
// themselves.
//
//   # why            what went wrong
//   before: ARGS     the program is run with these first, and must succeed
//   run: ARGS        split at spaces; FILE is the file below, OUT one that may be written, and
//                    @NAME a bundled topology
//   exit: N
//   says: TEXT       somewhere on standard output or standard error; any number of them
//   file:            all that follows
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string why, before, run, file;
  int exit = -1;
  std::vector<std::string> says;
};

Case read_case(const std::string& path) {
  Case result;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line);) {
    const auto after = [&](std::string_view key) { return line.substr(key.size()); };
    if (line.starts_with("# ")) {
      result.why += after("# ");
    } else if (line.starts_with("before: ")) {
      result.before = after("before: ");
    } else if (line.starts_with("run: ")) {
      result.run = after("run: ");
    } else if (line.starts_with("exit: ")) {
      result.exit = std::stoi(after("exit: "));
    } else if (line.starts_with("says: ")) {
      result.says.push_back(after("says: "));
    } else if (line == "file:") {
      result.file.assign(std::istreambuf_iterator<char>(text), {});
    } else {
      ADD_FAILURE() << path << ": what is \"" << line << "\"?";
    }
  }
  return result;
}

std::vector<std::string> arguments(const std::string& line, const Scratch& scratch) {
  std::vector<std::string> words;
  std::istringstream text(line);
  for (std::string word; text >> word;) {
    if (word == "FILE" || word.starts_with("OUT")) word = scratch / word;
    if (word.starts_with("@")) word = topology(word.substr(1));
    words.push_back(word);
  }
  return words;
}

// By their paths below tests/regressions.
std::vector<std::string> cases_in(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(source_path("tests/regressions/" + folder))) {
    if (entry.path().extension() == ".case") found.push_back(folder + entry.path().stem().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Regression : public ::testing::TestWithParam<std::string> {};

TEST_P(Regression, StaysMended) {
  const Case once = read_case(source_path("tests/regressions/" + GetParam() + ".case"));
  ASSERT_FALSE(once.why.empty() || once.run.empty() || once.says.empty()) << "an unfinished case";
  const Scratch scratch;
  if (!once.file.empty()) scratch.write("FILE", once.file);
  if (!once.before.empty()) {
    const Result first = run(arguments(once.before, scratch));
    ASSERT_EQ(first.code, 0) << first.err;
  }
  const Result result = run(arguments(once.run, scratch));
  EXPECT_EQ(result.code, once.exit) << once.why << "\n" << result.err;
  for (const std::string& text : once.says) {
    EXPECT_THAT(result.out + result.err, ::testing::HasSubstr(text)) << once.why;
  }
}

std::string name_of(const ::testing::TestParamInfo<std::string>& tested) {
  return fs::path(tested.param).filename().string();
}
INSTANTIATE_TEST_SUITE_P(Program, Regression, ::testing::ValuesIn(cases_in("")), name_of);
INSTANTIATE_TEST_SUITE_P(ProgramLong, Regression, ::testing::ValuesIn(cases_in("long/")), name_of);

}  // namespace
}  // namespace forestcoll::testing
