// Widths and notation: common.cu of nccl-tests.
#include "run/report/table.hpp"

#include <fmt/format.h>

namespace forestcoll::run {
namespace {

// Five significant digits or so, as the tests print microseconds.
std::string time_text(double seconds) {
  const double micros = seconds * 1e6;
  if (micros >= 10000) return fmt::format("{:7.0f}", micros);
  if (micros >= 100) return fmt::format("{:7.1f}", micros);
  return fmt::format("{:7.2f}", micros);
}

std::string times(std::int64_t bytes, double seconds, double factor) {
  const double algbw = seconds > 0 ? static_cast<double>(bytes) / seconds * 1e-9 : 0;
  return fmt::format("  {}  {:6.2f}  {:6.2f}", time_text(seconds), algbw, algbw * factor);
}

}  // namespace

double bus_factor(Pattern pattern, std::int64_t ranks) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (pattern) {
    case Pattern::allgather:
    case Pattern::reduce_scatter:
    case Pattern::alltoall:
    case Pattern::scatter:
    case Pattern::gather:
      return others;
    case Pattern::allreduce:
      return 2 * others;
    case Pattern::broadcast:
    case Pattern::reduce:
    case Pattern::sendrecv:
      return 1;
  }
  return 1;
}

std::string table_heading(const std::vector<Placement>& placements, bool vs_mpi) {
  std::string titles = fmt::format("#{:51}", ""), units = titles;
  std::string names = fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", "size", "count", "type",
                                  "redop", "root");
  units = fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", "(B)", "(elements)", "", "", "");
  for (const Placement placement : placements) {
    titles +=
        fmt::format("  {:^30}", placement == Placement::in_place ? "in-place" : "out-of-place");
    names += fmt::format("  {:>7}  {:>6}  {:>6} {:>6}", "time", "algbw", "busbw", "#wrong");
    units += fmt::format("  {:>7}  {:>6}  {:>6} {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  }
  if (vs_mpi) {
    titles += "    MPI's own";
    names += "  mpi-time  mpi-algbw  mpi-busbw";
    units += "      (us)     (GB/s)     (GB/s)";
  }
  return titles + "\n" + names + "\n" + units + "\n";
}

std::string table_row(const TableRow& row, Pattern pattern, std::int64_t ranks) {
  const double factor = bus_factor(pattern, ranks);
  std::string text = fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:6}", row.bytes, row.elements,
                                 row.type, row.op, row.root);
  for (const Measurement& placement : row.placements) {
    text += times(row.bytes, placement.seconds, factor);
    text += placement.wrong ? fmt::format("  {:5}", *placement.wrong) : "    N/A";
  }
  if (row.mpi_seconds) text += "  " + times(row.bytes, *row.mpi_seconds, factor);
  return text + "\n";
}

}  // namespace forestcoll::run
