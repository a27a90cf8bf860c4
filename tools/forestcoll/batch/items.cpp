#include "batch/items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "batch/items/group_words.hpp"
#include "batch/results/store.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/schedule_options.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/collective.hpp"

namespace forestcoll::cli::batch {
namespace {

// A bound of what was measured, in bytes; see tools/scripts/batch-trial.
constexpr double kBaseFootprint = 48.0 * (1 << 20);
constexpr double kBytesPerPair = 4000;  // of GPUs: trees, messages and steps
constexpr double kBytesPerPart = 4000;  // nodes and links

// What a child takes to start and to end, in units of pairs.
constexpr double kLeastCost = 6000;

// None of the directory of groups that have a schedule each.
std::string extension(const Words& words, const std::string& format) {
  if (format == "none" || (has_groups(words) && !is_plan_of_all(words, format))) return "";
  if (format == "msccl" || format == "forest-xml") return ".xml";
  return format == "dot" || format == "svg" ? "." + format : ".json";
}

// -k, where none is given, as `synth` takes it.
std::string standard_trees(const std::string& format, const std::string& collective) {
  const bool in_parts = format == "msccl" || format == "mscclpp" || has_paths(collective);
  return in_parts ? "auto" : "optimal";
}

// In reports, for those that --algorithm brings along; -k is for forestcoll's own trees.
constexpr const char* kTreesOfOthers = "own";

bool has_trees_of_others(const Words& words) {
  const std::string own = BaselineArguments().algorithm;
  return value_of(words, "--algorithm", own) != own;
}

std::string target_for(const std::string& collective) {
  return collective == kJobOfOperations ? SynthArguments().target
                                        : default_target(*collective_of(collective));
}

std::string format_for(const Assignment& assignment, const std::string& collective) {
  return value_of(assignment.words, "--format", std::string(default_format(collective)));
}

// Forests have none, and plans have their own.
bool is_for_targets(const std::string& format, const std::string& target) {
  return format == "msccl" || find_plan_target(target) != nullptr;
}

// Those that are there twice, once; in the order in which they first come.
std::vector<std::string> distinct(const std::vector<std::string>& values) {
  std::set<std::string> seen;
  std::vector<std::string> result;
  for (const std::string& value : values) {
    if (seen.insert(value).second) result.push_back(value);
  }
  return result;
}

std::string in_file_name(std::string text) {
  std::ranges::replace(text, ':', '-');
  return text;
}

// Groups at once have what `synth` gives them where no trees are asked for, and operations name
// their collectives.
Words words_for(const Assignment& assignment, const Variant& variant, const std::string& format) {
  const bool is_job = variant.collective == kJobOfOperations;
  const bool groups = has_groups(assignment.words);
  Words words = is_job ? assignment.words : for_collective(assignment.words, variant.collective);
  if (!is_job) words.push_back("--collective=" + variant.collective);
  if (is_for_targets(format, variant.target)) words.push_back("--target=" + variant.target);
  const bool has_trees = groups ? !assignment.trees.empty() : variant.trees != kTreesOfOthers;
  if (has_trees) words.push_back("-k" + variant.trees);
  return words;
}

}  // namespace

std::vector<Item> items_of(const Assignment& assignment) {
  const auto asked_targets = distinct(assignment.targets);
  const auto asked_trees = distinct(assignment.trees);
  const bool others = asked_trees.empty() && has_trees_of_others(assignment.words);
  std::vector<Item> items;
  for (const std::string& collective : distinct(assignment.asked_collectives())) {
    auto targets = asked_targets;
    if (targets.empty()) targets.push_back(target_for(collective));
    for (const std::string& target : targets) {
      const std::string format =
          find_plan_target(target) != nullptr ? kPlanTarget : format_for(assignment, collective);
      auto trees = asked_trees;
      if (trees.empty())
        trees.push_back(others ? kTreesOfOthers : standard_trees(format, collective));
      for (const std::string& k : trees) {
        Item item;
        item.input = assignment.input;
        item.variant = {collective, target, k};
        item.words = words_for(assignment, item.variant, format);
        std::string name = collective;
        if (targets.size() > 1) name += "-" + target;
        if (trees.size() > 1) name += "-k" + in_file_name(k);
        name += extension(assignment.words, format);
        if (format != "none") item.output = item.input + "/" + name;
        item.record = item.input + "/." + name + (format == "none" ? ".none" : "") + ".batch";
        items.push_back(std::move(item));
      }
    }
  }
  return items;
}

Expected<void> refuse(const Assignment& assignment) {
  if (const auto files = files_of_groups(assignment.words); !files) return files.errors();
  for (const std::string& collective : assignment.asked_collectives()) {
    const std::string format = format_for(assignment, collective);
    for (const std::string& target : assignment.targets) {
      if (is_for_targets(format, target)) continue;
      return Diagnostics{make_error(
          Code::S04, fmt::format("--target is for MSCCL XML, not for --format {}", format),
          "leave --target out, or write --format msccl")};
    }
  }
  for (const Item& item : items_of(assignment)) {
    if (const auto arguments = parse_words(item.words); !arguments) return arguments.errors();
  }
  return {};
}

Expected<void> GroupsRefusal::refuse(const Assignment& assignment) {
  if (!has_groups(assignment.words)) return {};
  for (const Item& item : items_of(assignment)) {
    if (!checked_.insert(item.words).second) continue;
    const auto asked = parse_words(item.words);
    if (!asked) return asked.errors();
    if (const auto done = check_group_words(*asked); !done) return done.errors();
  }
  return {};
}

Expected<void> require_root(const Assignment& assignment) {
  for (const std::string& collective : assignment.collectives) {
    if (!lacks_root(assignment.words, collective)) continue;
    return make_error(Code::S02, fmt::format("{} needs a root", collective),
                      "name it for all topologies by rank, such as --root 0, or for each of them "
                      "in the options of a --manifest");
  }
  return {};
}

Expected<void> reject_unused_root(const Words& common, const std::vector<Assignment>& assignments) {
  const auto in_vain = [&common](const Assignment& assignment) {
    return !has_operations(assignment.words) &&
           has_root_in_vain(common, assignment.asked_collectives());
  };
  if (assignments.empty() || !std::ranges::all_of(assignments, in_vain)) return {};
  return make_error(Code::S02,
                    fmt::format("--root: {} has no root",
                                fmt::join(assignments.front().asked_collectives(), ", ")),
                    "leave --root out, or ask for -c broadcast or -c reduce");
}

void apply(const Probe& probe, const std::string& program, Item& item) {
  if (probe.error) return;
  item.key = item_key(program, probe.fingerprint, item.words);
  const auto gpus = static_cast<double>(probe.gpus);
  const auto parts = static_cast<double>(probe.nodes + probe.links);
  // An allreduce has two forests.
  const double forests = item.variant.collective == to_string(Collective::allreduce) ? 2 : 1;
  item.cost = kLeastCost + forests * gpus * (gpus + parts);
  item.footprint = static_cast<std::uint64_t>(kBaseFootprint + kBytesPerPair * gpus * gpus +
                                              kBytesPerPart * parts);
}

std::vector<std::size_t> by_cost(const std::vector<Item>& items) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return items[a].cost > items[b].cost; });
  return order;
}

std::vector<std::size_t> share_of(const Shard& shard, const std::vector<Item>& items) {
  constexpr double kLeast = 1;  // what cannot be read is no work, but shared out as well
  std::vector<double> load(static_cast<std::size_t>(shard.count));
  std::vector<std::size_t> own;
  for (const std::size_t item : by_cost(items)) {
    const auto lightest = std::ranges::min_element(load);
    *lightest += std::max(items[item].cost, kLeast);
    if (lightest - load.begin() == shard.index - 1) own.push_back(item);
  }
  std::ranges::sort(own);
  return own;
}

}  // namespace forestcoll::cli::batch
