// Workloads of SimAI and ASTRA-sim 1 in text, as AICB writes them.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "topology/job/files/workload.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::array<std::string_view, 2> kHeads = {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", "MICRO"};
constexpr std::size_t kColumns = 12;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

// One of a row's three columns of communication.
struct Column {
  std::string_view collective;  // "ALLREDUCE", "ALLTOALL_EP", "NONE"
  std::int64_t bytes = 0;
  const char* group = "tp";  // where the name says none
};

class SimaiReader {
 public:
  SimaiReader(std::string_view file, std::size_t ranks, MeshFit fit)
      : file_(file), ranks_(ranks), fit_(fit) {}

  Expected<Job> read(std::string_view text) {
    const std::vector<std::string_view> lines = parts_between(text, '\n');
    if (auto header = read_header(lines.front()); !header) return header.errors();
    const auto rows = lines.size() > 1 ? parse_whole(lines[1]) : std::nullopt;
    if (!rows) return wrong(2, "expected the number of rows");
    StepCounter steps;
    std::int64_t found = 0;
    for (std::size_t l = 2; l < lines.size(); ++l) {
      if (lines[l].empty()) continue;
      if (++found > *rows) break;
      if (auto good = read_row(lines[l], l + 1, steps); !good) return good.errors();
    }
    if (found != *rows) {
      return wrong(
          2, fmt::format("expected as many rows as are announced, {}, found {}", *rows, found));
    }
    Job job{std::move(steps).take(), mesh_, {}};
    if (job.steps.empty()) return wrong(2, "no row has a collective of more than one rank");
    say_what_was_taken(job);
    return job;
  }

 private:
  [[nodiscard]] Diagnostics wrong(std::size_t line, std::string message) const {
    return {no_workload(std::move(message),
                        "docs/jobs.md says what is read of a workload of SimAI's",
                        {std::string(file_), fmt::format("line {}", line)})};
  }

  // "model_parallel_NPU_group: 8 ep: 1 pp: 2 … all_gpus: 128 …"
  Expected<void> read_header(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    std::int64_t all = 0;
    std::array<std::pair<std::string_view, std::int64_t*>, 4> fields = {
        {{"model_parallel_NPU_group:", &tp_}, {"ep:", &ep_}, {"pp:", &pp_}, {"all_gpus:", &all}}};
    for (std::size_t w = 0; w + 1 < words.size(); ++w) {
      for (const auto& [name, value] : fields) {
        if (words[w] != name) continue;
        const auto number = parse_whole(words[w + 1]);
        if (!number || *number < 1) {
          return wrong(1, fmt::format("expected a number of GPUs after {}, found {}", name,
                                      quote(words[w + 1])));
        }
        *value = *number;
      }
      if (words[w].starts_with("pp_comm"))
        has_pipeline_ = words[w + 1].find_first_not_of("0.") != std::string_view::npos;
    }
    if (all == 0) return wrong(1, "expected \"all_gpus: N\"");
    const auto have = static_cast<std::int64_t>(ranks_);
    if (fit_ == MeshFit::some_ranks ? all > have : all != have) {
      return make_error(Code::O03,
                        fmt::format("the workload is for {} GPUs, the fabric has {}", all, ranks_),
                        "use a fabric of as many GPUs", {std::string(file_), "line 1"});
    }
    ranks_ = static_cast<std::size_t>(all);
    return set_mesh(all);
  }

  Expected<void> set_mesh(std::int64_t all) {
    // Sizes are below the number of ranks each, or their product is not.
    if (tp_ > all || pp_ > all || ep_ > all || all % (tp_ * pp_) != 0 ||
        all / (tp_ * pp_) % ep_ != 0) {
      return wrong(1, fmt::format("{} GPUs are no whole number of groups of tp {}, ep {} and pp {}",
                                  all, tp_, ep_, pp_));
    }
    mesh_.axes = {{"tp", tp_}, {"ep", ep_}, {"edp", all / (tp_ * pp_ * ep_)}, {"pp", pp_}};
    return {};
  }

  Expected<void> read_row(std::string_view line, std::size_t number, StepCounter& steps) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != kColumns) {
      return wrong(number, fmt::format("expected {} columns, found {}", kColumns, words.size()));
    }
    std::array<Column, 3> columns = {
        {{words[3], 0, "tp"}, {words[6], 0, "tp"}, {words[9], 0, "ep-edp"}}};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto bytes = parse_whole(words[4 + 3 * c]);
      if (!bytes || *bytes > kMostBytes) {
        return wrong(number, fmt::format("expected bytes, found {}", quote(words[4 + 3 * c])));
      }
      columns[c].bytes = *bytes;
    }
    JobStep forward{std::string(words[0]), 1, {}};
    JobStep back{std::string(words[0]) + " backward", 1, {}};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      auto operation = operation_of(columns[c], number);
      if (!operation) return operation.errors();
      if (*operation) (c == 0 ? forward : back).operations.push_back(**std::move(operation));
    }
    steps.add(std::move(forward));
    steps.add(std::move(back));
    return {};
  }

  // None where nothing moves.
  Expected<std::optional<JobOperation>> operation_of(const Column& column, std::size_t line) {
    if (column.collective == "NONE" || column.bytes == 0) return std::optional<JobOperation>();
    const std::size_t dash = column.collective.find('_');
    const std::string_view name = column.collective.substr(0, dash);
    const auto collective = collective_of(name);
    const std::optional<const char*> group =
        dash == std::string_view::npos ? column.group : axes_of(column.collective.substr(dash));
    if (!collective || !group) {
      return wrong(line, fmt::format("unknown collective {}", quote(column.collective)));
    }
    auto groups = parse_groups(*group, ranks_, &mesh_);
    if (!groups) return groups.errors();
    if (groups->front().size() < 2) return std::optional<JobOperation>();
    return std::optional(JobOperation{fmt::format("{} {}", to_string(*collective), *group),
                                      *collective, *std::move(groups), column.bytes});
  }

  static std::optional<Collective> collective_of(std::string_view name) {
    if (name == "ALLREDUCE") return Collective::allreduce;
    if (name == "ALLGATHER") return Collective::allgather;
    if (name == "REDUCESCATTER") return Collective::reduce_scatter;
    if (name == "ALLTOALL") return Collective::alltoall;
    return std::nullopt;
  }

  static std::optional<const char*> axes_of(std::string_view suffix) {
    if (suffix == "_TP") return "tp";
    if (suffix == "_DP") return "ep-edp";
    if (suffix == "_EP") return "ep";
    if (suffix == "_DP_EP") return "edp";
    return std::nullopt;
  }

  void say_what_was_taken(Job& job) const {
    job.notes.emplace_back(
        "of each row of the workload, what goes forward is a step, and what goes back for input "
        "and weights at once is another; computing takes no time");
    if (has_pipeline_) {
      job.notes.emplace_back(
          "messages between stages of the pipeline are left out, as the workload does not say when "
          "they go");
    }
  }

  std::string_view file_;
  std::size_t ranks_;
  MeshFit fit_;
  std::int64_t tp_ = 1, ep_ = 1, pp_ = 1;
  bool has_pipeline_ = false;
  Mesh mesh_;
};

}  // namespace

bool is_simai_workload(std::string_view text) {
  const std::string_view line = trimmed(text.substr(0, text.find('\n')));
  const std::string_view head = line.substr(0, line.find_first_of(" \t"));
  return head == kHeads[0] || head == kHeads[1];
}

Expected<Job> read_simai_workload(std::string_view text, std::string_view file, std::size_t ranks,
                                  MeshFit fit) {
  return SimaiReader(file, ranks, fit).read(text);
}

}  // namespace forestcoll::topology
