// What is fuzzed: every reader of files from elsewhere, with all that follows it.
#pragma once

#include <string_view>

namespace fuzz {

/// Each takes any bytes, and returns: with a verdict or with errors, never otherwise. Errors carry
/// a code and words; checked here, so that a fuzzer finds what breaks that as well.
void schedule_xml(std::string_view text);
void execution_plan(std::string_view text);
void forest_json(std::string_view text);
/// Graphs and tuner's rules of stock NCCL, alone and for a ring of four GPUs.
void nccl_file(std::string_view text);
void topology_json(std::string_view text);
/// A dump of health, of a box on NVSwitches, of one without, and of hosts.
void health(std::string_view text);
/// A machine's description, alone and as a cluster.
void machine(std::string_view text);
/// A job, as a file and as words of the command line, for eight ranks.
void job(std::string_view text);
void file_of_another_tool(std::string_view text);
/// The first byte chooses the importer, the second its options; the file follows.
void importer(std::string_view bytes);

}  // namespace fuzz
