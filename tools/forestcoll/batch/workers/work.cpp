#include "batch/workers/work.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "batch/items/discovery.hpp"
#include "batch/results/group_files.hpp"
#include "batch/results/store.hpp"
#include "batch/workers/wire.hpp"
#include "common/fabric.hpp"
#include "common/files/detect_format.hpp"
#include "common/files/io.hpp"
#include "common/synthesis/groups/run_job.hpp"
#include "common/synthesis/run.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli::batch {
namespace {

namespace fs = std::filesystem;

// With --all, files larger than this that are not *.json are nothing of ours.
constexpr std::size_t kLargestTopology = std::size_t{256} << 20;

Answer failed(ItemError error) {
  Answer answer;
  answer.error = std::move(error);
  return answer;
}

std::optional<ItemError> make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return std::nullopt;
  return item_error(Code::IO, fmt::format("cannot make the directory {}: {}",
                                          printable(path.string()), error.message()));
}

// Its figures, where it ended well: what one schedule came to, or those of all groups at once.
Expected<std::optional<Figures>> synthesize(const Asked& asked, const Console& console,
                                            ExitCode& code) {
  if (!asked.job.given()) {
    Json summary;
    code = exit_code(run_synthesis(asked.synth, console, &summary), console);
    return figures_of_summary(summary);
  }
  SynthesizedJob made;
  code = exit_code(run_synthesis_of_job(asked.synth, asked.job, console, &made), console);
  if (code != ExitCode::done) return std::optional<Figures>();
  if (!made.files.empty()) {
    if (const auto done = replace_files(asked.synth.output, made.files); !done) {
      return done.errors();
    }
  }
  return std::optional(figures_of_job(made.rates));
}

Answer perform_unguarded(const Task& task) {
  auto asked = parse_words(task.words);
  if (!asked) return failed(first_error(asked.errors()));
  SynthArguments& arguments = asked->synth;
  const fs::path output = path_in(task.directory, task.output);
  const fs::path record = path_in(task.directory, task.record);
  if (auto error = make_directory(record.parent_path())) return failed(*std::move(error));
  arguments.topology = task.topology;
  if (!task.output.empty()) arguments.output = output.string();
  arguments.json = true;
  arguments.solver.threads = std::to_string(task.threads);
  Diagnostics findings;
  Console console;
  console.quiet = true;
  console.findings = &findings;
  ExitCode code = ExitCode::done;
  auto figures = synthesize(*asked, console, code);
  if (!figures) return failed(first_error(figures.errors()));
  if (code == ExitCode::internal) {
    return failed(item_error(Code::J04,
                             "the schedule did not pass its own verification; please "
                             "report this"));
  }
  if (code != ExitCode::done) return failed(first_error(findings));
  Answer answer;
  answer.figures = *std::move(figures);
  if (!answer.figures) return failed(item_error(Code::J04, "the summary cannot be read"));
  auto files = fingerprint_outputs(task.directory, task.output);
  if (!files) return failed(first_error(files.errors()));
  answer.outputs = *std::move(files);
  if (const auto done = write_record(record.string(), {task.key, answer.outputs, *answer.figures});
      !done) {
    return failed(first_error(done.errors()));
  }
  return answer;
}

// The topology as it is solved: the same however its file is written.
std::string topology_fingerprint(const Topology& topology) {
  TopologyDocument document = flat_document(topology);
  document.description.clear();
  return content_hash(to_topology_json(document));
}

bool is_importable(const std::string& text) {
  const auto source = detect_source(text);
  return source && *source != Source::nccl_graph;
}

bool is_regular(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Files that this program writes and reads, and that are no topologies, by their names behind
// "forestcoll-".
constexpr std::string_view kOtherFormats =
    " batch batch-manifest bound compare compare-groups comparisons cluster costs design-cluster "
    "design-direct design-formulas design-search error flows forest generators import job "
    "machine nccl-graph nccl-tuner simulation simulation-job simulation-parameters synth "
    "topo-check topo-show tune verify verify-job verify-targets ";

bool is_other_file_of_ours(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return false;
  const auto format = json.find("format");
  if (format == json.end() || !format->is_string()) return false;
  constexpr std::string_view kOurs = "forestcoll-";
  const auto name = format->get<std::string>();
  return name.starts_with(kOurs) && name.find(' ') == std::string::npos &&
         kOtherFormats.find(fmt::format(" {} ", name.substr(kOurs.size()))) !=
             std::string_view::npos;
}

Probe no_topology() {
  Probe result;
  result.is_topology = false;
  return result;
}

Probe failed_probe(ItemError error) {
  Probe result;
  result.error = std::move(error);
  return result;
}

// What words say of every topology: how it is read, and the files of groups.
struct Common {
  Reading reading;
  std::string files;
};

Expected<Common> common_of(const Words& words) {
  const auto asked = parse_common_words(words);
  if (!asked) return asked.errors();
  auto reading = reading_of(asked->synth.reading);
  if (!reading) return reading.errors();
  auto files = files_of_groups(words);
  if (!files) return files.errors();
  return Common{*std::move(reading), *std::move(files)};
}

Probe probe_unguarded(const ProbeTask& task, const Expected<Common>& common) {
  std::error_code error;
  if (fs::exists(task.path, error) && !is_regular(task.path)) {
    if (task.confidence == Confidence::none) return no_topology();
    return failed_probe(item_error(Code::IO, fs::is_directory(task.path, error)
                                                 ? "cannot read: it is a directory"
                                                 : "cannot read: it is no regular file"));
  }
  const auto text = read_input(task.path, kLargestTopology);
  if (task.confidence == Confidence::none && (!text || !is_importable(*text))) return no_topology();
  if (!text) return failed_probe(first_error(text.errors()));
  if (!common) return failed_probe(first_error(common.errors()));
  const auto parsed = parse_any(*text, task.path, common->reading);
  if (!parsed) {
    if (task.confidence != Confidence::named && is_other_file_of_ours(*text)) return no_topology();
    return failed_probe(first_error(parsed.errors()));
  }
  Probe result;
  result.fingerprint = topology_fingerprint(parsed->topology);
  if (!common->files.empty()) result.fingerprint += content_hash(common->files);
  result.gpus = parsed->topology.ranks.size();
  result.nodes = parsed->topology.nodes.size();
  result.links = parsed->topology.links.size();
  return result;
}

Answer perform(const Task& task) {
  try {
    return perform_unguarded(task);
  } catch (const std::bad_alloc&) {
    return failed(item_error(Code::J03, "out of memory"));
  } catch (const std::exception& error) {
    return failed(item_error(Code::J04, fmt::format("internal error: {}", error.what())));
  }
}

Probe probe(const ProbeTask& task, const Expected<Common>& common) {
  try {
    return probe_unguarded(task, common);
  } catch (const std::bad_alloc&) {
    return failed_probe(item_error(Code::J03, "out of memory"));
  } catch (const std::exception& error) {
    return failed_probe(item_error(Code::J04, fmt::format("internal error: {}", error.what())));
  }
}

}  // namespace

bool answer(const std::string& request, const std::function<bool(const std::string& part)>& take) {
  if (const auto task = decode_task(request)) {
    take(encode(perform(*task)));
    return true;
  }
  const auto tasks = decode_probe_tasks(request);
  if (!tasks) return false;
  std::map<Words, Expected<Common>> common;  // parsed once: most tasks have the same
  for (const ProbeTask& task : *tasks) {
    auto known = common.find(task.words);
    if (known == common.end()) {
      known = common.emplace(task.words, common_of(task.words)).first;
    }
    if (!take(encode(probe(task, known->second)))) break;
  }
  return true;
}

}  // namespace forestcoll::cli::batch
