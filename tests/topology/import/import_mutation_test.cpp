// Damaged dumps: whatever is done to them, importing ends, with errors in bounded words or with a
// document that a topology can be parsed from, or refused.
#include "fitting_options.hpp"
#include "import_testing.hpp"
#include "topology/damage.hpp"

namespace forestcoll::testing {
namespace {

const std::vector<std::string> kPieces = {"0",
                                          "-1",
                                          "9999999999999999999",
                                          "1e400",
                                          "[0-99999999]",
                                          "<",
                                          "</",
                                          ">",
                                          "\"",
                                          "{",
                                          "}",
                                          "\t",
                                          "\n",
                                          ",",
                                          "GPU0",
                                          "gpu",
                                          "1/3",
                                          "\xFF",
                                          "NV18",
                                          "0000:02:00.0"};

// What people give who have the file at hand.
ImportOptions some_options(Random& random) {
  ImportOptions options{.gpu = "h100", .nic_bandwidth = Ratio(25)};
  options.pcie_p2p = below(random, 2) == 0;
  options.split_nvswitch = below(random, 4) == 0;
  options.box_text = rccl_dump(2, full_mesh(2), "908");
  options.box_file = "box.xml";
  options.uplink_bandwidth = Ratio(50);
  if (below(random, 2) == 0) return options;
  static const std::vector<std::string> fabrics = {"rail", "single", "odd-even", "fat-tree:2:3"};
  options.boxes = 1 + below(random, 3);
  options.fabric = fabrics[below(random, fabrics.size())];
  return options;
}

// True where a topology came of it.
bool check_import(Source source, const std::string& text, const ImportOptions& options) {
  const auto imported = import_topology(source, text, "damaged", options);
  if (!imported) {
    EXPECT_FALSE(imported.errors().empty());
    EXPECT_EQ(imported.errors().front().severity, Severity::error);
    expect_remedies(imported.errors(), info_of(source).name.data());
    std::size_t length = 0;
    for (const Diagnostic& error : imported.errors()) {
      EXPECT_FALSE(error.message.empty());
      length += to_string(error).size();
    }
    EXPECT_LT(length, 200'000U);
    return false;
  }
  TopologyOptions limits;
  limits.max_nodes = 5'000;
  const auto parsed = parse_topology(to_topology_json(imported->document), "imported", limits);
  if (!parsed) return false;
  for (const TopologyLink& link : parsed->topology.links) EXPECT_GT(link.bandwidth, Ratio(0));
  return true;
}

TEST(ImportMutation, DamagedFilesAreRefusedInBoundedWordsOrRead) {
  std::size_t read = 0, refused = 0;
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_path("tests/fuzz/corpus/import"))) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 13U);
  for (const auto& path : files) {
    const std::string original = read_file(path);
    const auto source = detect_source(original);
    ASSERT_TRUE(source) << path;
    Random random(7);
    for (int round = 0; round < 120; ++round) {
      std::string text = original;
      for (std::size_t times = below(random, 4); times > 0; --times) damage(text, kPieces, random);
      ++(check_import(*source, text, fitting(*source, some_options(random))) ? read : refused);
    }
  }
  // Both happen often enough to mean something.
  EXPECT_GT(read, 150U);
  EXPECT_GT(refused, 300U);
}

TEST(ImportMutation, EveryReaderRefusesWhatIsNotItsOwn) {
  for (const SourceInfo& info : import_sources()) {
    for (const std::string text : {"x", "<a/>", "{}", "[1]", "{\"graph\":3}", "a: b", "1 2 3"}) {
      EXPECT_FALSE(check_import(info.source, text, fitting(info.source, {.gpu = "a100"})))
          << info.name << " " << text;
    }
  }
}

}  // namespace
}  // namespace forestcoll::testing
