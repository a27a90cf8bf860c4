// `forestcoll synth`: from a topology to a schedule that is proved, verified and written.
#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "common/job/request.hpp"
#include "common/options/help_groups.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/nccl_files.hpp"
#include "common/synthesis/request/options.hpp"
#include "common/synthesis/run.hpp"
#include "synth/job.hpp"
#include "synth/nccl_graph.hpp"
#include "synth/nccl_tuner.hpp"
#include "synth/tune.hpp"

namespace forestcoll::cli {
namespace {

ExitCode synth(const SynthArguments& given, const JobArguments& job, const Console& console) {
  if (job.given()) return run_synthesis_of_job(given, job, console);
  if (const auto done = refuse_misplaced_groups(job, {given.failures, "", ""}); !done) {
    return fail(done.errors(), console);
  }
  if (is_nccl_tuner(given.format)) return tune_nccl_itself(given, console);
  if (given.format == kNcclGraph) return write_nccl_graph(given, console);
  const SynthArguments arguments = with_sizes(given);
  return arguments.tune.empty() ? run_synthesis(arguments, console) : tune(arguments, console);
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
      "What is written has passed the checker of `forestcoll verify`. A file is written whole or\n"
      "not at all. The summary goes to standard error.\n"
      "\n"
      "A runtime selects an XML schedule only for element counts that its chunks divide: k for an\n"
      "allgather or reduce_scatter (counts per rank) and for broadcast and reduce, k times the\n"
      "number of ranks for an allreduce, and before RCCL 6.3 for all but broadcast and reduce. "
      "Hence the power of two by default; for an allreduce over "
      "a\n"
      "number of ranks that is none, the roots sum unequal numbers of chunks, a power of two in "
      "all.\n"
      "`-k optimal` reaches the optimum for counts that are multiples of its chunks. The summary\n"
      "says which counts a file is for.\n"
      "\n"
      "algbw is the size of the data of all ranks together divided by the time. Ranks own what "
      "the\n"
      "`weight` of their nodes says: 0 only relays and receives. Files for unequal shares serve\n"
      "callers that have them, not NCCL's calls, which give all ranks as much; of an allreduce\n"
      "nobody owns anything, and broadcast and reduce have one root, which owns everything.\n"
      "\n"
      "The time limit counts from the start and stops the solver. What is written then comes from "
      "a\n"
      "quick forest, checked like any other; the exit code is 0, or 3 where that cannot be "
      "written\n"
      "either, or where not even the optimum was known: then the message has the bound that is\n"
      "proved so far. Interrupted or terminated (130, 143), nothing is left half-written.\n"
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
      "  forestcoll synth fabric.json --format goal --sizes 16M -o allreduce.goal\n"
      "  forestcoll synth fabric.json --format nccl-tuner -o nccl_tuner.conf\n"
      "  forestcoll synth fabric.json --format nccl-graph -o graph.xml\n"
      "  forestcoll synth fabric.json -c alltoall --demand bytes.csv --format flows -o flows.json\n"
      "  forestcoll synth fabric.json -c allgather --format forest --drop box0/nic3~ib1 \\\n"
      "    --warm forest.json -o after.json\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 does not fit the target or exact arithmetic, 4 cannot\n"
      "read or write, 70 a bug of ours.");
  return {command, [command, arguments, job](const Console& console) {
            arguments->collective_given = command->count("--collective") > 0;
            // The operations of a job name their collectives.
            if (job->given() && command->count("--collective") == 0) arguments->collective.clear();
            return synth(*arguments, *job, console);
          }};
}

}  // namespace forestcoll::cli
