// Every chunk holds a set of ranks, those whose contributions are summed up in it, and the place in
// the collective's buffer that they belong to. Copying copies the pair; reducing unites disjoint
// sets of one place. At the end each output chunk must hold the right pair. Sets are never removed
// from, so a mistake is reported where it happens and its traces ("poison") are silent.
#include "audit/interpret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "audit/contents.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kNamedRanks = 8;

class Interpreter {
 public:
  Interpreter(const Program& program, const StepGraph& graph, const MemoryMap& memory,
              Findings& findings)
      : program_(program),
        graph_(graph),
        memory_(memory),
        findings_(findings),
        sets_(static_cast<std::int32_t>(program.ranks)),
        content_(memory.total()),
        writer_(memory.total(), -1),
        messages_(graph.steps.size()) {
    fill_inputs();
  }

  std::optional<std::int32_t> run(std::span<const std::int32_t> order) {
    for (const std::int32_t step : order) perform(step);
    return check_results();
  }

 private:
  [[nodiscard]] std::int32_t ranks() const { return static_cast<std::int32_t>(program_.ranks); }
  [[nodiscard]] bool is_out_of_place() const {
    return memory_.placement() == Placement::out_of_place;
  }

  // A broadcast's root is not known, so every rank's input counts as data; what is not the root's
  // is found out at the end.
  void fill_inputs() {
    const bool part = program_.collective == Collective::allgather;
    for (std::int32_t r = 0; r < ranks(); ++r) {
      const std::int64_t first = part ? memory_.own_part(r) : 0;
      for (std::int64_t c = 0; c < memory_.input_chunks(); ++c) {
        content_[memory_.locate(r, Buffer::input, c)] = {static_cast<std::int32_t>(first + c),
                                                         sets_.single(r)};
      }
    }
  }

  void perform(std::int32_t number) {
    const StepGraph::Node& node = graph_.node(number);
    const Operation& operation = *node.step->operation;
    if (operation.is_nop()) return;
    reported_ = false;
    std::vector<Content> incoming;
    if (operation.receives) {
      incoming.swap(messages_[static_cast<std::size_t>(node.message_from)]);
    }
    std::vector<Content> outgoing;
    for (std::int32_t lane = 0; lane < node.step->count; ++lane) {
      const Content value = compute(
          number, lane, operation.receives ? &incoming[static_cast<std::size_t>(lane)] : nullptr);
      if (operation.writes) write(number, lane, value);
      if (operation.sends) outgoing.push_back(value);
    }
    if (operation.sends) messages_[static_cast<std::size_t>(number)] = std::move(outgoing);
  }

  Content compute(std::int32_t number, std::int32_t lane, const Content* received) {
    const Step& step = *graph_.node(number).step;
    const Operation& operation = *step.operation;
    std::optional<Content> value;
    if (received != nullptr) value = *received;
    if (operation.reads_source) {
      const Content operand = read(number, step.source, step.source_offset + lane);
      value = value ? reduce(number, lane, *value, operand) : operand;
    }
    if (operation.reads_destination) {
      const Content operand = read(number, step.destination, step.destination_offset + lane);
      value = reduce(number, lane, *value, operand);
    }
    return *value;
  }

  // One finding per step; the rest of its chunks say the same.
  void report(Code code, std::int32_t number, std::string chunk, std::string message,
              std::string remedy = {}) {
    if (reported_) return;
    reported_ = true;
    Place place = graph_.place(number);
    place.chunk = std::move(chunk);
    findings_.add(code, place, std::move(message), std::move(remedy));
  }

  Content read(std::int32_t number, Buffer buffer, std::int64_t offset) {
    const Content value = content_[memory_.locate(graph_.block_of(number).rank, buffer, offset)];
    if (value.set != Content::kUndefined) return value;
    report(Code::undefined_read, number, MemoryMap::name(buffer, offset),
           fmt::format("reads data that was never written{}", mode_text()));
    return {0, Content::kPoison};
  }

  Content reduce(std::int32_t number, std::int32_t lane, Content a, Content b) {
    const Content poison{0, Content::kPoison};
    if (!a.defined() || !b.defined()) return poison;
    const Step& step = *graph_.node(number).step;
    const std::string chunk =
        step.operation->writes ? MemoryMap::name(step.destination, step.destination_offset + lane)
                               : MemoryMap::name(step.source, step.source_offset + lane);
    if (a.index != b.index) {
      report(Code::reduction, number, chunk,
             fmt::format("adds data of chunk {} to data of chunk {}{}", a.index, b.index,
                         mode_text()));
      return poison;
    }
    const RankSets::Union both = sets_.unite(a.set, b.set);
    if (!both.refusal) return {a.index, both.set};
    if (*both.refusal == RankSets::Refusal::overlap) {
      report(Code::reduction, number, chunk,
             fmt::format("adds the contribution of rank {} to chunk {} a second time{}",
                         sets_.common(a.set, b.set), a.index, mode_text()));
    } else {
      report(Code::too_large, number, chunk,
             "too many different partial sums for this verifier to follow");
    }
    return poison;
  }

  void write(std::int32_t number, std::int32_t lane, Content value) {
    const Step& step = *graph_.node(number).step;
    const std::int64_t offset = step.destination_offset + lane;
    if (is_out_of_place() && step.destination == Buffer::input) {
      report(Code::input_written, number, MemoryMap::name(step.destination, offset),
             "writes into the input buffer, which an out-of-place call must leave as it is",
             "write to scratch or to the output, or claim in place only");
    }
    const std::size_t at = memory_.locate(graph_.block_of(number).rank, step.destination, offset);
    content_[at] = value;
    writer_[at] = number;
  }

  [[nodiscard]] std::string mode_text() const {
    return is_out_of_place() ? " (out of place)" : " (in place)";
  }

  // The contents that a collective promises. The root is what most chunks speak for.
  std::optional<std::int32_t> check_results() {
    if (program_.collective == Collective::broadcast) {
      const std::int32_t root = most_frequent_source();
      for (std::int32_t r = 0; r < ranks(); ++r) check_rank(r, sets_.single(root));
      return root;
    }
    if (program_.collective == Collective::reduce) {
      const std::int32_t root = most_complete_rank();
      check_rank(root, sets_.all());
      return root;
    }
    for (std::int32_t r = 0; r < ranks(); ++r) {
      if (program_.collective != Collective::allgather) check_rank(r, sets_.all());
      if (program_.collective == Collective::allgather) check_gathered(r);
    }
    return std::nullopt;
  }

  std::int32_t most_frequent_source() const {
    std::vector<std::int64_t> votes(static_cast<std::size_t>(ranks()), 0);
    for (std::int32_t r = 0; r < ranks(); ++r) {
      for (std::int64_t c = 0; c < memory_.output_chunks(); ++c) {
        const Content value = content_[memory_.locate(r, Buffer::output, c)];
        if (value.set >= 0 && value.set < ranks()) ++votes[static_cast<std::size_t>(value.set)];
      }
    }
    return static_cast<std::int32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  }

  std::int32_t most_complete_rank() const {
    std::int32_t best = 0;
    std::int64_t most = -1;
    for (std::int32_t r = 0; r < ranks(); ++r) {
      std::int64_t complete = 0;
      for (std::int64_t c = 0; c < memory_.output_chunks(); ++c) {
        complete += content_[memory_.locate(r, Buffer::output, c)].set == sets_.all() ? 1 : 0;
      }
      if (complete > most) {
        most = complete;
        best = r;
      }
    }
    return best;
  }

  void check_rank(std::int32_t rank, std::int32_t set) {
    const bool part = program_.collective == Collective::reduce_scatter;
    const std::int64_t first = part ? memory_.own_part(rank) : 0;
    last_reported_writer_ = -2;
    for (std::int64_t c = 0; c < memory_.output_chunks(); ++c) {
      check_chunk(rank, c, {static_cast<std::int32_t>(first + c), set});
    }
  }

  void check_gathered(std::int32_t rank) {
    const std::int64_t part = memory_.input_chunks();
    last_reported_writer_ = -2;
    for (std::int64_t c = 0; c < memory_.output_chunks(); ++c) {
      check_chunk(
          rank, c,
          {static_cast<std::int32_t>(c), sets_.single(static_cast<std::int32_t>(c / part))});
    }
  }

  // Neighbouring chunks that one step left wrong make one finding.
  void check_chunk(std::int32_t rank, std::int64_t chunk, Content expected) {
    const std::size_t at = memory_.locate(rank, Buffer::output, chunk);
    const Content found = content_[at];
    if (found == expected || found.set == Content::kPoison) {
      last_reported_writer_ = -2;
      return;
    }
    if (writer_[at] == last_reported_writer_) return;
    last_reported_writer_ = writer_[at];
    Place place{rank, -1, -1, 0, {}};
    if (writer_[at] >= 0) place = graph_.place(writer_[at]);
    place.chunk = MemoryMap::name(Buffer::output, chunk);
    findings_.add(Code::result, place, describe(found, expected) + mode_text());
  }

  [[nodiscard]] std::string describe(Content found, Content expected) const {
    if (!found.defined()) return "ends without data: it is never written";
    if (found.index != expected.index) {
      return fmt::format("ends with data of chunk {} instead of chunk {}", found.index,
                         expected.index);
    }
    std::vector<std::int32_t> missing, surplus;
    for (std::int32_t r = 0; r < ranks(); ++r) {
      const bool has = sets_.contains(found.set, r);
      const bool wants = sets_.contains(expected.set, r);
      if (wants && !has) missing.push_back(r);
      if (has && !wants) surplus.push_back(r);
    }
    std::string text = "ends";
    if (!missing.empty()) text += " without the data of " + name_ranks(missing);
    if (!surplus.empty()) text += fmt::format(" with the data of {}", name_ranks(surplus));
    return text;
  }

  static std::string name_ranks(const std::vector<std::int32_t>& list) {
    std::string text = list.size() > 1 ? "ranks" : "rank";
    for (std::size_t i = 0; i < std::min(list.size(), kNamedRanks); ++i) {
      text += fmt::format("{} {}", i > 0 ? "," : "", list[i]);
    }
    if (list.size() > kNamedRanks) text += fmt::format(" and {} more", list.size() - kNamedRanks);
    return text;
  }

  const Program& program_;
  const StepGraph& graph_;
  const MemoryMap& memory_;
  Findings& findings_;
  RankSets sets_;
  std::vector<Content> content_;
  std::vector<std::int32_t> writer_;  // the step that wrote a chunk last
  std::vector<std::vector<Content>> messages_;
  bool reported_ = false;
  std::int32_t last_reported_writer_ = -2;
};

}  // namespace

std::optional<std::int32_t> interpret(const Program& program, const StepGraph& graph,
                                      const MemoryMap& memory, std::span<const std::int32_t> order,
                                      Findings& findings) {
  return Interpreter(program, graph, memory, findings).run(order);
}

}  // namespace forestcoll::audit
