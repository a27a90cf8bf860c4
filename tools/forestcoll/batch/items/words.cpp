#include "batch/items/words.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/files/io.hpp"
#include "common/synthesis/groups/run_job.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/collective.hpp"

namespace forestcoll::cli::batch {
namespace {

// What a batch decides for each item, what is for one topology alone, and what reads further files,
// whose changes would go unnoticed.
constexpr std::array kLeftToTheBatch = {
    "TOPOLOGY",   "--output",       "--collective", "-k",      "--target",
    "--json",     "--json-version", "--threads",    "--tune",  "--warm",
    "--tradeoff", "--time-limit",   "--nccl-graph", "--demand"};

std::vector<CLI::Option*> options_of(CLI::App& command) {
  return command.get_options([&command](const CLI::Option* option) {
    return option != command.get_help_ptr() && option != command.get_help_all_ptr();
  });
}

// Removes what a batch does not pass on, and returns the rest.
std::vector<const CLI::Option*> keep_what_is_passed_on(CLI::App& command,
                                                       const std::vector<CLI::Option*>& present) {
  std::vector<const CLI::Option*> kept;
  for (CLI::Option* option : options_of(command)) {
    if (std::ranges::find(present, option) != present.end()) continue;
    const bool own = std::ranges::any_of(
        kLeftToTheBatch, [option](const char* name) { return option->check_name(name); });
    if (own) {
      command.remove_option(option);
    } else {
      kept.push_back(option);
    }
  }
  return kept;
}

Words words_of(const std::vector<const CLI::Option*>& options) {
  Words words;
  for (const CLI::Option* option : options) {
    const bool flag = option->get_type_size_max() == 0;
    const std::string name = option->get_name();
    if (flag && option->count() > 0) words.push_back(name);
    if (flag) continue;
    for (const std::string& value : option->results()) {
      std::string word = name;
      word += "=";
      word += value;
      words.push_back(std::move(word));
    }
  }
  return words;
}

std::string_view name_of(std::string_view word) {
  return word.substr(0, word.find('='));
}

bool is_given(const Words& words, std::string_view name) {
  return std::ranges::find(words, name, name_of) != words.end();
}

Diagnostic refused(const CLI::ParseError& error) {
  return make_error(Code::S03, error.what(), "`forestcoll synth --help-all` has the options");
}

// CLI11 takes the words from the last to the first.
void parse(CLI::App& command, Words words) {
  std::ranges::reverse(words);
  command.parse(std::move(words));
}

// Whether `synth` would take them.
Expected<void> check(const Words& words, const Asked& asked) {
  if (asked.job.given()) {
    SynthArguments named = asked.synth;
    if (named.format != "none") named.output = "all groups";
    const bool is_one = is_plan_of_all(words, named.format);
    if (is_one) named.output += ".json";
    return refuse_misplaced_in_job(named, asked.job);
  }
  if (auto done = refuse_misplaced_groups(asked.job, {asked.synth.failures, "", ""}); !done) {
    return done;
  }
  const auto request = resolve(asked.synth);
  return request ? Expected<void>() : request.errors();
}

void add_options(CLI::App& command, Asked& asked) {
  add_synth_arguments(command, asked.synth);
  add_job_options(command, asked.job);
}

bool has_root(const std::string& name) {
  const auto collective = parse_collective(name);
  return collective && is_rooted(*collective);
}

}  // namespace

struct SynthOptions::State {
  Asked unused;  // what CLI11 stores into
  std::vector<const CLI::Option*> options;
};

SynthOptions::SynthOptions(CLI::App& command) : state_(std::make_unique<State>()) {
  const auto present = options_of(command);
  add_options(command, state_->unused);
  state_->options = keep_what_is_passed_on(command, present);
}

SynthOptions::~SynthOptions() = default;

Words SynthOptions::words() const {
  return words_of(state_->options);
}

Expected<Words> normalized(const Words& words) {
  CLI::App command;
  Asked unused;
  add_options(command, unused);
  const auto kept = keep_what_is_passed_on(command, {});
  try {
    parse(command, words);
  } catch (const CLI::ParseError& error) {
    return refused(error);
  }
  return words_of(kept);
}

Words overridden(const Words& common, const Words& own) {
  Words words;
  for (const std::string& word : common) {
    const bool given_again = std::ranges::any_of(
        own, [&](const std::string& other) { return name_of(other) == name_of(word); });
    if (!given_again) words.push_back(word);
  }
  words.insert(words.end(), own.begin(), own.end());
  return words;
}

Words for_collective(Words words, const std::string& collective) {
  if (!has_root(collective)) {
    std::erase_if(words, [](const std::string& word) { return name_of(word) == "--root"; });
  }
  return words;
}

bool has_root_in_vain(const Words& words, const std::vector<std::string>& collectives) {
  return !value_of(words, "--root", "").empty() && std::ranges::none_of(collectives, has_root);
}

bool lacks_root(const Words& words, const std::string& collective) {
  return has_root(collective) && value_of(words, "--root", "").empty();
}

Expected<Asked> parse_common_words(const Words& words) {
  CLI::App command;
  Asked asked;
  add_options(command, asked);
  Words all = words;
  all.emplace_back("topology");  // required; the caller has its own
  try {
    parse(command, std::move(all));
  } catch (const CLI::ParseError& error) {
    return refused(error);
  }
  if (has_operations(words) && value_of(words, "--collective", "").empty()) {
    asked.synth.collective.clear();
  }
  auto formatted = with_format(std::move(asked.synth));
  if (!formatted) return formatted.errors();
  asked.synth = *std::move(formatted);
  return asked;
}

Expected<Asked> parse_words(const Words& words) {
  auto asked = parse_common_words(words);
  if (!asked) return asked;
  if (const auto done = check(words, *asked); !done) return done.errors();
  const auto solver = resolve(asked->synth.solver);
  if (!solver) return solver.errors();
  return asked;
}

bool has_groups(const Words& words) {
  return has_operations(words) || is_given(words, "--groups");
}

bool has_operations(const Words& words) {
  return is_given(words, "--at-once") || is_given(words, "--job");
}

bool is_plan_of_all(const Words& words, const std::string& format) {
  return has_groups(words) && format == kPlanTarget && is_given(words, "--relays");
}

Expected<std::string> files_of_groups(const Words& words) {
  std::string bytes;
  for (const char* name : {"--groups", "--job"}) {
    const std::string file = value_of(words, name, "");
    if (file.empty() && is_given(words, name)) {
      return make_error(Code::O02, fmt::format("{}: expected groups, found nothing", name),
                        "write a colour such as 'MOD 8', an axis of --mesh or lists of ranks");
    }
    const bool is_file = name == std::string_view("--job") || is_groups_file(file);
    if (file.empty() || !is_file) continue;
    if (file == "-") {
      return make_error(Code::S04, fmt::format("{} -: every topology would read it", name),
                        "name a file");
    }
    const auto text = read_input(file);
    if (!text) return text.errors();
    bytes += *text;
  }
  return bytes;
}

std::string value_of(const Words& words, const std::string& name, const std::string& standard) {
  std::string value = standard;
  for (const std::string& word : words) {
    if (name_of(word) == name && word.size() > name.size()) value = word.substr(name.size() + 1);
  }
  return value;
}

}  // namespace forestcoll::cli::batch
