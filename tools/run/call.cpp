#include "run/call.hpp"

#include <mpi.h>

#include <sstream>
#include <utility>
#include <vector>

namespace forestcoll::run {
namespace {

std::string describe_all(const std::vector<Call*>& under_way) {
  std::string text;
  for (const Call* call : under_way) {
    std::istringstream lines(call->run->describe());
    for (std::string line; std::getline(lines, line);) text += call->title + line + "\n";
  }
  return text;
}

// Lets every call go on, and takes those that have ended out of the list.
void advance_all(std::vector<Call*>& under_way) {
  std::erase_if(under_way, [](Call* call) {
    if (!call->run->advance()) return false;
    call->end = MPI_Wtime();
    return true;
  });
}

}  // namespace

void call_together(std::span<Call> calls, Watchdog& watchdog) {
  std::vector<Call*> under_way;
  Watchdog::Guard guard(watchdog, [&under_way] { return describe_all(under_way); });
  for (Call& call : calls) {
    call.run->begin(*call.memory, call.op);
    under_way.push_back(&call);
  }
  std::vector<WaitSet*> sets;
  for (advance_all(under_way); !under_way.empty(); advance_all(under_way)) {
    sets.clear();
    for (const Call* call : under_way) sets.push_back(&call->run->waits());
    for (const auto& [set, done] : wait_any(sets, guard)) under_way[set]->run->note(done);
  }
}

}  // namespace forestcoll::run
