#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "compare/rows/program_rows.hpp"
#include "compare/tables/write.hpp"
#include "compare/words.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

// Times as near as this are no difference: it is what the simulation leaves open.
constexpr double kLevelWithin = 0.005;

using Rows = std::vector<const ComparedRow*>;

// What a user of NCCL would get: the choice among all that it has for this collective.
std::set<std::string> names_of_nccl(const Comparison& comparison) {
  if (comparison.alltoall) return {"nccl-pairwise", "nccl-pxn"};
  if (comparison.collective == Collective::allreduce) return {"nccl-ring", "double-tree", "nvls"};
  return {"nccl-ring"};
}

std::string nccl_in_words(const Comparison& comparison) {
  if (comparison.alltoall) return "the better of NCCL's orders, with PXN and without";
  return comparison.collective == Collective::allreduce ? "the best of NCCL's ring, tree and NVLS"
                                                        : "NCCL's rings";
}

const ComparedRow* best_of(const Rows& rows) {
  const auto best = std::ranges::max_element(
      rows, [](const auto* a, const auto* b) { return a->algbw < b->algbw; });
  return best == rows.end() ? nullptr : *best;
}

// "1.2 %"
std::string lead(double more, double less) {
  const double share = (more / less - 1) * 100;
  return share < 10 ? fmt::format("{:.1f} %", share) : fmt::format("{:.0f} %", share);
}

std::string heights(const ComparedRow& us, const ComparedRow& them) {
  if (!us.shape || !them.shape || us.shape->highest == them.shape->highest) return "";
  return fmt::format(" (trees of height {} against {})", us.shape->highest, them.shape->highest);
}

// "double-tree, the best of …," or "nccl-ring"
std::string introduce(const ComparedRow& row, const std::string& role) {
  return role.empty() ? row.algorithm : fmt::format("{}, {},", row.algorithm, role);
}

std::string rate_sentence(const ComparedRow& us, const ComparedRow& them, const std::string& role) {
  const double our_rate = us.algbw.to_double();
  const double their_rate = them.algbw.to_double();
  const std::string name = introduce(them, role);
  if (us.algbw == them.algbw) {
    return fmt::format("For large messages forestcoll is equal to {}: {} GB/s{}.",
                       role.empty() ? name : fmt::format("{}, {}", them.algorithm, role),
                       number(our_rate), heights(us, them));
  }
  if (us.algbw > them.algbw) {
    return fmt::format("For large messages forestcoll moves {} GB/s, {} more than the {} of {}{}.",
                       number(our_rate), lead(our_rate, their_rate), number(their_rate),
                       role.empty() ? name : fmt::format("{}, {}", them.algorithm, role),
                       heights(us, them));
  }
  return fmt::format("For large messages {} moves {} GB/s, {} more than forestcoll's {}.", name,
                     number(their_rate), lead(their_rate, our_rate), number(our_rate));
}

// Consecutive sizes with the same winner; none: level.
struct Stretch {
  const ComparedRow* winner = nullptr;
  std::size_t first = 0, last = 0;
  double lead = 1;  // the loser's time over the winner's, at most
};

std::vector<Stretch> stretches(const ComparedRow& us, const Rows& others, Simulated kind) {
  const auto& ours_by_size = times_of(us, kind);
  std::vector<Stretch> result;
  for (std::size_t i = 0; i < ours_by_size.size(); ++i) {
    const auto seconds = [&](const ComparedRow* row) { return times_of(*row, kind)[i].seconds; };
    const ComparedRow* them = *std::ranges::min_element(others, {}, seconds);
    const double ratio = seconds(them) / ours_by_size[i].seconds;
    const bool level = std::abs(ratio - 1) <= kLevelWithin;
    const ComparedRow* winner = level ? nullptr : ratio > 1 ? &us : them;
    if (result.empty() || result.back().winner != winner) result.push_back({winner, i, i, 1});
    result.back().last = i;
    result.back().lead = std::max({result.back().lead, ratio, 1 / ratio});
  }
  return result;
}

std::string where(const Stretch& stretch, const std::vector<SimulatedTime>& times) {
  const std::string first = rounded_size_in_words(times[stretch.first].bytes);
  const std::string last = rounded_size_in_words(times[stretch.last].bytes);
  if (stretch.first == 0 && stretch.last + 1 == times.size()) return "at all sizes";
  if (stretch.first == stretch.last) return "at " + first;
  if (stretch.first == 0) return "up to " + last;
  if (stretch.last + 1 == times.size()) return fmt::format("from {} on", first);
  return fmt::format("from {} to {}", first, last);
}

Rows timed(const Rows& rows, Simulated kind) {
  Rows result;
  std::ranges::copy_if(rows, std::back_inserter(result),
                       [&](const auto* row) { return !times_of(*row, kind).empty(); });
  return result;
}

std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const ComparedRow* row : rows) names.push_back(row->algorithm);
  return names;
}

std::string names_in_words(const Rows& rows) {
  return fmt::format("{}", fmt::join(names_of(rows), ", "));
}

// Those that would be in a comparison of this kind, were they simulated. A file that is a program
// has no trees to be missed.
Rows missing(const Rows& rows, Simulated kind) {
  Rows result;
  std::ranges::copy_if(rows, std::back_inserter(result), [&](const auto* row) {
    const bool has_kind = kind == Simulated::program || row->simulated == kind;
    return has_kind && times_of(*row, kind).empty();
  });
  return result;
}

// "the best of …" only where nobody of them is missing: nothing is known of those at a size.
std::string whom_in_words(const Rows& rows, const std::string& role, Simulated kind) {
  const Rows without = missing(rows, kind);
  if (without.empty()) return role;
  return fmt::format("{} (no times of {})", names_in_words(timed(rows, kind)),
                     names_in_words(without));
}

std::string size_sentence(const ComparedRow& us, const Rows& rows, const std::string& role,
                          Simulated kind) {
  std::vector<std::string> parts;
  for (const Stretch& stretch : stretches(us, timed(rows, kind), kind)) {
    const std::string place = where(stretch, times_of(us, kind));
    parts.push_back(stretch.winner == nullptr
                        ? fmt::format("equal {}", place)
                        : fmt::format("{} faster {} (by up to {})", stretch.winner->algorithm,
                                      place, lead(stretch.lead, 1)));
  }
  return fmt::format("By size, {}, compared with {}: {}.", in_words(kind),
                     whom_in_words(rows, role, kind), fmt::join(parts, ", "));
}

// A program whose links carry less than NCCL's, and which is faster all the same at the largest
// size: its rate alone would mislead.
std::optional<std::string> faster_than_its_rate(const ComparedRow& program, const Rows& nccl) {
  const ComparedRow* best = best_of(nccl);
  if (program.simulated != Simulated::program || program.times.empty() || best == nullptr ||
      !(program.algbw < best->algbw)) {
    return std::nullopt;
  }
  const auto& theirs = times_of(*best, Simulated::program);
  if (theirs.empty() || !(program.times.back().seconds < theirs.back().seconds)) {
    return std::nullopt;
  }
  return fmt::format(
      "{} has a lower rate by the links than {}, {} against {} GB/s, but is faster: {} against {} "
      "at {}, {}.",
      program.algorithm, best->algorithm, number(program.algbw.to_double()),
      number(best->algbw.to_double()), duration_in_words(program.times.back().seconds, "u"),
      duration_in_words(theirs.back().seconds, "u"), rounded_size_in_words(theirs.back().bytes),
      in_words(Simulated::program));
}

// What ours is compared with.
struct Rivals {
  Rows nccl, others;
};

Rivals rivals_of(const Comparison& comparison) {
  const auto nccl = names_of_nccl(comparison);
  Rivals rivals;
  for (const ComparedRow& row : comparison.rows) {
    // Ours by rate is ours, and selectors pick among the others.
    const bool is_ours = row.algorithm == kOurs || row.algorithm == kOursByRate;
    if (row.error || is_ours || is_selector(row.algorithm)) continue;
    (nccl.contains(row.algorithm) ? rivals.nccl : rivals.others).push_back(&row);
  }
  return rivals;
}

}  // namespace

std::vector<Win> wins(const Comparison& comparison) {
  std::vector<Win> all;
  const ComparedRow* us = find_row(comparison, kOurs);
  if (us == nullptr || us->error) return all;
  const Rivals rivals = rivals_of(comparison);
  for (const Simulated kind : kSimulatedKinds) {
    const auto& times = times_of(*us, kind);
    for (const Rows& rows : {timed(rivals.nccl, kind), timed(rivals.others, kind)}) {
      if (times.empty() || rows.empty()) continue;
      for (const Stretch& stretch : stretches(*us, rows, kind)) {
        all.push_back({.kind = kind,
                       .against = names_of(rows),
                       .min_bytes = static_cast<std::int64_t>(times[stretch.first].bytes),
                       .max_bytes = static_cast<std::int64_t>(times[stretch.last].bytes),
                       .algorithm = stretch.winner == nullptr ? "" : stretch.winner->algorithm,
                       .gain = stretch.lead - 1});
      }
    }
  }
  return all;
}

std::vector<std::string> who_wins(const Comparison& comparison) {
  const ComparedRow* us = find_row(comparison, kOurs);
  const std::string nccl_words = nccl_in_words(comparison);
  const auto [theirs, others] = rivals_of(comparison);
  std::vector<std::string> sentences;
  for (const ComparedRow* row : others) {
    if (auto sentence = faster_than_its_rate(*row, theirs)) {
      sentences.push_back(*std::move(sentence));
    }
  }
  if (us == nullptr || us->error) return sentences;
  const bool several = comparison.alltoall || comparison.collective == Collective::allreduce;
  if (const ComparedRow* best = best_of(theirs)) {
    sentences.push_back(rate_sentence(*us, *best, several ? nccl_words : ""));
  }
  if (const ComparedRow* best = best_of(others)) {
    sentences.push_back(rate_sentence(*us, *best, theirs.empty() ? "" : "the best of the others"));
  }
  for (const Simulated kind : kSimulatedKinds) {
    if (times_of(*us, kind).empty()) continue;
    for (const auto& [rows, role] :
         {std::pair(theirs, several ? nccl_words : std::string("NCCL's rings")),
          std::pair(others, std::string("the best of the others"))}) {
      if (!timed(rows, kind).empty()) {
        sentences.push_back(size_sentence(*us, rows, role, kind));
      }
    }
  }
  return sentences;
}

}  // namespace forestcoll::cli
