// `forestcoll batch`: every topology of a directory, in parallel, and nothing twice.
#include <oneapi/tbb/global_control.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>

#include "batch/results/merge.hpp"
#include "batch/run.hpp"
#include "batch/workers/wire.hpp"
#include "batch/workers/work.hpp"
#include "command.hpp"
#include "common/files/io.hpp"
#include "common/options/help_groups.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kBatchFooter =
    "Outputs are OUT/<path of the topology>/<collective>.xml, with the target and k in the name\n"
    "where several were asked for; report.json, report.md and report.csv lie in OUT. A file\n"
    "appears once it is whole and verified. What is there already and was made of the same\n"
    "topology with the same options by the same program (its bytes, not its version) is not made\n"
    "again. All options of `synth` that make sense for many topologies are taken. Hidden files,\n"
    "JSON Schemas (*.schema.json) and what forestcoll wrote that is no topology, such as reports\n"
    "and forests, are left out.\n"
    "\n"
    "A manifest lists topologies and what is special about them:\n"
    "  {\"format\": \"forestcoll-batch-manifest\", \"version\": 1, \"topologies\": [\n"
    "    {\"path\": \"a100.json\"},\n"
    "    {\"path\": \"h100.json\", \"options\": [\"--drop\", \"box0/nic3~ib1\"],\n"
    "     \"collectives\": [\"allgather\"], \"targets\": [\"rccl-6\"], \"k\": [8, \"optimal\"]}]}\n"
    "\n"
    "Examples:\n"
    "  forestcoll batch topologies -o out\n"
    "  forestcoll batch topologies -o out -c allreduce,allgather --target azure,rccl-6 -j 8\n"
    "  forestcoll batch topologies -o out --baseline main/report.json --junit junit.xml\n"
    "  forestcoll batch fabrics -o out --format forest -k optimal --exclude 'old/*'\n"
    "  forestcoll batch fabrics -o out --shard 1/4; ...; forestcoll batch merge out\n"
    "  mpirun -n 8 forestcoll batch fabrics -o out --mpi -j 4\n"
    "\n"
    "Exit codes: 0 every item is done; 1 an item failed, or --fail-on names how one differs from "
    "the\n"
    "baseline; 2 wrong usage, manifest or report; 4 cannot read the directory or write the\n"
    "outputs, or another batch is at work there; 130 Ctrl-C, 143 terminated: the report has\n"
    "what was done until then.";

// Of this child, whatever it calls, until its end: to take the limit back would make the threads
// that it forbids.
void limit_child(int threads) {
  using Control = oneapi::tbb::global_control;
  [[maybe_unused]] static const auto* limit =
      new Control(Control::max_allowed_parallelism, static_cast<std::size_t>(threads));
}

// What children do: a request on standard input, its answer on standard output.
Expected<ExitCode> serve() {
  const auto request = read_input("-");
  if (!request) return request.errors();
  if (const auto task = batch::decode_task(*request)) limit_child(task->threads);
  Expected<void> written;
  const bool is_known = batch::answer(*request, [&written](const std::string& part) {
    written = write_output("-", part);
    return written.has_value();
  });
  if (is_known) return finish(written);
  return make_error(Code::S03, "this command is for the children of `forestcoll batch`", "");
}

}  // namespace

Command add_batch(CLI::App& program) {
  auto arguments = std::make_shared<batch::Arguments>();
  CLI::App* command = program.add_subcommand(
      "batch", "Synthesise schedules for every topology of a directory, in parallel");
  batch::add_batch_arguments(*command, *arguments);
  group_options(*command, {"--output", "--collective", "--target", "--baseline", "--tolerance",
                           "--fail-on", "--junit"});
  command->footer(kBatchFooter);
  const Command merge = batch::add_merge(*command);
  return {command, [arguments, merge](const Console& console) -> Expected<ExitCode> {
            if (merge.parser->parsed()) return merge.run(console);
            return static_cast<ExitCode>(batch::run_batch(*arguments, console));
          }};
}

Command add_batch_worker(CLI::App& program) {
  CLI::App* command = program.add_subcommand("batch-worker", "A child of `batch`");
  command->group("");  // not for people
  return {command, [](const Console&) { return serve(); }};
}

}  // namespace forestcoll::cli
