#include "compare/rows/row_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "common/report/solver_report.hpp"
#include "compare/rows/alltoall_row.hpp"
#include "compare/rows/program_rows.hpp"
#include "compare/rows/row_filler.hpp"
#include "compare/words.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/stopwatch.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

std::optional<BranchingForest> better_branching(const Fabric& fabric,
                                                const CollectiveForest& without) {
  const Network& network = fabric.links();
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (roles.empty()) return std::nullopt;
  if (without.root) {
    if (!has_able_switches(roles, without.collective)) return std::nullopt;
    const auto optimum = phase_optimum(network, roles, without.collective, *without.root);
    if (!optimum) return std::nullopt;
    auto forest = branching_from_root(network, roles, without.collective, *without.root, *optimum);
    const bool is_better =
        forest &&
        (without.algbw < forest->algbw ||
         (forest->algbw == without.algbw && messages_in_turn(*forest) < shape_of(without).highest));
    return is_better ? std::move(forest) : std::nullopt;
  }
  if (without.collective != Collective::allreduce) return std::nullopt;
  const auto optimum = allreduce_optimum(network, roles);
  if (!optimum || !optimum->split || optimum->split->algbw <= without.algbw) return std::nullopt;
  auto forest = pack_branching(network, roles, *optimum);
  if (!forest || forest->algbw <= without.algbw) return std::nullopt;
  return *std::move(forest);
}

std::string without_switches(const CollectiveForest& without) {
  if (without.root) {
    return fmt::format("branches at switches; over GPUs alone {} messages one after the other",
                       shape_of(without).highest);
  }
  return fmt::format("branches at switches; over GPUs alone {} GB/s", number(without.algbw));
}

Diagnostic no_copies_in_xml() {
  return make_error(Code::T06, "MSCCL XML has no in-network multicast and reduction",
                    "synth --format mscclpp writes a plan that can, where its executor has it");
}

constexpr const char* kOurTitle = "ForestColl, this program";
constexpr const char* kOurSource =
    "Zhao et al., \"ForestColl: Throughput-Optimal Collective Communications on Heterogeneous "
    "Network Fabrics\", NSDI 2026";

// Of NVLSTree.
constexpr const char* kNoExecutor =
    "; no time as a program: no executor runs it between boxes, as that of MSCCL++ combines for "
    "two GPUs at least, not for the one that goes on";

// Takes "the rate alone: …", why there are no trees, out of the note.
std::string why_no_trees(std::string& note) {
  constexpr std::string_view kAlone = "the rate alone: ";
  std::string why = "no trees describe it";
  const std::size_t at = note.find(kAlone);
  if (at == std::string::npos) return why;
  why += ": " + note.substr(at + kAlone.size());
  note.resize(at);
  while (note.ends_with(' ') || note.ends_with(';')) note.pop_back();
  return why;
}

class RowMaker {
 public:
  RowMaker(const Fabric& fabric, const RowsRequest& request, const Ratio& optimum,
           const RowProgress& progress)
      : fabric_(fabric),
        request_(request),
        optimum_(optimum),
        fill_(fabric, request, optimum, progress) {}

  ComparedRow of_algorithm(const std::string& name) {
    ComparedRow row;
    row.algorithm = name;
    if (request_.demand) {
      make_alltoall(row);
    } else if (name == kOurs || name == kOursByRate) {
      make_ours(row);
    } else if (!is_of_programs(name)) {
      make_from_baseline(row);
    }
    return row;
  }

  void add_programs(ComparedRow& row) const {
    if (!request_.demand && is_of_programs(row.algorithm)) {
      make_from_programs(row, request_, ranks());
      if (!row.error) fill_.set_rate(row, row.algbw);
      return;
    }
    const bool is_timed = request_.by_size && row.algorithm != kOursByRate;
    if (is_timed && !row.error) add_program_times(row, request_, ranks());
  }

 private:
  [[nodiscard]] std::int64_t ranks() const {
    return static_cast<std::int64_t>(fabric_.network.ranks.size());
  }

  // A selector, or what an allreduce is without trees.
  [[nodiscard]] bool is_of_programs(const std::string& name) const {
    const bool is_exchange =
        request_.collective == Collective::allreduce && find_exchange(name) != nullptr;
    return is_selector(name) || is_exchange;
  }

  void make_ours(ComparedRow& row) {
    row.title = kOurTitle;
    row.source = kOurSource;
    Stopwatch watch;
    auto found =
        synthesize(fabric_.network, {.collective = request_.collective, .root = request_.root});
    row.seconds = watch.restart();
    if (!found) {
      row.error = found.errors().front();
      return;
    }
    const auto loads = link_loads(found->forest, fabric_.links());
    const auto algbw = loads ? congestion_algbw(*loads, fabric_.links()) : std::nullopt;
    if (!algbw) {
      row.error = inexact("its exact rate does not fit 64 bits");
      return;
    }
    CollectiveForest without = found->forest;
    without.algbw = *algbw;
    if (auto branching = better_branching(fabric_, without)) {
      row.seconds = *row.seconds + watch.restart();
      row.note = without_switches(without);
      describe_branching(row, *std::move(branching));
      if (!row.error) take_faster_times(row, without);
      return;
    }
    fill_.set_rate(row, *algbw);
    row.forest = std::move(found->forest);
    if (!row.error) fill_.describe_forest(row, loads);
  }

  // Links and times as they are seen in the text; it is the same checker's rate that other rows
  // have from their loads.
  void describe_branching(ComparedRow& row, BranchingForest forest) {
    forest.optimum = std::max(optimum_, forest.algbw);  // that of two phases may be exceeded
    const std::string text = to_forest_json(forest, fabric_.topology);
    row.branching = std::move(forest);
    fill_.judge(row, text);
    if (row.error) return;
    row.shape = shape_of(*row.branching);
    row.program_error = no_copies_in_xml();
    if (request_.programs || request_.by_size) row.program_times_error = row.program_error;
    fill_.simulate(row, text);
  }

  // Where trees that branch are slower for a size, those over GPUs are what one would take.
  void take_faster_times(ComparedRow& row, const CollectiveForest& without) const {
    if (row.times.empty() || edge_count(without) > scale::kMostEdgesSimulated) return;
    const auto simulator = prepare_simulation(to_symmetric_forest_json(without, fabric_.topology),
                                              row.algorithm, fabric_.topology);
    const auto others = simulator ? fill_.times_at(*simulator, request_.sizes) : simulator.errors();
    if (!others) return;
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < row.times.size(); ++i) {
      if ((*others)[i].seconds >= row.times[i].seconds) continue;
      row.times[i] = (*others)[i];
      taken.push_back(rounded_size_in_words(row.times[i].bytes));
    }
    if (taken.empty()) return;
    row.note +=
        fmt::format("; times over GPUs alone, which are less, at {}", fmt::join(taken, ", "));
  }

  void make_alltoall(ComparedRow& row) {
    describe_alltoall(row.algorithm, row);
    Stopwatch watch;
    const auto all = alltoall_flows(fabric_, request_, row.algorithm);
    row.seconds = watch.restart();
    if (!all) {
      row.error = all.errors().front();
      return;
    }
    const Compilation& made = all->front();
    fill_.set_rate(row, made.chosen.synthesis.forest.algbw);
    if (row.error) return;
    row.parts = made.paths->routes.k;
    fill_.set_links(row, fill_.loads_of(made.verdict));
    set_alltoall_program(row);
    fill_.simulate(row, made.text);
    for (std::size_t i = 1; i < all->size(); ++i) take_faster_times(row, (*all)[i].text);
  }

  // What `synth --sizes` writes for each size: in few rounds, or with the stops of others, where
  // that is faster.
  void take_faster_times(ComparedRow& row, const std::string& text) const {
    if (row.times.empty() && row.at_measured.empty()) return;
    const auto simulator = prepare_simulation(text, row.algorithm, fabric_.topology);
    if (!simulator) return;
    for (auto* times : {&row.times, &row.at_measured}) {
      std::vector<std::int64_t> sizes;
      for (const SimulatedTime& time : *times) {
        sizes.push_back(static_cast<std::int64_t>(time.bytes));
      }
      const auto others = fill_.times_at(*simulator, sizes);
      if (!others) continue;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if ((*others)[i].seconds < (*times)[i].seconds) (*times)[i] = (*others)[i];
      }
    }
  }

  void set_alltoall_program(ComparedRow& row) const {
    const auto made = alltoall_program(fabric_, request_, row.algorithm, *row.parts);
    if (!made) {
      row.program_error = made.errors().front();
      if (request_.programs) row.program_times_error = row.program_error;
      return;
    }
    RowFiller::set_program_size(row, made->verdict);
    if (request_.programs && !request_.by_size) fill_.simulate_program(row, made->text);
  }

  void make_from_baseline(ComparedRow& row) {
    const BaselineInfo& info = *find_baseline(row.algorithm);
    row.title = info.title;
    row.source = info.source;
    Stopwatch watch;
    auto made = make_baseline(row.algorithm, fabric_.topology, fabric_.links(), request_.collective,
                              request_.root, request_.baseline);
    row.seconds = watch.restart();
    if (!made) {
      row.error = made.errors().front();
      return;
    }
    row.note = made->note;
    fill_.set_rate(row, made->algbw);
    row.forest = std::move(made->forest);
    if (row.error) return;
    if (row.forest) {
      row.forest->optimum = optimum_;
      fill_.describe_forest(row, link_loads(*row.forest, fabric_.links()));
    } else if (made->branching) {
      describe_branching(row, *std::move(made->branching));
      if (!request_.trees && has_several_boxes(fabric_.topology)) row.note += kNoExecutor;
    } else {
      row.times_error = make_error(Code::N06, why_no_trees(row.note), "");
    }
  }

  const Fabric& fabric_;
  const RowsRequest& request_;
  const Ratio& optimum_;
  const RowFiller fill_;
};

}  // namespace

ComparedRow algorithm_row(const Fabric& fabric, const RowsRequest& request, const Ratio& optimum,
                          const std::string& name, const RowProgress& progress) {
  return RowMaker(fabric, request, optimum, progress).of_algorithm(name);
}

void add_programs(ComparedRow& row, const Fabric& fabric, const RowsRequest& request,
                  const Ratio& optimum) {
  const RowProgress untold;
  RowMaker(fabric, request, optimum, untold).add_programs(row);
}

ComparedRow schedule_row(const Fabric& fabric, const RowsRequest& request, const Ratio& optimum,
                         const std::string& path, const Expected<std::string>& text,
                         const RowProgress& progress) {
  ComparedRow row;
  row.algorithm = display_name(path);
  row.title = "Schedule from the file " + row.algorithm;
  if (!text) {
    row.error = text.errors().front();
    return row;
  }
  const RowFiller fill(fabric, request, optimum, progress);
  fill.judge(row, *text);
  if (!row.error) fill.simulate(row, *text);
  return row;
}

}  // namespace forestcoll::cli
