// What the system does not give: threads and memory. The exit code is 3, and the remedy names only
// what the command has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

// The kernel refuses threads, not processes, whoever runs the tests: clone3 is taken to be
// unknown, and clone fails where it is for a thread, as under `ulimit -u`.
void refuse_threads() {
  constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
  constexpr std::uint32_t kFlags = offsetof(seccomp_data, args);
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
                         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
                         BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {.len = std::size(rules), .filter = rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    _exit(9);
  }
}

class WithoutThreads : public ::testing::TestWithParam<std::string> {
 protected:
  WithoutThreads() {
    const std::string file = topology("dgx-a100-x2");
    const std::string forest = scratch / "forest.json";
    EXPECT_EQ(run({"synth", file, "--format", "forest", "-k", "1", "-o", forest}).code, 0);
    words = GetParam() == "compare"
                ? std::vector<std::string>{"compare", file, "--trees", "--sizes", "1M"}
                : std::vector<std::string>{"simulate", forest, file, "--sizes", "1M:8M"};
  }
  [[nodiscard]] Result with_threads(const std::string& number) const {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"-j", number});
    return run(all, {.before_exec = refuse_threads});
  }
  Scratch scratch;
  std::vector<std::string> words;
};

TEST_P(WithoutThreads, OneIsAsked) {
  const auto many = with_threads("2");
  EXPECT_EQ(many.code, 3) << many.err;
  EXPECT_EQ(many.out, "");
  EXPECT_THAT(many.err, AllOf(HasSubstr("the system gives no more threads"),
                              HasSubstr("Resource temporarily unavailable"), HasSubstr("use -j 1"),
                              Not(HasSubstr("report it"))));
  EXPECT_THAT(scratch.names(), ElementsAre("forest.json"));
}

TEST_P(WithoutThreads, TheRemedyHelps) {
  const auto one = with_threads("1");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("model, not measurement"));
}

INSTANTIATE_TEST_SUITE_P(Commands, WithoutThreads, ::testing::Values("compare", "simulate"),
                         [](const auto& command) { return command.param; });

TEST(BatchWithoutThreads, IsOneOfProcesses) {
  const BatchDirectories directories;
  directories.add("a.json", small_topology());
  const RunOptions no_threads{.before_exec = refuse_threads};
  const auto threads = directories.run({"--in-process"}, no_threads);
  EXPECT_EQ(threads.code, 3) << threads.err;
  EXPECT_THAT(threads.err, HasSubstr("leave --in-process out, or raise"));
  const auto children = directories.run({"--force"}, no_threads);
  EXPECT_EQ(children.code, 0) << children.err;
}

}  // namespace
}  // namespace forestcoll::testing
