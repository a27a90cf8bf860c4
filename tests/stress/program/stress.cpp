// Packs random fabrics and checks every result; see tools/scripts/stress.
//
//   forestcoll_stress [COUNT [SEED]]               fabrics of all kinds, each packed eight ways
//   forestcoll_stress --reference [COUNT [SEED]]   12 to 60 ranks, beside the reference packer
//   forestcoll_stress --one-way [COUNT [SEED]]     unbalanced switches, beside a linear program
//
// A failure is printed with its seed, and `forestcoll_stress 1 SEED` shows it again. Exit code 1
// where something failed, or took more than two minutes of processor time.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stress/balance_trial.hpp"
#include "stress/comparison.hpp"
#include "stress/trial.hpp"

namespace forestcoll::stress {
namespace {

constexpr time_t kSecondsPerFabric = 120;

// What a signal handler may read: a check that fails or a search that does not end would otherwise
// take the seed with it.
std::array<char, 64> now_trying;

extern "C" void report_seed(int signal) {
  constexpr std::string_view kText = "\nstopped or took too long: ";
  [[maybe_unused]] auto written = write(STDERR_FILENO, kText.data(), kText.size());
  written = write(STDERR_FILENO, now_trying.data(), std::strlen(now_trying.data()));
  if (signal == SIGVTALRM) _exit(1);
}

void announce(std::string_view kind, std::uint64_t seed) {
  std::snprintf(now_trying.data(), now_trying.size(), "%.*s fabric, seed %llu\n",
                static_cast<int>(kind.size()), kind.data(), static_cast<unsigned long long>(seed));
  const itimerval processor_time{{0, 0}, {kSecondsPerFabric, 0}};
  setitimer(ITIMER_VIRTUAL, &processor_time, nullptr);
}

struct Tally {
  std::int64_t fabrics = 0, packings = 0, balanced = 0, raised = 0, refused = 0, failed = 0;
  double sum_of_raises = 0, most_raised = 1, seconds = 0, slowest = 0;
  std::uint64_t most_raised_seed = 0, slowest_seed = 0;

  void add(const Attempt& attempt, std::uint64_t seed) {
    ++packings;
    balanced += attempt.balanced;
    failed += !attempt.flaw.empty();
    refused += !attempt.refusal.empty();
    seconds += attempt.seconds;
    if (attempt.raise > 1) {
      ++raised;
      sum_of_raises += attempt.raise - 1;
    }
    if (attempt.raise > most_raised) most_raised = attempt.raise, most_raised_seed = seed;
    if (attempt.seconds > slowest) slowest = attempt.seconds, slowest_seed = seed;
  }
  void print(std::string_view name) const {
    std::printf(
        "| %.*s | %lld | %lld | %lld | %lld | %lld | %lld | %.3g %% | %.3g %% (%llu) | %.3g s | "
        "%.3g s (%llu) |\n",
        static_cast<int>(name.size()), name.data(), static_cast<long long>(fabrics),
        static_cast<long long>(packings), static_cast<long long>(balanced),
        static_cast<long long>(failed), static_cast<long long>(refused),
        static_cast<long long>(raised),
        raised == 0 ? 0.0 : 100 * sum_of_raises / static_cast<double>(raised),
        100 * (most_raised - 1), static_cast<unsigned long long>(most_raised_seed), seconds,
        slowest, static_cast<unsigned long long>(slowest_seed));
  }
};

bool run_trials(std::uint64_t count, std::uint64_t first) {
  std::array<Tally, kKinds.size()> tallies;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const KindName& kind = kind_of(seed);
    announce(kind.name, seed);
    Tally& tally = tallies[seed % kKinds.size()];
    ++tally.fabrics;
    for (const Attempt& attempt : try_fabric(kind.kind, seed)) {
      tally.add(attempt, seed);
      if (attempt.flaw.empty()) continue;
      std::printf("FAILED: %s fabric, seed %llu, %s: %s\n", std::string(kind.name).c_str(),
                  static_cast<unsigned long long>(seed), attempt.what.c_str(),
                  attempt.flaw.c_str());
      std::fflush(stdout);
    }
  }
  std::puts(
      "| kind | fabrics | packings | balanced | failed | refused | raised | by, on average | at "
      "most "
      "(seed) | solver time | slowest (seed) |");
  std::puts("|---|---|---|---|---|---|---|---|---|---|---|");
  for (std::size_t i = 0; i < kKinds.size(); ++i) tallies[i].print(kKinds[i].name);
  return std::ranges::all_of(tallies, [](const Tally& tally) { return tally.failed == 0; });
}

bool run_comparisons(std::uint64_t count, std::uint64_t first) {
  std::uint64_t failed = 0, ranks = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    announce("comparison", seed);
    const Network network = comparison_fabric(seed);
    ranks += network.ranks.size();
    const std::string difference = find_difference(network);
    if (difference.empty()) continue;
    ++failed;
    std::printf("FAILED: comparison, seed %llu: %s\n", static_cast<unsigned long long>(seed),
                difference.c_str());
    std::fflush(stdout);
  }
  std::printf("%llu fabrics of %.3g ranks on average: %llu differ from the reference\n",
              static_cast<unsigned long long>(count),
              static_cast<double>(ranks) / static_cast<double>(std::max<std::uint64_t>(1, count)),
              static_cast<unsigned long long>(failed));
  return failed == 0;
}

bool run_unbalanced(std::uint64_t count, std::uint64_t first) {
  std::uint64_t failed = 0, below_cuts = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    announce("unbalanced", seed);
    const BalanceTrial trial = try_unbalanced(seed);
    below_cuts += trial.below_cuts;
    if (trial.flaw.empty()) continue;
    ++failed;
    std::printf("FAILED: unbalanced, seed %llu: %s\n", static_cast<unsigned long long>(seed),
                trial.flaw.c_str());
    std::fflush(stdout);
  }
  std::printf(
      "%llu fabrics with unbalanced switches: %llu below what their cuts allow, %llu failed\n",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(below_cuts),
      static_cast<unsigned long long>(failed));
  return failed == 0;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int run(std::span<char*> arguments) {
  auto* run = run_trials;
  std::array<std::uint64_t, 2> numbers = {1000, 0};
  std::size_t given = 0;
  for (const std::string_view argument : arguments) {
    if (argument == "--reference") {
      run = run_comparisons;
    } else if (argument == "--one-way") {
      run = run_unbalanced;
    } else if (const auto number = parse_number(argument); number && given < numbers.size()) {
      numbers[given++] = *number;
    } else {
      std::fputs("usage: forestcoll_stress [--reference | --one-way] [COUNT [SEED]]\n", stderr);
      return 2;
    }
  }
  std::signal(SIGABRT, report_seed);
  std::signal(SIGVTALRM, report_seed);
  return run(numbers[0], numbers[1]) ? 0 : 1;
}

}  // namespace
}  // namespace forestcoll::stress

int main(int argc, char** argv) {
  return forestcoll::stress::run(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}
