#include "batch/results/merge.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "batch/items/discovery.hpp"
#include "batch/items/overwriting.hpp"
#include "batch/results/outcome.hpp"
#include "batch/results/store.hpp"
#include "common/files/io.hpp"
#include "common/options/shared_options.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

namespace fs = std::filesystem;

struct MergeArguments {
  std::vector<std::string> directories;
  std::string output;
  OutcomeArguments outcome;
};

/// A report, where its outputs are, and which part of the whole it is.
struct Part {
  std::string directory, file;
  Shard shard;
  Results results;
};

Diagnostic merge_error(const std::string& file, std::string message, std::string remedy) {
  return make_error(Code::J08, std::move(message), std::move(remedy), {.file = display_name(file)});
}

// "report.2-of-4.json"
std::optional<Shard> shard_of(const std::string& name) {
  constexpr std::string_view kHead = "report.", kMiddle = "-of-", kTail = ".json";
  const std::size_t at = name.find(kMiddle);
  if (!name.starts_with(kHead) || !name.ends_with(kTail) || at == std::string::npos) {
    return std::nullopt;
  }
  const std::string_view text = name;
  const auto index = parse_number<int>(text.substr(kHead.size(), at - kHead.size()));
  const std::size_t begin = at + kMiddle.size();
  const auto count = parse_number<int>(text.substr(begin, text.size() - kTail.size() - begin));
  return index && count ? std::optional(Shard{*index, *count}) : std::nullopt;
}

// The reports of shards in a directory, by name.
Expected<std::vector<Part>> parts_in(const std::string& directory) {
  std::vector<std::pair<std::string, Shard>> names;
  std::error_code error;
  for (fs::directory_iterator entries(path_in(directory, ""), error);
       !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (const auto shard = shard_of(name)) names.emplace_back(name, *shard);
  }
  if (error) return io_error(directory, "cannot read: " + error.message());
  if (names.empty()) {
    return merge_error(directory, "there is no report of a shard, such as report.1-of-4.json",
                       "run `forestcoll batch --shard 1/4` and so on first");
  }
  std::ranges::sort(names, {}, [](const auto& entry) { return entry.first; });
  std::vector<Part> parts;
  for (const auto& [name, shard] : names) {
    const std::string path = path_in(directory, name);
    const auto text = read_input(path);
    if (!text) return text.errors();
    auto results = parse_report(*text, path);
    if (!results) return results.errors();
    parts.push_back({directory, path, shard, *std::move(results)});
  }
  return parts;
}

// All shards of one number, each once.
Expected<void> refuse(const std::vector<Part>& parts) {
  const int count = parts.front().shard.count;
  std::map<int, std::string> present;
  for (const Part& part : parts) {
    if (part.shard.count != count) {
      return merge_error(part.file,
                         fmt::format("this is one of {} shards, {} one of {}", part.shard.count,
                                     parts.front().file, count),
                         "remove the reports of previous runs");
    }
    const auto [other, is_new] = present.emplace(part.shard.index, part.file);
    if (!is_new) {
      return merge_error(part.file, fmt::format("the same shard as {}", other->second),
                         "name each directory once");
    }
    if (part.results.program != parts.front().results.program) {
      return merge_error(part.file,
                         fmt::format("made by another program than {}", parts.front().file),
                         "run all shards again with one build of forestcoll");
    }
  }
  for (int index = 1; index <= count; ++index) {
    if (present.contains(index)) continue;
    return merge_error(parts.front().directory,
                       fmt::format("shard {} of {} has no report", index, count),
                       "run it, or run it again if it ended early");
  }
  return {};
}

Expected<Results> joined(std::vector<Part>& parts) {
  Results all;
  all.program = parts.front().results.program;
  for (Part& part : parts) {
    std::ranges::move(part.results.items, std::back_inserter(all.items));
  }
  std::ranges::sort(all.items, is_before);
  const auto twice = std::ranges::adjacent_find(all.items, is_same);
  if (twice != all.items.end()) {
    return merge_error("", fmt::format("two shards made the same: {}", label(*twice)),
                       "run all shards on the same topologies with the same options");
  }
  return all;
}

// Beside the file, or the directory of several, that the item is written to.
fs::path record_of(const ItemResult& item, const OutputFile& file) {
  const fs::path written = fs::path(file.path).lexically_relative(item.input);
  return fs::path(item.input) / ("." + written.begin()->string() + ".batch");
}

// Each output, checked against its hash, and its record, so that the next run reuses it.
Expected<void> copy(const ItemResult& item, const OutputFile& file, const std::string& from,
                    const std::string& to) {
  const fs::path path = file.path;
  const fs::path record = record_of(item, file);
  std::error_code error;
  fs::create_directories(path_in(to, path.parent_path().string()), error);
  const auto text = read_input(path_in(from, file.path));
  if (!text) return text.errors().front();
  if (content_hash(*text) != file.hash) {
    return merge_error(path_in(from, file.path), "not what the report says; it was changed since",
                       "run its shard again, which makes it anew");
  }
  if (const auto done = write_output(path_in(to, file.path), *text); !done) return done.errors();
  const auto remembered = read_input(path_in(from, record.string()));
  if (!remembered) return remembered.errors().front();
  return write_output(path_in(to, record.string()), *remembered);
}

Expected<void> copy_outputs(const std::vector<Part>& parts, const std::string& to) {
  for (const Part& part : parts) {
    std::error_code error;
    if (fs::equivalent(path_in(part.directory, ""), path_in(to, ""), error)) continue;
    for (const ItemResult& item : part.results.items) {
      for (const OutputFile& file : item.outputs) {
        if (const auto done = copy(item, file, part.directory, to); !done) return done.errors();
      }
    }
  }
  return {};
}

FilesOfBatch files_of(const MergeArguments& arguments, const std::vector<Part>& parts,
                      const std::string& to) {
  FilesOfBatch files{.inputs = {},
                     .outputs = {},
                     .directory = to,
                     .report = report_name(std::nullopt),
                     .junit = arguments.outcome.junit,
                     .baseline = arguments.outcome.baseline};
  for (const Part& part : parts) {
    files.inputs.push_back(part.file);
    for (const ItemResult& item : part.results.items) {
      for (const OutputFile& file : item.outputs) {
        for (const std::string& directory : {part.directory, to}) {
          files.outputs.push_back(path_in(directory, file.path));
          files.outputs.push_back(path_in(directory, record_of(item, file).string()));
        }
      }
    }
  }
  return files;
}

ExitCode run(const MergeArguments& arguments, const Console& console) {
  const auto request = resolve(arguments.outcome);
  if (!request) return fail(request.errors(), console);
  if (arguments.output.empty() && arguments.directories.size() > 1) {
    return fail(
        {make_error(Code::S04, "several directories, and none to join them in", "name it with -o")},
        console);
  }
  const std::string to =
      arguments.output.empty() ? arguments.directories.front() : arguments.output;
  std::vector<Part> parts;
  for (const std::string& directory : arguments.directories) {
    auto found = parts_in(directory);
    if (!found) return fail(found.errors(), console);
    std::ranges::move(*found, std::back_inserter(parts));
  }
  if (const auto done = refuse(parts); !done) return fail(done.errors(), console);
  if (const auto done = refuse_overwriting(files_of(arguments, parts, to)); !done) {
    return fail(done.errors(), console);
  }
  std::error_code error;
  fs::create_directories(path_in(to, ""), error);
  const auto lock = Lock::take(to, std::nullopt);
  if (!lock) return fail(lock.errors(), console);
  if (const auto done = copy_outputs(parts, to); !done) return fail(done.errors(), console);
  auto all = joined(parts);
  if (!all) return fail(all.errors(), console);
  return conclude(*std::move(all), *request, to, report_name(std::nullopt), "", console);
}

}  // namespace

Command add_merge(CLI::App& batch) {
  auto arguments = std::make_shared<MergeArguments>();
  CLI::App* command =
      batch.add_subcommand("merge", "Join the reports of all shards of a batch into one");
  command->add_option("OUT", arguments->directories, "Directories of outputs")->required();
  const OptionGroup general(*command);
  general.option("-o,--output", arguments->output, "DIR",
                 "Where the whole goes, outputs too; not needed where all shards wrote to one\n"
                 "directory");
  add_outcome_options(*command, arguments->outcome);
  command->footer(
      "Examples:\n"
      "  forestcoll batch merge out\n"
      "  forestcoll batch merge out-1 out-2 -o out --baseline main/report.json\n"
      "\n"
      "The report equals that of a batch without shards. Exit codes are those of such a batch.");
  return {command, [arguments](const Console& console) { return run(*arguments, console); }};
}

}  // namespace forestcoll::cli::batch
