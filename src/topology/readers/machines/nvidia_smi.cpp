// The matrix of `nvidia-smi topo -m`: which links and other connections join every two devices. It
// has neither the GPUs' model nor any bandwidth, so those come from the options. The header
// underlines its words on a terminal, its trailing columns have names of several words, and NIC
// columns are called by the NIC (older drivers) or NIC0, NIC1, … with a legend below.
#include "topology/readers/machines/nvidia_smi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "topology/readers/constants.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {
namespace {

bool is_gpu(std::string_view word) {
  return word.starts_with("GPU") && natural(word.substr(3)).has_value();
}

// Without the sequences by which a terminal underlines; every byte keeps its place.
std::string without_escapes(std::string_view text) {
  std::string plain(text);
  for (std::size_t at = 0; (at = plain.find("\x1b[", at)) != std::string::npos;) {
    while (at < plain.size() && plain[at] != 'm' && plain[at] != '\n') plain[at++] = ' ';
    if (at < plain.size() && plain[at] == 'm') plain[at] = ' ';
  }
  return plain;
}

std::optional<Cell> parse_cell(std::string_view word) {
  using Connection = Cell::Connection;
  constexpr std::array<std::pair<std::string_view, Connection>, 7> kConnections = {
      {{"X", Connection::self},
       {"PIX", Connection::pix},
       {"PXB", Connection::pxb},
       {"PHB", Connection::phb},
       {"NODE", Connection::node},
       {"SYS", Connection::sys},
       {"SOC", Connection::sys}}};
  for (const auto& [name, connection] : kConnections) {
    if (word == name) return Cell{.connection = connection};
  }
  if (!word.starts_with("NV")) return std::nullopt;
  const auto count = natural(word.substr(2));
  constexpr std::int64_t kMost = 1024;
  if (!count || *count == 0 || *count > kMost) return std::nullopt;
  return Cell{.connection = Connection::nvlink, .nvlinks = *count};
}

class MatrixReader {
 public:
  MatrixReader(const Context& context, std::string_view plain)
      : context_(context), lines_(lines_of(plain)) {}

  std::optional<Matrix> read() {
    if (!read_header()) return std::nullopt;
    matrix_.cells.resize(matrix_.labels.size());
    matrix_.offsets.resize(matrix_.labels.size());
    for (; at_ < lines_.size(); ++at_) {
      const auto words = words_of(lines_[at_].text);
      if (!words.empty() && words.back() == "Legend:") break;  // or "NIC Legend:"
      const auto row =
          words.empty() ? matrix_.labels.end() : std::ranges::find(matrix_.labels, words[0]);
      if (row != matrix_.labels.end()) {
        read_row(static_cast<std::size_t>(row - matrix_.labels.begin()), words);
      }
    }
    read_legend();
    check_rows();
    if (failed_) return std::nullopt;
    return std::move(matrix_);
  }

 private:
  void fail(Code code, std::size_t offset, std::string message) {
    context_.findings.error(code, context_.place(offset), std::move(message),
                            "Give the whole output of nvidia-smi topo -m, header included.");
    failed_ = true;
  }

  bool read_header() {
    for (; at_ < lines_.size(); ++at_) {
      const auto words = words_of(lines_[at_].text);
      if (words.empty() || !is_gpu(words[0])) continue;
      if (words.size() > 1 && (words[1] == "X" || parse_cell(words[1]))) break;  // a row
      for (const std::string_view word : words) {
        // "CPU Affinity", "NUMA Affinity", "GPU NUMA ID": no devices from here on.
        if (word == "CPU" || word == "NUMA" || word == "GPU") break;
        if (is_gpu(word) && matrix_.gpus < matrix_.labels.size()) {
          fail(Code::I02, lines_[at_].offset, fmt::format("{} stands after a NIC", word));
          return false;
        }
        if (std::ranges::find(matrix_.labels, word) != matrix_.labels.end()) {
          fail(Code::I02, lines_[at_].offset,
               fmt::format("two columns are called {}", quote(word)));
          return false;
        }
        matrix_.labels.emplace_back(word);
        matrix_.gpus += is_gpu(word) ? 1 : 0;
        if (matrix_.labels.size() > kMaxGpusOfMachine) {
          fail(Code::I09, lines_[at_].offset, "too many columns for one machine");
          return false;
        }
      }
      ++at_;
      return true;
    }
    fail(Code::I02, at_ < lines_.size() ? lines_[at_].offset : 0,
         "expected a line with the names of the columns, GPU0 and so on, found none");
    return false;
  }

  void read_row(std::size_t row, const std::vector<std::string_view>& words) {
    const std::size_t offset = lines_[at_].offset;
    const std::string& label = matrix_.labels[row];
    if (!matrix_.cells[row].empty()) {
      fail(Code::I02, offset, fmt::format("a second row of {}", label));
      return;
    }
    matrix_.offsets[row] = offset;
    for (std::size_t column = 0; column < matrix_.labels.size(); ++column) {
      if (column + 1 >= words.size()) {
        fail(Code::I02, offset,
             fmt::format("the row of {} has {} of {} cells", label, column, matrix_.labels.size()));
        break;
      }
      const auto cell = parse_cell(words[column + 1]);
      const bool diagonal = row == column;
      if (!cell || diagonal != (cell->connection == Cell::Connection::self)) {
        fail(Code::I03, offset,
             fmt::format("the row of {}, column {}: expected {}, found {}", label,
                         matrix_.labels[column],
                         diagonal ? "X" : "NV#, PIX, PXB, PHB, NODE, SYS or SOC",
                         quote(words[column + 1])));
        break;
      }
      matrix_.cells[row].push_back(*cell);
    }
    // What was read of a broken row stands for all of it: it is not missing too.
    matrix_.cells[row].resize(matrix_.labels.size());
  }

  void read_legend() {
    for (; at_ < lines_.size(); ++at_) {
      const auto words = words_of(lines_[at_].text);
      if (words.size() == 2 && words[0].ends_with(":")) {
        matrix_.legend.emplace(words[0].substr(0, words[0].size() - 1), words[1]);
      }
    }
  }

  void check_rows() {
    std::vector<std::string> missing;
    for (std::size_t row = 0; row < matrix_.labels.size(); ++row) {
      if (matrix_.cells[row].empty()) missing.push_back(matrix_.labels[row]);
    }
    if (!missing.empty()) {
      fail(Code::I02, context_.text.size(), fmt::format("no row of {}", listed(missing)));
    }
  }

  const Context& context_;
  std::vector<TextLine> lines_;
  std::size_t at_ = 0;
  Matrix matrix_;
  bool failed_ = false;
};

// What the matrix and the GPU's model make of the NVLinks.
class Links {
 public:
  Links(const Context& context, const Matrix& matrix, const GpuModel& model)
      : context_(context), matrix_(matrix), model_(model) {}

  bool add_to(Machine& machine) const {
    const Ratio bandwidth = link_bandwidth();
    if (!context_.overridden("nvlink")) {
      machine.assumed["nvlink"] =
          whose_speed(nvlink_of(model_.sm).value_or(LinkSpeed{}), std::string(model_.name),
                      context_.nccl_constants(), false);
    }
    const auto to_switch = links_to_switch();
    if (!check_counts(to_switch)) return false;
    if (!to_switch.empty()) {
      machine.nvswitches.emplace_back("NVSwitch");
      const auto [fewest, most] = std::ranges::minmax(to_switch);
      context_.report.guesses.push_back(fmt::format(
          "an NVSwitch with {} links from each GPU: all pairs show {}, where {} has {} links",
          range(fewest, most, ""), range(fewest, most, "NV"), model_.name, model_.nvlinks));
      for (std::size_t g = 0; g < matrix_.gpus; ++g) {
        if (to_switch[g] == 0) continue;
        machine.links.push_back({.gpu = g,
                                 .end = End::nvswitch,
                                 .target = 0,
                                 .count = to_switch[g],
                                 .bandwidth = bandwidth,
                                 .kind = "nvlink"});
      }
      return true;
    }
    if (matrix_.gpus == 2 && matrix_.cells[0][1].nvlinks == model_.nvlinks) {
      context_.report.guesses.push_back(fmt::format(
          "direct links between the two GPUs: an NVSwitch would show NV{} too", model_.nvlinks));
    }
    for (std::size_t a = 0; a < matrix_.gpus; ++a) {
      for (std::size_t b = 0; b < matrix_.gpus; ++b) {
        if (matrix_.cells[a][b].nvlinks == 0) continue;
        machine.links.push_back({.gpu = a,
                                 .end = End::gpu,
                                 .target = b,
                                 .count = matrix_.cells[a][b].nvlinks,
                                 .bandwidth = bandwidth,
                                 .kind = "nvlink"});
      }
    }
    return true;
  }

 private:
  [[nodiscard]] Ratio link_bandwidth() const {
    if (const auto given = context_.overridden("nvlink")) return *given;
    const LinkSpeed speed = nvlink_of(model_.sm).value_or(LinkSpeed{});
    return context_.nccl_constants() ? speed.nccl : speed.nominal;
  }

  // How many links each GPU has to an NVSwitch; none where the links are direct. Through a switch
  // every pair shows as many as the GPU with fewer has (one with a dead link, maybe), and all pairs
  // together more than there are.
  [[nodiscard]] std::vector<std::int64_t> links_to_switch() const {
    const std::size_t gpus = matrix_.gpus;
    std::vector<std::int64_t> links(gpus);
    for (std::size_t a = 0; a < gpus; ++a) {
      for (std::size_t b = 0; b < gpus; ++b) {
        links[a] = std::max(links[a], matrix_.cells[a][b].nvlinks);
      }
    }
    // A GPU whose links are all dead has no part in this.
    const auto linked = static_cast<std::int64_t>(gpus) - std::ranges::count(links, 0);
    bool one_switch = linked > 1;
    for (std::size_t a = 0; a < gpus; ++a) {
      one_switch = one_switch && (links[a] == 0 || (linked - 1) * links[a] > model_.nvlinks);
      for (std::size_t b = 0; b < gpus; ++b) {
        const bool fits = a == b || matrix_.cells[a][b].nvlinks == std::min(links[a], links[b]);
        one_switch = one_switch && fits;
      }
    }
    if (!one_switch) links.clear();
    return links;
  }

  // "NV17 to NV18"
  static std::string range(std::int64_t fewest, std::int64_t most, std::string_view prefix) {
    if (fewest == most) return fmt::format("{}{}", prefix, most);
    return fmt::format("{0}{1} to {0}{2}", prefix, fewest, most);
  }

  // A GPU cannot have more links than its model.
  [[nodiscard]] bool check_counts(const std::vector<std::int64_t>& to_switch) const {
    for (std::size_t g = 0; g < matrix_.gpus; ++g) {
      std::int64_t sum = to_switch.empty() ? 0 : to_switch[g];
      for (std::size_t b = 0; to_switch.empty() && b < matrix_.gpus; ++b) {
        sum += matrix_.cells[g][b].nvlinks;
      }
      if (sum <= model_.nvlinks) continue;
      context_.findings.error(Code::I03, context_.place(matrix_.offsets[g]),
                              fmt::format("{} shows {} NVLinks, where {} has {}", matrix_.labels[g],
                                          sum, model_.name, model_.nvlinks),
                              "Is `gpu` right? Does the output hold all GPUs of the machine?");
      return false;
    }
    return true;
  }

  const Context& context_;
  const Matrix& matrix_;
  const GpuModel& model_;
};

// rocm-smi --showtopo prints matrices of GPUs as well.
bool refuse_rocm_smi(const Context& context) {
  for (const std::string_view title : {"ROCm System Management Interface", "between two GPUs"}) {
    const std::size_t at = context.text.find(title);
    if (at == std::string_view::npos) continue;
    context.findings.error(
        Code::I01, context.place(at),
        "this is rocm-smi's: it says of what type the links are, and neither how "
        "many there are nor how wide",
        "Dump RCCL's topology (NCCL_TOPO_DUMP_FILE), or take lstopo --of xml of "
        "an hwloc that is built with ROCm SMI.");
    return false;
  }
  return true;
}

}  // namespace

std::optional<Machines> read_nvidia_smi(const Context& context) {
  if (!refuse_rocm_smi(context)) return std::nullopt;
  const std::string plain = without_escapes(context.text);
  auto matrix = MatrixReader(context, plain).read();
  if (!matrix) return std::nullopt;
  const std::string name = context.options.gpu;
  const auto model = gpu_model(name);
  if (!model) {
    context.findings.error(name.empty() ? Code::I05 : Code::I04, "",
                           name.empty() ? "nvidia-smi topo -m does not say which GPUs these are"
                                        : fmt::format("`gpu`: unknown model {}", quote(name)),
                           fmt::format("Give the model: `gpu`, one of {}.", known_gpu_models()));
    return std::nullopt;
  }
  Machine machine{.source = "nvidia-smi topo -m", .in_network = model->sm >= kHopper};
  for (std::size_t g = 0; g < matrix->gpus; ++g) {
    machine.gpus.push_back({.dev = *natural(std::string_view(matrix->labels[g]).substr(3)),
                            .name = matrix->labels[g]});
  }
  for (std::size_t n = matrix->gpus; n < matrix->labels.size(); ++n) {
    const auto real = matrix->legend.find(matrix->labels[n]);
    machine.nics.push_back({.name = real == matrix->legend.end() ? matrix->labels[n] : real->second,
                            .offset = matrix->offsets[n]});
  }
  if (!Links(context, *matrix, *model).add_to(machine)) return std::nullopt;
  const bool by_links = joined_by_links(*matrix);
  if (!by_links && machine.links.empty() && model->nvlinks > 0) {
    machine.nvlink_expected = fmt::format("the {} may have {} NVLinks, and the matrix shows none",
                                          model->name, model->nvlinks);
    if (const auto link = nvlink_of(model->sm)) {
      machine.nvlink_bandwidth = link->nominal * Ratio(model->nvlinks);
    }
  }
  if (by_links && !context.options.pcie_p2p && !context.overridden(kHostBridge)) {
    if (context.overridden("cpu")) {
      context.findings.error(Code::I08, "",
                             "`bandwidths` of cpu: where NVLink joins the GPUs, what leads from "
                             "CPU to CPU is not drawn of nvidia-smi topo -m",
                             "Leave it out, and write it as a limit into the topology file.");
      return std::nullopt;
    }
    add_nearest_bridges(context, *matrix, *model, machine);
  } else {
    add_pcie_tree(context, *matrix, *model, machine);
  }
  return Machines{std::move(machine)};
}

}  // namespace forestcoll::importing
