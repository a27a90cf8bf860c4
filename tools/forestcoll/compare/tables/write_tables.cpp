// The same cells in three kinds of table. Columns: what is said once of an algorithm, and its time
// for every size.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "compare/tables/winners.hpp"
#include "compare/tables/write.hpp"
#include "compare/words.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {
namespace {

using Line = std::vector<std::string>;

constexpr std::size_t kCsvColumns = 18;

struct Table {
  Line head;
  std::vector<Line> lines;
};

// Sizes have rows of the time table, so that it stays as narrow as there are algorithms.
std::vector<const ComparedRow*> timed(const Comparison& comparison, Simulated kind) {
  std::vector<const ComparedRow*> rows;
  for (const ComparedRow& row : comparison.rows) {
    if (!times_of(row, kind).empty()) rows.push_back(&row);
  }
  return rows;
}

// There is a table for each kind.
std::vector<Simulated> kinds(const Comparison& comparison) {
  std::vector<Simulated> result;
  for (const Simulated kind : kSimulatedKinds) {
    if (!timed(comparison, kind).empty()) result.push_back(kind);
  }
  return result;
}

std::string program_cell(const ComparedRow& row) {
  if (row.program) {
    return fmt::format("{}/{}/{}", row.program->threadblocks, row.program->channels,
                       row.program->steps);
  }
  return std::string(row.program_error ? name_of(row.program_error->code) : "-");
}

// What `synth` writes for the default target, what the fabric allows at best, which rows are parts
// of, and by trees over GPUs and by two phases in turn, where these are less.
std::vector<Line> optimum_lines(const Comparison& comparison, std::size_t columns) {
  const auto line = [&](const char* name, const Ratio& algbw) -> Line {
    return {name, number(algbw), percent(algbw, comparison.optimum),
            number(comparison.optimum_busbw.to_double() * share(algbw, comparison.optimum))};
  };
  const RateFigures& rates = comparison.figures.rates;
  std::vector<Line> lines;
  if (comparison.figures.reached) lines.push_back(line(kReachedName, *comparison.figures.reached));
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
  for (Line& each : lines) each.resize(columns);
  return lines;
}

// With the time that each schedule took to make, which differs from run to run, only for the
// terminal.
Table rate_table(const Comparison& comparison, bool seconds = false) {
  Table table{{"algorithm", "algbw GB/s", fraction_title(comparison), "busbw GB/s", "height",
               "mean", "k", "trees", "tb/ch/steps", "busiest link"},
              {}};
  table.lines = optimum_lines(comparison, table.head.size());
  for (const ComparedRow& row : comparison.rows) {
    if (row.error) continue;
    const bool trees = row.shape.has_value();
    const std::string parts = parts_in_words(row);
    table.lines.push_back(
        {row.algorithm, number(row.algbw), fraction_in_words(row, comparison),
         number(row.busbw.to_double()), trees ? std::to_string(row.shape->highest) : "-",
         trees ? number(row.shape->mean_height) : "-", parts.empty() ? "-" : parts,
         trees ? std::to_string(row.shape->trees) : "-", program_cell(row),
         row.busiest ? fmt::format("{} -> {}", row.busiest->src, row.busiest->dst) : "-"});
    if (seconds) {
      table.lines.back().insert(table.lines.back().end() - 1,
                                row.seconds ? duration_in_words(*row.seconds) : "-");
    }
  }
  if (!seconds) return table;
  table.head.insert(table.head.end() - 1, "made in");
  for (Line& line : table.lines) line.resize(table.head.size());
  return table;
}

// The fastest of a line is marked by `best`.
Table time_table(const Comparison& comparison, Simulated kind,
                 const std::function<std::string(const std::string&)>& best, const char* micro) {
  const auto rows = timed(comparison, kind);
  Table table{{"size"}, {}};
  for (const ComparedRow* row : rows) table.head.push_back(row->algorithm);
  for (std::size_t i = 0; i < comparison.sizes.size(); ++i) {
    const auto seconds = [&](const ComparedRow* row) { return times_of(*row, kind)[i].seconds; };
    const double least = seconds(*std::ranges::min_element(rows, {}, seconds));
    Line line = {rounded_size_in_words(static_cast<double>(comparison.sizes[i]))};
    for (const ComparedRow* row : rows) {
      const std::string cell = duration_in_words(seconds(row), micro);
      line.push_back(seconds(row) == least ? best(cell) : cell);
    }
    table.lines.push_back(std::move(line));
  }
  return table;
}

Table measured_table(const MeasuredRun& run) {
  Table table{
      {"size", run.origin.text.empty() ? "measured GB/s" : "run GB/s", "model GB/s", "achieved"},
      {}};
  for (const MeasuredTime& time : run.times) {
    const bool both = time.modelled.has_value();
    table.lines.push_back(
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
                     in_words(find_row(comparison, run.algorithm)->simulated),
                     kModelNotMeasurement);
}

// What the tables leave out, and why.
std::vector<std::pair<std::string, std::string>> remarks(const Comparison& comparison) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const RefusedSize& size : comparison.refused_sizes) {
    list.emplace_back(fmt::format("size \"{}\"", size.text), why(size.error));
  }
  for (const ComparedRow& row : comparison.rows) {
    if (row.error) list.emplace_back(row.algorithm, why(*row.error));
    if (!row.error && row.times_error) {
      list.emplace_back(row.algorithm, "not simulated: " + why(*row.times_error));
    }
    if (row.program_error) {
      list.emplace_back(row.algorithm,
                        "no program for the default target: " + why(*row.program_error));
    }
    if (row.program_times_error && !row.program_error) {
      list.emplace_back(row.algorithm,
                        "not simulated as a program: " + why(*row.program_times_error));
    }
    if (!row.note.empty()) list.emplace_back(row.algorithm, row.note);
  }
  for (auto& [who, what] : list) what = one_line(what);
  return list;
}

std::string heading(const Comparison& comparison) {
  return one_line(fmt::format("{}: {} over {}", comparison.fabric->topology.name,
                              comparison.collective_name,
                              counted(comparison.fabric->topology.ranks.size(), "GPU")));
}

std::string model_line(const Comparison& comparison, Simulated kind) {
  return fmt::format("Times of {}, simulated with the figures of \"{}\" ({}): {}", in_words(kind),
                     comparison.gpu, comparison.gpu_chosen, kModelNotMeasurement);
}

// Columns as wide as their widest cell; names to the left, figures to the right.
std::string aligned(const Table& table, std::size_t left_columns_at_end) {
  std::vector<std::size_t> widths(table.head.size(), 0);
  const auto grow = [&](const Line& line) {
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  };
  grow(table.head);
  for (const Line& line : table.lines) grow(line);
  const auto write = [&](const Line& line) {
    std::string text;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const bool left = c == 0 || c + left_columns_at_end >= line.size();
      text += left ? fmt::format("{:<{}}  ", line[c], widths[c])
                   : fmt::format("{:>{}}  ", line[c], widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = write(table.head);
  for (const Line& line : table.lines) text += write(line);
  return text;
}

std::string markdown(const Table& table) {
  const auto write = [](const Line& line) {
    std::string text;
    for (std::string cell : line) {
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
  for (const Line& line : table.lines) text += write(line);
  return text;
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

// `said` stands below the figures, so that no document has them without it.
std::string latex(const Table& table, const std::string& said) {
  const auto write = [](const Line& line) {
    Line cells;
    for (const std::string& cell : line) {
      // Bold cells come as commands already.
      const bool bold = cell.starts_with("\\textbf{");
      cells.push_back(
          bold ? fmt::format("\\textbf{{{}}}", latex_cell(cell.substr(8, cell.size() - 9)))
               : latex_cell(cell));
    }
    return fmt::format("  {} \\\\\n", fmt::join(cells, " & "));
  };
  std::string text = fmt::format("\\begin{{tabular}}{{l{}}}\n  \\toprule\n",
                                 std::string(table.head.size() - 1, 'r'));
  text += write(table.head) + "  \\midrule\n";
  for (const Line& line : table.lines) text += write(line);
  return text + fmt::format(
                    "  \\bottomrule\n  \\multicolumn{{{}}}{{l}}{{\\footnotesize {}}} "
                    "\\\\\n\\end{{tabular}}\n",
                    table.head.size(), latex_cell(said));
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

std::string csv_line(const Line& line) {
  Line cells;
  for (const std::string& cell : line) cells.push_back(csv_cell(cell));
  return fmt::format("{}\n", fmt::join(cells, ","));
}

}  // namespace

std::string to_terminal(const Comparison& comparison) {
  std::string text = heading(comparison) + "\n";
  text += fmt::format("Rates by the congestion model: {}\n", kModelNotMeasurement);
  text += aligned(rate_table(comparison, true), 1);
  if (const std::string line = optimum_in_words(comparison); !line.empty()) text += line + "\n";
  text += "bottleneck: " + bottleneck_in_words(comparison) + "\n";
  for (const Simulated kind : kinds(comparison)) {
    text += "\n" + model_line(comparison, kind) + "; * is the fastest\n";
    text += aligned(time_table(
                        comparison, kind, [](const std::string& cell) { return "*" + cell; }, "u"),
                    0);
  }
  for (const MeasuredRun& run : comparison.measured) {
    text += "\n" + measured_heading(comparison, run) + "\n";
    text += aligned(measured_table(run), 0);
  }
  const auto list = remarks(comparison);
  if (!list.empty()) text += "\n";
  for (const auto& [who, what] : list) text += fmt::format("{}: {}\n", who, what);
  text += "\n";
  for (const std::string& sentence : who_wins(comparison)) text += sentence + "\n";
  return text;
}

std::string to_markdown(const Comparison& comparison) {
  std::string text = fmt::format("### {}\n\nRates by the congestion model: {}.\n\n",
                                 heading(comparison), kModelNotMeasurement);
  text += markdown(rate_table(comparison)) + "\n";
  if (const std::string line = optimum_in_words(comparison); !line.empty()) text += line + "\n\n";
  text += fmt::format("Bottleneck: {}.\n\n", bottleneck_in_words(comparison));
  for (const Simulated kind : kinds(comparison)) {
    text += model_line(comparison, kind) + ".\n\n";
    text +=
        markdown(time_table(
            comparison, kind, [](const std::string& cell) { return "**" + cell + "**"; }, "µ")) +
        "\n";
  }
  for (const MeasuredRun& run : comparison.measured) {
    text += measured_heading(comparison, run) + ".\n\n";
    text += markdown(measured_table(run)) + "\n";
  }
  for (const auto& [who, what] : remarks(comparison)) text += fmt::format("- {}: {}\n", who, what);
  if (!remarks(comparison).empty()) text += "\n";
  for (const std::string& sentence : who_wins(comparison)) text += sentence + "\n";
  return text;
}

std::string to_latex(const Comparison& comparison) {
  std::string text = fmt::format("% {}; {}\n", heading(comparison), kModelNotMeasurement);
  Table rates = rate_table(comparison);
  for (Line& line : rates.lines) line.pop_back();
  rates.head.pop_back();
  text += latex(rates, fmt::format("Rates by the congestion model: {}", kModelNotMeasurement));
  for (const Simulated kind : kinds(comparison)) {
    const Table times = time_table(
        comparison, kind, [](const std::string& cell) { return "\\textbf{" + cell + "}"; }, "u");
    text += "\n" + latex(times, model_line(comparison, kind));
  }
  for (const MeasuredRun& run : comparison.measured) {
    text += "\n" + latex(measured_table(run), measured_heading(comparison, run));
  }
  for (const auto& [who, what] : remarks(comparison)) text += fmt::format("% {}: {}\n", who, what);
  for (const std::string& sentence : who_wins(comparison)) {
    text += fmt::format("\n{}\n", latex_cell(one_line(sentence)));
  }
  return text;
}

std::string to_csv(const Comparison& comparison) {
  std::string text =
      csv_line({"topology", "collective", "algorithm", "origin", "error", "algbw_exact", "algbw",
                "busbw", "optimum_fraction", "height_max", "height_mean", "k", "trees", "bytes",
                "seconds", "algbw_at_size", "busbw_at_size", "simulated"});
  const std::string& name = comparison.fabric->topology.name;
  const std::string& collective = comparison.collective_name;
  const auto plain = [](double value) { return fmt::format("{:.9g}", value); };
  const auto sized = [&](Line line, const SimulatedTime& time, const std::string& what) {
    line.push_back(fmt::format("{:.0f}", time.bytes));
    for (const double value : {time.seconds, time.algbw, time.busbw}) line.push_back(plain(value));
    line.push_back(what);
    text += csv_line(line);
  };
  for (const ComparedRow& row : comparison.rows) {
    Line line = {name, collective, row.algorithm, "model"};
    if (row.error) {
      line.push_back(why(*row.error));
      line.resize(kCsvColumns);
      text += csv_line(line);
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
    for (const SimulatedTime& time : row.times) sized(line, time, simulated(row));
    for (const SimulatedTime& time : row.program_times) sized(line, time, "program");
    if (!row.times.empty() || !row.program_times.empty()) continue;
    line.resize(kCsvColumns);
    text += csv_line(line);
  }
  for (const MeasuredRun& run : comparison.measured) {
    Line line = {name, collective, run.algorithm,
                 run.origin.text.empty()
                     ? fmt::format("measured {}: {}", run.placement, run.file)
                     : fmt::format("{} {}: {}", in_words(run.origin), run.placement, run.file)};
    line.resize(kCsvColumns - 5);
    for (const MeasuredTime& time : run.times) {
      line[4] = time.wrong ? "wrong results" : "";
      sized(line, time.measured, "");
    }
  }
  return text;
}

}  // namespace forestcoll::cli
