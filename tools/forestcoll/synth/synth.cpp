// `forestcoll synth`: from a topology to a schedule that is proved, verified and written.
#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "common/job/request.hpp"
#include "common/options/help_groups.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/groups/run_job.hpp"
#include "common/synthesis/request/nccl_files.hpp"
#include "common/synthesis/request/options.hpp"
#include "common/synthesis/run.hpp"
#include "synth/ways.hpp"

namespace forestcoll::cli {
namespace {

Expected<ExitCode> synth(const SynthArguments& given, const JobArguments& job,
                         const Console& console) {
  if (job.given()) return run_synthesis_of_job(given, job, console);
  if (const auto done = refuse_misplaced_groups(job, {given.failures, "", ""}); !done) {
    return done.errors();
  }
  if (is_nccl_tuner(given.format)) return tune_nccl_itself(given, console);
  if (given.format == kNcclGraph) return write_nccl_graph(given, console);
  const SynthArguments arguments = with_sizes(given);
  return arguments.tune.empty() ? run_synthesis(arguments, console)
                                : tune(arguments, given.tune.empty(), console);
}

}  // namespace

Command add_synth(CLI::App& program) {
  auto arguments = std::make_shared<SynthArguments>();
  CLI::App* command = program.add_subcommand(
      "synth", "Synthesise a schedule at the highest rate that a fabric allows");
  add_synth_arguments(*command, *arguments);
  auto job = std::make_shared<JobArguments>();
  add_job_options(*command, *job);
  group_options(*command, {"--output", "--collective", "--format", "--target", "--size", "--tune"});
  command->footer(
      "Every schedule has passed the checker of `forestcoll verify` before it is written. A file\n"
      "is written whole or not at all. The summary goes to standard error.\n"
      "\n"
      "A runtime selects an XML schedule only for element counts that its chunks divide. The\n"
      "divisor is k for an allgather or reduce_scatter (counts per rank) and for broadcast and\n"
      "reduce. It is k times the number of ranks for an allreduce, and before RCCL 6.3 for all "
      "but\n"
      "broadcast and reduce. The default k is therefore a power of two. Where the number of ranks\n"
      "is no power of two, the roots of an allreduce sum unequal numbers of chunks, and the total\n"
      "is a power of two where that fits. The summary says which counts a file is for.\n"
      "\n"
      "algbw is the size of the data of all ranks together divided by the time. The `weight` of a\n"
      "node is the share that it owns: 0 only relays and receives. Files for unequal shares are\n"
      "for callers that have such shares, not for NCCL's calls. In an allreduce no rank owns "
      "data;\n"
      "in a broadcast and a reduce the root owns all of it.\n"
      "\n"
      "The time limit counts from the start and stops the solver. A quick forest is then written,\n"
      "checked like any other, with exit code 0. The exit code is 3 where that forest cannot be\n"
      "written, or where the optimum was not yet known; the message then has the bound that is\n"
      "proved so far. If the program is interrupted or terminated (130, 143), no file is left\n"
      "half-written.\n"
      "\n"
      "Examples:\n"
      "  forestcoll synth topologies/dgx-a100-x2.json -o allreduce.xml\n"
      "  forestcoll synth fabric.json -c allgather -k optimal --format forest -o forest.json\n"
      "  forestcoll synth fabric.json -c broadcast --root box0/gpu3 --format dot | dot -Tsvg\n"
      "  forestcoll synth fabric.json -k max:32 --format none\n"
      "  forestcoll synth fabric.json --inplace --outofplace --target rccl-6.3 -o allreduce.xml\n"
      "  forestcoll synth fabric.json --size 64K -o small.xml\n"
      "  forestcoll synth fabric.json --tune 64K:1G -o algorithms\n"
      "  forestcoll synth fabric.json --tune 64K:1G --deploy run-allreduce\n"
      "  forestcoll synth fabric.json --format none --tradeoff\n"
      "  forestcoll synth fabric.json --algorithm nccl-ring -o rings.xml\n"
      "  forestcoll synth fabric.json -c alltoall -o alltoall.xml\n"
      "  forestcoll synth fabric.json --groups 'DIV 2' --relays --format mscclpp -o plan.json\n"
      "  forestcoll synth fabric.json --format goal --sizes 16M -o allreduce.goal\n"
      "  forestcoll synth fabric.json --format nccl-tuner -o nccl_tuner.conf\n"
      "  forestcoll synth fabric.json --format nccl-graph -o graph.xml\n"
      "  forestcoll synth fabric.json -c alltoall --demand bytes.csv --format flows -o flows.json\n"
      "  forestcoll synth fabric.json -c allgather --format forest --drop box0/nic3~ib1 \\\n"
      "    --warm forest.json -o after.json\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 does not fit the target or exact arithmetic, 4 cannot\n"
      "read or write, 70 internal error.");
  return {command, [command, arguments, job](const Console& console) {
            arguments->collective_given = command->count("--collective") > 0;
            // The operations of a job name their collectives.
            if (job->given() && command->count("--collective") == 0) arguments->collective.clear();
            return synth(*arguments, *job, console);
          }};
}

}  // namespace forestcoll::cli
