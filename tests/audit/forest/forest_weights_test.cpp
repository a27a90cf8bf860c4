// Forests of unequal shares before the checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "support/explain.hpp"

namespace forestcoll {
namespace {

using ::testing::HasSubstr;

// Two GPUs with a link between them; gpu0 owns 2 of 3 units.
const std::string kTwoGpus =
    R"({"format":"forestcoll-topology","version":1,"nodes":[
        {"id":"gpu0","type":"compute","weight":2},{"id":"gpu1","type":"compute","weight":1}],
        "links":[{"src":"gpu0","dst":"gpu1","bandwidth":10}]})";

std::string forest(const std::string& weights, int first, int second, const std::string& algbw) {
  const auto tree = [](const std::string& from, const std::string& to, int multiplicity) {
    return R"({"root":")" + from + R"(","multiplicity":)" + std::to_string(multiplicity) +
           R"(,"height":1,"edges":[{"src":")" + from + R"(","dst":")" + to + R"(","path":[")" +
           from + R"(",")" + to + R"("]}]})";
  };
  return R"({"format":"forestcoll-forest","version":1,"topology":"","collective":"allgather",)"
         R"("k":1,"algbw":{"exact":")" +
         algbw + R"(","value":1},"optimum":{"exact":")" + algbw + R"(","value":1},)" +
         R"("ranks":["gpu0","gpu1"],)" + weights + R"("trees":[)" + tree("gpu0", "gpu1", first) +
         "," + tree("gpu1", "gpu0", second) + "]}";
}

std::string verdict_on_weights(const std::string& text, bool with_topology = true) {
  const auto topology = parse_topology(kTwoGpus, "t.json");
  return test::explain(text, with_topology ? &topology->topology : nullptr);
}

TEST(ForestWeights, AForestOfUnequalSharesIsRight) {
  // The link carries 2 of 3 units one way: 10 GB/s · 3/2.
  EXPECT_EQ(verdict_on_weights(forest("\"weights\":[2,1],", 2, 1, "15")), "right");
  EXPECT_EQ(verdict_on_weights(forest("\"weights\":[2,1],", 2, 1, "15"), false), "right");
}

TEST(ForestWeights, EveryDepartureIsFound) {
  const struct {
    std::string text, says;
  } cases[] = {
      {forest("\"weights\":[2,1],", 1, 1, "15"), "k is 1, its weight 2"},
      {forest("\"weights\":[2,1],", 2, 2, "15"), "rooted at gpu1 have multiplicity 2 together"},
      {forest("\"weights\":[2,1],", 2, 1, "20"), "claims 20 GB/s; its trees reach 15"},
      {forest("\"weights\":[1,2],", 1, 2, "15"), "gpu0 owns 1 units of the data in the file and 2"},
      {forest("", 1, 1, "20"), "gpu0 owns 1 units of the data in the file and 2"},
      {forest("\"weights\":[2],", 2, 1, "15"), "expected one per rank, 2 in all, found 1"},
      {forest("\"weights\":[3,-1],", 2, 1, "15"), "gpu1 has -1"},
      {forest("\"weights\":[0,0],", 2, 1, "15"), "no rank owns anything"},
      {forest("\"weights\":[9000000000000000000,1],", 2, 1, "15"), "gpu0 has 9000000000000000000"},
      {forest("\"weights\":[\"2\",1],", 2, 1, "15"), "expected an integer, found"},
      {forest("\"weights\":2,", 2, 1, "15"), "expected an array, found"},
  };
  for (const auto& one : cases) EXPECT_THAT(verdict_on_weights(one.text), HasSubstr(one.says));
}

TEST(ForestWeights, DoNotBelongToARoot) {
  std::string text = forest("\"weights\":[1,0],", 1, 1, "10");
  text.replace(text.find("allgather"), 9, "broadcast");
  EXPECT_THAT(verdict_on_weights(text), HasSubstr("its root owns everything"));
}

}  // namespace
}  // namespace forestcoll
