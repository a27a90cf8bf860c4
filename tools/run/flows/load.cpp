// Flows name no threadblocks. Here every hop of a path between two GPUs has one at either end, on a
// channel of the path's own: the first sends its share of the input, those between hand on what
// comes, the last puts it into the output. Switches are passed by; rounds are not waited for, but
// earlier ones are begun first.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "audit/common/findings.hpp"
#include "audit/flows/check.hpp"
#include "audit/flows/file.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/verify.hpp"
#include "run/msccl/schedule.hpp"

namespace forestcoll::run {
namespace {

// What no runtime's step does: it keeps nothing of what it hands on.
constexpr audit::Operation kForward = {"forward", true, true, false, false, false, false};

class FlowsProgram {
 public:
  explicit FlowsProgram(const audit::FlowsFile& flows) : flows_(flows) {
    for (std::size_t r = 0; r < flows.ranks.size(); ++r) {
      rank_of_[flows.ranks[r]] = static_cast<std::int32_t>(r);
    }
  }

  audit::Program make() {
    const auto ranks = static_cast<std::int64_t>(flows_.ranks.size());
    program_.name = "flows";
    program_.protocol = "Simple";
    program_.pattern = *audit::parse_pattern(flows_.collective);
    program_.ranks = ranks;
    program_.chunks = ranks * flows_.k;
    program_.channels = static_cast<std::int64_t>(flows_.paths.size());
    program_.out_of_place = true;
    for (std::int32_t r = 0; r < ranks; ++r) {
      audit::Gpu& gpu = program_.gpus.emplace_back();
      gpu.id = r;
      const auto sizes = audit::buffer_sizes(program_.pattern, program_.chunks, flows_.k);
      gpu.input_chunks = sizes.input;
      gpu.output_chunks = sizes.output;
      const bool has_own = !flows_.root || flows_.ids[node_of(r)] == *flows_.root;
      if (has_own) add_block(r, -1, -1, 0, step("cpy", r, r, 0, flows_.k));
    }
    for (const audit::FlowPair& pair : flows_.pairs) add_pair(pair);
    return std::move(program_);
  }

 private:
  void add_pair(const audit::FlowPair& pair) {
    std::int64_t before = 0;  // parts of the pair
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      const Ratio share = *parse_ratio(flows_.paths[p].share);
      const std::int64_t parts = share.num() * (flows_.k / share.den());
      add_path(p, before, parts);
      before += parts;
    }
  }

  [[nodiscard]] std::size_t node_of(std::int32_t rank) const {
    return static_cast<std::size_t>(flows_.ranks[static_cast<std::size_t>(rank)]);
  }

  void add_path(std::size_t p, std::int64_t before, std::int64_t parts) {
    std::vector<std::int32_t> hops;
    for (const audit::FlowNode node : flows_.paths[p].nodes) {
      const auto found = rank_of_.find(node);
      if (found != rank_of_.end()) hops.push_back(found->second);
    }
    const std::int32_t src = hops.front(), dst = hops.back();
    const auto channel = static_cast<std::int32_t>(p);
    add_block(src, hops[1], -1, channel, step("s", dst, 0, before, parts));
    for (std::size_t h = 1; h + 1 < hops.size(); ++h) {
      audit::Step forward = step("s", 0, 0, 0, parts);
      forward.operation = &kForward;
      add_block(hops[h], hops[h + 1], hops[h - 1], channel, forward);
    }
    add_block(dst, -1, hops[hops.size() - 2], channel, step("r", 0, src, before, parts));
  }

  // From the part for one rank to the part of another, where a buffer has that of each; from part
  // `before` of the pair on.
  [[nodiscard]] audit::Step step(const char* type, std::int32_t source, std::int32_t destination,
                                 std::int64_t before, std::int64_t parts) const {
    audit::Step step;
    step.operation = audit::find_operation(type);
    step.source = Buffer::input;
    step.destination = Buffer::output;
    step.source_offset = at(audit::input_is_part(program_.pattern), source, before);
    step.destination_offset = at(audit::output_is_part(program_.pattern), destination, before);
    step.count = static_cast<std::int32_t>(parts);
    return step;
  }

  [[nodiscard]] std::int32_t at(bool is_part, std::int32_t rank, std::int64_t before) const {
    return static_cast<std::int32_t>((is_part ? 0 : rank * flows_.k) + before);
  }

  void add_block(std::int32_t rank, std::int32_t to, std::int32_t from, std::int32_t channel,
                 const audit::Step& only_step) {
    audit::Gpu& gpu = program_.gpus[static_cast<std::size_t>(rank)];
    audit::Threadblock block;
    block.id = static_cast<std::int32_t>(gpu.threadblocks.size());
    block.send_peer = to;
    block.recv_peer = from;
    block.channel = channel;
    block.steps = {only_step};
    gpu.threadblocks.push_back(std::move(block));
  }

  const audit::FlowsFile& flows_;
  std::map<audit::FlowNode, std::int32_t> rank_of_;
  audit::Program program_;
};

Diagnostic not_run(std::string_view file, std::string where, std::string message,
                   std::string remedy) {
  return make_error(Code::X01, std::move(message), std::move(remedy),
                    {.file = std::string(file), .where = std::move(where)});
}

}  // namespace

Expected<std::unique_ptr<Schedule>> load_flows(std::string_view text, std::string_view file) {
  constexpr std::int64_t kMostChunks = std::int64_t{1} << 24;
  audit::Findings findings(file);
  const auto flows = audit::read_flows(text, file, findings);
  if (!flows) return flows.errors();
  Verdict verdict;
  check_flows(*flows, nullptr, findings, verdict);
  if (findings.blocked()) return findings.sorted(kReported);
  if (verdict.collective_name == "alltoallv") {
    return not_run(file, "/collective", "an all-to-all-v, whose amounts are the file's own",
                   "run flows of an all-to-all: `forestcoll synth -c alltoall --format flows`");
  }
  if (flows->k > kMostChunks / static_cast<std::int64_t>(flows->ranks.size())) {
    return not_run(file, "/k", "more parts of a pair than are run", "use a smaller -k");
  }
  ScheduleFacts facts;
  facts.format = "forestcoll-flows";
  facts.protocol = "Simple";
  facts.pattern = *audit::parse_pattern(flows->collective);
  facts.ranks = static_cast<std::int64_t>(flows->ranks.size());
  facts.chunks = facts.ranks * flows->k;
  facts.out_of_place = true;
  facts.max_bytes = std::numeric_limits<std::int64_t>::max();
  std::unique_ptr<Schedule> schedule =
      std::make_unique<ProgramSchedule>(FlowsProgram(*flows).make(), std::move(facts));
  return schedule;
}

}  // namespace forestcoll::run
