// Traces for others' simulators: what independent readers find in them ends, whatever the order in
// which operations are done, moves what the XML says, and keeps to the XML's flags.
#include "forestcoll/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <pugixml.hpp>
#include <random>
#include <set>
#include <tuple>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"
#include "support/alltoall.hpp"
#include "support/topology_of.hpp"
#include "trace/readers.hpp"

namespace forestcoll {
namespace {

using trace_test::read_chakra;
using trace_test::read_goal;
using trace_test::ReadOperation;
using trace_test::ReadRank;

constexpr std::int64_t kPassBytes = 2 << 20;  // of a chunk, Simple

std::string xml_of(const std::string& name, Collective collective,
                   const std::string& protocol = "LL") {
  CompileOptions options;
  options.synthesis.collective = collective;
  if (is_rooted(collective)) options.synthesis.root = Rank(1);
  options.xml.protocol = protocol;
  options.synthesis.trees_per_root = {TreesPerRoot::Mode::fixed, 2};  // to choose takes longer
  options.tree_count = TreeCount::as_given;
  const auto made = compile(test::bundled_fabric(name), options);
  EXPECT_TRUE(made) << to_string(made.errors().front());
  return made->text;
}

std::int64_t chunks_of(const std::string& xml) {
  pugi::xml_document document;
  document.load_string(xml.c_str());
  return document.child("algo").attribute("nchunksperloop").as_llong();
}

using Connection = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // from, to, tag

// Chunks that every connection carries, by the XML itself.
std::map<Connection, std::int64_t> chunks_on_connections(const std::string& xml) {
  pugi::xml_document document;
  document.load_string(xml.c_str());
  std::map<Connection, std::int64_t> chunks;
  for (const auto gpu : document.child("algo").children("gpu")) {
    for (const auto tb : gpu.children("tb")) {
      for (const auto step : tb.children("step")) {
        const std::set<std::string> sending = {"s", "rcs", "rrs", "rrcs"};
        if (!sending.contains(step.attribute("type").value())) continue;
        chunks[{gpu.attribute("id").as_int(), tb.attribute("send").as_int(),
                tb.attribute("chan").as_int()}] += step.attribute("cnt").as_int();
      }
    }
  }
  return chunks;
}

std::map<Connection, std::int64_t> bytes_on_connections(const std::vector<ReadRank>& ranks) {
  std::map<Connection, std::int64_t> bytes;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const ReadOperation& operation : ranks[r]) {
      if (operation.kind != "send") continue;
      bytes[{static_cast<std::int64_t>(r), operation.peer, operation.tag}] += operation.bytes;
    }
  }
  return bytes;
}

// Does operations in a random order of those that may be done.
class Player {
 public:
  Player(const std::vector<ReadRank>& ranks, std::uint64_t seed) : ranks_(ranks), random_(seed) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      missing_.emplace_back();
      children_.emplace_back(ranks[r].size());
      for (std::size_t i = 0; i < ranks[r].size(); ++i) {
        missing_[r].push_back(ranks[r][i].after.size());
        for (const std::size_t before : ranks[r][i].after) children_[r].at(before).push_back(i);
        if (ranks[r][i].after.empty()) ready_.emplace_back(r, i);
        ++left_;
      }
    }
  }

  // `seen` gets operations as they end. Returns how many never could.
  template <class Seen>
  std::size_t play(const Seen& seen) {
    while (!ready_.empty()) {
      std::swap(ready_[random_() % ready_.size()], ready_.back());
      const auto [r, i] = ready_.back();
      ready_.pop_back();
      if (!pass_message(r, i)) continue;
      --left_;
      seen(r, ranks_[r][i]);
      for (const std::size_t child : children_[r][i]) {
        if (--missing_[r][child] == 0) ready_.emplace_back(r, child);
      }
    }
    for (const auto& [connection, queue] : flying_) EXPECT_TRUE(queue.empty()) << "not received";
    return left_;
  }

 private:
  // False: the message is not there yet, and the operation waits for it.
  bool pass_message(std::size_t r, std::size_t i) {
    const ReadOperation& operation = ranks_[r][i];
    const auto rank = static_cast<std::int64_t>(r);
    if (operation.kind == "send") {
      const Connection connection = {rank, operation.peer, operation.tag};
      flying_[connection].push_back(operation.bytes);
      auto& waiting = waiting_[connection];
      ready_.insert(ready_.end(), waiting.begin(), waiting.end());
      waiting.clear();
    }
    if (operation.kind != "recv") return true;
    const Connection connection = {operation.peer, rank, operation.tag};
    auto& queue = flying_[connection];
    if (queue.empty()) {
      waiting_[connection].emplace_back(r, i);
      return false;
    }
    EXPECT_EQ(queue.front(), operation.bytes);
    queue.pop_front();
    return true;
  }

  using At = std::pair<std::size_t, std::size_t>;  // rank, operation
  const std::vector<ReadRank>& ranks_;
  std::mt19937_64 random_;
  std::vector<std::vector<std::size_t>> missing_;
  std::vector<std::vector<std::vector<std::size_t>>> children_;
  std::vector<At> ready_;
  std::map<Connection, std::deque<std::int64_t>> flying_;
  std::map<Connection, std::vector<At>> waiting_;
  std::size_t left_ = 0;
};

// Steps of every threadblock that are done, counted by what the XML says a step is made of.
class Progress {
 public:
  explicit Progress(const std::string& xml) {
    document_.load_string(xml.c_str());
    for (const auto gpu : document_.child("algo").children("gpu")) {
      auto& blocks = blocks_.emplace_back();
      for (const auto tb : gpu.children("tb")) blocks.emplace_back(tb.child("step"), 0, 0);
    }
  }

  // In one pass, where no message is cut.
  void operator()(std::size_t rank, const ReadOperation& operation) {
    auto& blocks = blocks_[rank];
    auto& [step, parts, steps] = blocks.at(static_cast<std::size_t>(operation.processor));
    const int depends = step.attribute("depid").as_int();
    if (depends >= 0) {
      EXPECT_GT(std::get<2>(blocks.at(static_cast<std::size_t>(depends))),
                step.attribute("deps").as_int());
      ++flags;
    }
    const std::set<std::string> double_steps = {"rcs", "rrs", "rrcs"};
    if (++parts < (double_steps.contains(step.attribute("type").value()) ? 2 : 1)) return;
    parts = 0;
    ++steps;
    step = step.next_sibling("step");
  }
  [[nodiscard]] bool is_over() const {
    for (const auto& blocks : blocks_) {
      for (const auto& [step, parts, steps] : blocks) {
        if (step) return false;
      }
    }
    return true;
  }

  int flags = 0;  // waits that were seen

 private:
  pugi::xml_document document_;
  std::vector<std::vector<std::tuple<pugi::xml_node, int, int>>> blocks_;
};

Trace trace_of(const std::string& xml, std::int64_t bytes) {
  auto trace = make_trace(xml, "<test>", "azure", bytes);
  EXPECT_TRUE(trace) << to_string(trace.errors().front());
  return *std::move(trace);
}

std::vector<ReadRank> through_chakra(const Trace& trace) {
  std::vector<ReadRank> ranks;
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const std::string text = to_chakra(trace, r);
    auto read = read_chakra(text);
    EXPECT_EQ(read.bytes, trace.bytes);
    EXPECT_EQ(read.texts["collective"], trace.collective);
    ranks.push_back(std::move(read.operations));
  }
  return ranks;
}

// Both formats say the same, but that Chakra has no processors.
void expect_same(const std::vector<ReadRank>& goal, const std::vector<ReadRank>& chakra) {
  ASSERT_EQ(goal.size(), chakra.size());
  for (std::size_t r = 0; r < goal.size(); ++r) {
    ASSERT_EQ(goal[r].size(), chakra[r].size());
    for (std::size_t i = 0; i < goal[r].size(); ++i) {
      const ReadOperation &a = goal[r][i], &b = chakra[r][i];
      EXPECT_EQ(std::tie(a.kind, a.bytes, a.peer, a.tag, a.after),
                std::tie(b.kind, b.bytes, b.peer, b.tag, b.after));
    }
  }
}

void expect_sound(const std::string& xml) {
  const std::int64_t chunks = chunks_of(xml), chunk_bytes = 8;
  const Trace trace = trace_of(xml, chunks * chunk_bytes + chunks - 1);
  EXPECT_EQ(trace.bytes, chunks * chunk_bytes) << "whole chunks";
  const auto goal = read_goal(to_goal(trace));
  expect_same(goal, through_chakra(trace));
  auto expected = chunks_on_connections(xml);
  for (auto& [connection, amount] : expected) amount *= chunk_bytes;
  EXPECT_EQ(bytes_on_connections(goal), expected);
  for (const std::uint64_t seed : {1, 2, 3}) {
    Progress progress(xml);
    EXPECT_EQ(Player(goal, seed).play([&](auto r, const auto& o) { progress(r, o); }), 0U);
    EXPECT_TRUE(progress.is_over());
    const bool has_flags = xml.find("hasdep=\"1\"") != std::string::npos;
    EXPECT_EQ(progress.flags > 0, has_flags);
  }
}

TEST(Trace, EveryCollectiveEndsAndMovesWhatTheXmlSays) {
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
        Collective::broadcast, Collective::reduce}) {
    for (const std::string name : {"dgx-1-v100", "dgx-a100-x2", "fat-tree-4"}) {
      SCOPED_TRACE(name + " " + std::string(to_string(collective)));
      expect_sound(xml_of(name, collective));
    }
  }
}

TEST(Trace, OfAnAlltoall) {
  const auto made = compile(test::bundled_fabric("torus-4x4"), test::alltoall_as(Format::msccl));
  ASSERT_TRUE(made);
  expect_sound(made->text);
}

// Bytes that one pass does not hold go over the program again; slices of a protocol cut messages.
TEST(Trace, LargeBuffersGoInPasses) {
  const std::string xml = xml_of("dgx-1-v100", Collective::allreduce, "Simple");
  const std::int64_t chunks = chunks_of(xml);
  const auto small = trace_of(xml, chunks * kPassBytes);
  const auto large = trace_of(xml, chunks * (3 * kPassBytes + 1));
  for (std::size_t r = 0; r < small.ranks.size(); ++r) {
    EXPECT_EQ(large.ranks[r].size(), 4 * small.ranks[r].size());
  }
  auto expected = chunks_on_connections(xml);
  for (auto& [connection, amount] : expected) amount *= 3 * kPassBytes + 1;
  const auto goal = read_goal(to_goal(large));
  EXPECT_EQ(bytes_on_connections(goal), expected);
  EXPECT_EQ(Player(goal, 5).play([](auto, const auto&) {}), 0U);
  std::int64_t largest = 0;
  for (const auto& rank : goal) {
    for (const ReadOperation& operation : rank) largest = std::max(largest, operation.bytes);
  }
  EXPECT_LE(largest, kPassBytes);
}

TEST(Trace, RefusesWhatCannotBe) {
  const std::string xml = xml_of("dgx-1-v100", Collective::allgather, "LL");
  const auto empty = make_trace(xml, "a.xml", "azure", chunks_of(xml) - 1);
  ASSERT_FALSE(empty);
  EXPECT_EQ(to_string(empty.errors().front()).substr(0, 5), "a.xml");
  EXPECT_EQ(empty.errors().front().code, Code::M01);
  const auto huge = make_trace(xml, "a.xml", "azure", std::int64_t{1} << 60);
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.errors().front().code, Code::M06);
  EXPECT_EQ(huge.errors().front().kind, ErrorKind::limit);
  EXPECT_FALSE(make_trace("<algo", "a.xml", "azure", 1024));
}

}  // namespace
}  // namespace forestcoll
