// `bound --html` of process groups: a page with a bar for each step, and the links by who uses
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

std::vector<std::string> two_operations(const std::string& page) {
  return {
      "bound",     topology("dgx-a100-x2"), "--mesh", "tp=8,dp=2", "--at-once", "allgather tp 64M",
      "--at-once", "allreduce dp 1G",       "--html", page};
}

TEST(BoundPage, HasABarForTheStepAndTheLinksByWhoUsesThem) {
  const Scratch scratch;
  const auto report = run_well(two_operations(scratch / "page.html"));
  EXPECT_THAT(report.out, HasSubstr("at once: 25 GB/s of the largest, 42.95 ms"));
  const std::string page = read_file(scratch / "page.html");
  EXPECT_THAT(
      page,
      AllOf(HasSubstr("<h1>Collectives at once on 2x DGX A100</h1>"),
            HasSubstr(">42.95 ms; one after the other 43.13 ms<"),
            HasSubstr(">limited by 16 links of ib 25 GB/s, "), HasSubstr(", … (allreduce dp 1G)<"),
            HasSubstr("A allgather tp 64M: 0.456 %"), HasSubstr("<td>allreduce dp 1G</td>")));
  // The picture's legend: NVLinks carry the allgather alone, NICs the allreduce.
  EXPECT_THAT(page, AllOf(HasSubstr(">A allgather tp 64M 300 GB/s"),
                          HasSubstr(">B allreduce dp 1G "), Not(HasSubstr("Not drawn"))));
  EXPECT_THAT(report.out, HasSubstr("\nmore without taking from the others: allgather"));
  EXPECT_THAT(page, HasSubstr("<li>More without taking from the others: allgather"));
  const std::size_t body = page.find("<body>"), end = page.find("</html>");
  pugi::xml_document parsed;
  EXPECT_TRUE(parsed.load_string(page.substr(body, end - body).c_str(), pugi::parse_full));
  EXPECT_EQ(run_well(two_operations(scratch / "again.html")).out, report.out);
  EXPECT_EQ(read_file(scratch / "again.html"), page);
}

TEST(BoundPage, OfSeveralStepsAndWithoutBytes) {
  const Scratch scratch;
  const std::string page = scratch / "page.html";
  run_well({"bound", topology("torus-4x4"), "--groups", "DIV 4", "--relays", "--html", page});
  EXPECT_THAT(read_file(page), AllOf(HasSubstr("for a gigabyte each"), HasSubstr("<h2>allgather"),
                                     HasSubstr("<h2>allreduce"), HasSubstr(">2.667 GB/s<")));
}

TEST(BoundPage, NamesThePriceOfAFailure) {
  const Scratch scratch;
  auto command = two_operations(scratch / "page.html");
  command.insert(command.end(), {"--drop", "box0/nic0", "--relays"});
  const std::string out = run_well(command).out;
  const std::size_t begin = out.find("before the failure: ");
  ASSERT_NE(begin, std::string::npos) << out;
  const std::string price = out.substr(begin + 1, out.find('\n', begin) - begin - 1);
  EXPECT_THAT(read_file(scratch / "page.html"), HasSubstr("<li>B" + price + ".</li>"));
}

TEST(BoundPage, IsRefusedInWords) {
  const Scratch scratch;
  expect_says(2, {"bound", topology("dgx-a100-x2"), "--html", scratch / "page.html"},
              "--html is of process groups at once");
  const std::string copy = scratch.write("fabric.json", read_file(topology("dgx-a100-x2")));
  expect_says(2, {"bound", copy, "--groups", "MOD 8", "--html", copy}, "[S04]");
  expect_says(4, {"bound", copy, "--groups", "MOD 8", "--html", scratch / "no/page.html"}, "page");
}

}  // namespace
}  // namespace forestcoll::testing
