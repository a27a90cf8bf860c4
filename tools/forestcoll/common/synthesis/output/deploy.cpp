// Facts of the runtimes: docs/run-on-gpus.md.
#include "common/synthesis/output/deploy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>

#include "common/report/report.hpp"
#include "common/synthesis/output/plan_facts.hpp"
#include "common/synthesis/output/plan_module.hpp"
#include "common/synthesis/output/rank_order.hpp"
#include "common/synthesis/output/runtime_settings.hpp"
#include "common/synthesis/output/shim_files.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

// Where a window is open, nccl-tests is given sizes that say something.
constexpr std::int64_t kLeastTested = 1024, kMostTested = std::int64_t{1} << 32;
constexpr std::int64_t kElementBytes = 4;  // float, which nccl-tests takes by default

std::string_view folder_of(const CompileOptions& options) {
  return is_plan(options) ? "plans" : "algorithms";
}

// In which $forestcoll_here is the directory.
Settings settings(const Deployment& deployment) {
  std::string files;
  for (const DeployedSchedule& schedule : deployment.schedules) {
    files += (files.empty() ? "" : ":") + ("$forestcoll_here/algorithms/" + schedule.file.name);
  }
  return runtime_settings(deployment.options, "$forestcoll_here/algorithms", files,
                          deployment.options.xml.buffer_bytes);
}

std::string env_text(const Deployment& deployment) {
  return std::string("# What the runtime reads; source it in bash: . env.sh\n") + kHere +
         exports_of(settings(deployment), deployment.options) + "unset forestcoll_here\n";
}

// The schedules that the shim loads by itself, by its names: the last ones, for the largest sizes.
std::vector<NamedText> files_of_shim(const Deployment& deployment, const RankOrder& order) {
  const CompileOptions& options = deployment.options;
  std::vector<NamedText> files;
  if (!is_plan(options) || !order.box_by_box) return files;
  const auto names = shim_files(options.lowering.target, options.synthesis.collective,
                                order.ranks.size(), static_cast<std::size_t>(order.per_box));
  const auto& schedules = deployment.schedules;
  const std::size_t count = std::min(names.size(), schedules.size());
  for (std::size_t i = 0; i < count; ++i) {
    const NamedText& file = schedules[schedules.size() - count + i].file;
    files.push_back({fmt::format("cache/default/{}", names[i]), file.text});
  }
  return files;
}

std::string launch_text(const Deployment& deployment, const RankOrder& order) {
  const std::string_view test = nccl_test_of(deployment.options.synthesis.collective);
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n# Runs nccl-tests (rccl-tests) at sizes for which the schedules are:\n"
      "#   run.sh [PATH/TO/{}] [its options]\nset -euo pipefail\n",
      test);
  text += kHere;
  text += "here=$forestcoll_here\n";  // which env.sh unsets
  text += ". \"$here/env.sh\"\n";
  const std::string sizes = size_words(deployment.schedules, deployment.options);
  if (sizes.empty()) text += "# No size is for all schedules: give -b and -e.\n";
  const bool is_loaded = !files_of_shim(deployment, order).empty();
  if (is_loaded) text += "export MSCCLPP_CACHE_DIR=\"$here/cache\"\n";
  text += fmt::format("test=${{1:-{}}}\nshift || true\n", test);
  text += fmt::format(
      "exec mpirun -np {} {}", order.ranks.size(),
      order.box_by_box ? "--hostfile \"$here/hosts\" --map-by slot" : "--rankfile \"$here/hosts\"");
  for (const auto& setting : settings(deployment)) text += " -x " + setting.first;
  if (is_loaded) text += " -x MSCCLPP_CACHE_DIR";
  if (is_plan(deployment.options)) text += " -x LD_PRELOAD -x MSCCLPP_NCCL_LIB_PATH";
  text += fmt::format(" \\\n  \"$test\" {} -d float -g 1 -n 20 -c 1{} \"$@\"\n", sizes,
                      deployment.options.synthesis.root
                          ? fmt::format(" -r {}", deployment.options.synthesis.root->value)
                          : "");
  return text;
}

// Plans reach more than the two settings of a collective and a size say.
std::string plan_steps(const Deployment& deployment, const RankOrder& order) {
  const std::size_t loaded = files_of_shim(deployment, order).size();
  std::string text =
      "3. In PyTorch: import forestcoll_plans; forestcoll_plans.register() before\n"
      "   init_process_group.\n";
  if (loaded == 0) {
    text += "4. run.sh is the yardstick: nccl-tests loads no plans by itself.\n";
  } else {
    text += fmt::format(
        "4. run.sh PATH: nccl-tests, with {} under the names that the shim loads by itself\n"
        "   (cache/default). It does not ask whether chunks divide a size: use it for tests "
        "alone.\n",
        loaded == 1 ? std::string("a plan") : fmt::format("{} plans", loaded));
  }
  PlanCaveats caveats;
  for (const DeployedSchedule& schedule : deployment.schedules) {
    caveats.add(schedule, deployment.options);
  }
  return text + caveats.in_words();
}
std::string readme_text(const Deployment& deployment, const RankOrder& order) {
  const CompileOptions& options = deployment.options;
  std::string text = fmt::format("{} over the {} GPUs of \"{}\", made by forestcoll.\n\n",
                                 to_string(options.synthesis.collective), order.ranks.size(),
                                 deployment.topology.name);
  for (const DeployedSchedule& schedule : deployment.schedules) {
    text += fmt::format("{}/{}: {} to {} bytes; the buffer must be divisible by {} {}\n",
                        folder_of(options), schedule.file.name, schedule.first, schedule.last,
                        schedule.unit, is_plan(options) ? "bytes" : "elements");
  }
  text +=
      "\n1. hosts: put your hosts' names in it, in this order.\n"
      "2. env.sh: what the runtime reads; one process for each GPU.\n";
  text += is_plan(options) ? plan_steps(deployment, order)
                           : std::string("3. run.sh PATH: nccl-tests at these sizes.\n");
  text +=
      "\nThe data is right whatever was selected: a runtime that takes no file of these falls "
      "back\n"
      "without a word. docs/run-on-gpus.md of forestcoll says how to see what it took.\n\n";
  if (!order.by_index) {
    text +=
        "The ranks of a host are not its first GPUs in their order: give each host "
        "CUDA_VISIBLE_DEVICES\n"
        "(HIP_VISIBLE_DEVICES) with the column \"GPU of the host\", in the order of its ranks.\n\n";
  }
  if (options.synthesis.collective == Collective::alltoall) {
    text +=
        "Only calls of ncclAllToAll select it, as the alltoall_perf of msccl-tests-nccl and\n"
        "rccl-tests makes them. That of nccl-tests, and PyTorch, send to each rank by itself, "
        "which\n"
        "no file is selected for.\n\n";
  }
  if (is_rooted(options.synthesis.collective) && is_plan(options)) {
    text += fmt::format("The root is rank {}: forestcoll_plans leaves calls with another.\n\n",
                        options.synthesis.root->value);
  } else if (is_rooted(options.synthesis.collective)) {
    text += fmt::format(
        "The root is rank {}, and no runtime checks that: calls with another root go wrong.\n\n",
        options.synthesis.root->value);
  }
  return text +
         "The communicator's ranks must lie like this, or messages take other links than planned;\n"
         "the GPUs of a host are counted in the order in which the topology file has them:\n" +
         rank_table(order);
}

}  // namespace

bool joins_hosts(const CompileOptions& options) {
  const PlanTarget* release = find_plan_target(options.lowering.target);
  return release != nullptr && release->name != "mscclpp-0.9";
}

DeployedSchedule deployed_schedule(const Compilation& compiled, const Topology& topology) {
  const CompileOptions& options = compiled.options;
  const Collective collective = options.synthesis.collective;
  const auto ranks = static_cast<std::int64_t>(topology.ranks.size());
  const TargetLimits& target = *find_target(options.lowering.target);
  DeployedSchedule schedule;
  schedule.file = {fmt::format("{}-{}gpus-{}chunks.{}", to_string(collective), ranks,
                               compiled.verdict.chunks, is_plan(options) ? "json" : "xml"),
                   compiled.text};
  schedule.ranks = topology.ranks.size();
  schedule.first = options.xml.min_bytes;
  const std::int64_t max_bytes = options.xml.max_bytes.value_or(target.default_max_bytes);
  schedule.last = is_plan(options) ? max_bytes : target.last_selected(max_bytes);
  schedule.unit = is_plan(options)
                      ? kPlanAlignment * compiled.verdict.chunks
                      : target.selected_elements(collective, compiled.verdict.chunks, ranks);
  return schedule;
}

std::optional<std::int64_t> common_unit(std::span<const DeployedSchedule> schedules) {
  std::int64_t unit = 1;
  for (const DeployedSchedule& schedule : schedules) {
    const std::int64_t times = schedule.unit / std::gcd(unit, schedule.unit);
    if (__builtin_mul_overflow(unit, times, &unit)) return std::nullopt;
  }
  return unit;
}

std::string size_words(std::span<const DeployedSchedule> schedules, const CompileOptions& options) {
  const auto common = common_unit(schedules);
  const std::int64_t last = schedules.back().last, scale = is_plan(options) ? 1 : kElementBytes;
  if (!common || *common > last / scale) return "";
  const std::int64_t unit = *common * scale, largest = last / unit * unit;
  const std::int64_t first = std::max(schedules.front().first, std::min(kLeastTested, largest));
  if (first > largest) return "";
  const std::int64_t begin = (first + unit - 1) / unit * unit;
  const std::int64_t end = std::max(begin, std::min(last, kMostTested));
  return fmt::format("-b {} -e {} -f 2", begin, end);
}

void PlanCaveats::add(const DeployedSchedule& schedule, const CompileOptions& options) {
  const PlanFacts facts = facts_of_plan(schedule.file.text);
  adds_ = adds_ || has_reduce(options.synthesis.collective);
  places_ = places_ || !options.any_buffers;
  begins_ = begins_ || facts.begins_allocations;
  multicasts_ = multicasts_ || facts.multicasts_buffers;
}

std::string PlanCaveats::in_words() const {
  std::string text;
  if (adds_) {
    text +=
        "\nThe plans add. The shim does not say which operation a call has, so calls of these "
        "sizes\nwith max, min, prod or avg get sums: keep them out of such programs.\n";
  }
  if (places_) {
    text +=
        "\nGPUs write into one another's buffers, which have to lie equally far into their "
        "allocations\non all ranks; plans of --any-buffers do without that.\n";
  }
  if (begins_) {
    text +=
        "Some send through ports from input or output, which must begin their allocations: other "
        "calls\nare left to the library.\n";
  }
  if (multicasts_) {
    text +=
        "Some have the switch reach input and output, which must be of ncclMemAlloc or\n"
        "mscclpp.RawGpuBuffer: with others the executor throws.\n";
  }
  return text;
}

RegisteredPlan registered_plan(const DeployedSchedule& schedule, const CompileOptions& options,
                               const std::string& file) {
  const Collective collective = options.synthesis.collective;
  const PlanFacts facts = facts_of_plan(schedule.file.text);
  RegisteredPlan plan;
  plan.name = facts.name;
  plan.begins_allocations = facts.begins_allocations;
  plan.root = options.synthesis.root;
  plan.file = file;
  plan.collective = collective == Collective::reduce_scatter ? "reducescatter"
                                                             : std::string(to_string(collective));
  plan.min_bytes = schedule.first;
  plan.max_bytes = schedule.last;
  plan.unit_bytes = schedule.unit;
  plan.in_place = options.lowering.placement == Placement::in_place;
  return plan;
}

Expected<std::vector<NamedText>> deployment_files(const Deployment& deployment) {
  const CompileOptions& options = deployment.options;
  if (is_research(options) && deployment.schedules.size() > kMostResearchFiles) {
    return make_error(Code::S04,
                      fmt::format("--deploy: the research runtime loads {} files, and these are {}",
                                  kMostResearchFiles, deployment.schedules.size()),
                      "give --tune fewer sizes");
  }
  const RankOrder order = rank_order_of(deployment.topology);
  std::vector<NamedText> files;
  for (const DeployedSchedule& schedule : deployment.schedules) {
    files.push_back(
        {fmt::format("{}/{}", folder_of(options), schedule.file.name), schedule.file.text});
  }
  files.push_back({"README.txt", readme_text(deployment, order)});
  files.push_back({"env.sh", env_text(deployment)});
  if (is_plan(options)) {
    std::vector<RegisteredPlan> plans;
    for (const DeployedSchedule& schedule : deployment.schedules) {
      plans.push_back(registered_plan(schedule, options, "plans/" + schedule.file.name));
      for (std::size_t r = 0; r < order.ranks.size(); ++r) plans.back().ranks.emplace_back(r);
      plans.back().per_box = order.per_box;
    }
    files.push_back(
        {"forestcoll_plans.py", plan_module(plans, joins_hosts(options), options.lowering.target)});
    std::ranges::move(files_of_shim(deployment, order), std::back_inserter(files));
  }
  files.push_back({"hosts", hosts_text(order)});
  files.push_back({"run.sh", launch_text(deployment, order)});
  return files;
}

std::string buffers_line(std::int64_t buffer_bytes) {
  return fmt::format(
      "  set NCCL_BUFFSIZE={} in the environment of all ranks (--buffsize chooses another)",
      buffer_bytes);
}

std::string next_line(const CompileOptions& options, const Network& network,
                      const std::string& output, const std::string& directory) {
  if (options.format != Format::msccl && !is_plan(options)) return "";
  if (!directory.empty()) {
    return fmt::format("  next: put the hosts' names into {}, then bash {}; {}",
                       bash_word(directory + "/hosts"), bash_word(directory + "/run.sh"),
                       bash_word(directory + "/README.txt"));
  }
  if (output == "-") return "";
  const Collective collective = options.synthesis.collective;
  const bool unequal = has_unequal_shares(network, collective);
  if (unequal && !is_plan(options)) {
    return "  next: give it to the runtime, for calls with these shares alone "
           "(docs/run-on-gpus.md)";
  }
  if (is_plan(options) && (unequal || is_personalized(collective))) {
    return "  next: give the plan to mscclpp.Executor (docs/run-on-gpus.md)";
  }
  return "  next: --deploy DIR in place of -o adds environment, rank order and launcher "
         "(docs/run-on-gpus.md)";
}

}  // namespace forestcoll::cli
