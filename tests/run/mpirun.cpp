#include "run/mpirun.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>

#include "forestcoll/fabric.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"
#include "support/alltoall.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {

namespace {

// Open MPI's files are in a folder of this start: where two starts share one, as two halves of
// these tests would, the one that ends may remove it while the other looks into it.
Result start(const std::vector<std::string>& words, const std::string& input) {
  const Scratch scratch;
  RunOptions options;
  options.program = "/usr/bin/env";
  options.input = input;
  options.environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                         "OMPI_MCA_orte_tmpdir_base=" + scratch / ""};
  return run(words, options);
}

Result start(int ranks, const std::vector<std::string>& arguments, const std::string& input) {
  std::vector<std::string> words = {"mpirun", "--oversubscribe", "-np", std::to_string(ranks),
                                    FORESTCOLL_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return start(words, input);
}

template <class Compiled>
std::string text_of(const Compiled& compiled) {
  if (compiled) return compiled->text;
  ADD_FAILURE() << to_string(compiled.errors().front());
  return {};
}

}  // namespace

Result mpirun(int ranks, const std::string& schedule, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "-");
  return start(ranks, arguments, schedule);
}

Result mpirun(int ranks, const std::vector<std::pair<std::string, std::string>>& schedules,
              std::vector<std::string> arguments) {
  const Scratch scratch;
  std::vector<std::string> files;
  for (const auto& [name, text] : schedules) files.push_back(scratch.write(name, text));
  arguments.insert(arguments.begin(), files.begin(), files.end());
  return start(ranks, arguments, {});
}

Result mpirun_files(int ranks, const std::vector<std::string>& arguments) {
  return start(ranks, arguments, {});
}

Result run_alone(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {FORESTCOLL_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return start(words, {});
}

std::string schedule_of(const std::string& fabric, const CompileOptions& options) {
  return text_of(compile(test::bundled_fabric(fabric), options));
}

std::string schedule_of(const std::string& fabric, const std::vector<int>& weights,
                        const CompileOptions& options) {
  Topology topology = test::bundled_fabric(fabric).topology;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    topology.nodes[topology.ranks[r]].weight = weights[r];
  }
  const auto weighted = make_fabric(std::move(topology));
  if (!weighted) ADD_FAILURE() << to_string(weighted.errors().front());
  return text_of(compile(*weighted, options));
}

std::string alltoall_of(const std::string& fabric, Format format) {
  return schedule_of(fabric, test::alltoall_as(format, 2));
}

std::string with(std::string text, const std::string& from, const std::string& to, int n) {
  std::size_t at = text.find(from);
  for (int i = 0; i < n && at != std::string::npos; ++i) at = text.find(from, at + 1);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no " << from;
    return text;
  }
  return text.replace(at, from.size(), to);
}

// "#wrong" ends every group of columns, and groups have four.
Rows rows_of(const std::string& table) {
  Rows rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    if (row.size() < 9) continue;  // a word of mpirun's
    ++rows.all;
    bool wrong = false;
    for (std::size_t i = 8; i < row.size(); i += 4) wrong = wrong || row[i] != "0";
    if (wrong) ++rows.wrong;
  }
  return rows;
}

}  // namespace forestcoll::testing
