// Tables of text: columns that are aligned, and cells that are quoted.
#include "common/report/table.hpp"

#include <gtest/gtest.h>

namespace forestcoll::testing {
namespace {

using cli::Table;

TEST(Table, NamesGoToTheLeftAndFiguresToTheRight) {
  const Table table{{"name", "GB/s", "where"}, {{"a", "12.5", "x -> y"}, {"longer", "3", "-"}}};
  EXPECT_EQ(cli::aligned(table, 1, 1),
            "name    GB/s  where\n"
            "a       12.5  x -> y\n"
            "longer     3  -\n");
}

TEST(Table, LinesHaveNoSpacesAtTheirEnds) {
  const Table table{{"a", "b"}, {{"1", ""}, {"", ""}}};
  EXPECT_EQ(cli::aligned(table, 0, 1), "a  b\n1\n\n");
}

TEST(Table, ColumnsAreAsWideAsTheHeadWithoutRows) {
  EXPECT_EQ(cli::aligned({{"fabric", "cost"}}, 0, 0), "fabric  cost\n");
}

TEST(Table, CellsAreQuotedWhereTheyMust) {
  const Table table{{"wiring", "says"}, {{"torus(8,8)", "\"no\""}, {"plain", "two\nlines"}}};
  EXPECT_EQ(cli::to_csv(table, "\r\n"),
            "wiring,says\r\n"
            "\"torus(8,8)\",\"\"\"no\"\"\"\r\n"
            "plain,\"two\nlines\"\r\n");
}

}  // namespace
}  // namespace forestcoll::testing
