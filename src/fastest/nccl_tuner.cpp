// NCCL runs rings, double trees, NVLS and PAT without any file of ours; which of them, in which
// protocol and in how many channels, a tuner plugin may say. What is fastest for a size is found as
// everywhere here, by simulation of the algorithm as a program; NVLS alone is taken from NCCL's own
// cost model, as programs of MSCCL++ that use switches say nothing of NCCL's kernels.
//
// A broadcast or reduce between boxes, which hangs in Simple as MSCCL XML, does not in NCCL: Simple
// has a contest of its own there.
#include "forestcoll/nccl_tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "fastest/contest.hpp"
#include "fastest/selectors.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {
namespace {

using fastest::Contest;
using fastest::NcclOption;

constexpr double kBytesOfGigabyteAndSecond = 1e9;
constexpr double kNvlsSeconds = 25e-6;
// So much slower than the fastest a rule may go on: a row more is not worth less.
constexpr double kWorthRow = 1.01;

constexpr std::array<Collective, 5> kTunedCollectives = {
    Collective::allreduce, Collective::allgather, Collective::reduce_scatter, Collective::broadcast,
    Collective::reduce};

constexpr std::string_view kNvlsName = "nvls";  // ours and NCCL's
constexpr std::int64_t kEverySize = std::numeric_limits<std::int64_t>::max();

// NCCL's factor for NVLS by generation; none before Hopper.
std::optional<double> nvls_efficiency(std::string_view gpu) {
  if (gpu == "h100" || gpu == "h200") return 0.85;
  if (gpu == "b200" || gpu == "gb200") return 0.74;
  return std::nullopt;
}

std::string_view nccl_protocol(std::string_view protocol) {
  if (protocol == "LL") return "ll";
  return protocol == "LL128" ? "ll128" : "simple";
}

/// A contender of one of the contests, or NVLS, which is in none.
struct OwnContender {
  std::optional<std::size_t> contest = {};
  std::size_t contender = 0;
  bool operator==(const OwnContender&) const = default;
};
struct TimedContender {
  OwnContender contender;
  double seconds = 0;
};

class NcclTuner {
 public:
  NcclTuner(const Fabric& fabric, const NcclTunerOptions& options)
      : fabric_(fabric), options_(options), communicator_(nccl_communicator(fabric.topology)) {}

  Expected<void> hold() {
    FastestOptions asked{.compile = options_.compile,
                         .sizes = options_.sizes,
                         .buffer_bytes = bytes_of_buffers(),
                         .counts = ServedCounts::any,
                         .baseline = options_.baseline,
                         .algorithms = algorithms(),
                         .few_variants = takes_long()};
    asked.compile.lowering.built_in = true;
    if (auto done = add(asked); !done) return done;
    if (hangs_in_simple(collective(), fabric_.topology)) {
      asked.compile.xml.protocol = "Simple";
      asked.compile.force_simple = true;
      if (auto done = add(asked); !done) return done;
    }
    find_nvls();
    return {};
  }

  NcclTuning tune() {
    NcclTuning tuning;
    tuning.collective = collective();
    for (const std::int64_t bytes : options_.sizes) all_.push_back(times_at(bytes));
    tuning.rules = rules([](std::string_view, std::string_view) { return true; });
    const bool is_doubtful = std::ranges::any_of(tuning.rules, [](const NcclRule& rule) {
      return rule.choice.protocol == "ll128" || rule.choice.algorithm == kNvlsName;
    });
    if (is_doubtful) {
      tuning.otherwise = rules([](std::string_view algorithm, std::string_view protocol) {
        return protocol != "ll128" && algorithm != kNvlsName;
      });
    }
    for (std::size_t i = 0; i < options_.sizes.size(); ++i) {
      const auto best = std::ranges::min_element(all_[i], {}, &TimedContender::seconds);
      tuning.sizes.push_back({options_.sizes[i], choice_of(*best), choice_of(own_of(i))});
    }
    return tuning;
  }

 private:
  using Allows = std::function<bool(std::string_view algorithm, std::string_view protocol)>;

  [[nodiscard]] Collective collective() const { return options_.compile.synthesis.collective; }

  [[nodiscard]] std::vector<std::string> algorithms() const {
    std::vector<std::string> names;
    for (const BaselineInfo& each : baselines()) {
      const std::string_view nccl = each.traits.nccl;
      if (nccl.empty() || nccl == kNvlsName || !supports(each, collective())) continue;
      if (nccl == "pat" && !has_pat()) continue;
      names.emplace_back(each.name);
    }
    return names;
  }

  // A pass of a program carries half of its buffers. What NCCL's kernels in Simple move at once are
  // slices: with its own buffers of 4 MiB 1 MiB, of a broadcast or reduce 512 KiB
  // (src/include/collectives.h).
  [[nodiscard]] std::int64_t bytes_of_buffers() const {
    constexpr std::int64_t kMebibyte = 1 << 20;
    return is_rooted(collective()) ? kMebibyte : 2 * kMebibyte;
  }

  // Few variants leave PAT out, whose programs are short.
  [[nodiscard]] bool takes_long() const {
    return fabric_.network.ranks.size() > scale::kMostRanksOfAllTuned && !has_pat();
  }
  [[nodiscard]] bool has_pat() const {
    return communicator_.nodes == communicator_.ranks &&
           (collective() == Collective::allgather || collective() == Collective::reduce_scatter);
  }

  Expected<void> add(const FastestOptions& asked) {
    auto contest = Contest::hold(fabric_, asked);
    if (!contest) return contest.errors();
    contests_.push_back(*std::move(contest));
    (void)contests_.back().all_programs();
    return {};
  }

  // One box, and switches that add up and copy.
  void find_nvls() {
    const auto efficiency = nvls_efficiency(fabric_.gpu.name);
    if (!efficiency || communicator_.nodes != 1 || is_rooted(collective())) return;
    const auto made = make_baseline(kNvlsName, fabric_.topology, fabric_.network, collective(),
                                    std::nullopt, options_.baseline);
    if (made) nvls_gbs_ = made->algbw.to_double() * *efficiency;
  }

  // The fastest number of channels of every algorithm in every protocol.
  std::vector<TimedContender> times_at(std::int64_t bytes) {
    std::vector<TimedContender> times;
    for (std::size_t c = 0; c < contests_.size(); ++c) {
      Contest& contest = contests_[c];
      std::set<std::pair<std::string, std::string>> kinds;
      for (const fastest::Contender& each : contest.contenders()) {
        kinds.emplace(contest.candidates()[each.candidate].algorithm, each.protocol);
      }
      for (const auto& [algorithm, protocol] : kinds) {
        if (algorithm == "pat" && protocol != "Simple") continue;
        const auto takes = [&, &name = algorithm, &of = protocol](std::size_t contender) {
          return contest.candidate(contender).algorithm == name &&
                 contest.contenders()[contender].protocol == of && contest.is_there(contender);
        };
        const auto winner = contest.winner(bytes, takes, Contest::Of::all);
        if (winner) times.push_back({{c, winner->contender}, winner->seconds});
      }
    }
    if (nvls_gbs_ && picks_nvls(bytes)) {
      times.push_back({{}, nvls_seconds(bytes)});
    }
    return times;
  }

  [[nodiscard]] NcclChoice choice_of(const TimedContender& timed) const {
    if (!timed.contender.contest) {
      return {std::string(kNvlsName), "simple", timed.seconds};
    }
    const Contest& contest = contests_[*timed.contender.contest];
    const std::size_t contender = timed.contender.contender;
    const std::string& name = contest.candidate(contender).algorithm;
    return {std::string(find_baseline(name)->traits.nccl),
            std::string(nccl_protocol(contest.contenders()[contender].protocol)), timed.seconds};
  }

  [[nodiscard]] std::optional<TimedContender> best_of(std::size_t i, const Allows& allows) const {
    std::optional<TimedContender> best;
    for (const TimedContender& each : all_[i]) {
      const NcclChoice choice = choice_of(each);
      if (!allows(choice.algorithm, choice.protocol)) continue;
      if (!best || each.seconds < best->seconds) best = each;
    }
    return best;
  }

  // NCCL's cost model is of another kind than simulation: NVLS is looked at where the model itself
  // has it ahead of all others.
  [[nodiscard]] bool picks_nvls(std::int64_t bytes) const {
    const std::vector<NcclOption> options = options_of_model();
    const auto least = std::ranges::min_element(
        options, {}, [bytes](const NcclOption& option) { return option.microseconds(bytes); });
    return least != options.end() && least->pick.algorithm == kNvlsName;
  }

  // None where it takes too long to be told.
  [[nodiscard]] std::optional<double> seconds_of(const OwnContender& candidate,
                                                 std::int64_t bytes) {
    if (candidate.contest) return contests_[*candidate.contest].seconds(candidate.contender, bytes);
    return nvls_seconds(bytes);
  }

  // REQUIRES: there is NVLS.
  [[nodiscard]] double nvls_seconds(std::int64_t bytes) const {
    return kNvlsSeconds + static_cast<double>(bytes) / (*nvls_gbs_ * kBytesOfGigabyteAndSecond);
  }

  // In their order, without gaps.
  std::vector<NcclRule> rules(const Allows& allows) {
    std::vector<NcclRule> ranges;
    OwnContender before;
    for (std::size_t i = 0; i < options_.sizes.size(); ++i) {
      auto best = best_of(i, allows);
      if (!best) continue;
      const TimedContender own = own_of(i);
      const NcclChoice choice = choice_of(own);
      const bool is_own =
          allows(choice.algorithm, choice.protocol) && own.seconds <= kWorthRow * best->seconds;
      if (is_own) best = own;
      if (!ranges.empty()) {
        const auto same = seconds_of(before, options_.sizes[i]);
        if (same && *same <= kWorthRow * best->seconds) continue;
      }
      NcclRule next{0, 0, choice_of(*best)};
      if (!ranges.empty()) {
        next.first = first_size(*best, before, options_.sizes[i - 1], options_.sizes[i]);
        ranges.back().last = next.first - 1;
      }
      before = best->contender;
      ranges.push_back(std::move(next));
    }
    if (!ranges.empty()) ranges.back().last = kEverySize;
    return joined(ranges);
  }

  // Whose neighbours differ in more than the number of channels, which NCCL sets by size.
  static std::vector<NcclRule> joined(const std::vector<NcclRule>& ranges) {
    std::vector<NcclRule> rules;
    for (const NcclRule& range : ranges) {
      const bool is_alike = !rules.empty() &&
                            rules.back().choice.algorithm == range.choice.algorithm &&
                            rules.back().choice.protocol == range.choice.protocol;
      if (is_alike) {
        rules.back().last = range.last;
      } else {
        rules.push_back(range);
      }
    }
    return rules;
  }

  // Halved as long as the next choice is ahead there.
  std::int64_t first_size(const TimedContender& next, const OwnContender& before,
                          std::int64_t above, std::int64_t size) {
    while (size / 2 > above) {
      const auto one = seconds_of(next.contender, size / 2);
      const auto other = seconds_of(before, size / 2);
      if (!one || !other || *one >= *other) break;
      size /= 2;
    }
    return size;
  }

  [[nodiscard]] std::vector<NcclOption> options_of_model() const {
    std::vector<NcclOption> options;
    for (const Contest& contest : contests_) {
      for (NcclOption& each : fastest::nccl_options(contest, fabric_, true)) {
        options.push_back(std::move(each));
      }
      for (const fastest::Candidate& each : contest.candidates()) {
        if (each.algorithm == "pat") options.push_back(pat_option(each));
      }
    }
    if (nvls_gbs_)
      options.push_back({{std::string(kNvlsName), "Simple"}, kNvlsSeconds * 1e6, *nvls_gbs_});
    return options;
  }

  // src/graph/tuning.cc of NCCL: steps by the network in logarithmic number, and a linear part.
  [[nodiscard]] NcclOption pat_option(const fastest::Candidate& candidate) const {
    const auto ranks = static_cast<double>(communicator_.ranks);
    return {{"pat", "Simple"},
            8 + std::log2(ranks) * 14 / 3.5 + 2.8 * ranks,
            0.75 * candidate.forest().algbw.to_double()};
  }

  // The cheapest by NCCL's model of those that there are, as it is timed here.
  [[nodiscard]] TimedContender own_of(std::size_t i) const {
    std::vector<NcclOption> options = options_of_model();
    const std::int64_t bytes = options_.sizes[i];
    std::ranges::stable_sort(
        options, {}, [bytes](const NcclOption& option) { return option.microseconds(bytes); });
    for (const NcclOption& option : options) {
      const std::string_view name = find_baseline(option.pick.algorithm)->traits.nccl;
      const auto timed = best_of(i, [&](std::string_view algorithm, std::string_view protocol) {
        return algorithm == name && protocol == nccl_protocol(option.pick.protocol);
      });
      if (timed) return *timed;
    }
    return *std::ranges::min_element(all_[i], {}, &TimedContender::seconds);
  }

  const Fabric& fabric_;
  const NcclTunerOptions& options_;
  NcclCommunicator communicator_;
  std::vector<Contest> contests_;
  std::optional<double> nvls_gbs_;                // as NCCL reckons
  std::vector<std::vector<TimedContender>> all_;  // by size
};

Diagnostic unknown_to_plugins(Collective collective) {
  return make_error(Code::B06, fmt::format("NCCL's tuner knows no {}", to_string(collective)),
                    "ask for allreduce, allgather, reduce_scatter, broadcast or reduce");
}

}  // namespace

std::span<const Collective> nccl_tuner_collectives() {
  return kTunedCollectives;
}

std::string_view nccl_name(Collective collective) {
  return collective == Collective::reduce_scatter ? "reducescatter" : to_string(collective);
}

Expected<NcclTuning> tune_nccl(const Fabric& fabric, const NcclTunerOptions& options) {
  const Collective collective = options.compile.synthesis.collective;
  if (std::ranges::find(kTunedCollectives, collective) == kTunedCollectives.end()) {
    return unknown_to_plugins(collective);
  }
  NcclTuner tuner(fabric, options);
  if (const auto done = tuner.hold(); !done) return done.errors();
  return tuner.tune();
}

NcclCommunicator nccl_communicator(const Topology& topology) {
  return {static_cast<std::int64_t>(box_count(topology)),
          static_cast<std::int64_t>(topology.ranks.size())};
}

}  // namespace forestcoll
