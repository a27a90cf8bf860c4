#include "verify/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/report/finding_kinds.hpp"
#include "common/report/flags.hpp"
#include "common/report/warnings.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr int kNameWidth = 14;  // of targets in a table

// What NCCL takes in place of its own choice, and no schedule.
bool is_for_nccl(const Verdict& verdict) {
  return verdict.format.starts_with("nccl");
}

// "broadcast from rank 1 over 3 ranks"
std::string promise(const Verdict& verdict) {
  if (verdict.format == "nccl-graph") return "graphs for NCCL_GRAPH_FILE";
  if (is_for_nccl(verdict)) {
    return fmt::format("{} of {} for {}", counted(static_cast<std::size_t>(verdict.chunks), "row"),
                       verdict.format, verdict.collective_name);
  }
  std::string text = verdict.collective_name;
  if (verdict.root) {
    const bool gathers = verdict.collective == Collective::reduce;
    text += fmt::format(" {} rank {}", gathers ? "to" : "from", verdict.root->value);
  }
  text += fmt::format(" over {}", counted(static_cast<std::size_t>(verdict.ranks), "rank"));
  if (verdict.groups.empty()) return text;
  return text + fmt::format(" in {} at once", counted(verdict.groups.size(), "process group"));
}

std::string bits_line(const Verdict& verdict) {
  if (!verdict.same_bits) return {};
  if (!verdict.bit_difference) return "  bits: the same on every rank\n";
  return fmt::format("  bits: may differ: rank {} sums chunk {} in another order than rank {}\n",
                     verdict.bit_difference->rank.value, verdict.bit_difference->chunk,
                     verdict.bit_difference->first.value);
}

// An error of every kind, the first, and how many more there are.
std::string wrong_report(const Verdict& verdict, const std::string& file) {
  std::string text = text_of_kinds(verdict.findings);
  text += fmt::format("{}: invalid: {}", file, counted(verdict.finding_count, "error"));
  const std::size_t left = verdict.finding_count - verdict.findings.size();
  return text + (left > 0 ? fmt::format(", {} of them not read\n", left) : "\n");
}

Json link_json(const LinkLoad& link) {
  return {{"src", link.src},
          {"dst", link.dst},
          {"load", exact(link.load)},
          {"bandwidth", exact(link.bandwidth)}};
}

// How large the schedule is, as far as a file of its format, or what could be read of it, says.
void put_size(Json& report, const Verdict& verdict) {
  if (!verdict.collective_name.empty()) report["collective"] = verdict.collective_name;
  if (verdict.ranks > 0) report["compute_nodes"] = verdict.ranks;
  if (!verdict.groups.empty()) report["group_count"] = verdict.groups.size();
  if (verdict.chunks > 0) report[is_for_nccl(verdict) ? "row_count" : "chunks"] = verdict.chunks;
  if (verdict.threadblocks > 0) {
    report["threadblocks"] = verdict.threadblocks;
    report["channels"] = verdict.channels;
    report["threadblock_steps"] = verdict.steps;
  }
  if (!verdict.usable_counts.empty()) report["usable_counts"] = verdict.usable_counts;
}

// "for rccl-6, msccl: …" for each remedy of the targets that do not run the file.
std::string remedy_lines(const std::vector<JudgedTarget>& rows) {
  using Remedy = std::pair<std::string, std::string>;  // and its targets
  std::vector<Remedy> remedies;
  for (const JudgedTarget& row : rows) {
    if (row.verdict.ok) continue;
    const Diagnostic first = with_flags(row.verdict.findings.front());
    // A file that others run uses what this target does not have.
    const bool is_for_others = first.code == Code::V04 && best_of(rows).ok;
    const std::string text =
        is_for_others ? "make it with forestcoll synth --target NAME" : first.remedy;
    if (text.empty()) continue;
    const auto known = std::ranges::find(remedies, text, &Remedy::first);
    if (known == remedies.end()) {
      remedies.emplace_back(text, row.target);
    } else {
      known->second += ", " + row.target;
    }
  }
  std::string lines;
  for (const auto& [text, targets] : remedies) {
    lines += fmt::format("  for {}: {}\n", targets, text);
  }
  return lines;
}

}  // namespace

std::string verdict_in_words(const Verdict& verdict, const std::string& file) {
  if (!verdict.ok) return wrong_report(verdict, file);
  std::string text = fmt::format("{}: valid: {}\n", file, promise(verdict));
  if (is_for_nccl(verdict)) return text + fmt::format("  {}\n", verdict.outcome);
  if (verdict.threadblocks > 0) {
    text += fmt::format("  {}; per GPU at most {} of {}, {}\n",
                        counted(static_cast<std::size_t>(verdict.chunks), "chunk"),
                        counted(static_cast<std::size_t>(verdict.threadblocks), "threadblock"),
                        counted(static_cast<std::size_t>(verdict.steps), "step"),
                        counted(static_cast<std::size_t>(verdict.channels), "channel"));
  }
  if (verdict.threadblocks > 0 && !verdict.free_at_one_in_flight) text += deadlock_line();
  if (verdict.safe_bytes) {
    text += fmt::format(
        "  free of deadlock up to buffers of {} bytes, with the runtime's default buffers; larger "
        "ones, beyond its maxBytes, deadlock\n",
        *verdict.safe_bytes);
  }
  text += bits_line(verdict);
  if (!verdict.usable_counts.empty()) text += fmt::format("  {}\n", verdict.usable_counts);
  text += condition_lines(verdict);
  if (verdict.algbw)
    text += fmt::format("  algbw on the topology: {} GB/s\n", number(*verdict.algbw));
  if (verdict.binding_limit) {
    text +=
        fmt::format("  limited by what several links share: limit {}\n", *verdict.binding_limit);
  }
  if (verdict.busiest) {
    text += fmt::format("  busiest link: {} -> {} carries {} of the buffer at {} GB/s\n",
                        verdict.busiest->src, verdict.busiest->dst, number(verdict.busiest->load),
                        number(verdict.busiest->bandwidth));
  }
  return text;
}

Json verdict_json(const Verdict& verdict, const std::string& file, const Topology* topology,
                  bool loads) {
  Json findings = Json::array();
  for (const Diagnostic& finding : verdict.findings) findings.push_back(to_json(finding));
  Json report = {{"format", "forestcoll-verify"},
                 {"version", 2},
                 {"file", file},
                 {"ok", verdict.ok},
                 {"schedule", verdict.format},
                 {"outcome", verdict.outcome}};
  put_size(report, verdict);
  if (topology != nullptr) report["topology"] = topology->name;
  if (verdict.usable) report["usable"] = to_json(*verdict.usable);
  if (verdict.threadblocks > 0) report["free_at_one_in_flight"] = verdict.free_at_one_in_flight;
  if (verdict.safe_bytes) report["safe_bytes"] = *verdict.safe_bytes;
  if (!verdict.conditions.empty()) report["conditions"] = verdict.conditions;
  if (verdict.root) report["root_rank"] = verdict.root->value;
  if (verdict.same_bits) report["same_bits"] = *verdict.same_bits;
  if (verdict.bit_difference) {
    report["bit_difference"] = {{"rank", verdict.bit_difference->rank.value},
                                {"chunk", verdict.bit_difference->chunk}};
  }
  if (verdict.algbw) report["algbw"] = exact(*verdict.algbw);
  if (verdict.busiest) report["busiest_link"] = link_json(*verdict.busiest);
  if (verdict.binding_limit) report["binding_limit"] = *verdict.binding_limit;
  if (loads) {
    report["loads"] = Json::array();
    for (const LinkLoad& load : verdict.loads) report["loads"].push_back(link_json(load));
  }
  report["finding_count"] = verdict.finding_count;
  report["findings"] = std::move(findings);
  return report;
}

const Verdict& best_of(const std::vector<JudgedTarget>& rows) {
  const auto right =
      std::ranges::find_if(rows, [](const JudgedTarget& row) { return row.verdict.ok; });
  return (right == rows.end() ? rows.front() : *right).verdict;
}

std::string targets_table(const std::vector<JudgedTarget>& rows, const std::string& file) {
  std::string text = fmt::format("{}: {}\n", file, promise(best_of(rows)));
  const auto add = [&](const std::string& name, const std::string& line) {
    text += fmt::format("  {:<{}}{}\n", name, kNameWidth, line);
  };
  for (const JudgedTarget& row : rows) {
    add(row.target, row.verdict.outcome);
    if (row.verdict.ok) {
      add("", row.verdict.usable_counts);
      continue;
    }
    const Diagnostic first = with_flags(row.verdict.findings.front());
    const std::string where = first.where.empty() ? "" : first.where + ": ";
    add("", fmt::format("{}, such as {}{} [{}]", counted(row.verdict.finding_count, "error"), where,
                        first.message, name_of(first.code)));
  }
  return text + remedy_lines(rows);
}

Json targets_json(const std::vector<JudgedTarget>& rows, const std::string& file,
                  const Topology* topology) {
  Json report = {{"format", "forestcoll-verify-targets"}, {"version", 2}, {"file", file}};
  for (const JudgedTarget& row : rows) {
    Json verdict = verdict_json(row.verdict, file, topology);
    verdict["target"] = row.target;
    report["targets"].push_back(std::move(verdict));
  }
  return report;
}

}  // namespace forestcoll::cli
