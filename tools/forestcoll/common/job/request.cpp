#include "common/job/request.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "common/files/io.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/chakra_job.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kGroupsTitle = "Process groups at once";

Diagnostic clash(const std::string& what, const std::string& remedy) {
  return make_error(Code::S04, what, remedy);
}

Expected<std::optional<Mesh>> mesh_of(const JobArguments& job, std::size_t ranks, MeshFit fit) {
  if (job.mesh.empty()) return std::optional<Mesh>();
  const auto order = parse_mesh_order(job.mesh_order.empty() ? "megatron" : job.mesh_order);
  if (!order) {
    return make_error(
        Code::S03,
        fmt::format("--mesh-order: expected megatron or device-mesh, found \"{}\"", job.mesh_order),
        "megatron: the first axis is the fastest; device-mesh: the last one is");
  }
  auto mesh = parse_mesh(job.mesh, *order, ranks, {}, fit);
  if (!mesh) return mesh.errors();
  return std::optional(*std::move(mesh));
}

Expected<Groups> parse_words_of_groups(const std::string& words, std::size_t ranks,
                                       const Mesh* mesh) {
  if (!is_groups_file(words)) return parse_groups(words, ranks, mesh);
  const auto text = read_input(words);
  if (!text) return text.errors();
  return parse_groups(*text, ranks, mesh, {.file = display_name(words)});
}

Expected<std::optional<std::size_t>> root_of(const std::string& text) {
  if (text.empty()) return std::optional<std::size_t>();
  const auto root = parse_number<std::size_t>(text);
  if (root) return std::optional(*root);
  return make_error(
      Code::S02,
      fmt::format("--root: expected the root's rank within each group, found \"{}\"", text),
      "write a number such as 0");
}

Expected<Job> job_of_groups(const std::string& words, const JobContext& beside, std::size_t ranks,
                            const Mesh* mesh) {
  auto groups = parse_words_of_groups(words, ranks, mesh);
  if (!groups) return groups.errors();
  const auto root = root_of(beside.root);
  if (!root) return root.errors();
  const auto one = collective_of(beside.collective);
  if (one && is_rooted(*one) && !*root) {
    return make_error(Code::O07, fmt::format("{} needs a root", beside.collective),
                      "name its rank within each group, such as --root 0");
  }
  std::vector<Collective> collectives{Collective::allgather, Collective::reduce_scatter,
                                      Collective::allreduce};
  if (one) collectives = {*one};
  Job job;
  for (const Collective collective : collectives) {
    const std::string name(to_string(collective));
    JobOperation operation{name, collective, *groups, {}, *root, {}};
    if (auto good = check_operation(operation, ranks); !good) return good.errors();
    job.steps.push_back({name, 1, {std::move(operation)}});
  }
  return job;
}

// Communicators are named in a file of their own, or inline.
Expected<Job> job_of_trace(const std::string& text, const JobArguments& job, std::size_t ranks) {
  std::string words = job.groups.value_or("");
  std::string file;
  if (is_groups_file(words)) {
    auto read = read_input(words);
    if (!read) return read.errors();
    file = display_name(words);
    words = *std::move(read);
  }
  return parse_chakra_job(text, display_name(job.job), words, file, ranks);
}

Expected<Job> job_at_once(const std::vector<std::string>& words, std::size_t ranks,
                          const Mesh* mesh) {
  JobStep step{"at once", 1, {}};
  std::size_t with_bytes = 0;
  for (const std::string& text : words) {
    auto operation = parse_operation(text, ranks, mesh);
    if (!operation) return operation.errors();
    with_bytes += operation->bytes ? 1 : 0;
    step.operations.push_back(*std::move(operation));
  }
  if (with_bytes != 0 && with_bytes != words.size()) {
    return make_error(Code::O07, "--at-once: some operations have bytes, and some have none",
                      "give the bytes of all of them, or of none: then all have as much");
  }
  return Job{{std::move(step)}};
}

}  // namespace

void add_groups_options(CLI::App& command, JobArguments& arguments) {
  const OptionGroup group(command, kGroupsTitle);
  group.option("--groups", arguments.groups, "GROUPS|FILE.json",
               "Groups that run the collective at once; a colour as in nccl-tests ('MOD 8', 'DIV\n"
               "8', 'AND 0x7', 'OR 0x7'), axes of --mesh (tp, dp-cp), or lists of ranks\n"
               "('[[0,1],[2,3]]')");
  group.option("--mesh", arguments.mesh, "AXIS=N,...",
               "Arrange the ranks as a grid, such as tp=8,dp=4; the first axis is the fastest,\n"
               "as in Megatron");
  group.option("--mesh-order", arguments.mesh_order, "ORDER",
               "Order of the axes; megatron (default), or device-mesh: the last axis is the\n"
               "fastest, as in PyTorch");
  command.get_option("--relays")->remove_needs(command.get_option("--members"));
}

void add_job_options(CLI::App& command, JobArguments& arguments) {
  add_groups_options(command, arguments);
  const OptionGroup group(command, kGroupsTitle);
  group.list("--at-once", arguments.at_once, "OPERATION",
             "One of several operations at once; COLLECTIVE GROUPS [BYTES] [root=R]\n"
             "[weight=W], such as 'allgather tp 64M'; several times");
  group.file("--job", arguments.job,
             "File of operations in steps; format forestcoll-job, a workload of SimAI or\n"
             "OptCCL, a trace of PyTorch's profiler, or a Chakra trace with --groups for\n"
             "its communicators (docs/jobs.md)");
}

std::string explain_operations(const std::vector<std::string>& unknown,
                               const std::string& instead) {
  for (const std::string& word : unknown) {
    const std::string option = word.substr(0, word.find('='));
    if (option != "--at-once" && option != "--job") continue;
    return fmt::format(
        "{0}: this command takes one collective, of all groups that --groups names; for several "
        "operations write their schedules with `forestcoll synth TOPOLOGY {0} ... -o DIR`, then "
        "`{1}` [S04]",
        option, instead);
  }
  return {};
}

bool is_groups_file(const std::string& groups) {
  return groups.ends_with(".json") || groups == "-";
}

bool has_relays(const Failures& failures) {
  return failures.relays == Failures::Relays::all;
}

Diagnostic no_option_of_groups(const char* other) {
  return clash(fmt::format("{} does not go with process groups at once", other),
               "leave it out, or leave out --groups, --at-once and --job");
}

Expected<void> refuse_misplaced_groups(const JobArguments& job, const JobContext& beside) {
  const bool has_members = !beside.failures.members.empty();
  const std::string words = beside.knows_operations ? "--groups, --at-once or --job" : "--groups";
  if (!job.given()) {
    if (!job.mesh.empty() || !job.mesh_order.empty()) {
      return clash("--mesh and --mesh-order are of groups", "add " + words);
    }
    if (has_relays(beside.failures) && !has_members) {
      return clash("--relays needs --members, or groups",
                   fmt::format("add --members{} {}", beside.knows_operations ? "," : " or", words));
    }
    return {};
  }
  const bool has_two = !job.at_once.empty() && (job.groups || !job.job.empty());
  if (has_two) {
    return clash("--groups, --at-once and --job do not go together",
                 "write one job: --at-once several times, or a file for --job");
  }
  if (has_members) {
    if (beside.knows_operations) return no_option_of_groups("--members");
    return clash("--members is one group, and --groups has several", "leave one of the two out");
  }
  if ((!job.groups || !job.job.empty()) && !(beside.collective + beside.root).empty()) {
    return clash("--collective and --root are of --groups alone",
                 "the operations of --at-once and --job name theirs");
  }
  if (beside.collective == kUnequalAlltoall) {
    return clash("--groups does not know alltoallv", "write its demand in a file for --job");
  }
  if (!job.mesh_order.empty() && job.mesh.empty()) {
    return clash("--mesh-order needs --mesh", "add --mesh");
  }
  return {};
}

Expected<Groups> groups_of(const JobArguments& job, std::size_t ranks) {
  const auto mesh = mesh_of(job, ranks, MeshFit::all_ranks);
  if (!mesh) return mesh.errors();
  auto groups = parse_words_of_groups(*job.groups, ranks, *mesh ? &**mesh : nullptr);
  if (!groups) return groups;
  JobOperation any{"", Collective::allreduce, *groups};
  if (auto good = check_operation(any, ranks); !good) return good.errors();
  return groups;
}

Expected<Job> job_of(const JobArguments& job, const JobContext& beside, std::size_t ranks,
                     const Console& console, MeshFit fit) {
  const auto mesh = mesh_of(job, ranks, fit);
  if (!mesh) return mesh.errors();
  const Mesh* given = *mesh ? &**mesh : nullptr;
  const std::size_t of_job = given == nullptr ? ranks : given->points();
  if (job.job.empty()) {
    auto asked = job.groups ? job_of_groups(*job.groups, beside, of_job, given)
                            : job_at_once(job.at_once, of_job, given);
    if (asked) asked->mesh = *mesh;
    return asked;
  }
  const auto text = read_input(job.job);
  if (!text) return text.errors();
  const bool is_trace = is_chakra_trace(*text);
  if (job.groups && !is_trace) {
    return clash("--groups and --job do not go together, but for a Chakra trace",
                 "leave --groups out: the job names its groups");
  }
  auto read = is_trace ? job_of_trace(*text, job, of_job)
                       : parse_job(*text, display_name(job.job), ranks, given, fit);
  if (read && *mesh) read->mesh = *mesh;
  if (read) {
    for (const std::string& taken : read->notes) note(console, taken);
  }
  return read;
}

}  // namespace forestcoll::cli
