#include "fastest/tuned_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "choose/settle.hpp"
#include "fastest/write.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::fastest {
namespace {

class FileMaker {
 public:
  FileMaker(const Contest& contest, const SizeRange& range, const Fabric& fabric)
      : contest_(contest),
        range_(range),
        fabric_(fabric),
        choice_(describe(contest, range.winner, range.first, fabric)) {}

  [[nodiscard]] Expected<TunedFile> make(CollectiveForest& trees) {
    auto result = contest_.of_plans() ? plan(trees) : xml(trees);
    if (!result) return result;
    const CompileOptions& options = contest_.compile();
    auto verdict =
        verify(result->text, result->name, &fabric_.topology, choose::runtime_of(options));
    if (!verdict) return verdict.errors();
    if (!verdict->ok) return verdict->findings;
    result->threadblocks = verdict->threadblocks;
    result->channels = verdict->channels;
    result->chunks = verdict->chunks;
    result->verdict = *std::move(verdict);
    return result;
  }

 private:
  // REQUIRES: switches copy.
  [[nodiscard]] SwitchUse switch_use() const {
    return candidate().switched->plan.packets ? SwitchUse::packets : SwitchUse::sums;
  }
  [[nodiscard]] const Candidate& candidate() const {
    return contest_.candidate(range_.winner.contender);
  }

  [[nodiscard]] TunedFile described(const CollectiveForest& trees,
                                    std::string_view extension) const {
    return {.name = name_of(trees, extension),
            .text = {},
            .first = range_.first,
            .last = range_.last,
            .seconds = range_.winner.seconds,
            .algorithm = choice_.algorithm,
            .algbw = trees.algbw,
            .optimum = trees.optimum,
            .why = in_words(choice_),
            .protocol = choice_.protocol,
            .instances = choice_.instances,
            .considered = choice_.considered,
            .least = choice_.least,
            .costs = contest_.costs(range_.winner, range_.first),
            .times = {},
            .no_ll128 = {},
            .verdict = {}};
  }

  [[nodiscard]] Expected<TunedFile> xml(CollectiveForest& trees) const {
    auto lowered = lower_winner(contest_, range_.winner.contender, fabric_);
    if (!lowered) return lowered.errors();
    trees = std::move(lowered->chosen.synthesis.forest);
    TunedFile result = described(trees, "xml");
    XmlOptions xml = lowered->options.xml;
    xml.min_bytes = range_.first;
    xml.max_bytes = find_target(lowered->options.lowering.target)->max_bytes_for(range_.last);
    result.text = to_msccl_xml(*lowered->chosen.schedule, trees, fabric_.topology, xml);
    if (xml.protocol == "LL128") {
      result.no_ll128 = contest_.program(range_.winner.contender).no_ll128;
    }
    return result;
  }

  [[nodiscard]] Expected<TunedFile> plan(CollectiveForest& trees) const {
    trees = candidate().forest();
    TunedFile result = described(trees, "json");
    if (candidate().switched) {
      result.switches = switch_use();
      result.algbw = candidate().switched->trees.algbw;
      result.optimum = candidate().switched->trees.optimum;
    }
    ExecutionPlan plan = *contest_.program(range_.winner.contender).lowered;
    result.last = std::min(result.last, plan.max_bytes);
    plan.min_bytes = result.first;
    plan.max_bytes = result.last;
    result.text = to_mscclpp_json(plan, result.name.substr(0, result.name.rfind('.')));
    return result;
  }

  [[nodiscard]] std::string label(const CollectiveForest& trees) const {
    if (candidate().switched && candidate().algorithm == "forestcoll") {
      return std::string(to_string(switch_use()));
    }
    if (candidate().algorithm != "forestcoll") return candidate().algorithm;
    return trees.weight.empty() ? fmt::format("k{}", trees.k)
                                : fmt::format("c{}", chunks_of(trees));
  }

  [[nodiscard]] std::string name_of(const CollectiveForest& trees,
                                    std::string_view extension) const {
    const std::string program = contest_.of_plans() ? label(trees)
                                                    : fmt::format("{}-{}x{}", choice_.protocol,
                                                                  label(trees), choice_.instances);
    return fmt::format("{}-{}gpus-{:013}-{}.{}", to_string(candidate().forest().collective),
                       fabric_.topology.ranks.size(), range_.first, program, extension);
  }

  const Contest& contest_;
  const SizeRange& range_;
  const Fabric& fabric_;
  FastestChoice choice_;
};

}  // namespace

Expected<TunedFile> tuned_file(const Contest& contest, const SizeRange& range, const Fabric& fabric,
                               CollectiveForest& trees) {
  return FileMaker(contest, range, fabric).make(trees);
}

}  // namespace forestcoll::fastest
