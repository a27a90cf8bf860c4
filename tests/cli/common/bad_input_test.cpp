// What goes wrong with files: inputs that are none, outputs that cannot be written. The error is on
// standard error, the exit code is the documented one, and no output is touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

constexpr const char* kOldText = "what was here before\n";

// Runs synth on `text` onto a file that exists, which must stay as it is.
Result refuse(const std::string& text, int code) {
  const Scratch scratch;
  const std::string input = scratch.write("t.json", text);
  const std::string output = scratch.write("out.xml", kOldText);
  const auto synth = run({"synth", "-k", "auto", input, "-o", output});
  EXPECT_EQ(synth.code, code) << synth.err;
  EXPECT_EQ(synth.out, "");
  EXPECT_THAT(synth.err, StartsWith(input + ": "));
  EXPECT_EQ(read_file(output), kOldText);
  EXPECT_THAT(scratch.names(), ElementsAre("out.xml", "t.json"));
  return synth;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = small_topology();
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct Bad {
  std::string name, text, code;
};

std::vector<Bad> bad_topologies() {
  std::string deep(100'000, '[');
  std::string binary(
      "\x7f"
      "ELF\0\0\x01\xff\xfe",
      9);
  const std::string link = R"("bandwidth": 25)";
  return {
      {"empty", "", "[E01]"},
      {"blank", " \n\n", "[E01]"},
      {"truncated", small_topology().substr(0, 150), "[E01]"},
      {"binary", binary, "[E01]"},
      {"deep", deep, "[E01]"},
      {"duplicate key", with(link, link + R"(, "bandwidth": 50)"), "[E01]"},
      {"NaN", with(link, R"("bandwidth": NaN)"), "[E01]"},
      {"NaN as text", with(link, R"("bandwidth": "nan")"), "[E05]"},
      {"negative", with(link, R"("bandwidth": -25)"), "[E05]"},
      {"zero", with(link, R"("bandwidth": 0)"), "[E05]"},
      {"no unit", with(link, R"("bandwidth": "25 Bananas")"), "[E05]"},
      {"huge", with(link, R"("bandwidth": 1e400)"), "[E05]"},
      {"tiny", with(link, R"("bandwidth": 1e-400)"), "[E05]"},
      {"an array", "[1, 2]", "[E02]"},
      {"another format", R"({"format": "x", "version": 1})", "[E02]"},
      {"unknown id", with("\"dst\": \"sw\"", "\"dst\": \"sv\""), "[E04]"},
      {"one GPU", with("gpu[0-1]\", \"type", "gpu0\", \"type"), "[E07]"},
      {"disconnected", with("\"src\": \"gpu[0-1]\"", "\"src\": \"gpu0\""), "[E08]"},
      {"a range of 2^31", with("gpu[0-1]", "gpu[0-2147483647]"), "[E15]"},
  };
}

TEST(BadInput, EveryKindIsRefusedInWords) {
  for (const Bad& bad : bad_topologies()) {
    SCOPED_TRACE(bad.name);
    EXPECT_THAT(refuse(bad.text, 2).err, HasSubstr(bad.code));
  }
}

// The others read as synth does: one kind of bad text, one of a value and one of the whole.
TEST(BadInput, EveryCommandRefusesIt) {
  const Scratch scratch;
  const std::set<std::string> few = {"truncated", "no unit", "disconnected"};
  for (const Bad& bad : bad_topologies()) {
    if (!few.contains(bad.name)) continue;
    SCOPED_TRACE(bad.name);
    const std::string input = scratch.write("t.json", bad.text);
    const std::string xml = scratch.write("a.xml", "<algo/>");
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"bound", input}, {"topo", "check", input}, {"verify", xml, "--topology", input}}) {
      expect_says(2, command, bad.code);
    }
  }
}

// As editors of Windows save it, with a mark and without, in both orders of bytes.
TEST(BadInput, TextInUtf16) {
  const std::string text = R"({"format": "forestcoll-topology", "version": 1})";
  std::string little, big;
  for (const char c : text) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  for (const std::string& wide : {little, big, "\xFF\xFE" + little, "\xFE\xFF" + big}) {
    expect_says(2, {"bound", "-"}, "<stdin>: 1:1: the text is in UTF-16 [E01]\n  Save it as UTF-8",
                {.input = wide});
  }
  expect_says(2, {"bound", "-"}, "byte-order mark [E01]", {.input = "\xEF\xBB\xBF" + text});
}

TEST(BadInput, NumbersTooLargeForExactArithmetic) {
  const auto synth =
      refuse(with(R"("bandwidth": 25)", R"("bandwidth": "1/999999999989"}, {"src": "gpu[0-1]", )"
                                        R"("dst": "sw", "bandwidth": "1/999999999961")"),
             3);
  EXPECT_THAT(synth.err, HasSubstr("[E14]"));
  EXPECT_THAT(synth.err, HasSubstr("--quantize"));
}

TEST(UnreadableLong, IsFour) {
  const Scratch scratch;
  const std::string fifo = scratch / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  struct Case {
    std::string path, says;
  };
  const std::vector<Case> cases = {{scratch / "missing.json", "No such file or directory"},
                                   {scratch / "", "Is a directory"},
                                   {scratch / "missing/t.json", "No such file or directory"},
                                   {"/proc/self/mem", "cannot read"},
                                   {fifo, "a pipe to which nothing writes"},
                                   {"/dev/zero", "more than 1024 MiB"}};
  for (const Case& bad : cases) {
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"synth", "-k", "auto", bad.path, "-o", scratch / "out"},
             {"bound", bad.path},
             {"verify", bad.path},
             {"topo", "check", bad.path}}) {
      // What takes its time is tried once only.
      if ((bad.path == "/dev/zero" || bad.path == fifo) && command[0] != "bound") continue;
      const auto result = run(command);
      EXPECT_EQ(result.code, 4) << bad.path << result.err;
      EXPECT_THAT(result.err, StartsWith(bad.path + ": cannot read"));
      EXPECT_THAT(result.err, HasSubstr(bad.says));
    }
  }
  EXPECT_THAT(scratch.names(), ElementsAre("fifo"));
}

TEST(Unreadable, ClosedStandardInput) {
  const auto bound = run({"bound", "-"}, {.before_exec = [] { close(STDIN_FILENO); }});
  EXPECT_EQ(bound.code, 4);
  EXPECT_THAT(bound.err, StartsWith("<stdin>: cannot read"));
}

TEST(UnreadableLong, APipeWithAWriterIsRead) {
  const Scratch scratch;
  const std::string fifo = scratch / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string command =
      "(sleep 0.3; cat '" + topology("dgx-a100-x1") + "' > '" + fifo + "') &";
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
  run_well({"bound", fifo});
}

TEST(Unwritable, IsFour) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "directory");
  scratch.write("file", kOldText);
  for (const std::string& path :
       {scratch / "directory", scratch / "missing/out.xml", scratch / "file/out.xml",
        std::string("/proc/out.xml"), std::string("/dev/full"), scratch / std::string(300, 'x'),
        std::string()}) {
    const auto synth = run({"synth", "-k", "auto", topology("dgx-a100-x1"), "-o", path});
    EXPECT_EQ(synth.code, 4) << path << synth.err;
    EXPECT_THAT(synth.err, HasSubstr((path.empty() ? "\"\"" : path) + ": cannot write"));
  }
  EXPECT_THAT(scratch.names(), ElementsAre("directory", "file"));
  EXPECT_EQ(read_file(scratch / "file"), kOldText);
}

TEST(Unwritable, StandardOutput) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"synth", "-k", "auto", topology("dgx-a100-x1")},
                                             {"bound", topology("dgx-a100-x1")},
                                             {"topo", "check", topology("dgx-a100-x1")},
                                             {"--help"},
                                             {"--version"}}) {
    expect_says(4, command, "<stdout>: cannot write: No space left on device",
                {.stdout_path = "/dev/full"});
    expect_says(4, command, "<stdout>: cannot write",
                {.before_exec = [] { close(STDOUT_FILENO); }});
  }
}

// A disk that is full in the middle of a file: the limit on file sizes stops the same write.
TEST(Unwritable, HalfWrittenFilesAreRemoved) {
  const Scratch scratch;
  const std::string output = scratch.write("out.xml", kOldText);
  expect_says(4, {"synth", "-k", "auto", topology("dgx-a100-x2"), "-o", output},
              output + ": cannot write: File too large", {.before_exec = [] {
                const rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
                setrlimit(RLIMIT_FSIZE, &limit);
              }});
  EXPECT_EQ(read_file(output), kOldText);
  EXPECT_THAT(scratch.names(), ElementsAre("out.xml"));
}

TEST(Output, ReplacesAFileAndKeepsItsModeAndLinks) {
  const Scratch scratch;
  const std::string target = scratch.write("target.xml", kOldText);
  chmod(target.c_str(), 0640);
  std::filesystem::create_symlink("target.xml", scratch / "link.xml");
  run_well({"synth", "-k", "auto", topology("dgx-a100-x1"), "-o", scratch / "link.xml"});
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link.xml"));
  EXPECT_THAT(read_file(target), HasSubstr("<algo"));
  struct stat status = {};
  ASSERT_EQ(stat(target.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
  EXPECT_THAT(scratch.names(), ElementsAre("link.xml", "target.xml"));
}

TEST(Output, ADanglingLinkIsFollowed) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "d");
  std::filesystem::create_symlink("d/second", scratch / "first");
  std::filesystem::create_symlink(scratch / "target.xml", scratch / "d/second");
  run_well({"synth", "-k", "auto", topology("dgx-a100-x1"), "-o", scratch / "first"});
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "d/second"));
  EXPECT_THAT(read_file(scratch / "target.xml"), HasSubstr("<algo"));
  EXPECT_THAT(scratch.names(), ElementsAre("d", "first", "target.xml"));
  std::filesystem::create_symlink("loop", scratch / "loop");
  EXPECT_EQ(run({"synth", "-k", "auto", topology("dgx-a100-x1"), "-o", scratch / "loop"}).code, 4);
}

TEST(Output, DevicesAreNotReplaced) {
  EXPECT_EQ(run({"synth", "-k", "auto", topology("dgx-a100-x1"), "-o", "/dev/null"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Output, ARelativeNameIsWrittenInTheCurrentDirectory) {
  const Scratch scratch;
  run_well({"synth", "-k", "auto", topology("dgx-a100-x1"), "-o", "a.xml"},
           {.before_exec = [&] { chdir((scratch / "").c_str()) == 0 || (_exit(9), 0); }});
  EXPECT_THAT(scratch.names(), ElementsAre("a.xml"));
}

}  // namespace
}  // namespace forestcoll::testing
