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
  std::vector<std::string> offers;   ///< what a shell offers: the choices, or known names
  bool is_list = false;              ///< takes several values, with commas
  std::string standard;              ///< the value where it is not given; empty where none is shown
  std::string group;                 ///< the title that it stands under
  std::string description;           ///< one paragraph
};

/// A command, or the program itself.
struct CommandHelp {
  std::vector<std::string> words;  ///< "topo", "show"; none for the program
  std::string description, footer;
  std::vector<OptionHelp> options, operands;
  std::vector<std::string> commands;  ///< below it: "show" for "topo"
};

/// One command, with the words that lead to it.
[[nodiscard]] CommandHelp help_of_command(const CLI::App& command);

/// The program, and after it every command that its help shows, in the order of the help.
[[nodiscard]] std::vector<CommandHelp> help_of(const CLI::App& program);

}  // namespace forestcoll::cli
