// The words beside the names of options in `--help-all`, and where no option is a common one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace forestcoll::cli {

/// Names values and operands as their commands do, without the parser's types.
class HelpFormatter : public CLI::Formatter {
 public:
  /// " NAME", " {fast,max}=fast", " N (required)", " (with --json)"
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace forestcoll::cli
