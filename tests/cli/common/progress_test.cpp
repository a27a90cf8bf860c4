// Who waits at a terminal sees what is being done; a log is told now and then.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "batch/results/journal.hpp"
#include "cli/program.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/time_left.hpp"

namespace forestcoll::testing {
namespace {

/// A terminal that keeps all that is written to it.
class Terminal {
 public:
  Terminal() : ours_(posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_GE(ours_, 0);
    EXPECT_EQ(grantpt(ours_), 0);
    EXPECT_EQ(unlockpt(ours_), 0);
    theirs_ = open(ptsname(ours_), O_RDWR | O_NOCTTY);  // NOLINT(concurrency-mt-unsafe)
    EXPECT_GE(theirs_, 0);
    reader_ = std::thread([this] {
      char buffer[4096];
      for (ssize_t n = 0; (n = read(ours_, buffer, sizeof buffer)) > 0;) {
        text_.append(buffer, static_cast<std::size_t>(n));
      }
    });
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { close_theirs(); }

  /// As the standard error of a program.
  [[nodiscard]] RunOptions options() const {
    return {.before_exec = [fd = theirs_] { dup2(fd, STDERR_FILENO); }};
  }
  /// All that was written, once nobody writes any more.
  std::string text() {
    close_theirs();
    return text_;
  }

 private:
  void close_theirs() {
    if (theirs_ < 0) return;
    close(theirs_);
    theirs_ = -1;
    reader_.join();
    close(ours_);
  }
  int ours_, theirs_ = -1;
  std::string text_;
  std::thread reader_;
};

// Lower trees for 1.6 seconds, which are then given up.
const std::vector<std::string> long_work() {
  return {"synth", topology("mi250-x2"), "-c",  "allgather",    "--format",
          "none",  "--effort",           "max", "--time-limit", "1.6"};
}

TEST(ProgressLong, IsSeenAtATerminalAfterASecond) {
  Terminal terminal;
  EXPECT_EQ(run(long_work(), terminal.options()).code, 0);
  const std::string seen = terminal.text();
  EXPECT_THAT(seen,
              ::testing::ContainsRegex("\rlowering trees(: [0-9]+ s| \\[#* *\\] .*)\033\\[K"));
  // The line is gone before anything else is said.
  const std::size_t erased = seen.rfind("\r\033[K");
  ASSERT_NE(erased, std::string::npos) << seen;
  EXPECT_GT(erased, seen.rfind("lowering trees"));
  EXPECT_GT(seen.find("2x MI250, 32 dies: allgather"), erased);
}

// What a bar says within a third of a second, of a command that has run for long.
std::string drawn(const std::function<void(cli::ProgressBar&)>& work, bool quiet = false) {
  cli::Console console;
  console.terminal = true;
  console.quiet = quiet;
  console.begin -= std::chrono::seconds(5);
  ::testing::internal::CaptureStderr();
  {
    cli::ProgressBar bar("counting", console);
    work(bar);
    std::this_thread::sleep_for(std::chrono::milliseconds(350));
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(ProgressLong, HasShareWhereItIsKnown) {
  const std::string half = drawn([](cli::ProgressBar& bar) { bar.update(0.5); });
  EXPECT_THAT(half, ::testing::ContainsRegex("\rcounting \\[#{15} {15}\\]  50 %\033\\[K"));
  EXPECT_TRUE(half.ends_with("\r\033[K"));
  EXPECT_THAT(drawn([](cli::ProgressBar&) {}), HasSubstr("\rcounting: 0 s\033[K"));
  const std::string next = drawn([](cli::ProgressBar& bar) {
    bar.update(0.9);
    bar.update("checking", std::nullopt);
  });
  EXPECT_THAT(next, HasSubstr("\rchecking: 0 s\033[K"));
  EXPECT_EQ(drawn([](cli::ProgressBar& bar) { bar.update(0.5); }, true), "");
}

TEST(ProgressLong, ShowsWhatIsKnownAboveTheBarAndErasesIt) {
  const std::string shown = drawn([](cli::ProgressBar& bar) {
    bar.show({"ring  12.5", "tree  25"});
    bar.update(0.5);
  });
  EXPECT_THAT(shown, HasSubstr("\rring  12.5\033[K\ntree  25\033[K\ncounting ["));
  EXPECT_TRUE(shown.ends_with("\r\033[2A\033[J")) << shown;
}

TEST(ProgressLong, TheInnerOfTwoBarsIsDrawn) {
  const std::string both = drawn([](cli::ProgressBar&) {
    cli::Console console;
    console.terminal = true;
    console.begin -= std::chrono::seconds(5);
    const cli::ProgressBar inner("inside", console);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  });
  const std::size_t inside = both.find("inside"), last = both.rfind("inside");
  ASSERT_NE(inside, std::string::npos) << both;
  EXPECT_THAT(both.substr(inside, last - inside), Not(HasSubstr("counting")));
  EXPECT_THAT(both.substr(last), HasSubstr("counting"));
}

// What is told within a third of a second to a log, of a command that has run for so long.
std::string logged(std::chrono::milliseconds of_command,
                   const std::function<void(cli::ProgressBar&)>& work, bool quiet = false) {
  cli::Console console;
  console.log = true;
  console.quiet = quiet;
  console.begin -= of_command;
  ::testing::internal::CaptureStderr();
  {
    cli::ProgressBar bar("counting", console);
    work(bar);
    std::this_thread::sleep_for(std::chrono::milliseconds(350));
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(ProgressLong, IsALineInALogEveryHalfMinute) {
  using std::chrono::milliseconds;
  const auto nothing = [](cli::ProgressBar&) {};
  EXPECT_EQ(logged(milliseconds(29'800), nothing), "counting: after 30 s\n");
  EXPECT_EQ(logged(milliseconds(89'800), nothing), "counting: after 90 s\n");
  EXPECT_EQ(logged(milliseconds(0), nothing), "");
  EXPECT_EQ(logged(milliseconds(30'100), nothing), "");
  EXPECT_EQ(logged(milliseconds(29'800), nothing, true), "");
  EXPECT_THAT(logged(milliseconds(59'800), [](cli::ProgressBar& bar) { bar.update(0.5); }),
              ::testing::MatchesRegex("counting: 50 % after 60 s(, about [^\n]* left)?\n"));
}

TEST(ProgressLong, OfTwoBarsTheInnerOneIsLogged) {
  const auto before = std::chrono::steady_clock::now() - std::chrono::milliseconds(29'800);
  const std::string both = logged(std::chrono::milliseconds(29'800), [&](cli::ProgressBar&) {
    cli::Console console;
    console.log = true;
    console.begin = before;
    const cli::ProgressBar inner("inside", console);
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  });
  EXPECT_EQ(both, "inside: after 30 s\n");
}

TEST(Progress, OfABatchIsALineInALogAfterHalfAMinuteWithoutAny) {
  cli::Console console;
  console.log = true;
  const auto ticked = [&](std::chrono::seconds of_command, bool quiet) {
    console.quiet = quiet;
    console.begin = std::chrono::steady_clock::now() - of_command;
    ::testing::internal::CaptureStderr();
    cli::batch::Progress progress(3, console);
    progress.tick();
    progress.tick();  // which is too soon
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(ticked(std::chrono::seconds(31), false),
              ::testing::MatchesRegex("0/3 items after 3[1-9] s\n"));
  EXPECT_EQ(ticked(std::chrono::seconds(29), false), "");
  EXPECT_EQ(ticked(std::chrono::seconds(31), true), "");
}

struct Shown {
  double seconds, left;
};

// What is shown ten times a second of work in parts, each of which takes so many seconds.
std::vector<Shown> estimates(const std::vector<double>& parts) {
  cli::TimeLeft left;
  std::vector<Shown> shown;
  double now = 0, end = 0;
  for (std::size_t done = 0; done < parts.size(); ++done) {
    end += parts[done];
    for (; now < end; now += 0.1) {
      const auto estimate =
          left.update(now, static_cast<double>(done) / static_cast<double>(parts.size()));
      if (estimate) shown.push_back({now, *estimate});
    }
  }
  return shown;
}

TEST(TimeLeft, CountsDownWithoutJumps) {
  // Parts that cost twice as much each, the largest first or last, and one that costs all.
  std::vector<double> growing, shrinking, uneven(20, 0.2);
  for (int i = 0; i < 12; ++i) growing.push_back(0.01 * (1 << i));
  shrinking.assign(growing.rbegin(), growing.rend());
  uneven[10] = 30;
  for (const auto& parts : {growing, shrinking, uneven, std::vector<double>(40, 0.5)}) {
    const std::vector<Shown> shown = estimates(parts);
    ASSERT_FALSE(shown.empty());
    EXPECT_GE(shown.front().seconds, 2);
    for (std::size_t i = 10; i < shown.size(); ++i) {  // a second later
      const double expected = std::max(shown[i - 10].left - 1, 1.0);
      EXPECT_LE(shown[i].left, 1.2 * expected + 0.2) << shown[i].seconds;
      EXPECT_GE(shown[i].left, expected / 1.75 - 0.2) << shown[i].seconds;
    }
  }
}

// As of many small parts after a few large ones.
TEST(TimeLeft, FollowsWorkThatGetsFaster) {
  std::vector<double> parts(10, 0.4);
  parts.insert(parts.end(), 30, 0.13);
  const double end = 10 * 0.4 + 30 * 0.13;
  for (const Shown& each : estimates(parts)) {
    if (each.seconds < 5.2 || each.seconds > end - 1) continue;
    EXPECT_LE(each.left, 2.4 * (end - each.seconds)) << each.seconds;
  }
}

TEST(TimeLeft, IsNotShownAtTheEnd) {
  EXPECT_THAT(cli::progress_line("solving", 0.99, 2.0), ::testing::HasSubstr("about 2 s left"));
  EXPECT_THAT(cli::progress_line("solving", 1, 2.0), ::testing::EndsWith("100 %"));
}

TEST(TimeLeft, OfEqualPartsIsRight) {
  for (const Shown& each : estimates(std::vector<double>(100, 0.3))) {
    if (each.seconds > 29) continue;
    EXPECT_NEAR(each.left, 30 - each.seconds, 2) << each.seconds;
  }
}

TEST(TimeLeft, HasNoMoreDigitsThanItKnows) {
  EXPECT_EQ(cli::time_left_in_words(0.2), "about 1 s left");
  EXPECT_EQ(cli::time_left_in_words(7.4), "about 7 s left");
  EXPECT_EQ(cli::time_left_in_words(33.1), "about 35 s left");
  EXPECT_EQ(cli::time_left_in_words(170), "about 3 min left");
  EXPECT_EQ(cli::progress_line("counting", 0.5, 12),
            "counting [###############               ]  50 %  about 10 s left");
}

TEST(ProgressLong, IsForTerminalsThatAreNotToldToBeQuiet) {
  const auto piped = run_well(long_work());
  EXPECT_THAT(piped.err, Not(HasSubstr("\r")));
  Terminal terminal;
  auto quiet = long_work();
  quiet.emplace_back("-q");
  EXPECT_EQ(run(quiet, terminal.options()).code, 0);
  EXPECT_EQ(terminal.text(), "");
}

TEST(Progress, DoesNotShowForWhatIsQuick) {
  Terminal terminal;
  EXPECT_EQ(run({"synth", topology("dgx-a100-x1"), "--format", "none"}, terminal.options()).code,
            0);
  EXPECT_THAT(terminal.text(), Not(HasSubstr("\033[K")));
}

}  // namespace
}  // namespace forestcoll::testing
