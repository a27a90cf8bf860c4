#include "batch/items/words.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

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

Diagnostic refused(const CLI::ParseError& error) {
  return make_error(Code::S03, error.what(), "`forestcoll synth --help-all` has the options");
}

// CLI11 takes the words from the last to the first.
void parse(CLI::App& command, Words words) {
  std::ranges::reverse(words);
  command.parse(std::move(words));
}

// Whether `synth` would take them.
Expected<void> check(const SynthArguments& arguments) {
  const auto request = resolve(arguments);
  return request ? Expected<void>() : request.errors();
}

bool has_root(const std::string& name) {
  const auto collective = parse_collective(name);
  return collective && is_rooted(*collective);
}

}  // namespace

struct SynthOptions::State {
  SynthArguments unused;  // what CLI11 stores into
  std::vector<const CLI::Option*> options;
};

SynthOptions::SynthOptions(CLI::App& command) : state_(std::make_unique<State>()) {
  const auto present = options_of(command);
  add_synth_arguments(command, state_->unused);
  state_->options = keep_what_is_passed_on(command, present);
}

SynthOptions::~SynthOptions() = default;

Words SynthOptions::words() const {
  return words_of(state_->options);
}

Expected<Words> normalized(const Words& words) {
  CLI::App command;
  SynthArguments unused;
  add_synth_arguments(command, unused);
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

Expected<SynthArguments> parse_common_words(const Words& words) {
  CLI::App command;
  SynthArguments arguments;
  add_synth_arguments(command, arguments);
  Words all = words;
  all.emplace_back("topology");  // required; the caller has its own
  try {
    parse(command, std::move(all));
  } catch (const CLI::ParseError& error) {
    return refused(error);
  }
  return with_format(std::move(arguments));
}

Expected<SynthArguments> parse_words(const Words& words) {
  auto formatted = parse_common_words(words);
  if (!formatted) return formatted;
  if (const auto done = check(*formatted); !done) return done.errors();
  const auto solver = resolve(formatted->solver);
  if (!solver) return solver.errors();
  return formatted;
}

std::string value_of(const Words& words, const std::string& name, const std::string& standard) {
  std::string value = standard;
  for (const std::string& word : words) {
    if (name_of(word) == name && word.size() > name.size()) value = word.substr(name.size() + 1);
  }
  return value;
}

}  // namespace forestcoll::cli::batch
