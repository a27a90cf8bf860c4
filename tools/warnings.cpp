#include "warnings.hpp"

#include <fmt/format.h>

#include "report.hpp"

namespace forestcoll::cli {

void warn_of_root(const std::string& root, const Console& console) {
  print({Diagnostic{.code = "W10",
                    .severity = Severity::warning,
                    .kind = ErrorKind::input,
                    .file = "",
                    .where = "",
                    .message = fmt::format("the schedule is for {}, and no runtime checks that: a "
                                           "call with another root gets wrong data",
                                           root),
                    .remedy = "load it only where every call has this root"}},
        console);
}

void warn_of_routes(const CollectiveForest& forest, const Verdict& verdict,
                    const Console& console) {
  if (!verdict.algbw || *verdict.algbw >= forest.algbw) return;
  print({Diagnostic{.code = "W11",
                    .severity = Severity::warning,
                    .kind = ErrorKind::input,
                    .file = "",
                    .where = "",
                    .message = fmt::format("a schedule names no routes: by the fewest hops it "
                                           "reaches {} GB/s, not {}",
                                           number(*verdict.algbw), number(forest.algbw)),
                    .remedy = "route as the paths of --format forest say"}},
        console);
}

std::string condition_lines(const Verdict& verdict) {
  std::string text;
  for (const std::string& condition : verdict.conditions) {
    text += fmt::format("  only if {}\n", condition);
  }
  return text;
}

}  // namespace forestcoll::cli
