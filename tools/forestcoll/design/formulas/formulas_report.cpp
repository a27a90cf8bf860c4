#include "design/formulas/formulas_report.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace forestcoll::cli {
namespace {

using VerdictCounts = std::map<FormulaVerdict, std::size_t>;

// Of one construction.
struct FormulaCounts {
  std::size_t wirings = 0;
  VerdictCounts steps, time;
};

std::map<std::string, FormulaCounts> counts_of(const FormulaStudy& study) {
  std::map<std::string, FormulaCounts> all;
  for (const FormulaCheck& check : study.checks) {
    FormulaCounts& of = all[check.construction];
    ++of.wirings;
    ++of.steps[check.of_steps];
    ++of.time[check.of_time];
  }
  return all;
}

bool differs(const FormulaCheck& check) {
  const auto as_said = [](FormulaVerdict verdict) {
    return verdict == FormulaVerdict::none || verdict == FormulaVerdict::equal;
  };
  return !as_said(check.of_steps) || !as_said(check.of_time);
}

constexpr FormulaVerdict kAllVerdicts[] = {FormulaVerdict::equal, FormulaVerdict::bound,
                                           FormulaVerdict::other, FormulaVerdict::impossible,
                                           FormulaVerdict::none};

Json counts_json(const VerdictCounts& counts) {
  Json json = Json::object();
  for (const FormulaVerdict verdict : kAllVerdicts) {
    const auto found = counts.find(verdict);
    json[std::string(to_string(verdict))] = found == counts.end() ? 0 : found->second;
  }
  return json;
}

Json check_json(const FormulaCheck& check) {
  Json published = Json::object();
  if (check.published.steps) published["steps"] = *check.published.steps;
  if (check.published.bfb) published["bfb"] = exact(*check.published.bfb);
  return {{"wiring", check.expression},
          {"construction", check.construction},
          {"nodes", check.nodes},
          {"published", std::move(published)},
          {"steps", check.steps},
          {"bfb", exact(check.bfb)},
          {"allgather", exact(check.allgather)},
          {"of_steps", to_string(check.of_steps)},
          {"of_time", to_string(check.of_time)}};
}

}  // namespace

std::string table_of(const FormulaStudy& study) {
  std::string text =
      fmt::format("up to {} of {}: formulas of {}\n", counted(study.nodes, "node"),
                  counted(study.ports, "port"), counted(study.checks.size(), "wiring"));
  text += fmt::format("{:<16}{:>8}{:>28}{:>34}\n", "", "", "steps", "time of BFB");
  text +=
      fmt::format("{:<16}{:>8}{:>8}{:>8}{:>12}{:>10}{:>8}{:>8}{:>12}\n", "construction", "wirings",
                  "equal", "bound", "impossible", "equal", "bound", "other", "impossible");
  for (auto& [construction, counts] : counts_of(study)) {
    VerdictCounts steps = counts.steps, time = counts.time;
    text += fmt::format("{:<16}{:>8}{:>8}{:>8}{:>12}{:>10}{:>8}{:>8}{:>12}\n", construction,
                        counts.wirings, steps[FormulaVerdict::equal], steps[FormulaVerdict::bound],
                        steps[FormulaVerdict::impossible], time[FormulaVerdict::equal],
                        time[FormulaVerdict::bound], time[FormulaVerdict::other],
                        time[FormulaVerdict::impossible]);
  }
  return text +
         "equal: what is computed. bound: BFB takes less. other: BFB takes more, but not the "
         "optimal\nforest. impossible: no schedule takes so little, by the diameter or by a cut; "
         "the formula\nis wrong. `--json` and `--csv` list the wirings.\n";
}

Json to_json(const FormulaStudy& study) {
  Json constructions = Json::array(), differences = Json::array();
  for (const auto& [construction, counts] : counts_of(study)) {
    constructions.push_back({{"construction", construction},
                             {"wirings", counts.wirings},
                             {"steps", counts_json(counts.steps)},
                             {"time", counts_json(counts.time)}});
  }
  for (const FormulaCheck& check : study.checks) {
    if (differs(check)) differences.push_back(check_json(check));
  }
  return {{"format", "forestcoll-design-formulas"},
          {"version", 1},
          {"nodes", study.nodes},
          {"ports", study.ports},
          {"wirings", study.checks.size()},
          {"constructions", std::move(constructions)},
          {"differences", std::move(differences)}};
}

std::string to_csv(const FormulaStudy& study) {
  std::string text =
      "wiring,construction,nodes,published_steps,steps,of_steps,published_bfb,bfb,of_time,"
      "allgather\n";
  for (const FormulaCheck& check : study.checks) {
    text += fmt::format(
        "\"{}\",{},{},{},{},{},{},{},{},{}\n", check.expression, check.construction, check.nodes,
        check.published.steps ? std::to_string(*check.published.steps) : "", check.steps,
        to_string(check.of_steps), check.published.bfb ? check.published.bfb->to_string() : "",
        check.bfb.to_string(), to_string(check.of_time), check.allgather.to_string());
  }
  return text;
}

}  // namespace forestcoll::cli
