// Whose figures a fabric is simulated with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

struct Chosen {
  std::string gpu, why;
};

// What `simulate` takes, after `compare` was seen to take the same.
Chosen chosen_for(const std::string& fabric) {
  const Scratch scratch;
  const std::string file = scratch.write("fabric.json", fabric);
  const std::string forest = scratch / "forest.json";
  run_well({"synth", file, "-c", "allgather", "--format", "forest", "-o", forest});
  const auto simulated = json_of({"simulate", forest, file, "--sizes", "1M", "--json"});
  const auto figures = simulated["parameters"];
  const auto compared = json_of({"compare", file, "--trees", "-c", "allgather", "--algorithms",
                                 "forestcoll", "--sizes", "1M", "--json"});
  EXPECT_EQ(compared["parameters"], figures);
  return {figures["name"], figures["chosen"]};
}

// Two GPUs on a switch, each with a link of so many GB/s.
std::string pair(const std::string& head, const std::string& kind = "nvlink", int bandwidth = 7) {
  return R"({"format": "forestcoll-topology", "version": 1, )" + head +
         R"("nodes": [{"id": "gpu[0-1]", "type": "compute"}, {"id": "sw", "type": "switch"}],
 "links": [{"src": "gpu[0-1]", "dst": "sw", "kind": ")" +
         kind + R"(", "bandwidth": )" + std::to_string(bandwidth) + "}]}";
}

TEST(GpuLong, IsNamedByTheFabric) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("name": "4x DGX H100",)", "h100"},
      {R"("name": "8xh200 box",)", "h200"},
      {R"("name": "GH200 superchips",)", "h200"},
      {R"("name": "rack of GB200 NVL72",)", "gb200"},
      {R"("name": "dgx-b200",)", "b200"},
      {R"("name": "MI300X platform",)", "mi300x"},
      {R"("name": "Frontier, MI250X",)", "mi250"},
      {R"("name": "x", "metadata": {"gpu0": "NVIDIA H100 80GB HBM3"},)", "h100"},
      {R"("name": "x", "description": "DGX-2 with 16 V100",)", "v100"}};
  for (const auto& [head, gpu] : cases) {
    const Chosen chosen = chosen_for(pair(head));
    EXPECT_EQ(chosen.gpu, gpu) << head;
    EXPECT_THAT(chosen.why, HasSubstr("named by the fabric")) << head;
  }
}

TEST(GpuLong, IsKnownByItsTemplatesOrItsLinks) {
  const std::string templates =
      R"({"format": "forestcoll-topology", "version": 1, "name": "x",
 "templates": {"dgx-h200": {"nodes": [{"id": "gpu[0-1]", "type": "compute"}],
   "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": 3}]}},
 "boxes": [{"id": "box", "template": "dgx-h200"}]})";
  EXPECT_EQ(chosen_for(templates).gpu, "h200");
  EXPECT_EQ(chosen_for(templates).why, "named by the fabric's templates");
  struct Case {
    std::string kind;
    int bandwidth;
    std::string gpu;
  };
  for (const Case& each :
       {Case{"nvlink", 150, "v100"}, Case{"nvlink", 300, "a100"}, Case{"nvlink", 450, "h100"},
        Case{"nvlink", 900, "b200"}, Case{"xgmi", 350, "mi250"}, Case{"xgmi", 448, "mi300x"}}) {
    const Chosen chosen = chosen_for(pair(R"("name": "x",)", each.kind, each.bandwidth));
    EXPECT_EQ(chosen.gpu, each.gpu) << each.bandwidth;
    EXPECT_EQ(chosen.why, "by the bandwidth of its links");
  }
}

TEST(GpuLong, IsAssumedWhereNothingOrTooMuchIsSaid) {
  EXPECT_EQ(chosen_for(pair(R"("name": "x",)")).gpu, "a100");
  EXPECT_THAT(chosen_for(pair(R"("name": "x",)")).why,
              HasSubstr("assumed: the fabric names no GPU"));
  const Chosen two = chosen_for(pair(R"("name": "A100 and H100",)", "nvlink", 450));
  EXPECT_EQ(two.gpu, "a100");
  EXPECT_THAT(two.why, HasSubstr("names a100 and h100"));
  EXPECT_EQ(chosen_for(pair(R"("name": "RTX A1000, GA100",)")).gpu, "a100");
  EXPECT_THAT(chosen_for(pair(R"("name": "RTX A1000, GA100",)")).why, HasSubstr("assumed"));
}

TEST(GpuLong, OfGeneratedRacksIsTheirs) {
  const Scratch scratch;
  for (const auto& [name, gpu] :
       std::vector<std::pair<std::string, std::string>>{{"gb200-nvl72", "gb200"},
                                                        {"dgx-b200", "b200"},
                                                        {"mi300x", "mi300x"},
                                                        {"mi250", "mi250"},
                                                        {"dgx-2", "v100"},
                                                        {"dgx-h100", "h100"}}) {
    const std::string file = scratch / name;
    ASSERT_EQ(run({"topo", "gen", name, "--boxes", "1", "-o", file}).code, 0);
    const auto compared = json_of({"compare", file, "--trees", "-c", "allgather", "--algorithms",
                                   "forestcoll", "--sizes", "1M", "--json"});
    EXPECT_EQ(compared["parameters"]["name"], gpu);
  }
}

// XML names no routes: by its links alone it would seem slower than RCCL's rings.
TEST(GpuLong, ScheduleBelowTheRingsByLinksSaysWhatTheModelSays) {
  const Scratch scratch;
  const std::string file = scratch / "a.xml";
  const std::string report = scratch / "report.json";
  const auto synth =
      run_well({"synth", "-v", "-k", "1", topology("mi250-x1"), "-o", file, "--json"});
  const auto summary = Json::parse(synth.out);
  expect_valid(summary, "forestcoll-synth.schema.json");
  const auto beside = summary["beside_rings"];
  ASSERT_TRUE(beside.is_object()) << synth.err;
  EXPECT_EQ(beside["rings_algbw"]["exact"], "160");
  EXPECT_EQ(beside["algbw"], summary["routed_algbw"]);
  EXPECT_LT(beside["algbw"]["value"].get<double>(), 160);
  EXPECT_THAT(synth.err, HasSubstr("  below nccl-ring on the links, "));
  EXPECT_THAT(synth.err, HasSubstr("RCCL's rings for a box of eight MI250 modules"));
  const bool faster =
      beside["simulated_seconds"].get<double>() < beside["rings_simulated_seconds"].get<double>();
  EXPECT_THAT(synth.err, HasSubstr(faster ? "ahead all the same" : "behind as well"));
  EXPECT_THAT(synth.err, HasSubstr("model, not measurement"));
  // And where links decide, nothing is said.
  EXPECT_EQ(run({"synth", topology("dgx-a100-x2"), "--format", "none"}).err.find("below nccl-ring"),
            std::string::npos);
  const auto compared = run_well({"compare", topology("mi250-x1"), "--trees", "--algorithms",
                                  "nccl-ring", "--schedule", file, "--sizes", "1G"});
  EXPECT_EQ(compared.out.find("has a lower rate by the links than nccl-ring") != std::string::npos,
            faster)
      << compared.out;
}

}  // namespace
}  // namespace forestcoll::testing
