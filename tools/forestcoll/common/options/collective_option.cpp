#include "common/options/collective_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>

#include "common/files/io.hpp"
#include "common/options/did_you_mean.hpp"
#include "common/options/shared_options.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/spelling.hpp"

namespace forestcoll::cli {
namespace {

const std::array<std::string, 9> kNames = {std::string(to_string(Collective::allreduce)),
                                           std::string(to_string(Collective::allgather)),
                                           std::string(to_string(Collective::reduce_scatter)),
                                           std::string(to_string(Collective::broadcast)),
                                           std::string(to_string(Collective::reduce)),
                                           std::string(to_string(Collective::alltoall)),
                                           std::string(kUnequalAlltoall),
                                           std::string(to_string(Collective::scatter)),
                                           std::string(to_string(Collective::gather))};

}  // namespace

std::string names_of_collectives() {
  std::string names;
  for (const std::string& name : kNames) {
    if (name != kUnequalAlltoall) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

std::optional<Collective> collective_of(std::string_view name) {
  return name == kUnequalAlltoall ? Collective::alltoall : parse_collective(name);
}

bool has_paths(std::string_view name) {
  const auto collective = collective_of(name);
  return collective && is_personalized(*collective);
}

bool is_for_plans_alone(Collective collective) {
  return is_personalized(collective) && is_rooted(collective);
}

std::string with_article(std::string_view name) {
  return fmt::format("{} {}", name.starts_with('a') ? "an" : "a", name);
}

std::string resolve_collective(std::string& name) {
  if (name.ends_with('v') || name.ends_with('V')) {
    if (parse_spelling(name.substr(0, name.size() - 1)) == Collective::alltoall) {
      name = kUnequalAlltoall;
      return {};
    }
  }
  if (const auto collective = parse_spelling(name)) {
    name = to_string(*collective);
    return {};
  }
  return validator_text(
      Code::S03, fmt::format("there is no collective \"{}\"; there are {}{}", name.substr(0, 40),
                             names_of_collectives(), did_you_mean(name, kNames)));
}

CLI::Option* add_collective_option(CLI::App& command, std::string& collective,
                                   const std::string& meaning) {
  const OptionGroup general(command);
  return general
      .option("-c,--collective", collective, "NAME",
              fmt::format("{}: {}", meaning, names_of_collectives()))
      ->transform(CLI::Validator(resolve_collective, ""));
}

CLI::Option* add_collectives_option(CLI::App& command, std::vector<std::string>& collectives,
                                    const std::string& meaning) {
  const OptionGroup general(command);
  return general
      .list("-c,--collective", collectives, "NAME,...",
            fmt::format("{}: {}", meaning, names_of_collectives()))
      ->delimiter(',')
      ->transform(CLI::Validator(resolve_collective, ""))
      ->default_str(fmt::format("{}", fmt::join(collectives, ",")));
}

Expected<ParsedDemand> read_demand(const Network& network, Collective collective,
                                   std::optional<Rank> root, const std::string& path) {
  if (path.empty()) return demand_of(collective, network.ranks.size(), root);
  const auto text = read_input(path);
  if (!text) return text.errors();
  return parse_demand(*text, display_name(path), network.ranks.size());
}

Expected<void> refuse_misplaced_demand(std::string_view collective, const std::string& demand) {
  if (collective == kUnequalAlltoall && demand.empty()) {
    return make_error(Code::S04, "an alltoallv is of unequal amounts, and no --demand says which",
                      "add --demand FILE, or ask for -c alltoall");
  }
  if (demand.empty() || collective_of(collective) == Collective::alltoall) return {};
  return make_error(Code::S04, "--demand is for -c alltoall",
                    has_paths(collective)
                        ? "leave --demand out"
                        : "leave --demand out; the weights of nodes say what they own");
}

}  // namespace forestcoll::cli
