// The same tables and sentences in several forms. Columns: what is said once of an algorithm, and
// its time for every size.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/report/lengths_report.hpp"
#include "common/report/table.hpp"
#include "compare/tables/write.hpp"
#include "compare/words.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kCsvColumns = 18;

// Sizes have rows of the time table, so that it stays as narrow as there are algorithms.
std::vector<const ComparedRow*> timed(const Comparison& comparison, Simulated kind) {
  std::vector<const ComparedRow*> rows;
  for (const ComparedRow& row : comparison.rows) {
    if (!times_of(row, kind).empty()) rows.push_back(&row);
  }
  return rows;
}

std::string program_cell(const ComparedRow& row) {
  if (row.program) {
    return fmt::format("{}/{}/{}", row.program->threadblocks, row.program->channels,
                       row.program->steps);
  }
  return std::string(row.program_error ? name_of(row.program_error->code) : "-");
}

constexpr const char* kLegend =
    "height, mean: hops of the highest tree and of all on average; k: trees per root; tb/ch/steps: "
    "threadblocks and channels of a GPU, steps of a threadblock; algorithms: docs/comparisons.md";

// What `synth` writes for the default target, what the fabric allows at best, which rows are parts
// of, and by trees over GPUs and by two phases in turn, where these are less.
std::vector<TableRow> optimum_lines(const Comparison& comparison, std::size_t columns) {
  const auto line = [&](const char* name, const Ratio& algbw) -> TableRow {
    return {name, number(algbw), percent(algbw, comparison.optimum),
            number(comparison.optimum_busbw.to_double() * share(algbw, comparison.optimum))};
  };
  const RateFigures& rates = comparison.figures.rates;
  std::vector<TableRow> lines;
  if (comparison.figures.reached) {
    lines.push_back(line(reached_name(comparison.target).c_str(), *comparison.figures.reached));
  }
  Ratio said = comparison.optimum;
  lines.push_back(line(optimum_name(comparison).c_str(), said));
  if (rates.by_trees && rates.by_trees->at_most != said) {
    said = rates.by_trees->at_most;
    lines.push_back(line(kByTreesName, said));
  }
  const AllreduceFigures* known = comparison.allreduce();
  if (known != nullptr && known->two_phases && *known->two_phases != said) {
    lines.push_back(line(kTwoPhasesName, *known->two_phases));
  }
  for (TableRow& each : lines) each.resize(columns);
  return lines;
}

// A limit where its links take more of it than of any link.
std::string busiest_cell(const ComparedRow& row, const Fabric& fabric) {
  constexpr double kNoMore = 1 + 1e-9;
  if (!row.busiest) return "-";
  if (row.busiest_limit && row.busiest_limit->busy > row.busiest->busy * kNoMore) {
    return limit_name(fabric.topology, fabric.links(), row.busiest_limit->limit);
  }
  return fmt::format("{} -> {}", row.busiest->src, row.busiest->dst);
}

// With the time that each schedule took to make, which differs from run to run, before the last
// column where it is asked for.
Table rate_table(const Comparison& comparison, bool seconds) {
  Table table{{"algorithm", "algbw GB/s", fraction_title(comparison), "busbw GB/s", "height",
               "mean", "k", "trees", "tb/ch/steps", "busiest link"}};
  table.rows = optimum_lines(comparison, table.head.size());
  for (const ComparedRow& row : comparison.rows) {
    if (row.error) continue;
    const bool trees = row.shape.has_value();
    const std::string parts = parts_in_words(row);
    table.rows.push_back({row.algorithm, number(row.algbw), fraction_in_words(row, comparison),
                          number(row.busbw.to_double()),
                          trees ? std::to_string(row.shape->highest) : "-",
                          trees ? number(row.shape->mean_height) : "-", parts.empty() ? "-" : parts,
                          trees ? std::to_string(row.shape->trees) : "-", program_cell(row),
                          busiest_cell(row, *comparison.fabric)});
    if (seconds) {
      table.rows.back().insert(table.rows.back().end() - 1,
                               row.seconds ? duration_in_words(*row.seconds) : "-");
    }
  }
  if (!seconds) return table;
  table.head.insert(table.head.end() - 1, "made in");
  for (TableRow& line : table.rows) line.resize(table.head.size());
  return table;
}

Table measured_table(const MeasuredRun& run) {
  Table table{
      {"size", run.origin.text.empty() ? "measured GB/s" : "run GB/s", "model GB/s", "achieved"}};
  for (const MeasuredTime& time : run.times) {
    const bool both = time.modelled.has_value();
    table.rows.push_back(
        {rounded_size_in_words(time.measured.bytes), short_number(time.measured.algbw),
         both ? short_number(*time.modelled) : "-",
         time.wrong ? "wrong results"
         : both     ? fmt::format("{:.1f} %", time.measured.algbw / *time.modelled * 100)
                    : "-"});
  }
  return table;
}

std::string measured_heading(const Comparison& comparison, const MeasuredRun& run) {
  return fmt::format("{}: {}, {}, beside {}, {} ({})", in_words(run.origin), run.file,
                     run.placement, run.algorithm,
                     in_words(find_row(comparison, run.algorithm)->simulated), "simulated");
}

// What the tables leave out, and why; once of all algorithms of which the same is said.
std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::pair<std::string, std::string>> said;  // of whom, and what
  const auto add = [&said](const std::string& who, const std::string& what) {
    const auto same =
        std::ranges::find(said, one_line(what), &std::pair<std::string, std::string>::second);
    if (same != said.end()) {
      same->first += ", " + who;
    } else {
      said.emplace_back(who, one_line(what));
    }
  };
  for (const RefusedSize& size : comparison.refused_sizes) {
    add(fmt::format("size \"{}\"", size.text), why(size.error));
  }
  for (const ComparedRow& row : comparison.rows) {
    if (row.error) add(row.algorithm, why(*row.error));
    if (!row.error && row.times_error) {
      add(row.algorithm, "not simulated: " + why(*row.times_error));
    }
    if (row.program_error) {
      add(row.algorithm,
          fmt::format("no program for {}: {}", comparison.target, why(*row.program_error)));
    }
    if (row.program_times_error && !row.program_error) {
      add(row.algorithm, "not simulated as a program: " + why(*row.program_times_error));
    }
    if (!row.note.empty()) add(row.algorithm, row.note);
  }
  std::vector<std::string> list;
  for (const auto& [who, what] : said) list.push_back(fmt::format("{}: {}", who, what));
  return list;
}

std::string heading(const Comparison& comparison) {
  return one_line(fmt::format("{}: {} over {}", comparison.fabric->topology.name,
                              comparison.collective_name,
                              counted(comparison.fabric->topology.ranks.size(), "GPU")));
}

std::string model_line(const Comparison& comparison, Simulated kind) {
  return fmt::format("Simulated times of {}; GPU parameters: {} ({})", in_words(kind),
                     comparison.gpu, comparison.gpu_chosen);
}

// The times of one kind, and which cell of each size is the fastest.
struct TimeTable {
  std::string says;
  Table table;
  std::vector<std::vector<bool>> best;
};

struct TitledTable {
  std::string title;
  Table table;
};

// All that a report says, before it has a form.
struct Report {
  std::string heading;
  Table rates;
  std::string optimum, bottleneck;  // the first may be empty
  std::vector<TimeTable> times;
  std::vector<TitledTable> measured;
  std::vector<std::string> remarks, sentences;
};

TimeTable time_table(const Comparison& comparison, Simulated kind, const char* micro) {
  const auto rows = timed(comparison, kind);
  TimeTable times{model_line(comparison, kind), {{"size"}}, {}};
  for (const ComparedRow* row : rows) times.table.head.push_back(row->algorithm);
  for (std::size_t i = 0; i < comparison.sizes.size(); ++i) {
    const auto seconds = [&](const ComparedRow* row) { return times_of(*row, kind)[i].seconds; };
    const double least = seconds(*std::ranges::min_element(rows, {}, seconds));
    TableRow line = {rounded_size_in_words(static_cast<double>(comparison.sizes[i]))};
    std::vector<bool> best = {false};
    for (const ComparedRow* row : rows) {
      line.push_back(duration_in_words(seconds(row), micro));
      best.push_back(seconds(row) == least);
    }
    times.table.rows.push_back(std::move(line));
    times.best.push_back(std::move(best));
  }
  return times;
}

// `micro` stands for the u of microseconds.
Report report_of(const Comparison& comparison, bool seconds, const char* micro) {
  Report report{.heading = heading(comparison),
                .rates = rate_table(comparison, seconds),
                .optimum = optimum_in_words(comparison),
                .bottleneck = bottleneck_in_words(comparison),
                .times = {},
                .measured = {},
                .remarks = remarks(comparison),
                .sentences = who_wins(comparison)};
  for (const Simulated kind : kSimulatedKinds) {
    if (!timed(comparison, kind).empty()) {
      report.times.push_back(time_table(comparison, kind, micro));
    }
  }
  for (const MeasuredRun& run : comparison.measured) {
    report.measured.push_back({measured_heading(comparison, run), measured_table(run)});
  }
  return report;
}

// The table with `before` and `after` around the fastest of each size.
Table marked(TimeTable times, std::string_view before, std::string_view after) {
  for (std::size_t i = 0; i < times.best.size(); ++i) {
    for (std::size_t c = 0; c < times.best[i].size(); ++c) {
      std::string& cell = times.table.rows[i][c];
      if (times.best[i][c]) cell = fmt::format("{}{}{}", before, cell, after);
    }
  }
  return std::move(times.table);
}

std::string latex_cell(const std::string& cell) {
  std::string text;
  for (const char c : cell) {
    if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) {
      text += fmt::format("\\{}", c);
    } else if (c == '\\') {
      text += "\\textbackslash{}";
    } else if (c == '~' || c == '^') {
      text += fmt::format("\\{}{{}}", c);
    } else {
      text += c;
    }
  }
  return text;
}

// Cells in which nothing means anything else.
Table latex_cells(Table table) {
  for (std::string& cell : table.head) cell = latex_cell(cell);
  for (TableRow& row : table.rows) {
    for (std::string& cell : row) cell = latex_cell(cell);
  }
  return table;
}

// `said` stands below the figures, so that no document has them without it.
std::string latex(const Table& table, const std::string& said) {
  const auto write = [](const TableRow& row) {
    return fmt::format("  {} \\\\\n", fmt::join(row, " & "));
  };
  std::string text = fmt::format("\\begin{{tabular}}{{l{}}}\n  \\toprule\n",
                                 std::string(table.head.size() - 1, 'r'));
  text += write(table.head) + "  \\midrule\n";
  for (const TableRow& row : table.rows) text += write(row);
  return text + fmt::format(
                    "  \\bottomrule\n  \\multicolumn{{{}}}{{l}}{{\\footnotesize {}}} "
                    "\\\\\n\\end{{tabular}}\n",
                    table.head.size(), latex_cell(said));
}

}  // namespace

std::string markdown(const Table& table) {
  const auto write = [](const TableRow& row) {
    std::string text;
    for (std::string cell : row) {
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) {
        cell.insert(at, 1, '\\');
      }
      text += "| " + cell + " ";
    }
    return text + "|\n";
  };
  std::string text = write(table.head) + "|---";
  for (std::size_t c = 1; c < table.head.size(); ++c) text += "|---:";
  text += "|\n";
  for (const TableRow& row : table.rows) text += write(row);
  return text;
}

std::string latex_of_text(Table table, const std::string& said) {
  return latex(latex_cells(std::move(table)), said);
}

std::string to_terminal(const Comparison& comparison) {
  const Report report = report_of(comparison, true, "u");
  std::string text =
      fmt::format("{}\nRates and times are simulated: {}\n", report.heading, kModelNotMeasurement);
  text += aligned(report.rates, 1, 1) + kLegend + "\n";
  if (!report.optimum.empty()) text += report.optimum + "\n";
  text += "bottleneck: " + report.bottleneck + "\n";
  for (const TimeTable& times : report.times) {
    text += fmt::format("\n{}; * is the fastest\n{}", times.says,
                        aligned(marked(times, "*", ""), 1, 0));
  }
  for (const auto& [title, table] : report.measured) {
    text += fmt::format("\n{}\n{}", title, aligned(table, 1, 0));
  }
  if (!report.remarks.empty()) text += "\n";
  for (const std::string& remark : report.remarks) text += remark + "\n";
  text += "\n";
  for (const std::string& sentence : report.sentences) text += sentence + "\n";
  return text;
}

std::string to_markdown(const Comparison& comparison) {
  const Report report = report_of(comparison, false, "µ");
  std::string text = fmt::format("### {}\n\nRates and times are simulated: {}.\n\n{}\n",
                                 report.heading, kModelNotMeasurement, markdown(report.rates));
  text += fmt::format("{}.\n\n", kLegend);
  if (!report.optimum.empty()) text += report.optimum + "\n\n";
  text += fmt::format("Bottleneck: {}.\n\n", report.bottleneck);
  for (const TimeTable& times : report.times) {
    text += fmt::format("{}.\n\n{}\n", times.says, markdown(marked(times, "**", "**")));
  }
  for (const auto& [title, table] : report.measured) {
    text += fmt::format("{}.\n\n{}\n", title, markdown(table));
  }
  for (const std::string& remark : report.remarks) text += fmt::format("- {}\n", remark);
  if (!report.remarks.empty()) text += "\n";
  for (const std::string& sentence : report.sentences) text += sentence + "\n";
  return text;
}

std::string to_latex(const Comparison& comparison) {
  Report report = report_of(comparison, false, "u");
  std::string text = fmt::format("% {}; {}\n", report.heading, kModelNotMeasurement);
  report.rates.head.pop_back();  // links, which make it too wide
  for (TableRow& row : report.rates.rows) row.pop_back();
  text += latex_of_text(std::move(report.rates),
                        fmt::format("Rates are simulated: {}", kModelNotMeasurement));
  for (TimeTable& times : report.times) {
    times.table = latex_cells(std::move(times.table));
    text += "\n" + latex(marked(times, "\\textbf{", "}"), times.says);
  }
  for (const auto& [title, table] : report.measured) {
    text += "\n" + latex_of_text(table, title);
  }
  for (const std::string& remark : report.remarks) text += fmt::format("% {}\n", remark);
  for (const std::string& sentence : report.sentences) {
    text += fmt::format("\n{}\n", latex_cell(one_line(sentence)));
  }
  return text;
}

std::string to_csv(const Comparison& comparison) {
  Table table{{"topology", "collective", "algorithm", "origin", "error", "algbw_exact", "algbw",
               "busbw", "optimum_fraction", "height_max", "height_mean", "k", "trees", "bytes",
               "seconds", "algbw_at_size", "busbw_at_size", "simulated"}};
  const std::string& name = comparison.fabric->topology.name;
  const std::string& collective = comparison.collective_name;
  const auto plain = [](double value) { return fmt::format("{:.9g}", value); };
  const auto sized = [&](TableRow line, const SimulatedTime& time, const std::string& what) {
    line.push_back(fmt::format("{:.0f}", time.bytes));
    for (const double value : {time.seconds, time.algbw, time.busbw}) line.push_back(plain(value));
    line.push_back(what);
    table.rows.push_back(line);
  };
  for (const ComparedRow& row : comparison.rows) {
    TableRow line = {name, collective, row.algorithm, "model"};
    if (row.error) {
      line.push_back(why(*row.error));
      line.resize(kCsvColumns);
      table.rows.push_back(line);
      continue;
    }
    const bool trees = row.shape.has_value();
    for (const std::string& cell :
         {std::string(), row.algbw.to_string(), plain(row.algbw.to_double()),
          plain(row.busbw.to_double()), plain(row.optimum_fraction),
          trees ? std::to_string(row.shape->highest) : "",
          trees ? plain(row.shape->mean_height) : "", parts_in_words(row),
          trees ? std::to_string(row.shape->trees) : ""}) {
      line.push_back(cell);
    }
    for (const SimulatedTime& time : row.times) sized(line, time, simulated(row.simulated));
    for (const SimulatedTime& time : row.program_times) sized(line, time, "program");
    if (!row.times.empty() || !row.program_times.empty()) continue;
    line.resize(kCsvColumns);
    table.rows.push_back(line);
  }
  for (const MeasuredRun& run : comparison.measured) {
    TableRow line = {name, collective, run.algorithm,
                     run.origin.text.empty()
                         ? fmt::format("measured {}: {}", run.placement, run.file)
                         : fmt::format("{} {}: {}", in_words(run.origin), run.placement, run.file)};
    line.resize(kCsvColumns - 5);
    for (const MeasuredTime& time : run.times) {
      line[4] = time.wrong ? "wrong results" : "";
      sized(line, time.measured, "");
    }
  }
  return to_csv(table, "\n");
}

}  // namespace forestcoll::cli
