#include <fmt/format.h>
#include <fmt/ranges.h>

#include "help/texts.hpp"

namespace forestcoll::cli {
namespace {

// Text in single quotes, for any of the shells.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += R"('\'')";
    } else {
      result += c;
    }
  }
  return result + "'";
}

// The first sentence, which is what a menu has room for.
std::string brief(const std::string& description) {
  return description.substr(0, description.find_first_of(";("));
}

// What may stand next: options, and the choices of operands.
std::vector<std::string> words_of(const CommandHelp& command) {
  std::vector<std::string> names;
  for (const OptionHelp& operand : command.operands) {
    names.insert(names.end(), operand.offers.begin(), operand.offers.end());
  }
  for (const OptionHelp& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

const CommandHelp& inner(const std::vector<CommandHelp>& commands, const CommandHelp& outer,
                         const std::string& name) {
  auto words = outer.words;
  words.push_back(name);
  std::size_t at = 0;
  while (commands[at].words != words) ++at;
  return commands[at];
}

// "options)" and what follows it in bash's `case` on the word before.
std::string bash_values(const CommandHelp& command) {
  std::string cases;
  for (const OptionHelp& option : command.options) {
    if (option.value.empty()) continue;
    const std::string values = fmt::format("{}", fmt::join(option.offers, " "));
    const std::string what =
        option.offers.empty()
            ? "compgen -f -- \"$word\""
            : fmt::format("{} '{}'", option.is_list ? "_forestcoll_list" : "_forestcoll_names",
                          values);
    cases += fmt::format("        {}) mapfile -t COMPREPLY < <({}); return ;;\n",
                         fmt::join(option.names, "|"), what);
  }
  return cases.empty() ? "" : "      case $before in\n" + cases + "      esac\n";
}

}  // namespace

std::string bash_completion(const std::vector<CommandHelp>& commands) {
  std::string text =
      "# Completion of forestcoll's words in bash; made by `forestcoll completion bash`.\n"
      "_forestcoll_names() { compgen -W \"$1\" -- \"$word\"; }\n"
      "# Of a list with commas, the last name is completed.\n"
      "_forestcoll_list() {\n"
      "  local before=\n"
      "  [[ $word != *,* ]] || before=${word%,*},\n"
      "  compgen -P \"$before\" -W \"$1\" -- \"${word##*,}\"\n"
      "}\n"
      "_forestcoll() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= at\n"
      "  COMPREPLY=()\n"
      "  for ((at = 1; at < COMP_CWORD; ++at)); do\n"
      "    case \"$command ${COMP_WORDS[at]}\" in\n";
  for (const CommandHelp& command : commands) {
    if (command.words.empty()) continue;
    const std::string words = fmt::format("{}", fmt::join(command.words, " "));
    text += fmt::format("      '{}{}') command='{}' ;;\n", command.words.size() == 1 ? " " : "",
                        words, words);
  }
  text +=
      "    esac\n"
      "  done\n"
      "  local words=\n"
      "  case $command in\n";
  for (const CommandHelp& command : commands) {
    text += fmt::format("    '{}')\n{}", fmt::join(command.words, " "), bash_values(command));
    text += fmt::format("      words='{} {}' ;;\n", fmt::join(command.commands, " "),
                        fmt::join(words_of(command), " "));
  }
  text +=
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  [[ $word == -* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "
      "\"$word\")\n"
      "}\n"
      "complete -o filenames -F _forestcoll forestcoll\n";
  return text;
}

namespace {

// A character that zsh's specifications of options would read.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_option(const OptionHelp& option) {
  const std::string value =
      option.value.empty()    ? ""
      : option.offers.empty() ? fmt::format(":{}:_files", escaped(option.value))
      : option.is_list
          ? fmt::format(":{}:_values -s , {} {}", escaped(option.value), escaped(option.value),
                        fmt::join(option.offers, " "))
          : fmt::format(":{}:({})", escaped(option.value), fmt::join(option.offers, " "));
  std::string lines;
  for (const std::string& name : option.names) {
    lines += " \\\n    " +
             in_quotes(fmt::format("*{}[{}]{}", name, escaped(brief(option.description)), value));
  }
  return lines;
}

std::string zsh_operands(const CommandHelp& command) {
  for (const OptionHelp& operand : command.operands) {
    if (operand.offers.empty()) continue;
    return fmt::format(" \\\n    '1:{}:({})'", operand.names.front(),
                       fmt::join(operand.offers, " "));
  }
  return " \\\n    '*:file:_files'";
}

std::string function_of(const CommandHelp& command) {
  return fmt::format("_forestcoll{}{}", command.words.empty() ? "" : "_",
                     fmt::join(command.words, "_"));
}

}  // namespace

std::string zsh_completion(const std::vector<CommandHelp>& commands) {
  std::string text =
      "#compdef forestcoll\n"
      "# Completion of forestcoll's words in zsh; made by `forestcoll completion zsh`.\n";
  for (const CommandHelp& command : commands) {
    text += fmt::format("\n{}() {{\n", function_of(command));
    std::string options;
    for (const OptionHelp& option : command.options) options += zsh_option(option);
    if (command.commands.empty()) {
      text += fmt::format("  _arguments -s{}{}\n}}\n", options, zsh_operands(command));
      continue;
    }
    text += "  local -a commands=(\n";
    for (const std::string& name : command.commands) {
      text += "    " +
              in_quotes(escaped(name) + ":" +
                        escaped(brief(inner(commands, command, name).description))) +
              "\n";
    }
    text += fmt::format(
        "  )\n  local line state\n  _arguments -C -s{} \\\n    '1: :->command' '*:: :->words'\n"
        "  case $state in\n    command) _describe command commands{} ;;\n    words)\n"
        "      case $line[1] in\n",
        options, command.operands.empty() ? "" : "; _files");
    for (const std::string& name : command.commands) {
      text += fmt::format("        {}) {} ;;\n", name, function_of(inner(commands, command, name)));
    }
    text += "      esac ;;\n  esac\n}\n";
  }
  // As a file of $fpath it is the body of the function that completes; else it is sourced.
  return text +
         "\nif [[ $funcstack[1] == _forestcoll ]]; then\n  _forestcoll \"$@\"\n"
         "else\n  compdef _forestcoll forestcoll\nfi\n";
}

std::string fish_completion(const std::vector<CommandHelp>& commands) {
  std::string text =
      "# Completion of forestcoll's words in fish; made by `forestcoll completion fish`.\n";
  for (const CommandHelp& command : commands) {
    std::string condition;
    for (const std::string& word : command.words) {
      condition +=
          fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", word);
    }
    if (!command.commands.empty()) {
      const std::string none_yet =
          fmt::format("{}{}not __fish_seen_subcommand_from {}", condition,
                      condition.empty() ? "" : "; and ", fmt::join(command.commands, " "));
      for (const std::string& name : command.commands) {
        text += fmt::format("complete -c forestcoll{} -n {} -a {} -d {}\n",
                            command.operands.empty() ? " -f" : "", in_quotes(none_yet), name,
                            in_quotes(brief(inner(commands, command, name).description)));
      }
    }
    for (const OptionHelp& operand : command.operands) {
      if (operand.offers.empty()) continue;
      text += fmt::format("complete -c forestcoll -f -n {} -a {}\n", in_quotes(condition),
                          in_quotes(fmt::format("{}", fmt::join(operand.offers, " "))));
    }
    for (const OptionHelp& option : command.options) {
      text += "complete -c forestcoll";
      if (!condition.empty()) text += " -n " + in_quotes(condition);
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.value.empty()) text += " -r";
      if (!option.offers.empty()) {
        text +=
            fmt::format(" -f -a {}", in_quotes(fmt::format("{}", fmt::join(option.offers, " "))));
      }
      text += " -d " + in_quotes(brief(option.description)) + "\n";
    }
  }
  return text;
}

}  // namespace forestcoll::cli
