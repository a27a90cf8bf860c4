// Systematic mutants of right schedules. What the executor shows to be wrong must be rejected with
// the place; what the verifier lets pass must be right; and on every mutant that runs to its end,
// the verdict on races must agree with the definition.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "audit/builders.hpp"
#include "audit/msccl/race_oracle.hpp"
#include "audit/mutant_table.hpp"
#include "audit/random_forest.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/run.hpp"
#include "support/executor.hpp"

namespace audit_test {

using forestcoll::Code;

namespace {

struct Mutant {
  std::string what;
  Algo algo;
};

// All mutants of one step.
void mutate_step(const Algo& algo, std::size_t g, std::size_t t, std::size_t s,
                 std::vector<Mutant>& out) {
  const auto change = [&](const std::string& what, const std::function<void(Tb&, Step&)>& edit) {
    Mutant mutant{fmt::format("{} at {}/{}/{}", what, g, t, s), algo};
    Tb& tb = mutant.algo.gpus[g].tbs[t];
    edit(tb, tb.steps[s]);
    out.push_back(std::move(mutant));
  };
  const Step& step = algo.gpus[g].tbs[t].steps[s];
  const auto position = static_cast<std::ptrdiff_t>(s);
  if (step.depid >= 0) {
    change("dropped dependency", [](Tb&, Step& x) { x.depid = x.deps = -1; });
    change("dependency on an earlier step", [](Tb&, Step& x) { --x.deps; });
    change("dependency on a later step", [](Tb&, Step& x) { ++x.deps; });
    change("dependency on another threadblock", [](Tb&, Step& x) { ++x.depid; });
  }
  if (step.type != "nop") {
    change("source offset + 1", [](Tb&, Step& x) { ++x.srcoff; });
    change("source offset - 1", [](Tb&, Step& x) { --x.srcoff; });
    change("destination offset + 1", [](Tb&, Step& x) { ++x.dstoff; });
    change("destination offset - 1", [](Tb&, Step& x) { --x.dstoff; });
    change("count + 1", [](Tb&, Step& x) { ++x.cnt; });
    change("count - 1", [](Tb&, Step& x) { --x.cnt; });
    change("flipped hasdep", [](Tb&, Step& x) { x.hasdep = 1 - x.hasdep; });
    for (const char buffer : {'i', 'o', 's'}) {
      if (buffer != step.srcbuf) change("source buffer", [=](Tb&, Step& x) { x.srcbuf = buffer; });
      if (buffer != step.dstbuf) {
        change("destination buffer", [=](Tb&, Step& x) { x.dstbuf = buffer; });
      }
    }
  }
  for (const char* type : {"s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"}) {
    if (step.type != type) {
      change(std::string("type ") + type, [=](Tb&, Step& x) { x.type = type; });
    }
  }
  change("lost step", [=](Tb& tb, Step&) { tb.steps.erase(tb.steps.begin() + position); });
  change("doubled step",
         [=](Tb& tb, Step& x) { tb.steps.insert(tb.steps.begin() + position, Step(x)); });
  if (s > 0) change("swapped steps", [=](Tb& tb, Step& x) { std::swap(x, tb.steps[s - 1]); });
}

void mutate_threadblock(const Algo& algo, std::size_t g, std::size_t t, std::vector<Mutant>& out) {
  const auto change = [&](const std::string& what, const std::function<void(Algo&, Tb&)>& edit) {
    Mutant mutant{fmt::format("{} at {}/{}", what, g, t), algo};
    edit(mutant.algo, mutant.algo.gpus[g].tbs[t]);
    out.push_back(std::move(mutant));
  };
  const Tb& tb = algo.gpus[g].tbs[t];
  change("wrong channel", [](Algo& a, Tb& x) {
    ++x.chan;
    a.nchannels = std::max(a.nchannels, x.chan + 1);
  });
  change("channel that is not set up", [](Algo& a, Tb& x) { x.chan = a.nchannels; });
  if (tb.send >= 0) {
    change("wrong send peer", [](Algo& a, Tb& x) { x.send = (x.send + 1) % a.ranks(); });
    change("no send peer", [](Algo&, Tb& x) { x.send = -1; });
  }
  if (tb.recv >= 0) {
    change("wrong receive peer", [](Algo& a, Tb& x) { x.recv = (x.recv + 1) % a.ranks(); });
    change("receive peer out of range", [](Algo& a, Tb& x) { x.recv = a.ranks(); });
  }
  if (t > 0) {
    change("swapped threadblocks", [=](Algo& a, Tb& x) { std::swap(x, a.gpus[g].tbs[t - 1]); });
  }
}

void mutate_header(const Algo& algo, std::vector<Mutant>& out) {
  const auto change = [&](const std::string& what, const std::function<void(Algo&)>& edit) {
    Mutant mutant{what + " at the header", algo};
    edit(mutant.algo);
    out.push_back(std::move(mutant));
  };
  change("fewer channels", [](Algo& a) { --a.nchannels; });
  change("more channels", [](Algo& a) { ++a.nchannels; });
  change("more chunks", [](Algo& a) { a.nchunks += a.ranks(); });
  if (algo.nchunks > algo.ranks()) {
    change("fewer chunks", [](Algo& a) { a.nchunks -= a.ranks(); });
  }
  change("the other placement", [](Algo& a) { std::swap(a.inplace, a.outofplace); });
  change("no placement", [](Algo& a) { a.inplace = a.outofplace = 0; });
  for (const char* coll :
       {"allgather", "reducescatter", "allreduce", "broadcast", "reduce", "alltoall"}) {
    if (algo.coll != coll) {
      change(std::string("collective ") + coll, [=](Algo& a) { a.coll = coll; });
    }
  }
  change("Simple", [](Algo& a) { a.proto = "Simple"; });
  change("LL128", [](Algo& a) { a.proto = "LL128"; });
  change("unknown protocol", [](Algo& a) { a.proto = "ll"; });
  change("no sizes", [](Algo& a) { a.max_bytes = a.min_bytes - 1; });
  change("a rank more", [](Algo& a) { a.gpus.emplace_back(); });
  change("a rank less", [](Algo& a) { a.gpus.pop_back(); });
  for (std::size_t g = 0; g < algo.gpus.size(); ++g) {
    change("input size", [=](Algo& a) { ++a.gpus[g].i_chunks; });
    change("output size", [=](Algo& a) { ++a.gpus[g].o_chunks; });
    change("scratch size + 1", [=](Algo& a) { ++a.gpus[g].s_chunks; });
    if (algo.gpus[g].s_chunks > 0) {
      change("scratch size - 1", [=](Algo& a) { --a.gpus[g].s_chunks; });
    }
    change("idle rank", [=](Algo& a) { a.gpus[g].tbs.clear(); });
    if (g == 0) continue;
    if (algo.gpus[g].i_chunks != algo.gpus[g - 1].i_chunks) {
      change("inputs exchanged",
             [=](Algo& a) { std::swap(a.gpus[g].i_chunks, a.gpus[g - 1].i_chunks); });
    }
    if (algo.gpus[g].o_chunks != algo.gpus[g - 1].o_chunks) {
      change("outputs exchanged",
             [=](Algo& a) { std::swap(a.gpus[g].o_chunks, a.gpus[g - 1].o_chunks); });
    }
  }
}

std::vector<Mutant> mutants_of(const Algo& algo) {
  std::vector<Mutant> mutants;
  mutate_header(algo, mutants);
  for (std::size_t g = 0; g < algo.gpus.size(); ++g) {
    for (std::size_t t = 0; t < algo.gpus[g].tbs.size(); ++t) {
      mutate_threadblock(algo, g, t, mutants);
      for (std::size_t s = 0; s < algo.gpus[g].tbs[t].steps.size(); ++s) {
        mutate_step(algo, g, t, s, mutants);
      }
    }
  }
  return mutants;
}

// By hand, and our own of ranks that own unequal parts.
std::vector<std::pair<std::string, Algo>> by_hand_and_of_unequal_parts() {
  auto all = small_schedules();
  std::mt19937_64 random(5);
  using forestcoll::Collective;
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter}) {
    for (const auto placement :
         {forestcoll::Placement::in_place, forestcoll::Placement::out_of_place}) {
      const auto forest = random_collective(collective, 3, 1, false, random, {2, 0, 1});
      const auto schedule = lower(forest, {"azure", 8, placement});
      EXPECT_TRUE(schedule.has_value());
      if (!schedule) continue;
      Algo algo = forestcoll::testing::to_algo(*schedule);
      algo.nchannels = schedule->channels;
      all.emplace_back("unequal " + algo.coll, std::move(algo));
    }
  }
  return all;
}

// Every third mutant, in parts of about a second.
constexpr int kParts = 4;
constexpr std::size_t kStride = 3;

class Mutation : public testing::TestWithParam<int> {
 protected:
  void judge(const std::string& name, const Mutant& mutant) {
    const auto verdict =
        forestcoll::verify(to_xml(mutant.algo), "m.xml", nullptr, forestcoll::VerifyOptions{});
    const std::string label = name + ": " + mutant.what;
    ASSERT_TRUE(verdict.has_value()) << label;
    ++mutants_;
    std::string text;
    bool structural = false, race = false;
    for (const auto& finding : verdict->findings) {
      text += to_string(finding) + "\n";
      race = race || finding.code == Code::V14;
      structural = structural || finding.code <= Code::V13;
      EXPECT_FALSE(finding.message.empty());
    }
    // As deadlocks and broken structure end the analysis, races are only comparable without them.
    const bool runs = !structural;
    // Few runs show that what is rejected is wrong; many, that what is accepted is right.
    const Outcome outcome = execute(mutant.algo, verdict->ok ? 20 : 2);
    const std::string kind = mutant.what.substr(0, mutant.what.find(" at "));
    table_.add(kind, outcome != Outcome::right, !verdict->ok);
    if (outcome != Outcome::right) {
      ++wrong_;
      EXPECT_FALSE(verdict->ok) << label << ": the executor disagrees";
    }
    if (verdict->ok) {
      ++accepted_[kind];
    } else {
      const bool header = label.find(" at the header") != std::string::npos;
      EXPECT_EQ(verdict->findings[0].where.substr(0, header ? 0 : 5), header ? "" : "rank ")
          << label << "\n"
          << text;
    }
    if (runs) {
      ++compared_;
      EXPECT_EQ(race, has_race(mutant.algo, mutant.algo.inplace == 1)) << label << "\n" << text;
    }
  }

  std::int64_t mutants_ = 0, wrong_ = 0, compared_ = 0;
  MutantTable table_;
  std::map<std::string, int> accepted_;  // and right, by kind of change
};

TEST_P(Mutation, EveryMutantThatMisbehavesIsRejected) {
  for (const auto& [name, algo] : by_hand_and_of_unequal_parts()) {
    const auto mutants = mutants_of(algo);
    for (auto m = kStride * static_cast<std::size_t>(GetParam()); m < mutants.size();
         m += kStride * kParts) {
      judge(name, mutants[m]);
    }
  }
  table_.print();
  EXPECT_GT(mutants_, 1'000);
  EXPECT_GT(wrong_, 500);
  EXPECT_GT(compared_, 125);
  RecordProperty("mutants", static_cast<int>(mutants_));
  RecordProperty("wrong", static_cast<int>(wrong_));
  RecordProperty("compared", static_cast<int>(compared_));
  // The changes that some schedule bears: a superfluous signal; operands that the step ignores;
  // other names of the same memory; a wait that is implied by another, or for more than needed; a
  // local step done twice, or exchanged with one that has nothing to do with it; storing what
  // nobody reads; threadblocks without dependencies under other numbers; more channels or scratch
  // than are used; another protocol, or placement, that does as well; a reduce or a broadcast where
  // more is done.
  const std::set<std::string> harmless = {"flipped hasdep",
                                          "source buffer",
                                          "source offset + 1",
                                          "source offset - 1",
                                          "destination buffer",
                                          "destination offset + 1",
                                          "destination offset - 1",
                                          "dependency on a later step",
                                          "doubled step",
                                          "swapped steps",
                                          "type cpy",
                                          "type rrcs",
                                          "swapped threadblocks",
                                          "wrong channel",
                                          "more channels",
                                          "scratch size + 1",
                                          "the other placement",
                                          "collective reduce",
                                          "Simple",
                                          "LL128"};
  for (const auto& [what, count] : accepted_) {
    RecordProperty("accepted " + what, count);
    EXPECT_TRUE(harmless.contains(what)) << what << ": " << count;
  }
}

INSTANTIATE_TEST_SUITE_P(PartsLong, Mutation, testing::Range(0, kParts));

}  // namespace
}  // namespace audit_test
