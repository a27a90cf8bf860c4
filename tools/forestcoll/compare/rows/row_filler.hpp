// What a row says of its schedule: rate, links, program and times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/rows/row_maker.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {

/// Fills in rows, each part from what is given. What fails stands in the row: in `error` where
/// nothing else can be said of it, else beside the part. Errors: E14 beyond 64 bits; N06 … N08;
/// those of `verify` and `prepare_simulation`.
class RowFiller {
 public:
  /// All outlive it. `optimum` is `Comparison::optimum`.
  RowFiller(const Fabric& fabric, const RowsRequest& request, const Ratio& optimum,
            const RowProgress& progress)
      : fabric_(fabric), request_(request), optimum_(optimum), progress_(progress) {}

  void set_rate(ComparedRow& row, const Ratio& algbw) const;
  void set_links(ComparedRow& row, const IdVector<ArcId, Ratio>& loads) const;
  void set_limits(ComparedRow& row) const;
  static void set_program_size(ComparedRow& row, const Verdict& verdict);
  [[nodiscard]] IdVector<ArcId, Ratio> loads_of(const Verdict& verdict) const;

  /// Shape, links, program and times, all from the trees of `row.forest`.
  void describe_forest(ComparedRow& row, const std::optional<IdVector<ArcId, Ratio>>& loads) const;
  /// A text is what the independent checker says that it is.
  void judge(ComparedRow& row, const std::string& text) const;

  void simulate(ComparedRow& row, const std::string& text) const;
  void simulate_program(ComparedRow& row, const std::string& xml) const;
  [[nodiscard]] Expected<std::vector<SimulatedTime>> times_at(
      const Simulator& simulator, const std::vector<std::int64_t>& sizes) const;

 private:
  [[nodiscard]] bool wants_program(const ComparedRow& row) const;
  void set_program(ComparedRow& row) const;
  [[nodiscard]] Expected<Verdict> verdict_on(const std::string& text,
                                             const std::string& file) const;
  void describe_file(ComparedRow& row, const Verdict& verdict, const std::string& text) const;

  const Fabric& fabric_;
  const RowsRequest& request_;
  const Ratio& optimum_;
  const RowProgress& progress_;
};

}  // namespace forestcoll::cli
