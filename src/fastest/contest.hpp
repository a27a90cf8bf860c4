// Programs against each other, size by size.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fastest/programs.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll::fastest {

/// A program in a protocol. There is one for each number of instances, whether the candidate has a
/// program in so many or not.
struct Contender {
  std::size_t candidate = 0;
  std::size_t number = 0;  ///< of the candidate's program
  std::string protocol;
  std::int64_t buffer_bytes = 0;  ///< of a connection in Simple; 0: as the runtime has it
  std::size_t plain = 0;          ///< the contender that differs in its buffers alone, the first
};

struct Winner {
  std::size_t contender = 0;
  double seconds = 0;
  std::vector<ConsideredTime> considered;  ///< by time; each algorithm once
  bool is_bound = false;                   ///< it takes at least that, and was not simulated
};

class ContestQueue;

/// Of an element, by which sizes become counts.
inline constexpr std::int64_t kElementBytes = 4;

class Contest {
 public:
  /// So many times the least time by links is near it.
  static constexpr double kNearTheBest = 1.25;
  /// What may be faster by less than that is not simulated: twice the tolerance of a simulation.
  static constexpr double kWorthwhile = 1.002;
  /// The same where it takes longer than what is of interest.
  static constexpr double kWorthwhileBeyond = 1.01;
  /// So many times what is of interest: how long it takes exactly is worth no simulation.
  static constexpr double kFarBehind = 16;

  /// Errors: those of `find_candidates`; why the first candidate does not fit, where nothing does;
  /// M03. Cost: that of the candidates, and of the programs of those whose links need little more
  /// for a byte than those of the best.
  static Expected<Contest> hold(const Fabric& fabric, const FastestOptions& given);

  /// What was given, but for counts.
  [[nodiscard]] const FastestOptions& options() const { return options_; }
  /// Which counts files must serve.
  [[nodiscard]] ServedCounts counts() const { return options_.counts; }
  /// The same from now on.
  void require(ServedCounts counts) { options_.counts = counts; }

  /// For each of the options' sizes the fastest of what a runtime would select there, but for less
  /// than `kWorthwhile` and what few passes exclude; none where nothing is selected. All processors
  /// work.
  [[nodiscard]] std::vector<std::optional<Winner>> winners();
  /// The same among those contenders that each of `takes` says, in their order.
  using Takes = std::function<bool(std::size_t contender)>;
  [[nodiscard]] std::vector<std::vector<std::optional<Winner>>> winners(
      const std::vector<Takes>& takes);
  /// The same, for a table: `of_interest[i]` is as in `winner`, and `found` is told of each of
  /// `takes` once it is known at all sizes, by one thread at a time.
  using Found = std::function<void(std::size_t take, const std::vector<std::optional<Winner>>&)>;
  [[nodiscard]] std::vector<std::vector<std::optional<Winner>>> winners_of_each(
      const std::vector<Takes>& takes, const std::vector<double>& of_interest, const Found& found);
  /// Of which contenders: those that a runtime selects as files at the size; also those that it
  /// selects at sizes around it, which their chunks divide; programs whose chunks divide it, of
  /// what the runtime has by itself also those with more threadblocks than a file may have; or all,
  /// as those of the runtime itself, which serve every size.
  enum class Of { files, files_around, programs, all };
  /// In seconds, what need not be known. What takes more than `of_interest` in any case, and long
  /// to simulate, may take up to `kWorthwhileBeyond` times as long as the fastest; where it takes
  /// `kFarBehind` times as long, the winner is that of the lowest bound. What takes more than
  /// `most` is no winner.
  struct Limits {
    double of_interest = std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
  };
  /// At one size, which may be another one; then also among the variants of those that are as fast
  /// or little slower.
  [[nodiscard]] std::optional<Winner> winner(std::int64_t bytes, const Takes& takes, Of of,
                                             const Limits& limits);
  [[nodiscard]] std::optional<Winner> winner(std::int64_t bytes, const Takes& takes,
                                             Of of = Of::files) {
    return winner(bytes, takes, of, {});
  }
  /// Whether one of them takes less than `seconds` at that size.
  [[nodiscard]] bool is_below(std::int64_t bytes, double seconds, const Takes& takes,
                              Of of = Of::files);
  /// Seconds, as `simulate` has them, infinite beyond `most`; none where that would take too long.
  /// Safe to be called by several threads at once.
  [[nodiscard]] std::optional<double> seconds(
      std::size_t contender, std::int64_t bytes,
      double most = std::numeric_limits<double>::infinity());
  struct Told {
    double seconds = 0;
    bool is_estimate = false;
  };
  /// The same as so many passes tell it, where these are few of all.
  [[nodiscard]] std::optional<Told> estimate(std::size_t contender, std::int64_t bytes, double most,
                                             double few_passes);
  /// Whether so many are few of all, and tell enough of these.
  [[nodiscard]] bool are_few_passes(double count, std::size_t contender, std::int64_t bytes) const;
  /// Of each, as `tell` has them: side by side.
  using Tell = std::function<std::optional<Told>(std::size_t contender)>;
  [[nodiscard]] std::vector<std::optional<Told>> told_of(const std::vector<std::size_t>& contenders,
                                                         const Tell& tell) const;
  /// No more than that: see `Simulator::least_seconds`.
  [[nodiscard]] double least_seconds(std::size_t contender, std::int64_t bytes);
  /// What it takes at least at that size by what it took at others, but for what fair shares make
  /// of it: twice the bytes take no longer than the same twice, one after the other, and what links
  /// carry more of takes them that much longer.
  [[nodiscard]] double least_by_other_sizes(std::size_t contender, std::int64_t bytes) const;
  /// What the winner's time at that size is made of.
  [[nodiscard]] TimeCosts costs(const Winner& winner, std::int64_t bytes) const;
  /// No more than that either, and often less, but of a line that is computed once.
  [[nodiscard]] double quick_bound(std::size_t contender, std::int64_t bytes) const;
  /// Steps that are simulated, in all passes; 0 for plans.
  [[nodiscard]] double simulation_cost(std::size_t contender, std::int64_t bytes) const;
  /// A simulation takes so long that it is made for what is likely to win alone.
  [[nodiscard]] bool is_costly(std::size_t contender, std::int64_t bytes) const;
  /// Of the whole message.
  [[nodiscard]] double passes(std::size_t contender, std::int64_t bytes) const;
  /// The first that takes as long at that size: where chunks are so small that a pass carries them
  /// whole, buffers make no difference.
  [[nodiscard]] std::size_t representative(std::size_t contender, std::int64_t bytes) const;
  /// What its busiest link needs.
  [[nodiscard]] double link_seconds(std::size_t contender, std::int64_t bytes) const;
  /// What the busiest link of every program of the candidate's trees needs, of which none need be
  /// made; 0 where that is not known.
  [[nodiscard]] double least_of_links(std::size_t candidate, std::int64_t bytes) const {
    return made_[candidate]->each_byte * static_cast<double>(bytes);
  }
  /// The contender of the trees that this one is a variant of, with as many instances, in the same
  /// protocol and buffers.
  [[nodiscard]] std::optional<std::size_t> variant_of(std::size_t contender) const;
  /// Makes the programs of these, but of those that are made, side by side.
  void make(const std::vector<std::size_t>& candidates);
  /// The candidate is made.
  [[nodiscard]] bool is_made(std::size_t candidate) const { return made_[candidate]->is_done; }
  /// It is, and has a program of this number that runs in this protocol.
  [[nodiscard]] bool is_there(std::size_t contender) const;
  /// Would a runtime select it at that size, if it is there or not made yet?
  [[nodiscard]] bool serves(std::size_t contender, std::int64_t bytes) const;
  /// The same of sizes around it, which its chunks divide.
  [[nodiscard]] bool serves_around(std::size_t contender, std::int64_t bytes) const;
  /// Whether its chunks divide that size, whatever `counts` says. REQUIRES: it is there.
  [[nodiscard]] bool is_divided(std::size_t contender, std::int64_t bytes) const;
  /// Whether a file says it, and the GPU holds its threadblocks. REQUIRES: it is there.
  [[nodiscard]] bool fits(std::size_t contender) const;
  /// Up to which it is for: Simple has no room for more. REQUIRES: it is there.
  [[nodiscard]] std::int64_t max_bytes(std::size_t contender) const;
  /// A runtime selects it for multiples of so many elements of the whole buffer.
  [[nodiscard]] std::int64_t elements(const Program& program) const;

  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
  /// In the order of their candidates.
  [[nodiscard]] const std::vector<Contender>& contenders() const { return contenders_; }
  [[nodiscard]] const Candidate& candidate(std::size_t contender) const {
    return candidates_[contenders_[contender].candidate];
  }
  /// Of a candidate; those of one follow those of the one before.
  [[nodiscard]] std::size_t contenders_each() const {
    return contenders_.size() / candidates_.size();
  }
  /// REQUIRES: it is there.
  [[nodiscard]] const Program& program(std::size_t contender) const {
    const Contender& each = contenders_[contender];
    return made_[each.candidate]->programs[each.number];
  }
  /// Those of all candidates, all of which are made for it.
  [[nodiscard]] std::vector<const Program*> all_programs();
  /// Of those that have a program, in their order, each once; they are made for it.
  [[nodiscard]] std::vector<std::string> algorithms(
      const std::function<bool(const std::string&)>& asked = [](const auto&) { return true; });
  [[nodiscard]] const CompileOptions& compile() const { return compile_; }
  /// Of MSCCL++, in place of XML.
  [[nodiscard]] bool of_plans() const { return compile_.format == Format::mscclpp; }
  [[nodiscard]] const SimulationParameters& parameters() const { return parameters_; }
  /// Protocols that nobody asked for and nothing is chosen in, each with the reason.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> left_out() const;
  /// Sizes of buffers that are chosen among, the least first; 0: as the runtime has them.
  [[nodiscard]] std::vector<std::int64_t> buffers() const;
  /// Those that are chosen among.
  [[nodiscard]] std::vector<std::string> protocols() const;

 private:
  // Infinite: it takes longer than `most`.
  struct Time {
    std::optional<double> seconds;
    double most = 0;
  };
  struct Times {
    std::mutex mutex;  // of the maps
    std::map<std::int64_t, Time> by_size;
    KnownRuns runs;
    std::map<std::int64_t, double> least;
    double first_byte = 0, each_byte = 0;  // seconds at least
  };
  // What a candidate becomes, once it is asked for.
  struct Made {
    std::once_flag once;
    std::atomic<bool> is_done = false;
    std::vector<Program> programs;
    Diagnostics errors;
    double each_byte = 0;                  // seconds at least, of any program; known from the start
    std::optional<std::size_t> twin = {};  // an earlier candidate with the same programs
  };
  // Programs that are the same share their times, whichever of them is made first.
  struct SharedTimes {
    std::mutex mutex;
    std::map<std::tuple<Fingerprint, std::string, std::int64_t>, std::shared_ptr<Times>> by_run;
  };

  Contest(const Fabric& fabric, const FastestOptions& options, CompileOptions compile)
      : fabric_(&fabric), options_(options), compile_(std::move(compile)) {}
  [[nodiscard]] bool simple_hangs() const;
  [[nodiscard]] std::int64_t most_events(std::size_t contender) const;  // of a simulation
  void add_variants();
  [[nodiscard]] bool has_variants() const { return entrants_ < candidates_.size(); }
  void add_contenders();
  Expected<void> begin();
  void note_least_of_links();
  [[nodiscard]] std::optional<Ratio> rate_of_links(const Candidate& candidate) const;
  Expected<void> make_the_likely();
  void make_one(std::size_t candidate);
  [[nodiscard]] std::optional<Winner> far_behind(ContestQueue& queue, std::int64_t bytes,
                                                 double seconds) const;
  void find_twins();
  [[nodiscard]] Expected<std::vector<Program>> programs_of(std::size_t candidate);
  [[nodiscard]] std::optional<Told> tell(std::size_t contender, std::int64_t bytes, double most,
                                         double few_passes = 0);
  void find_lines(std::size_t candidate);
  // Of a simulation of one of them that are made, the least; steps.
  [[nodiscard]] double least_cost(const Takes& takes, std::int64_t bytes) const;
  [[nodiscard]] Times& times_of(std::size_t contender) const { return *times_[contender]; }
  [[nodiscard]] std::vector<std::int64_t> buffers_for(const std::string& protocol) const;
  [[nodiscard]] SimulationParameters parameters_for(const Contender& contender) const;

  const Fabric* fabric_;
  FastestOptions options_;
  CompileOptions compile_;  // settled
  bool free_ = false;       // the protocol is chosen by size
  SimulationParameters parameters_;
  std::vector<Candidate> candidates_;  // variants last
  std::size_t entrants_ = 0;           // candidates that are no variants
  ProgramsOf programs_of_;
  std::vector<std::unique_ptr<Made>> made_;  // by candidate
  std::vector<Contender> contenders_;
  std::vector<std::shared_ptr<Times>> times_;  // by contender, once it is there
  std::unique_ptr<SharedTimes> shared_ = std::make_unique<SharedTimes>();
  std::string no_ll128_;  // of the first program
};

}  // namespace forestcoll::fastest
