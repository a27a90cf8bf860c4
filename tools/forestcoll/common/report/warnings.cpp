#include "common/report/warnings.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "common/report/report.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll::cli {
namespace {

void warn(Code code, std::string message, std::string remedy, const Console& console) {
  print({Diagnostic{.code = code,
                    .severity = Severity::warning,
                    .kind = ErrorKind::input,
                    .file = "",
                    .where = "",
                    .message = std::move(message),
                    .remedy = std::move(remedy)}},
        console);
}

}  // namespace

void warn_of_root(const std::string& root, const Console& console) {
  warn(Code::W10,
       fmt::format("the schedule is for {}, and no runtime checks that: a call with another root "
                   "gets wrong data",
                   root),
       "load it only where every call has this root", console);
}

void warn_of_routes(const CollectiveForest& forest, const Verdict& verdict,
                    const Console& console) {
  if (!verdict.algbw || *verdict.algbw >= forest.algbw) return;
  warn(Code::W11,
       fmt::format("a schedule names no routes: by the fewest hops it reaches {} GB/s, not {}",
                   number(*verdict.algbw), number(forest.algbw)),
       "route as the paths of --format forest say", console);
}

void warn_of_peers(const Compilation& made, const Console& console) {
  const Ratio& algbw = made.chosen.synthesis.forest.algbw;
  const auto& by_links = made.paths->algbw_by_links;
  const auto enough = checked_mul(algbw, Ratio(101, 100));
  if (!by_links || !enough || *by_links <= *enough) return;
  warn(Code::W11,
       fmt::format("a schedule names no routes: by the fewest hops it reaches {} GB/s, and paths "
                   "that name their links {}",
                   number(algbw), number(*by_links)),
       "route as the paths of --format flows say", console);
}

void warn_of_simple(Collective collective, const Console& console) {
  warn(Code::W13, why_it_hangs_in_simple(collective), "make it in LL", console);
}

void warn_of_ll128(const std::string& why, const Console& console) {
  warn(Code::W14, "LL128: " + why, "use Simple or LL", console);
}

void warn_of_counts(const Verdict& verdict, const TargetLimits& target, const Console& console) {
  const auto counts = target.selected_counts(verdict.collective, verdict.chunks, verdict.ranks);
  const bool in_parts =
      target.selected_elements(verdict.collective, verdict.chunks, verdict.ranks) != verdict.chunks;
  if (!in_parts || std::has_single_bit(static_cast<std::uint64_t>(verdict.ranks))) return;
  warn(Code::W15,
       fmt::format("{} selects the schedule for multiples of {} elements per rank only, so for no "
                   "power of two: it divides the count of one rank by all {} chunks",
                   target.name, counts, verdict.chunks),
       target.name == "rccl-5.7" ? "call it with such counts"
                                 : "call it with such counts, or name --target rccl-6.3 where RCCL "
                                   "is 6.3 or later",
       console);
}

void warn_of_lost_limits(std::size_t count, const Console& console) {
  warn(Code::I24,
       fmt::format("{} left out, as the format has no place for {}: rates of the result are those "
                   "of the links alone",
                   counted(count, "limit") + (count == 1 ? " is" : " are"),
                   count == 1 ? "it" : "them"),
       "--to topology and --to simgrid keep capacities that links share", console);
}

std::string condition_lines(const Verdict& verdict) {
  std::string text;
  for (const std::string& condition : verdict.conditions) {
    text += fmt::format("  only if {}\n", condition);
  }
  return text;
}

}  // namespace forestcoll::cli
