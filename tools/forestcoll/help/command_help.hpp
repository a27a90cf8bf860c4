// What the parsers of the commands know, for whoever writes it down in another form.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// An option or an operand.
struct OptionHelp {
  std::vector<std::string> names;    ///< "-o", "--output"; an operand's one name
  std::string value;                 ///< what it takes, such as "FILE"; empty for a flag
  std::vector<std::string> choices;  ///< all that it takes, where these are few
  std::string description;           ///< one paragraph
};

/// A command, or the program itself.
struct CommandHelp {
  std::vector<std::string> words;  ///< "topo", "show"; none for the program
  std::string description, footer;
  std::vector<OptionHelp> options, operands;
  std::vector<std::string> commands;  ///< below it: "show" for "topo"
};

/// The program, and after it every command that its help shows, in the order of the help.
[[nodiscard]] std::vector<CommandHelp> help_of(const CLI::App& program);

}  // namespace forestcoll::cli
