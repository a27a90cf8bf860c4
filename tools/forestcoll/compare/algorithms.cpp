#include "compare/algorithms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "common/bound_alltoall.hpp"
#include "common/files/nccl_rings.hpp"
#include "common/options/collective_option.hpp"
#include "compare/comparison.hpp"
#include "compare/rows/program_rows.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {
namespace {

// The baselines that have the collective.
std::vector<std::string> baselines_of(const CompareArguments& options) {
  std::vector<std::string> names;
  const Collective collective = *collective_of(options.collective);
  if (is_personalized(collective)) {
    for (const BaselineInfo& info : alltoall_baselines()) {
      if (has_paths_for(info, collective)) names.emplace_back(info.name);
    }
    return names;
  }
  for (const BaselineInfo& info : baselines()) {
    if (std::ranges::find(info.supported, collective) != info.supported.end()) {
      names.emplace_back(info.name);
    }
  }
  if (options.trees) return names;
  if (collective == Collective::allreduce) {
    for (const ExchangeInfo& info : exchanges()) names.emplace_back(info.name);
  }
  names.emplace_back("nccl-pick");
  if (collective == Collective::allreduce) names.emplace_back("mscclpp-pick");
  return names;
}

bool is_algorithm(const std::string& name, const CompareArguments& options) {
  if (name == kOurs) return true;
  if (has_paths(options.collective)) {
    const BaselineInfo* info = find_alltoall_baseline(name);
    return info != nullptr && has_paths_for(*info, *collective_of(options.collective));
  }
  return name == kOursByRate || is_selector(name) || find_exchange(name) != nullptr ||
         find_baseline(name) != nullptr;
}

Diagnostic no_algorithm(const std::string& name, const CompareArguments& options) {
  std::vector<std::string_view> known = {"all", kOurs};
  const bool of_paths = has_paths(options.collective);
  for (const BaselineInfo& info : of_paths ? alltoall_baselines() : baselines()) {
    if (of_paths && !has_paths_for(info, *collective_of(options.collective))) continue;
    known.push_back(info.name);
  }
  return make_error(Code::S03, fmt::format("--algorithms: there is no \"{}\"", name),
                    fmt::format("there are {}", fmt::join(known, ", ")));
}

// "all" is ours and every baseline that has this collective.
Expected<std::vector<std::string>> names_of(const CompareArguments& options) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const std::string& asked : options.algorithms) {
    if (asked == "all") {
      add(kOurs);
      if (!has_paths(options.collective) && !options.trees) add(kOursByRate);
      for (const std::string& name : baselines_of(options)) add(name);
    } else if (is_algorithm(asked, options)) {
      add(asked);
    } else {
      return no_algorithm(asked, options);
    }
  }
  return names;
}

// What says nothing to the algorithms that are compared.
Expected<void> refuse_for_algorithms(const CompareArguments& options,
                                     const std::vector<std::string>& names) {
  const bool rings = std::ranges::any_of(names, has_box_rings);
  const bool nccl_ring = std::ranges::find(names, "nccl-ring") != names.end();
  for (const auto& [option, given, fits] :
       {std::tuple("--nccl-graph", !options.nccl_graph.empty(), rings),
        std::tuple("--nccl-constants", options.nccl_constants, rings),
        std::tuple("--cross-nic", options.cross_nic, nccl_ring)}) {
    if (!given || fits) continue;
    return make_error(
        Code::S04, fmt::format("{} says nothing to --algorithms {}", option, fmt::join(names, ",")),
        "add nccl-ring to them, or leave it out");
  }
  return {};
}

// Programs alone cannot be asked for as trees.
Expected<void> refuse_with_trees(const CompareArguments& options,
                                 const std::vector<std::string>& names) {
  if (!options.trees) return {};
  if (has_paths(options.collective)) {
    return make_error(Code::S04, fmt::format("{} has no trees", with_article(options.collective)),
                      "leave --trees out");
  }
  const auto program = std::ranges::find_if(names, [](const std::string& name) {
    return name == kOursByRate || is_selector(name) ||
           (find_exchange(name) != nullptr && find_baseline(name) == nullptr);
  });
  if (program == names.end()) return {};
  return make_error(Code::S04, fmt::format("{} is timed as a program alone", *program),
                    "leave it or --trees out");
}

}  // namespace

Expected<std::vector<std::string>> find_algorithms(const CompareArguments& options) {
  auto names = names_of(options);
  if (!names) return names;
  if (const auto done = refuse_for_algorithms(options, *names); !done) return done.errors();
  if (const auto done = refuse_with_trees(options, *names); !done) return done.errors();
  return names;
}

}  // namespace forestcoll::cli
