// What the simulator refuses, and with which words; parameters and sizes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "audit/plan/shared_builders.hpp"
#include "simulate/simulate_testing.hpp"

namespace audit_test {
namespace {

using forestcoll::parse_simulation_parameters;
using forestcoll::parse_sizes;
using nlohmann::json;
using ::testing::HasSubstr;

TEST(Sizes, RangesAndLists) {
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(*parse_sizes("1K:8K"), (Sizes{1024, 2048, 4096, 8192}));
  EXPECT_EQ(*parse_sizes("1K:20K:4"), (Sizes{1024, 4096, 16384}));
  EXPECT_EQ(*parse_sizes("3:3"), (Sizes{3}));
  EXPECT_EQ(*parse_sizes("1G,64k,1000,64K"), (Sizes{1000, 65536, 1 << 30}));
  EXPECT_EQ(parse_sizes("1K:4G")->size(), 23U);
  EXPECT_EQ(parse_sizes("1:1024T")->back(), std::int64_t{1} << 50);
}

TEST(Sizes, NonsenseIsRefusedInWords) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "found \"\""},
      {"0", "found \"0\""},
      {"0:4K", "found \"0\""},
      {"4G:1K", "begins with 4G, above its end 1K"},
      {"1K:4K:1", "a factor from 2 on, found \"1\""},
      {"1K:4K:", "a factor from 2 on, found \"\""},
      {"1K:2K:3:4", "FIRST:LAST"},
      {"1K:", "found \"\""},
      {"-1", "found \"-1\""},
      {"1.5M", "found \"1.5M\""},
      {"9999999T", "found \"9999999T\""},
      {"1025T", "found \"1025T\""},
      {"99999999999999999999", "found \"99999999999999999999\""},
      {"1K,,2K", "found \"\""},
      {"K", "found \"K\""},
      {"1Q", "found \"1Q\""}};
  for (const auto& [text, words] : cases) {
    const auto sizes = parse_sizes(text);
    ASSERT_FALSE(sizes) << text;
    EXPECT_EQ(sizes.errors()[0].code, Code::M01) << text;
    EXPECT_THAT(sizes.errors()[0].message, HasSubstr(words));
    EXPECT_FALSE(sizes.errors()[0].remedy.empty());
  }
  std::string many = "1";
  for (int i = 2; i < 1030; ++i) many += fmt::format(",{}", i);
  EXPECT_THAT(parse_sizes(many).errors()[0].message, HasSubstr("more than 1024"));
}

TEST(Parameters, EveryBuiltInGpuHasASource) {
  const auto names = forestcoll::simulation_gpus();
  ASSERT_GE(names.size(), 5U);
  EXPECT_EQ(names.front(), "a100");
  EXPECT_EQ(names.back(), "ideal");
  for (const std::string& name : names) {
    const auto found = forestcoll::find_simulation_parameters(name);
    ASSERT_TRUE(found) << name << ": " << to_string(found.errors()[0]);
    EXPECT_EQ(found->name, name);
    if (name == "ideal") continue;
    EXPECT_FALSE(found->source.empty());
    EXPECT_GT(found->simple.step_us, 0);
    EXPECT_GE(found->simple.network_message_us, found->simple.message_us);
    EXPECT_LE(found->simple.reduction_gbs, found->simple.threadblock_gbs);
  }
  const auto capitals = forestcoll::find_simulation_parameters("H100");
  ASSERT_TRUE(capitals);
  EXPECT_EQ(capitals->name, "h100");
  const auto unknown = forestcoll::find_simulation_parameters("a1000");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.errors()[0].code, Code::M03);
  EXPECT_THAT(unknown.errors()[0].remedy, HasSubstr("a100, "));
}

json some_parameters() {
  return {{"format", "forestcoll-simulation-parameters"},
          {"version", 1},
          {"name", "mine"},
          {"hop_us", 0.5},
          {"threadblocks", 64},
          {"protocols",
           {{"Simple", {{"step_us", 2}, {"threadblock_gbs", nullptr}, {"slots", 4}}},
            {"LL", {{"efficiency", 0.25}, {"reduction_gbs", 3.5}, {"pass_bytes", 1000}}}}}};
}

TEST(Parameters, AreReadByName) {
  const auto read = parse_simulation_parameters(some_parameters().dump(), "p.json");
  ASSERT_TRUE(read) << to_string(read.errors()[0]);
  EXPECT_EQ(read->name, "mine");
  EXPECT_EQ(read->hop_us, 0.5);
  EXPECT_EQ(read->threadblocks, 64);
  EXPECT_EQ(read->simple.step_us, 2);
  EXPECT_EQ(read->simple.slots, 4);
  EXPECT_TRUE(std::isinf(read->simple.threadblock_gbs));
  EXPECT_EQ(read->ll.efficiency, 0.25);
  EXPECT_EQ(read->ll.reduction_gbs, 3.5);
  EXPECT_EQ(read->ll.pass_bytes, 1000);
  EXPECT_EQ(read->ll.slots, 8);  // as without a file
  EXPECT_EQ(read->ll128.efficiency, 0.9375);
}

TEST(Parameters, MistakesAreNamedWithTheirPlace) {
  const auto expect_error = [](const std::string& text, const std::string& where,
                               const std::string& words) {
    const auto read = parse_simulation_parameters(text, "p.json");
    ASSERT_FALSE(read) << text;
    const auto& error = read.errors()[0];
    EXPECT_EQ(error.code, Code::M02);
    EXPECT_EQ(error.file, "p.json");
    EXPECT_EQ(error.where, where) << text;
    EXPECT_THAT(error.message, HasSubstr(words));
    EXPECT_FALSE(error.remedy.empty());
  };
  const auto with = [](const std::string& pointer, const json& value) {
    json parameters = some_parameters();
    parameters[json::json_pointer(pointer)] = value;
    return parameters.dump();
  };
  expect_error("{", "1:2", "not well-formed JSON");
  expect_error("[]", "", "expected an object, found []");
  expect_error(with("/format", "other"), "/format", "found \"other\"");
  expect_error(with("/version", 2), "/version", "expected 1, found 2");
  expect_error(with("/nmae", "x"), "/nmae", "an unknown key; there are format, hop_us");
  expect_error(with("/name", 3), "/name", "expected a text, found 3");
  expect_error(with("/hop_us", -1), "/hop_us", "found -1");
  expect_error(with("/hop_us", nullptr), "/hop_us", "found null");
  expect_error(with("/threadblocks", 0), "/threadblocks", "found 0");
  expect_error(with("/protocols", 1), "/protocols", "expected an object, found 1");
  expect_error(with("/protocols/simple", json::object()), "/protocols/simple", "an unknown key");
  expect_error(with("/protocols/LL", "x"), "/protocols/LL", "expected an object, found \"x\"");
  expect_error(with("/protocols/LL/efficiency", 1.5), "/protocols/LL/efficiency", "found 1.5");
  expect_error(with("/protocols/LL/efficiency", 0), "/protocols/LL/efficiency", "found 0");
  expect_error(with("/protocols/LL/threadblock_gbs", 0), "/protocols/LL/threadblock_gbs",
               "or null, found 0");
  expect_error(with("/protocols/LL/pass_bytes", 0.5), "/protocols/LL/pass_bytes", "found 0.5");
  expect_error(with("/protocols/LL/slots", 0), "/protocols/LL/slots", "from 1 to 1024, found 0");
  expect_error(with("/protocols/LL/slots", 1.5), "/protocols/LL/slots", "found 1.5");
  expect_error("{\"hop_us\": 1e999}", "", "a number that no computer holds");
  expect_error(std::string(2 << 20, ' '), "", "at most 1048576 are read");
}

std::string refusal(const std::string& schedule, const Topology& topology) {
  const auto simulator = forestcoll::prepare_simulation(schedule, "s.xml", topology);
  return simulator ? "accepted" : to_string(simulator.errors()[0]);
}

TEST(SimulateRefusals, AnotherNumberOfRanks) {
  const std::string xml = refusal(to_xml(ring_allgather(4, 1, true, true)), star_fabric(5));
  EXPECT_THAT(xml, HasSubstr("not for this topology: the schedule is for 4 GPUs, the topology has "
                             "5 [M04]"));
  EXPECT_THAT(xml, HasSubstr("give the topology that it was made for"));
  const auto forest = forest_json("allgather", 4, 1, rotated(star_parents(4), "s0")).dump();
  EXPECT_THAT(refusal(forest, star_fabric(5)), HasSubstr("the file has 4 ranks, the topology 5"));
  EXPECT_EQ(refusal(forest, star_fabric(4)), "accepted");
}

TEST(SimulateRefusals, WrongSchedulesPointAtVerify) {
  Algo algo = ring_allgather(4, 1, true, true);
  algo.gpus[2].tbs[0].steps[1].dstoff = 0;
  const std::string text = refusal(to_xml(algo), star_fabric(4));
  EXPECT_THAT(text, HasSubstr("not a right schedule: "));
  EXPECT_THAT(text, HasSubstr("[M04]"));
  EXPECT_THAT(text, HasSubstr("`verify()` says all that is wrong"));
  // Behind something that does not matter.
  EXPECT_THAT(refusal("<?xml version=\"1.0\"?>\n" + to_xml(algo), star_fabric(4)),
              HasSubstr("not a right schedule: "));
  json forest = forest_json("allgather", 4, 1, rotated(star_parents(4), "s0"));
  forest["trees"].erase(0);
  EXPECT_THAT(refusal(forest.dump(), star_fabric(4)), HasSubstr("[V23] [M04]"));
  EXPECT_THAT(refusal("neither", star_fabric(4)), HasSubstr("[V01]"));
}

TEST(SimulateRefusals, LimitsOfOneRuntimeDoNotMatter) {
  Algo algo = ring_allgather(4, 1, true, true);
  algo.coll = "allgather";
  std::string text = to_xml(algo);
  EXPECT_EQ(refusal("<?xml version=\"1.0\"?>\n" + text, star_fabric(4)), "accepted");
  // What only the research runtime calls so.
  Algo sums = ring_reduce_scatter(4, 1, true, true);
  text = to_xml(sums);
  text.replace(text.find("reducescatter"), 13, "reduce_scatter");
  EXPECT_EQ(refusal(text, star_fabric(4)), "accepted");
}

TEST(SimulateRefusals, RanksWithoutARoute) {
  // Data cannot go through a GPU.
  const std::string text = refusal(to_xml(direct_alltoall(3, 1)), row_fabric(3));
  EXPECT_THAT(text, HasSubstr("no route leads there through switches alone"));
  EXPECT_THAT(text, HasSubstr("[M04]"));
}

TEST(SimulateRefusals, SizesStopsAndBounds) {
  const auto simulator = forestcoll::prepare_simulation(to_xml(ring_allreduce(4, 1, 1, true)),
                                                        "ring.xml", star_fabric(4));
  ASSERT_TRUE(simulator);
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-5}}) {
    const auto refused = simulator->run({kMiB, size}, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.errors()[0].code, Code::M01);
  }
  SimulationOptions few;
  few.max_events = 20;
  const auto too_many = simulator->run({1, 2, 3, 4, 5}, {}, few);
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.errors()[0].code, Code::M06);
  EXPECT_EQ(too_many.errors()[0].kind, forestcoll::ErrorKind::limit);
  std::stop_source stop;
  stop.request_stop();
  SimulationOptions stopped;
  stopped.stop = stop.get_token();
  stopped.every_pass = true;
  const auto ended = simulator->run({std::int64_t{64} << 30}, {}, stopped);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.errors()[0].code, Code::R01);
}

TEST(SimulateThreads, DoNotChangeTheResult) {
  const auto simulator = forestcoll::prepare_simulation(to_xml(ring_allreduce(4, 1, 1, true)),
                                                        "ring.xml", star_fabric(4));
  ASSERT_TRUE(simulator);
  std::vector<std::vector<double>> seconds;
  std::vector<std::int64_t> events;
  for (const int threads : {1, 2, 7}) {
    SimulationOptions options;
    options.threads = threads;
    const auto run = simulator->run(*parse_sizes("1K:64G:2"), {}, options);
    ASSERT_TRUE(run);
    auto& list = seconds.emplace_back();
    for (const auto& time : run->times) list.push_back(time.seconds);
    events.push_back(run->events);
  }
  EXPECT_EQ(seconds[1], seconds[0]);
  EXPECT_EQ(seconds[2], seconds[0]);
  EXPECT_EQ(events, std::vector(3, events[0]));
}

TEST(SimulateProgress, RisesToTheEnd) {
  const auto simulator = forestcoll::prepare_simulation(to_xml(ring_allreduce(4, 1, 1, true)),
                                                        "ring.xml", star_fabric(4));
  ASSERT_TRUE(simulator);
  std::vector<double> seen;
  SimulationOptions options;
  options.progress = [&](double fraction) { seen.push_back(fraction); };
  ASSERT_TRUE(simulator->run({1, kMiB, std::int64_t{1} << 34}, {}, options));
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_GE(seen.front(), 0);
  EXPECT_NEAR(seen.back(), 1, 1e-9);
}

}  // namespace
}  // namespace audit_test
