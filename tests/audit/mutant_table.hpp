// What became of the mutants, by the rule that was broken, for a test's output.
#pragma once

#include <fmt/format.h>

#include <iostream>
#include <map>
#include <string>

namespace audit_test {

class MutantTable {
 public:
  struct Row {
    int mutants = 0, misbehaving = 0, rejected = 0;
  };

  void add(const std::string& rule, bool misbehaves, bool rejected) {
    for (Row* row : {&rows_[rule], &all_}) {
      ++row->mutants;
      row->misbehaving += misbehaves ? 1 : 0;
      row->rejected += rejected ? 1 : 0;
    }
  }

  [[nodiscard]] const Row& all() const { return all_; }

  void print() const {
    std::cout << fmt::format("{:<52}{:>8}{:>12}{:>10}\n", "rule", "mutants", "misbehave",
                             "rejected");
    for (const auto& [rule, row] : rows_) print(rule, row);
    print("all", all_);
  }

 private:
  static void print(const std::string& rule, const Row& row) {
    std::cout << fmt::format("{:<52}{:>8}{:>12}{:>10}\n", rule, row.mutants, row.misbehaving,
                             row.rejected);
  }

  std::map<std::string, Row> rows_;
  Row all_;
};

}  // namespace audit_test
