// A runtime of XML reads one folder, and takes the first file for as many ranks, the collective and
// the size of a call. Ranks whose groups have the same programs share a folder; others have their
// own, which env.sh picks by the rank of its process.
#include "common/synthesis/output/deploy_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/report/report.hpp"
#include "common/synthesis/output/rank_order.hpp"
#include "common/synthesis/output/runtime_settings.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

// An operation's schedule, as a rank's runtime reads it.
struct ReadSchedule {
  std::size_t operation = 0;
  const GroupDeployment* made = nullptr;
  const std::vector<Rank>* members = nullptr;
};
using ReadByRank = std::vector<ReadSchedule>;

const CompileOptions& any_options(const JobDeployment& job) {
  return job.operations.front().groups.front().made->options;
}

IdVector<Rank, ReadByRank> read_by_ranks(const JobDeployment& job) {
  IdVector<Rank, ReadByRank> read(job.topology.ranks.size());
  for (std::size_t i = 0; i < job.operations.size(); ++i) {
    const DeployedOperation& each = job.operations[i];
    for (const DeployedGroup& group : each.groups) {
      const std::vector<Rank>& members = each.operation.groups[group.group];
      for (const Rank r : members) read[r].push_back({i, group.made.get(), &members});
    }
  }
  return read;
}

// The folders that there are, and which one each rank reads. A rank of no group reads the first.
struct Folders {
  std::vector<ReadByRank> contents;
  IdVector<Rank, std::size_t> of_rank;
};

Folders folders_of(const IdVector<Rank, ReadByRank>& read) {
  Folders folders;
  std::map<std::vector<std::pair<std::size_t, const GroupDeployment*>>, std::size_t> numbers;
  for (const ReadByRank& list : read) {
    std::vector<std::pair<std::size_t, const GroupDeployment*>> key;
    for (const ReadSchedule& each : list) key.emplace_back(each.operation, each.made);
    if (list.empty()) {
      folders.of_rank.push_back(0);
      continue;
    }
    const auto [at, is_new] = numbers.try_emplace(std::move(key), folders.contents.size());
    if (is_new) folders.contents.push_back(list);
    folders.of_rank.push_back(at->second);
  }
  return folders;
}

std::string folder_name(const Folders& folders, std::size_t number) {
  return folders.contents.size() == 1 ? "algorithms" : fmt::format("algorithms/{}", number);
}

// The numbers of a key: of the step, empty where there is one, and of the operation.
std::array<std::string, 2> numbers_of(const std::string& key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string::npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

// Names of files for an operation, which sort like operations: "1/0" is "1-0", of ten and more
// operations in a step "1-00".
class FileNames {
 public:
  explicit FileNames(const JobDeployment& job) {
    for (const DeployedOperation& each : job.operations) {
      const auto numbers = numbers_of(each.key);
      for (std::size_t i = 0; i < 2; ++i) widths_[i] = std::max(widths_[i], numbers[i].size());
    }
  }
  [[nodiscard]] std::string of(const ReadSchedule& each, const std::string& key) const {
    const auto numbers = numbers_of(key);
    const std::string step =
        numbers[0].empty() ? "" : fmt::format("{:0>{}}-", numbers[0], widths_[0]);
    return fmt::format("{}{:0>{}}-{}", step, numbers[1], widths_[1], each.made->schedule.file.name);
  }

 private:
  std::array<std::size_t, 2> widths_ = {};
};

std::vector<NamedText> folder_files(const JobDeployment& job, const Folders& folders) {
  std::vector<NamedText> files;
  const FileNames names(job);
  for (std::size_t f = 0; f < folders.contents.size(); ++f) {
    const std::string folder = folder_name(folders, f) + "/";
    for (const ReadSchedule& each : folders.contents[f]) {
      files.push_back({folder + names.of(each, job.operations[each.operation].key),
                       each.made->schedule.file.text});
    }
  }
  if (folders.contents.size() > 1) {
    std::string text;
    for (const std::size_t f : folders.of_rank) text += fmt::format("{}\n", f);
    files.push_back({"folders", text});
  }
  return files;
}

// NCCL_BUFFSIZE is one for a process: what all schedules are for, or where they differ nothing.
std::set<std::int64_t> buffer_sizes(const JobDeployment& job) {
  std::set<std::int64_t> sizes;
  for (const DeployedOperation& each : job.operations) {
    for (const DeployedGroup& group : each.groups) {
      sizes.insert(group.made->options.xml.buffer_bytes);
    }
  }
  return sizes;
}

std::string env_text(const JobDeployment& job, const Folders& folders) {
  const CompileOptions& options = any_options(job);
  std::string text = "# What the runtime reads; every process sources it in bash: . env.sh\n";
  text += kHere;
  std::string folder = "$forestcoll_here/algorithms";
  if (folders.contents.size() > 1) {
    text +=
        "forestcoll_rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-"
        "${RANK:?env.sh asks for the rank of its process}}}}}\n";
    folder += "/$(sed -n \"$((forestcoll_rank + 1))p\" \"$forestcoll_here/folders\")";
  }
  const auto sizes = buffer_sizes(job);
  const std::string files =
      fmt::format("$(IFS=:; files=(\"{}\"/*.xml); echo \"${{files[*]}}\")", folder);
  text += exports_of(
      runtime_settings(options, folder, files, sizes.size() == 1 ? *sizes.begin() : 0), options);
  if (sizes.size() > 1) {
    text += fmt::format(
        "# NCCL_BUFFSIZE is one for a process, and is left as it is: schedules are fastest with "
        "{}\n"
        "# (0: the default), and right with any.\n",
        fmt::join(sizes, ", "));
  }
  return text + "unset forestcoll_here forestcoll_rank\n";
}

// What NCCL_TESTS_SPLIT has for just these groups; empty where it has nothing.
std::string split_of(const Groups& groups, std::size_t ranks) {
  std::int32_t same = static_cast<std::int32_t>(std::bit_ceil(ranks)) - 1;  // bits of all members
  for (const auto& group : groups) {
    for (const Rank r : group) same &= ~(r.value ^ group.front().value);
  }
  const std::set<std::vector<Rank>> asked(groups.begin(), groups.end());
  for (const std::string& words :
       {fmt::format("DIV {}", groups.front().size()), fmt::format("MOD {}", groups.size()),
        fmt::format("AND {:#x}", same)}) {
    const auto split = parse_groups(words, ranks, nullptr);
    if (split && std::set<std::vector<Rank>>(split->begin(), split->end()) == asked) return words;
  }
  return "";
}

// The window that all schedules of an operation have in common; nothing where they have no size.
std::optional<DeployedSchedule> common_window(const DeployedOperation& operation) {
  DeployedSchedule window{{}, 0, operation.groups.front().made->schedule.last, 1};
  for (const DeployedGroup& group : operation.groups) {
    const DeployedSchedule& schedule = group.made->schedule;
    window.first = std::max(window.first, schedule.first);
    window.last = std::min(window.last, schedule.last);
    const std::array<DeployedSchedule, 2> both = {window, {{}, 0, 0, schedule.unit}};
    const auto unit = common_unit(both);
    if (!unit) return std::nullopt;
    window.unit = *unit;
  }
  return window;
}

// How nccl-tests runs an operation, as settings of a shell; or why it does not.
struct TestRun {
  std::string settings, obstacle = {};
};

TestRun test_run_of(const DeployedOperation& each, std::size_t ranks) {
  const std::string_view test = nccl_test_of(each.operation.collective);
  const std::string split = split_of(each.operation.groups, ranks);
  if (test.empty() || split.empty()) return {"", "nccl-tests cannot run these groups"};
  const auto window = common_window(each);
  std::string sizes =
      window ? size_words(std::span(&*window, 1), each.groups.front().made->options) : "";
  if (sizes.empty()) return {"", "no size is for all groups"};
  if (each.operation.root) sizes += fmt::format(" -r {}", *each.operation.root);
  return {fmt::format("test={} split=\"{}\" sizes=\"{}\"", test, split, sizes)};
}

std::string case_of(const DeployedOperation& each, std::size_t ranks) {
  const TestRun run = test_run_of(each, ranks);
  if (run.obstacle.empty()) return fmt::format("  {}) {} ;;\n", each.key, run.settings);
  return fmt::format("  {}) echo \"run.sh: {}\" >&2; exit 2 ;;\n", each.key, run.obstacle);
}

std::string launch_text(const JobDeployment& job, const RankOrder& order) {
  const CompileOptions& options = any_options(job);
  std::string text =
      "#!/usr/bin/env bash\n# Runs nccl-tests (rccl-tests) in all groups of an operation at once:\n"
      "#   run.sh OPERATION [PATH/TO/TEST] [its options]\n";
  std::string cases;
  for (const DeployedOperation& each : job.operations) {
    text += fmt::format("#     {}  {}\n", each.key, each.operation.name);
    cases += case_of(each, order.ranks.size());
  }
  text += std::string("set -euo pipefail\n") + kHere;
  std::vector<std::string> keys;
  for (const DeployedOperation& each : job.operations) keys.push_back(each.key);
  text += fmt::format(
      "if (($# == 0)); then\n"
      "  echo \"usage: run.sh OPERATION [PATH/TO/TEST] [its options]; operations: {}\" >&2\n"
      "  exit 2\nfi\n",
      fmt::join(keys, ", "));
  text += "case $1 in\n" + cases +
          "  *) echo \"run.sh: there is no operation $1\" >&2; exit 2 ;;\nesac\n"
          "test=${2:-$test}\nshift $(($# < 2 ? $# : 2))\nexport NCCL_TESTS_SPLIT=$split\n";
  text += fmt::format(
      "# shellcheck disable=SC2086\nexec mpirun -np {} {} -x NCCL_TESTS_SPLIT{} \\\n"
      "  bash -c '. \"$0/env.sh\" && exec \"$@\"' \"$forestcoll_here\" \\\n"
      "  \"$test\" $sizes -d float -g 1 -n 20 -c 1 \"$@\"\n",
      order.ranks.size(),
      order.box_by_box ? "--hostfile \"$forestcoll_here/hosts\" --map-by slot"
                       : "--rankfile \"$forestcoll_here/hosts\"",
      is_plan(options) ? " -x LD_PRELOAD -x MSCCLPP_NCCL_LIB_PATH" : "");
  return text;
}

std::string group_lines(const DeployedOperation& each) {
  const bool plan = is_plan(each.groups.front().made->options);
  std::string text = fmt::format("operation {}, {}: {}\n", each.key, each.operation.name,
                                 counted(each.groups.size(), "group"));
  for (const DeployedGroup& group : each.groups) {
    std::string ranks;
    for (const Rank r : each.operation.groups[group.group]) ranks += fmt::format(" {}", r.value);
    const DeployedSchedule& schedule = group.made->schedule;
    text += fmt::format("  {}: ranks{}; {} to {} bytes, divisible by {} {}\n", group.file, ranks,
                        schedule.first, schedule.last, schedule.unit, plan ? "bytes" : "elements");
  }
  return text;
}

std::string readme_text(const JobDeployment& job, const RankOrder& order) {
  const CompileOptions& options = any_options(job);
  std::string text = fmt::format(
      "Collectives of process groups on the {} GPUs of \"{}\", made by forestcoll. A group's file "
      "is\nfor the communicator of its ranks, in this order:\n\n",
      order.ranks.size(), job.topology.name);
  for (const DeployedOperation& each : job.operations) text += group_lines(each);
  text +=
      "\n1. hosts: put your hosts' names in it, in this order.\n"
      "2. env.sh: what the runtime reads; one process for each GPU, and each sources it.\n";
  text += is_plan(options)
              ? "3. In PyTorch: import forestcoll_plans; forestcoll_plans.register() before\n"
                "   init_process_group, with RANK as the rank of all ranks.\n"
                "4. run.sh OPERATION PATH is the yardstick: nccl-tests loads no plans by itself.\n"
              : "3. run.sh OPERATION PATH: nccl-tests in all groups of an operation at once.\n";
  text +=
      "\njob.json is what verify, simulate and forestcoll-run of forestcoll take. The data is "
      "right\n"
      "whatever was selected: a runtime that takes no file of these falls back without a word.\n"
      "It sees the collective, the number of ranks and the size of a call, and not its group: "
      "every\n"
      "communicator of as many ranks as a group must be one of these groups.\n";
  for (const std::string& sentence : mistakable(job)) text += sentence + "\n";
  if (is_plan(options)) {
    std::set<const GroupDeployment*> all;
    PlanCaveats caveats;
    for (const DeployedOperation& each : job.operations) {
      for (const DeployedGroup& group : each.groups) {
        const GroupDeployment& made = *group.made;
        if (all.insert(&made).second) caveats.add(made.schedule, made.options);
      }
    }
    text += caveats.in_words();
  }
  return text +
         "\nThe ranks must lie like this, or messages take other links than planned; the GPUs of "
         "a\n"
         "host are counted in the order in which the topology file has them:\n" +
         rank_table(order);
}

std::string module_text(const JobDeployment& job) {
  std::vector<RegisteredPlan> plans;
  for (const DeployedOperation& each : job.operations) {
    for (const DeployedGroup& group : each.groups) {
      const GroupDeployment& made = *group.made;
      plans.push_back(registered_plan(made.schedule, made.options, group.file));
      plans.back().ranks = each.operation.groups[group.group];
      plans.back().per_box = group.per_box;
    }
  }
  const CompileOptions& options = any_options(job);
  return plan_module(plans, joins_hosts(options), options.lowering.target);
}

// Whether calls of some sizes fit both: a runtime does not see their groups.
bool are_alike(const GroupDeployment& one, const GroupDeployment& other) {
  const DeployedSchedule &a = one.schedule, &b = other.schedule;
  return one.options.synthesis.collective == other.options.synthesis.collective &&
         a.ranks == b.ranks && a.first <= b.last && b.first <= a.last;
}

// What a rank's runtime takes for a call of the operation: the first that fits.
const ReadSchedule& taken_for(std::size_t operation, const ReadByRank& read) {
  const auto own = std::ranges::find(read, operation, &ReadSchedule::operation);
  return *std::ranges::find_if(
      read, [&](const ReadSchedule& each) { return are_alike(*each.made, *own->made); });
}

// What a runtime reads of its XML: all but the comments before it.
std::string_view program_in(const ReadSchedule& read) {
  const std::string_view text = read.made->schedule.file.text;
  return text.substr(std::min(text.find("<algo"), text.size()));
}

// Ranks of one communicator that run different schedules wait for one another, or add wrongly.
// Plans of another group are none for its ranks: forestcoll_plans takes those whose order is its
// own, and these by chance.
Expected<void> refuse_mixtures(const JobDeployment& job) {
  const auto read = read_by_ranks(job);
  for (std::size_t i = 0; i < job.operations.size(); ++i) {
    const DeployedOperation& each = job.operations[i];
    const bool plan = is_plan(each.groups.front().made->options);
    for (const DeployedGroup& group : each.groups) {
      const std::vector<Rank>& members = each.operation.groups[group.group];
      const ReadSchedule& first = taken_for(i, read[members.front()]);
      for (const Rank r : members) {
        const ReadSchedule& taken = taken_for(i, read[r]);
        if (plan ? *taken.members == members : program_in(taken) == program_in(first)) continue;
        const ReadSchedule& other = taken.operation != i ? taken : first;
        return make_error(
            Code::S04,
            fmt::format("--deploy: operations {} and {} are alike to a runtime (collective, ranks, "
                        "sizes), and a group's ranks would take different files for one call",
                        job.operations[other.operation].key, each.key),
            "deploy one operation at a time, or give them sizes that do not overlap");
      }
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> mistakable(const JobDeployment& job) {
  std::map<std::pair<Collective, std::size_t>, std::set<std::size_t>> kinds;
  for (const ReadByRank& list : read_by_ranks(job)) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = i + 1; j < list.size(); ++j) {
        const GroupDeployment &a = *list[i].made, &b = *list[j].made;
        if (!are_alike(a, b) || a.schedule.file.text == b.schedule.file.text) continue;
        auto& operations = kinds[{a.options.synthesis.collective, a.schedule.ranks}];
        operations.insert({list[i].operation, list[j].operation});
      }
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [kind, operations] : kinds) {
    std::vector<std::string> keys;
    for (const std::size_t i : operations) keys.push_back(job.operations[i].key);
    const std::string last = std::move(keys.back());
    keys.pop_back();
    sentences.push_back(fmt::format(
        "operations {} and {} are alike to a runtime ({} of {} ranks, sizes that overlap): calls "
        "get the schedule of the first that fits, whose data is right and whose links are others",
        fmt::join(keys, ", "), last, to_string(kind.first), kind.second));
  }
  return sentences;
}

Expected<std::vector<NamedText>> job_deployment_files(const JobDeployment& job) {
  if (auto done = refuse_mixtures(job); !done) return done.errors();
  const CompileOptions& options = any_options(job);
  const RankOrder order = rank_order_of(job.topology);
  std::vector<NamedText> files;
  Folders folders;
  if (is_plan(options)) {
    files.push_back({"forestcoll_plans.py", module_text(job)});
  } else {
    folders = folders_of(read_by_ranks(job));
    files = folder_files(job, folders);
  }
  for (const ReadByRank& list : folders.contents) {
    if (!is_research(options) || list.size() <= kMostResearchFiles) continue;
    return make_error(
        Code::S04,
        fmt::format("--deploy: the research runtime loads {} files, and a rank has {}",
                    kMostResearchFiles, list.size()),
        "deploy fewer operations at once");
  }
  files.push_back({"README.txt", readme_text(job, order)});
  files.push_back({"env.sh", env_text(job, folders)});
  files.push_back({"hosts", hosts_text(order)});
  files.push_back({"run.sh", launch_text(job, order)});
  return files;
}

std::string operation_to_test(const JobDeployment& job) {
  for (const DeployedOperation& each : job.operations) {
    if (test_run_of(each, job.topology.ranks.size()).obstacle.empty()) return each.key;
  }
  return "";
}

}  // namespace forestcoll::cli
