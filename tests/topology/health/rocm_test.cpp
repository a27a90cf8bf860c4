// Dumps of `rocm-smi`: the matrix of link types, and counts of xGMI errors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "topology/health/health_testing.hpp"

namespace forestcoll::testing {
namespace {

std::string link_types(std::size_t gpus,
                       const std::set<std::pair<std::size_t, std::size_t>>& pcie) {
  std::string text = "=========================== Link Type between two GPUs =======\n      ";
  for (std::size_t i = 0; i < gpus; ++i) text += fmt::format(" GPU{}       ", i);
  for (std::size_t i = 0; i < gpus; ++i) {
    text += fmt::format("\nGPU{}  ", i);
    for (std::size_t j = 0; j < gpus; ++j) {
      const bool by_pcie = pcie.contains(std::minmax(i, j));
      text += i == j ? " 0   " : by_pcie ? " PCIE" : " XGMI";
    }
  }
  return text + "\n========== Numa Nodes ==========\nGPU[0]\t\t: (Topology) Numa Node: 0\n";
}

TEST(Health, XgmiThatIsMissing) {
  const Topology box = machine("mi300x");
  const auto report = report_of(box, link_types(8, {{1, 6}}));
  EXPECT_THAT(report.failures.drop, ElementsAre("gpu1~gpu6"));
  EXPECT_THAT(report.found, ElementsAre(HasSubstr("gpu1 and gpu6: xGMI is missing")));
  left_of(box, report);
  // On MI250 the matrix says XGMI of all; what the topology lacks is no loss.
  EXPECT_TRUE(report_of(machine("frontier"), link_types(8, {{0, 7}})).failures.empty());
  const auto errors =
      report_of(box,
                "GPU[2]\t\t: XGMI Error count: 1 (Single error detected since last read)\n"
                "GPU[7]\t\t: XGMI Error count: 0 (No errors detected since last read)\n");
  EXPECT_TRUE(errors.failures.empty());
  EXPECT_THAT(messages_of(errors.warnings), ElementsAre(HasSubstr("gpu2: rocm-smi counts xGMI")));
  EXPECT_THAT(
      error_of(box, link_types(8, {}) + "=== Link Type between two GPUs\nGPU0 GPU1\nGPU0 0\n"),
      HasSubstr("[I02]"));
}

TEST(Health, AMatrixOfLinkTypesIsWhole) {
  const Topology box = machine("mi300x");
  const std::string whole = link_types(8, {{1, 6}});
  const auto error_without = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t begin = text.find(from), end = text.find(to);
    return error_of(box, text.replace(begin, end - begin, "\n"));
  };
  EXPECT_THAT(error_without("\nGPU1  ", "\n====="),
              AllOf(HasSubstr("[I02]"), HasSubstr("found 1 of its 8 rows")));
  EXPECT_THAT(error_without("\nGPU0  ", "\n====="), HasSubstr("found 0 of its 8 rows"));
  EXPECT_THAT(error_without("       GPU0", "\n====="), HasSubstr("found 0 of its 0 rows"));
  EXPECT_THAT(error_of(box, whole + whole), HasSubstr("found a second matrix"));
  std::string twice = whole;
  twice.replace(twice.find("\nGPU1"), 5, "\nGPU0");
  EXPECT_THAT(error_of(box, twice), HasSubstr("found the row \"GPU0 "));
  // Where the two halves differ, one end is by PCIe.
  std::string half = whole;
  half.replace(half.find("PCIE"), 4, "XGMI");
  EXPECT_THAT(report_of(box, half).failures.drop, ElementsAre("gpu1~gpu6"));
}

}  // namespace
}  // namespace forestcoll::testing
