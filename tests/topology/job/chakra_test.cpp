// Chakra execution traces, in both of their forms, with the communicators of ASTRA-sim.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/chakra_job.hpp"
#include "forestcoll/job.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kCommunicators =
    R"({"1": [0, 1], "2": [2, 3], "3": [4, 5], "4": [6, 7], "5": [0, 2, 4, 6], "6": [1, 3, 5, 7]})";

// A node as both forms have it.
struct TraceNode {
  std::uint64_t id = 0;
  int type = 4;  // a computation
  std::vector<std::uint64_t> depends = {};
  std::int64_t comm_type = 0, comm_size = 0;
  std::string pg_name = {};
  bool is_cpu_op = false;
};

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  return bytes + static_cast<char>(value);
}
std::string number_field(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3U) + varint(value);
}
std::string bytes_field(std::uint32_t field, const std::string& bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}

std::string node_message(const TraceNode& node) {
  std::string depends;
  for (const std::uint64_t id : node.depends) depends += varint(id);
  const auto attribute = [](const std::string& name, const std::string& value) {
    return bytes_field(10, bytes_field(1, name) + value);
  };
  std::string text = number_field(1, node.id) + bytes_field(2, fmt::format("node {}", node.id)) +
                     number_field(3, static_cast<std::uint64_t>(node.type)) +
                     bytes_field(5, depends) +
                     attribute("is_cpu_op", number_field(27, node.is_cpu_op ? 1 : 0)) +
                     attribute("comm_type", number_field(9, node.comm_type)) +
                     attribute("comm_size", number_field(13, node.comm_size)) +
                     attribute("involved_dim", bytes_field(28, bytes_field(1, "\x01\x01")));
  if (!node.pg_name.empty()) text += attribute("pg_name", bytes_field(29, node.pg_name));
  return text;
}

std::string stream_of(const std::vector<TraceNode>& nodes) {
  std::string text;
  const auto add = [&](const std::string& message) { text += varint(message.size()) + message; };
  add(bytes_field(1, "0.0.4"));
  for (const TraceNode& node : nodes) add(node_message(node));
  return text;
}

// As its converter writes it: 64 bits as text, enumerators by name, nothing between objects.
std::string json_of(const std::vector<TraceNode>& nodes) {
  std::string text = "{\n  \"version\": \"0.0.4\"\n}";
  for (const TraceNode& node : nodes) {
    std::string depends;
    for (const std::uint64_t id : node.depends) {
      depends += fmt::format("{}\"{}\"", depends.empty() ? "" : ", ", id);
    }
    const std::string group =
        node.pg_name.empty()
            ? ""
            : fmt::format(R"(, {{"name": "pg_name", "stringVal": "{}"}})", node.pg_name);
    text += fmt::format(
        R"({{"id": "{0}", "name": "node {0}", "type": "{1}", "dataDeps": [{2}], "attr": [
  {{"name": "is_cpu_op", "boolVal": {3}}}, {{"name": "comm_type", "int64Val": "{4}"}},
  {{"name": "comm_size", "uint64Val": "{5}"}}{6}]}})",
        node.id,
        node.type == 7   ? "COMM_COLL_NODE"
        : node.type == 5 ? "COMM_SEND_NODE"
                         : "COMP_NODE",
        depends, node.is_cpu_op, node.comm_type, node.comm_size, group);
  }
  return text;
}

Expected<Job> parse(const std::string& text, const std::string& communicators = kCommunicators,
                    std::size_t ranks = 8) {
  return parse_chakra_job(text, "trace", communicators, "groups", ranks);
}

std::vector<std::vector<std::size_t>> numbers_in(const Groups& groups) {
  std::vector<std::vector<std::size_t>> all;
  for (const auto& group : groups) {
    all.emplace_back();
    for (const Rank rank : group) all.back().push_back(rank.index());
  }
  return all;
}

// Two layers of an allgather; the allreduce waits for the first one alone, so that it goes beside
// the second. Their order in the file is no order in time.
std::vector<TraceNode> two_layers() {
  return {{9, 7, {2}, 0, 4096, "5"},
          {1, 7, {}, 2, 1024, "1"},
          {2, 4, {1}},
          {3, 7, {2}, 2, 1024, "1"},
          {4, 5, {3}},
          {5, 7, {3}, 9, 0, "1"},
          {6, 7, {3}, 0, 64, "1", true},
          {7, 7, {3}, 6, 512, ""}};
}

TEST(ChakraTrace, WhatDependsOnNothingElseGoesAtOnce) {
  for (const std::string& text : {stream_of(two_layers()), json_of(two_layers())}) {
    ASSERT_TRUE(is_chakra_trace(text));
    const auto job = parse(text);
    ASSERT_TRUE(job) << to_string(job.errors().front());
    ASSERT_EQ(job->steps.size(), 3U);
    const JobOperation& first = job->steps[0].operations.front();
    EXPECT_EQ(job->steps[0].name, "node 1");
    EXPECT_EQ(first.collective, Collective::allgather);
    EXPECT_EQ(first.bytes, 2048);  // as much from both
    EXPECT_THAT(numbers_in(first.groups), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                                      ElementsAre(4, 5), ElementsAre(6, 7)));
    ASSERT_EQ(job->steps[1].operations.size(), 2U);
    const JobOperation& beside = job->steps[1].operations.front();
    EXPECT_EQ(beside.collective, Collective::allreduce);
    EXPECT_EQ(beside.bytes, 4096);
    EXPECT_THAT(numbers_in(beside.groups),
                ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
    EXPECT_EQ(job->steps[2].operations.size(), 1U);
    EXPECT_EQ(job->steps[2].operations.front().collective, Collective::alltoall);
    EXPECT_EQ(job->steps[2].operations.front().groups.front().size(), 8U);
    EXPECT_THAT(job->notes, ElementsAre(HasSubstr("dependencies"), HasSubstr("one rank"),
                                        HasSubstr("comm_size"), HasSubstr("1 messages")));
  }
}

TEST(ChakraTrace, EqualStepsAreCounted) {
  const auto job = parse(stream_of({{1, 7, {}, 0, 64, "1"}, {2, 7, {1}, 0, 64, "1"}}));
  ASSERT_TRUE(job);
  ASSERT_EQ(job->steps.size(), 1U);
  EXPECT_EQ(job->steps.front().repeat, 2);
}

// PyTorch's traces have their process groups among the inputs of a node.
TEST(ChakraTrace, ProcessGroupsOfTheTraceItself) {
  const std::string groups =
      R"(['[{"pg_name": "0", "ranks": []}, {"pg_name": "7", "ranks": [1, 5]}]'])";
  const std::string node = bytes_field(2, "## process_group:init ##") + number_field(3, 1) +
                           bytes_field(8, bytes_field(1, groups));
  std::string text = stream_of({{1, 7, {}, 0, 64, "7"}, {2, 7, {}, 7, 64, "0"}});
  text += varint(node.size()) + node;
  const auto job = parse(text, "");
  ASSERT_TRUE(job) << to_string(job.errors().front());
  ASSERT_EQ(job->steps.front().operations.size(), 2U);
  // No other group is named: all that there can be do the same.
  EXPECT_THAT(numbers_in(job->steps.front().operations[0].groups), Contains(ElementsAre(2, 6)));
  EXPECT_EQ(job->steps.front().operations[1].groups.front().size(), 8U);
}

TEST(ChakraTrace, OtherTextsAreNone) {
  for (const char* text : {"", "{}", R"({"format": "forestcoll-job"})", R"({"traceEvents": []})",
                           "MICRO 1", "[{}]", "<a/>", "{\"a\": \"}{\"}"}) {
    EXPECT_FALSE(is_chakra_trace(text)) << text;
  }
}

struct BadTrace {
  std::string text, communicators, code, where;
};

TEST(ChakraTrace, ErrorsNameTheMessage) {
  const auto one = [](const TraceNode& node) { return json_of({node}); };
  const std::string stream = stream_of({{1, 7, {}, 0, 64, "1"}});
  const std::string good = one({1, 7, {}, 0, 64, "1"});
  const BadTrace bad[] = {
      {one({1, 7, {}, 0, 64, "12"}), kCommunicators, "O02", "message 1, byte 24"},
      {one({1, 7, {}, 0, 64, "1"}), "", "O02", "message 1, byte 24"},
      {one({1, 7, {}, 11, 64, "1"}), kCommunicators, "O01", "message 1, byte 24"},
      {one({1, 7, {}, 0, -1, "1"}), kCommunicators, "O01", "message 1, byte 24"},
      {one({1, 4}), kCommunicators, "O01", ""},
      {json_of({{1, 7, {2}, 0, 64, "1"}, {2, 4, {1}}}), kCommunicators, "O01", ""},
      {stream.substr(0, stream.size() - 1), kCommunicators, "O01", "message 1, byte 8"},
      {good.substr(0, good.size() - 1), kCommunicators, "O01", "message 1, byte 24"},
      {stream + varint(2) + "\x0f\x01", kCommunicators, "O01",
       fmt::format("message 2, byte {}", stream.size())},
      {good, R"({"1": [0, 8]})", "O03", "/1"},
      {good, R"({"1": []})", "O05", "/1"},
      {good, R"({"1": [0, 0]})", "O04", "/1"},
      {good, R"({"1": [0, 1], "1": [2, 3]})", "O02", "/1"},
      {good, R"({"1": [0, 1)", "O02", "1:12"},
      {good, R"({"1": ["a"]})", "O02", "/1/0"},
      {good, R"([[0, 1]])", "O02", ""},
  };
  for (const BadTrace& each : bad) {
    const auto job = parse(each.text, each.communicators);
    ASSERT_FALSE(job) << each.communicators << each.where;
    const Diagnostic& error = job.errors().front();
    EXPECT_EQ(name_of(error.code), each.code) << to_string(error);
    EXPECT_EQ(error.where, each.where) << to_string(error);
    EXPECT_FALSE(error.remedy.empty());
  }
}

// Every cut and every changed byte ends in a job or in an error.
TEST(ChakraTrace, BrokenStreamsEndInWords) {
  const std::string stream = stream_of(two_layers());
  for (std::size_t at = 0; at < stream.size(); ++at) {
    for (std::string text : {stream.substr(0, at), stream}) {
      if (text.size() > at) text[at] = static_cast<char>(text[at] ^ 0x81);
      const auto job = parse(text);
      if (!job) {
        EXPECT_FALSE(job.errors().front().message.empty());
      }
    }
  }
}

}  // namespace
}  // namespace forestcoll::testing
