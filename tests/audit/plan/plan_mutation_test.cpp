// Systematic mutants of right plans. What the executor in miniature shows to be wrong must be
// rejected with its place; what the verifier lets pass must be right.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "audit/mutant_table.hpp"
#include "audit/plan/plan_builders.hpp"
#include "audit/plan/plan_executor.hpp"
#include "audit/plan/shared_builders.hpp"
#include "audit/random_forest.hpp"
#include "audit/random_groups.hpp"
#include "forestcoll/verify.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace audit_test {
namespace {

using PlanEdit = std::function<void(PlanJson&)>;

// All that can be changed in a plan, which has to live longer.
class Mutants {
 public:
  explicit Mutants(const PlanJson& plan) : plan_(plan) {
    change("the other placement", "", [](PlanJson& p) { p["inplace"] = !p["inplace"]; });
    for (std::size_t g = 0; g < plan_["gpus"].size(); ++g) {
      const std::string gpu = "/gpus/" + std::to_string(g);
      mutate_gpu(gpu);
      const auto& tbs = plan_["gpus"][g]["threadblocks"];
      for (std::size_t t = 0; t < tbs.size(); ++t) {
        mutate_ops(gpu + "/threadblocks/" + std::to_string(t) + "/ops", tbs[t]["ops"]);
      }
    }
  }
  Mutants(const Mutants&) = delete;
  Mutants& operator=(const Mutants&) = delete;

  [[nodiscard]] std::size_t size() const { return changes_.size(); }
  [[nodiscard]] const std::string& kind(std::size_t m) const { return changes_[m].what; }
  [[nodiscard]] std::string label(std::size_t m) const {
    return changes_[m].what + " at " + changes_[m].pointer;
  }
  [[nodiscard]] PlanJson plan(std::size_t m) const {
    PlanJson plan = plan_;
    changes_[m].edit(plan[PlanJson::json_pointer(changes_[m].pointer)]);
    return plan;
  }

 private:
  struct Change {
    std::string what, pointer;
    PlanEdit edit;
  };

  // An edit of what the pointer leads to.
  void change(const std::string& what, const std::string& pointer, const PlanEdit& edit) {
    changes_.push_back({what, pointer, edit});
  }

  void mutate_gpu(const std::string& at) {
    const PlanJson gpu = plan_[PlanJson::json_pointer(at)];
    if (gpu["scratch_chunks"] > 0) {
      change("less scratch", at + "/scratch_chunks", [](PlanJson& x) { x = x.get<int>() - 1; });
    }
    // Packets by memory need no channel.
    const std::string text = plan_.dump();
    const bool used =
        text.find("signal") != std::string::npos || text.find("\"port\"") != std::string::npos;
    for (std::size_t c = 0; c < gpu["channels"].size(); ++c) {
      if (!gpu["channels"][c].contains("connected_to")) {
        mutate_groups(at + "/channels/" + std::to_string(c), gpu["channels"][c]);
        continue;
      }
      const std::string list = at + "/channels/" + std::to_string(c) + "/connected_to";
      const PlanJson peers = gpu["channels"][c]["connected_to"];
      for (std::size_t i = 0; i < peers.size(); ++i) {
        change(used ? "another peer" : "another peer, of no use", list + "/" + std::to_string(i),
               [this](PlanJson& x) { x = (x.get<std::size_t>() + 1) % plan_["gpus"].size(); });
      }
    }
    for (std::size_t b = 0; b < gpu["remote_buffers"].size(); ++b) {
      const std::string buffer = at + "/remote_buffers/" + std::to_string(b);
      change("another buffer's rank", buffer + "/rank",
             [this](PlanJson& x) { x = (x.get<std::size_t>() + 1) % plan_["gpus"].size(); });
      for (const char* type : {"i", "o", "s"}) {
        if (gpu["remote_buffers"][b]["type"] == type) continue;
        change("another buffer's type", buffer + "/type", [=](PlanJson& x) { x = type; });
      }
    }
  }

  void mutate_groups(const std::string& at, const PlanJson& list) {
    for (const char* type : {"i", "o", "s"}) {
      if (list["buffer_type"] == type) continue;
      change("a switch's buffer", at + "/buffer_type", [=](PlanJson& x) { x = type; });
    }
    const PlanJson ranks = list["rank_groups"][0]["ranks"];
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      change("a switch without a rank", at + "/rank_groups/0/ranks",
             [=](PlanJson& x) { x.erase(i); });
    }
  }

  // The operation that an operation is easily taken for.
  void mutate_name(const std::string& at, const std::string& name) {
    const std::map<std::string, std::string> likes = {
        {"ppkt", "put"},     {"rppkt", "put"},    {"upkt", "copy"},       {"cpkt", "copy"},
        {"repkt", "re"},     {"respkt", "res"},   {"recpkt", "re"},       {"recspkt", "respkt"},
        {"glres", "gstore"}, {"gstore", "glres"}, {"gstorepkt", "gstore"}};
    if (const auto like = likes.find(name); like != likes.end()) {
      change(name + " for " + like->second, at + "/name",
             [other = like->second](PlanJson& x) { x = other; });
    }
  }

  void mutate_ops(const std::string& at, const PlanJson& ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const std::string here = at + "/" + std::to_string(i);
      const std::string name = ops[i]["name"];
      change("lost " + name, at, [=](PlanJson& x) { x.erase(i); });
      change("doubled " + name, at,
             [=](PlanJson& x) { x.insert(x.begin() + static_cast<std::ptrdiff_t>(i), x[i]); });
      if (i > 0) change("swapped", at, [=](PlanJson& x) { std::swap(x[i], x[i - 1]); });
      if (name == "pipeline") {
        change("rounds", here + "/iter_context/num_chunks",
               [](PlanJson& x) { x = x.get<int>() + 1; });
        mutate_ops(here + "/ops", ops[i]["ops"]);
        continue;
      }
      if (name == "signal" || name == "wait") {
        change("signal for wait", here + "/name",
               [=](PlanJson& x) { x = name == "signal" ? "wait" : "signal"; });
        change("relaxed", here + "/name", [=](PlanJson& x) { x = "rlx" + name; });
      }
      mutate_name(here, name);
      if (ops[i].contains("tbg_info")) {
        change("another part", here + "/tbg_info/tb_id", [](PlanJson& x) { x = 1 - x.get<int>(); });
        change("not in parts", here, [](PlanJson& x) { x.erase("tbg_info"); });
        change("more parts", here + "/tbg_info/tbg_size",
               [](PlanJson& x) { x = x.get<int>() + 1; });
      }
      // A put through memory may name channels, and takes nothing of them.
      const bool takes_channels = name != "put" || ops[i].value("channel_type", "") != "memory";
      if (takes_channels && ops[i].contains("channel_ids")) mutate_channels(here, ops[i]);
      if (name == "flush") {  // which takes nothing of them but their number
        change("lost destination", here + "/dst_buff", [](PlanJson& x) { x.erase(0); });
        continue;
      }
      for (const char* side : {"src_buff", "dst_buff"}) {
        if (ops[i].contains(side)) mutate_slices(here + "/" + side, ops[i][side]);
      }
    }
  }

  void mutate_channels(const std::string& at, const PlanJson& op) {
    change("kind of channel", at + "/channel_type",
           [](PlanJson& x) { x = x == "memory" ? "port" : "memory"; });
    for (std::size_t c = 0; c < op["channel_ids"].size(); ++c) {
      change("next channel", at + "/channel_ids/" + std::to_string(c),
             [](PlanJson& x) { x = x.get<int>() + 1; });
      change("lost channel", at + "/channel_ids", [=](PlanJson& x) { x.erase(c); });
    }
  }

  void mutate_slices(const std::string& at, const PlanJson& slices) {
    for (std::size_t s = 0; s < slices.size(); ++s) {
      const std::string slice = at + "/" + std::to_string(s);
      for (const int by : {-1, 1}) {
        change("index", slice + "/index", [=](PlanJson& x) { x = x.get<int>() + by; });
        change("size", slice + "/size", [=](PlanJson& x) { x = x.get<int>() + by; });
      }
      if (slices[s].contains("switch_channel_id")) {
        change("next switch", slice + "/switch_channel_id",
               [](PlanJson& x) { x = x.get<int>() + 1; });
        continue;
      }
      if (slices[s].contains("buffer_id")) {
        change("next buffer", slice + "/buffer_id", [](PlanJson& x) { x = x.get<int>() + 1; });
        continue;
      }
      for (const char* type : {"i", "o", "s"}) {
        if (slices[s]["type"] == type) continue;
        change("buffer", slice + "/type", [=](PlanJson& x) { x = type; });
      }
      change("lost operand", at, [=](PlanJson& x) { x.erase(s); });
    }
  }

  const PlanJson& plan_;
  std::vector<Change> changes_;
};

struct Original {
  std::string name;
  PlanJson plan;
  int root = 0;
  bool by_hand = false;
};

// By hand, and our own from random trees.
std::vector<Original> originals() {
  std::vector<Original> all;
  for (auto& [name, plan] : small_plans()) all.push_back({name, plan, 0, true});
  for (auto& [name, plan] : shared_plans()) all.push_back({name, plan, 0, true});
  std::mt19937_64 random(7);
  using forestcoll::Collective;
  const std::vector<int> equal, unequal = {3, 1, 2};
  for (const auto& [collective, shares] :
       {std::pair(Collective::allreduce, equal), std::pair(Collective::allgather, equal),
        std::pair(Collective::reduce_scatter, equal), std::pair(Collective::broadcast, equal),
        std::pair(Collective::allgather, unequal),
        std::pair(Collective::reduce_scatter, unequal)}) {
    for (const bool in_place : {true, false}) {
      const int k = shares.empty() ? 2 : 1;
      const auto forest = random_collective(collective, 3, k, false, random, shares);
      forestcoll::IdVector<forestcoll::Rank, std::int32_t> boxes(3, 0);
      boxes[forestcoll::Rank(2)] = 1;
      forestcoll::PlanOptions options;
      options.in_place = in_place;
      options.max_threadblocks = 2;
      const auto plan = lower_to_plan(forest, boxes, options);
      EXPECT_TRUE(plan.has_value()) << to_string(plan.errors()[0]);
      if (!plan) continue;
      all.push_back({std::string(to_string(collective)) + (shares.empty() ? "" : " unequal") +
                         (in_place ? " in place" : ""),
                     PlanJson::parse(to_mscclpp_json(*plan, "x")),
                     forest.root ? forest.root->value : 0});
    }
  }
  // Over one another's ranks, and of an allreduce over one that is in no group.
  for (const auto& [collective, division] :
       {std::pair(Collective::allgather, std::vector<std::vector<int>>{{0, 1}, {3, 2}}),
        std::pair(Collective::allreduce, std::vector<std::vector<int>>{{2, 0}})}) {
    const int ranks = division.size() == 1 ? 3 : 4;
    const RandomGroups groups(collective, division, ranks, true, random, {1, 1});
    forestcoll::IdVector<forestcoll::Rank, std::int32_t> boxes(static_cast<std::size_t>(ranks), 0);
    boxes[forestcoll::Rank(2)] = 1;
    const auto plan = lower_to_plan(groups.forests, boxes, {});
    EXPECT_TRUE(plan.has_value()) << to_string(plan.errors()[0]);
    if (!plan) continue;
    all.push_back({std::string(to_string(collective)) + " of groups",
                   PlanJson::parse(to_mscclpp_json(*plan, "x")), 0});
  }
  return all;
}

// All mutants in parts of about a second.
constexpr int kParts = 6;

class PlanMutation : public testing::TestWithParam<int> {};

TEST_P(PlanMutation, EveryMutantThatMisbehavesIsRejected) {
  std::int64_t tried = 0, wrong = 0;
  MutantTable table;
  std::map<std::string, std::set<std::string>> accepted;  // by kind, where
  int number = 0;
  for (const Original& original : originals()) {
    if (number++ % kParts == GetParam()) {  // each is right, as one of the parts finds
      const auto right = forestcoll::verify(original.plan.dump(), "x", nullptr, {});
      ASSERT_TRUE(right && right->ok) << original.name << to_string(right->findings[0]);
      ASSERT_EQ(execute_plan(original.plan, 30, original.root), Outcome::right) << original.name;
    }
    // Our own plans are long, and do the same in many places.
    const std::size_t stride = original.by_hand ? 1 : 23;
    const Mutants mutants(original.plan);
    for (auto m = stride * static_cast<std::size_t>(GetParam()); m < mutants.size();
         m += stride * kParts) {
      const PlanJson plan = mutants.plan(m);
      const std::string label = original.name + ": " + mutants.label(m);
      const auto verdict = forestcoll::verify(plan.dump(), "m.json", nullptr, {});
      ASSERT_TRUE(verdict.has_value()) << label;
      ++tried;
      const Outcome outcome = execute_plan(plan, verdict->ok ? 12 : 1, original.root);
      const std::string& kind = mutants.kind(m);
      table.add(kind, outcome != Outcome::right, !verdict->ok);
      if (outcome != Outcome::right) {
        ++wrong;
        EXPECT_FALSE(verdict->ok) << label << ": the executor disagrees";
      }
      if (verdict->ok) {
        accepted[kind].insert(label);
      } else {
        EXPECT_FALSE(verdict->findings[0].message.empty());
      }
    }
  }
  table.print();
  EXPECT_GT(tried, 250);
  EXPECT_GT(wrong, 160);
  RecordProperty("mutants", static_cast<int>(tried));
  RecordProperty("wrong", static_cast<int>(wrong));
  // What a plan bears: threads in step once more, or where nothing needs it; what is done twice to
  // the same end, such as fetching, flushing or unpacking; operations that have nothing to do with
  // each other exchanged; other names of the same memory; scratch that is not used; an allgather
  // that names its own block as output, in the other placement; signals that only say that a call
  // has begun, or go through ports, relaxed.
  const std::set<std::string> harmless = {"doubled nop",   "lost nop",
                                          "swapped",       "buffer",
                                          "doubled get",   "doubled flush",
                                          "doubled put",   "doubled copy",
                                          "doubled upkt",  "another peer, of no use",
                                          "doubled repkt", "another buffer's type",
                                          "lost copy",     "kind of channel",
                                          "less scratch",  "the other placement",
                                          "relaxed"};
  for (const auto& [what, labels] : accepted) {
    RecordProperty("accepted " + what, static_cast<int>(labels.size()));
    EXPECT_TRUE(harmless.contains(what)) << testing::PrintToString(labels);
  }
}

INSTANTIATE_TEST_SUITE_P(PartsLong, PlanMutation, testing::Range(0, kParts));

}  // namespace
}  // namespace audit_test
