#include "fastest/tuned_file.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

#include "fastest/write.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::fastest {
namespace {

SwitchUse use_of(const Candidate& candidate) {
  if (!candidate.switched) return SwitchUse::none;
  return candidate.switched->plan.packets ? SwitchUse::packets : SwitchUse::sums;
}

std::string label(const Candidate& candidate) {
  if (candidate.algorithm != "forestcoll") return candidate.algorithm;
  if (candidate.switched) return std::string(to_string(use_of(candidate)));
  const CollectiveForest& trees = candidate.forest();
  return trees.weight.empty() ? fmt::format("k{}", trees.k) : fmt::format("c{}", chunks_of(trees));
}

// Without the extension.
std::string name_of(const Contest& contest, const SizeRange& range, const FastestChoice& choice,
                    std::size_t ranks) {
  const Candidate& candidate = contest.candidate(range.winner.contender);
  const std::string program = contest.of_plans() ? label(candidate)
                                                 : fmt::format("{}-{}x{}", choice.protocol,
                                                               label(candidate), choice.instances);
  return fmt::format("{}-{}gpus-{:013}-{}", to_string(candidate.forest().collective), ranks,
                     range.first, program);
}

}  // namespace

Expected<TunedFile> tuned_file(const Contest& contest, const SizeRange& range, const Fabric& fabric,
                               CollectiveForest& trees) {
  const std::size_t contender = range.winner.contender;
  FastestChoice choice = describe(contest, range.winner, range.first, fabric);
  const std::string name = name_of(contest, range, choice, fabric.topology.ranks.size());
  auto written =
      write_winner(contest, contender, fabric, SizeWindow{range.first, range.last, {}}, name);
  if (!written) return written.errors();
  if (!written->verdict.ok) return written->verdict.findings;
  trees = std::move(written->chosen.synthesis.forest);
  const auto& branching = written->branching;
  const Verdict& verdict = written->verdict;
  return TunedFile{
      .name = name + (contest.of_plans() ? ".json" : ".xml"),
      .text = std::move(written->text),
      .first = range.first,
      .last = range.last,
      .seconds = range.winner.seconds,
      .algorithm = choice.algorithm,
      .switches = use_of(contest.candidate(contender)),
      .algbw = branching ? branching->algbw : trees.algbw,
      .optimum = branching ? branching->optimum : trees.optimum,
      .why = in_words(choice),
      .protocol = choice.protocol,
      .instances = choice.instances,
      .chunks = verdict.chunks,
      .threadblocks = verdict.threadblocks,
      .channels = verdict.channels,
      .considered = std::move(choice.considered),
      .least = choice.least,
      .costs = contest.costs(range.winner, range.first),
      .times = {},
      .no_ll128 = choice.protocol == "LL128" ? contest.program(contender).no_ll128 : std::string(),
      .verdict = std::move(written->verdict)};
}

}  // namespace forestcoll::fastest
