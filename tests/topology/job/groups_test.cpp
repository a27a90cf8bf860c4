// Groups and meshes as people write them.
#include <gtest/gtest.h>

#include <string>

#include "forestcoll/job.hpp"

namespace forestcoll::testing {
namespace {

std::string text_of(const Expected<Groups>& groups) {
  if (!groups) return std::string(name_of(groups.errors().front().code));
  std::string text;
  for (const auto& group : *groups) {
    text += text.empty() ? "" : " ";
    for (const Rank& r : group) text += (&r == group.data() ? "" : ",") + std::to_string(r.value);
  }
  return text;
}

std::string groups(const std::string& words, std::size_t ranks = 8) {
  return text_of(parse_groups(words, ranks, nullptr));
}

std::string along(const std::string& mesh, MeshOrder order, const std::string& axes,
                  std::size_t ranks) {
  const auto parsed = parse_mesh(mesh, order, ranks);
  if (!parsed) return std::string(name_of(parsed.errors().front().code));
  return text_of(parse_groups(axes, ranks, &*parsed));
}

TEST(ParseGroups, ReadsColoursOfNcclTests) {
  EXPECT_EQ(groups("MOD 4"), "0,4 1,5 2,6 3,7");
  EXPECT_EQ(groups("%4"), "0,4 1,5 2,6 3,7");
  EXPECT_EQ(groups(" mod 0b100 "), "0,4 1,5 2,6 3,7");
  EXPECT_EQ(groups("DIV 4"), "0,1,2,3 4,5,6,7");
  EXPECT_EQ(groups("/4"), "0,1,2,3 4,5,6,7");
  EXPECT_EQ(groups("DIV 3"), "0,1,2 3,4,5 6,7");
  EXPECT_EQ(groups("AND 0x1"), "0,2,4,6 1,3,5,7");
  EXPECT_EQ(groups("&0x6"), "0,1 2,3 4,5 6,7");
  EXPECT_EQ(groups("OR 0x3"), "0,1,2,3 4,5,6,7");
  EXPECT_EQ(groups("|3"), "0,1,2,3 4,5,6,7");
}

TEST(ParseGroups, ReadsLists) {
  EXPECT_EQ(groups("[[0,1],[3,2]]"), "0,1 3,2");
  EXPECT_EQ(groups(R"({"1": [0, 1], "2": [2, 3]})"), "0,1 2,3");
  EXPECT_EQ(groups("all", 4), "0,1,2,3");
}

TEST(ParseGroups, ReadsAxes) {
  EXPECT_EQ(along("tp=2,dp=4", MeshOrder::megatron, "tp", 8), "0,1 2,3 4,5 6,7");
  EXPECT_EQ(along("tp=2,dp=4", MeshOrder::megatron, "dp", 8), "0,2,4,6 1,3,5,7");
  EXPECT_EQ(along("dp=4,tp=2", MeshOrder::device_mesh, "tp", 8), "0,1 2,3 4,5 6,7");
  EXPECT_EQ(along("tp=2,cp=2,dp=2", MeshOrder::megatron, "dp-cp", 8), "0,2,4,6 1,3,5,7");
  EXPECT_EQ(along("tp=2,cp=2,dp=2", MeshOrder::megatron, "tp-cp-dp", 8), "0,1,2,3,4,5,6,7");
  EXPECT_EQ(along("pp=1,dp_shard=4", MeshOrder::device_mesh, "dp_shard", 4), "0,1,2,3");
}

TEST(ParseGroups, RefusesWhatIsNone) {
  for (const char* words : {"", "MOD", "MOD 0", "/0", "MOD 8x", "tp", "[[0,1]", "[0,1]", "[[0,-1]]",
                            "[[0,1.5]]", "[[\"a\",1]]", "{\"1\": 3}", "DIV -2", "AND 0x"}) {
    EXPECT_EQ(groups(words), "O02") << words;
  }
  EXPECT_EQ(along("tp=2,dp=4", MeshOrder::megatron, "ep", 8), "O06");
  EXPECT_EQ(along("tp=2,dp=4", MeshOrder::megatron, "tp-", 8), "O06");
}

// Lists that are cut or have a key twice.
TEST(ParseGroups, SaysWhatIsNoJson) {
  const auto cut = parse_groups("[[0,1],\n[2,3]", 8, nullptr, {.file = "groups.json"});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.errors().front().where, "2:6");
  EXPECT_EQ(cut.errors().front().message,
            "expected groups, found \"[[0,1],\\u000a[2,3]\": not JSON: the file ends in the middle "
            "of a value");
  const auto twice = parse_groups(R"({"1": [0, 1], "1": [2, 3]})", 8, nullptr);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.errors().front().message.find("twice"), std::string::npos)
      << twice.errors().front().message;
  EXPECT_EQ(twice.errors().front().where, "");
}

// Names of communicators, as PyTorch has them; its first is 0.
TEST(ParseGroups, KeysAreNames) {
  EXPECT_EQ(groups(R"({"tp1": [2, 3], "0": [0, 1]})"), "2,3 0,1");
}

TEST(ParseMesh, RefusesWhatIsNone) {
  for (const char* mesh : {"", "tp", "tp=8,", "tp=2,tp=4", "tp=0,dp=8", "=8", "8=8", "tp=8=1",
                           "tp=-8", "all=8", "tp=4", "tp=8,dp=2", "tp=4294967296,dp=4294967296"}) {
    EXPECT_EQ(along(mesh, MeshOrder::megatron, "tp", 8), "O06") << mesh;
  }
  EXPECT_FALSE(parse_mesh_order("row-major"));
  EXPECT_EQ(parse_mesh_order("device-mesh"), MeshOrder::device_mesh);
}

std::string code_of(const Expected<JobOperation>& operation) {
  return operation ? "" : std::string(name_of(operation.errors().front().code));
}

TEST(ParseOperation, ReadsALine) {
  const auto operation = parse_operation("allgather MOD 4 64M", 8, nullptr);
  ASSERT_TRUE(operation);
  EXPECT_EQ(operation->collective, Collective::allgather);
  EXPECT_EQ(operation->bytes, 64 << 20);
  EXPECT_EQ(operation->name, "allgather MOD 4 64M");
  EXPECT_EQ(text_of(operation->groups), "0,4 1,5 2,6 3,7");
  const auto of_colour = parse_operation("allreduce MOD 4", 8, nullptr);
  ASSERT_TRUE(of_colour);
  EXPECT_FALSE(of_colour->bytes);
  const auto rooted = parse_operation("broadcast [[0, 1], [2, 3]] 1K root=1", 8, nullptr);
  ASSERT_TRUE(rooted);
  EXPECT_EQ(rooted->root, 1);
  EXPECT_EQ(rooted->bytes, 1024);
  EXPECT_EQ(text_of(rooted->groups), "0,1 2,3");
}

TEST(ParseOperation, RefusesWhatIsNone) {
  for (const char* line : {"", "allgather", "gatherall MOD 4", "broadcast MOD 4 root=x",
                           "broadcast MOD 4", "allgather MOD 4 root=0", "allgather MOD 4 0"}) {
    EXPECT_EQ(code_of(parse_operation(line, 8, nullptr)), "O07") << line;
  }
  EXPECT_EQ(code_of(parse_operation("allgather tp 64M", 8, nullptr)), "O02");
  EXPECT_EQ(code_of(parse_operation("allgather [[0,8]]", 8, nullptr)), "O03");
  EXPECT_EQ(code_of(parse_operation("allgather [[0,99999999999]]", 8, nullptr)), "O03");
  EXPECT_EQ(code_of(parse_operation("allgather [[0,1,0]]", 8, nullptr)), "O04");
  EXPECT_EQ(code_of(parse_operation("allgather [[0,1],[1,2]]", 8, nullptr)), "O04");
  EXPECT_EQ(code_of(parse_operation("allgather [[0,1],[]]", 8, nullptr)), "O05");
  EXPECT_EQ(code_of(parse_operation("allgather []", 8, nullptr)), "O05");
  EXPECT_EQ(code_of(parse_operation("allgather MOD 8", 8, nullptr)), "O05");
  EXPECT_EQ(code_of(parse_operation("broadcast MOD 4 root=2", 8, nullptr)), "O07");
}

// What begins as a number is no axis, and no list of ranks goes on in it.
TEST(ParseOperation, SaysWhichBytesItCannotRead) {
  const auto mesh = parse_mesh("tp=4,dp=2", MeshOrder::megatron, 8);
  ASSERT_TRUE(mesh);
  for (const std::string bytes : {"-64M", "1.5M", "64X", "+1", "0x40"}) {
    const auto operation = parse_operation("allgather tp " + bytes, 8, &*mesh);
    ASSERT_FALSE(operation) << bytes;
    EXPECT_EQ(operation.errors().front().message,
              "expected bytes, found \"" + bytes + "\", of \"allgather tp " + bytes + "\"");
    EXPECT_EQ(operation.errors().front().code, Code::O07);
  }
  EXPECT_EQ(code_of(parse_operation("allgather tp foo", 8, &*mesh)), "O06");
  EXPECT_TRUE(parse_operation("allgather tp-dp", 8, &*mesh));
  EXPECT_TRUE(parse_operation("allgather [[0, 1], [2, 3]]", 8, &*mesh));
}

}  // namespace
}  // namespace forestcoll::testing
