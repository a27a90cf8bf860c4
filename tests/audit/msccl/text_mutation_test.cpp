// Mutants of the text of right schedules. A model of the runtimes' loader and the executor say
// which of them misbehave; every one of these must be rejected. What is accepted, and what is
// rejected without need, is of kinds that are listed here.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "audit/msccl/limit_mutants.hpp"
#include "audit/msccl/loader.hpp"
#include "audit/msccl/text_mutants.hpp"
#include "audit/mutant_table.hpp"
#include "forestcoll/verify.hpp"
#include "support/executor.hpp"

namespace audit_test {
namespace {

constexpr int kInterleavings = 3;

const Runtime& runtime_of(const std::string& target) {
  for (const Runtime& runtime : runtimes()) {
    if (runtime.name == target) return runtime;
  }
  throw LoadError{"no such runtime"};
}

bool runs_right(const Algo& algo, bool in_place) {
  int most = 1;
  for (const Gpu& gpu : algo.gpus) {
    for (const Tb& tb : gpu.tbs) {
      for (const Step& step : tb.steps) most = std::max(most, step.cnt);
    }
  }
  for (int m = 1; m <= most; ++m) {
    for (std::uint64_t seed = 0; seed < kInterleavings; ++seed) {
      Executor executor(algo, in_place, m, algo.proto == "Simple" ? 2 : 8, seed);
      if (executor.run() != Outcome::right) return false;
    }
  }
  return true;
}

// Programs are told apart by their canonical text, so that each is executed once.
class Judge {
 public:
  bool behaves(const TextMutant& mutant) {
    try {
      const Runtime& runtime = runtime_of(mutant.target);
      Algo algo = Loader(mutant.text, runtime).load();
      if (!is_selected(algo, runtime) || algo.nchunks > kMostChunks) return false;
      for (Gpu& gpu : algo.gpus) {
        if (static_cast<int>(gpu.tbs.size()) > mutant.sms) return false;
        gpu.s_chunks = std::min(gpu.s_chunks, kMostChunks);
      }
      const auto [at, added] = known_.try_emplace(to_xml(algo), false);
      if (added) {
        at->second = (algo.inplace != 1 || runs_right(algo, true)) &&
                     (algo.outofplace != 1 || runs_right(algo, false));
      }
      return at->second;
    } catch (const LoadError&) {
      return false;
    }
  }

 private:
  std::map<std::string, bool> known_;
};

// What is accepted, and right: what the loader passes over (spaces, line ends of Windows, comments,
// unknown elements, the order of attributes, more of them while there is room, attributes that this
// runtime does not read, whatever they hold; a step with a closing tag), what says the same in
// other words or leaves room (another number where any will do, as a size, a count of scratch, an
// operand that the step ignores; a placement or protocol that does as well; one chunk more), names
// of any text, and what is within a limit.
const std::set<std::string> kSurvivors = {"SMs",
                                          "another number",
                                          "another order of attributes",
                                          "as it is",
                                          "beyond the bits",
                                          "channels",
                                          "chunks of a step",
                                          "collective",
                                          "comment",
                                          "elements of a rank",
                                          "empty value",
                                          "entity",
                                          "fewer SMs",
                                          "for another runtime",
                                          "hexadecimal",
                                          "largest size",
                                          "leading zero",
                                          "letters behind a value",
                                          "line break in a value",
                                          "line ends of Windows",
                                          "lost attribute",
                                          "lost attribute and its space",
                                          "more attributes in front",
                                          "more channels than are used",
                                          "more spaces between attributes",
                                          "more white space",
                                          "name",
                                          "octal",
                                          "octal for another number",
                                          "placement",
                                          "protocol",
                                          "random sign",
                                          "random sign inserted",
                                          "scratch",
                                          "sign",
                                          "step with a closing tag",
                                          "step with a comment in it",
                                          "steps of a threadblock",
                                          "threadblocks",
                                          "threadblocks and SMs",
                                          "threads",
                                          "two spaces for all",
                                          "unknown element",
                                          "white space at the end of a tag",
                                          "white space behind a value",
                                          "white space in front of a value",
                                          "window of sizes"};

// What is rejected although the model runs it: what is no XML, or says a thing twice; numbers that
// are read by luck alone (octal, hexadecimal, signs, spaces, letters, cut to their lower bits);
// names of 254 bytes; a size of a buffer or a number of a step that the runtime does not look at; a
// race that no interleaving showed; scratch beyond all offsets, or beyond a GPU's memory.
const std::set<std::string> kStricter = {"a long attribute",
                                         "a long name",
                                         "an attribute without value",
                                         "another number",
                                         "another value behind",
                                         "another value in front",
                                         "beyond 64 bits",
                                         "beyond the bits",
                                         "doubled attribute",
                                         "doubled line",
                                         "empty value",
                                         "entity",
                                         "for another runtime",
                                         "hexadecimal",
                                         "leading zero",
                                         "letters behind a value",
                                         "line break in a value",
                                         "more attributes in front",
                                         "more spaces between attributes",
                                         "octal",
                                         "octal for another number",
                                         "placement",
                                         "random sign",
                                         "random sign inserted",
                                         "scratch",
                                         "sign",
                                         "swapped lines",
                                         "white space before =",
                                         "white space behind a value",
                                         "white space in front of a value"};

class TextMutation : public testing::Test {
 protected:
  void judge(const TextMutant& mutant) {
    forestcoll::VerifyOptions options;
    options.target = mutant.target;
    options.sms = mutant.sms;
    const auto verdict = forestcoll::verify(mutant.text, "m.xml", nullptr, options);
    const bool accepted = verdict && verdict->ok;
    const bool behaves = judge_.behaves(mutant);
    table_.add(mutant.rule, !behaves, !accepted);
    EXPECT_TRUE(behaves || !accepted)
        << mutant.rule << " for " << mutant.target << " with " << mutant.sms << " SMs\n"
        << mutant.text.substr(0, 4000);
    if (accepted) accepted_.insert(mutant.rule);
    if (behaves && !accepted) stricter_.insert(mutant.rule);
  }

  void TearDown() override {
    table_.print();
    EXPECT_GT(table_.all().mutants, fewest_);
    EXPECT_GT(table_.all().misbehaving, fewest_ / 2);
    for (const std::string& rule : accepted_) EXPECT_TRUE(kSurvivors.contains(rule)) << rule;
    for (const std::string& rule : stricter_) EXPECT_TRUE(kStricter.contains(rule)) << rule;
  }

  int fewest_ = 50;  // mutants
  Judge judge_;
  MutantTable table_;
  std::set<std::string> accepted_, stricter_;
};

std::vector<Algo> bases() {
  return {ring_allgather(3, 1, false, true),
          ring_reduce_scatter(3, 1, true, false),
          low_latency(doubling_allreduce(1, 2, true)),
          star_allreduce(4, 1),
          tree_broadcast(3, 2, false),
          direct_alltoall(2, 2)};
}

class TextMutationOf : public TextMutation, public testing::WithParamInterface<std::size_t> {};

class TextMutationFor : public TextMutation, public testing::WithParamInterface<std::size_t> {};

TEST_P(TextMutationFor, WhatIsBeyondALimitIsRejected) {
  const Runtime& runtime = runtimes()[GetParam()];
  for (const TextMutant& mutant : LimitMutants(runtime).all()) judge(mutant);
}

INSTANTIATE_TEST_SUITE_P(Runtimes, TextMutationFor,
                         testing::Range(std::size_t{0}, runtimes().size()));

// About every tenth mutant: as the step has no factor in common with the number of ways in which
// a place is changed, all of them come in turn.
constexpr std::size_t kTextStride = 11;

TEST_P(TextMutationOf, EveryMutantThatMisbehavesIsRejected) {
  fewest_ = 500;
  const Algo algo = bases()[GetParam()];
  for (std::size_t r = 0; r < runtimes().size(); ++r) {
    const Runtime& runtime = runtimes()[r];
    const std::string text = text_for(algo, runtime);
    judge({"as it is", text, runtime.name});
    judge({"for another runtime", text_for(algo, runtimes()[(r + 1) % runtimes().size()]),
           runtime.name});
    judge({"fewer SMs", text, runtime.name, 1});
    if (!judge_.behaves({"", text, runtime.name})) continue;
    const auto mutants = TextMutants(text).all();
    for (std::size_t m = r + GetParam(); m < mutants.size(); m += kTextStride * 4) {
      TextMutant mutant = mutants[m];
      mutant.target = runtime.name;
      judge(mutant);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bases, TextMutationOf, testing::Range(std::size_t{0}, std::size_t{3}));
INSTANTIATE_TEST_SUITE_P(BasesLong, TextMutationOf, testing::Range(std::size_t{3}, bases().size()));

}  // namespace
}  // namespace audit_test
